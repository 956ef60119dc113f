//! The steps of a batch as JSON.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use engine::{Depth, If, Parents, Result, Step, Target, Version, WriteMode};
use serde::Serialize;

use super::wire::Mode;

/// One step.
#[derive(Debug, Serialize)]
#[serde(tag = "op", rename_all = "lowercase")]
pub(super) enum WireStep<'a> {
    Write {
        path: &'a str,
        #[serde(flatten)]
        content: Content<'a>,
        #[serde(flatten)]
        mode: WireMode,
        parents: bool,
        #[serde(flatten)]
        expected: Expected<'a>,
    },
    Mkdir {
        path: &'a str,
        parents: bool,
    },
    Link {
        path: &'a str,
        target: &'a str,
    },
    Remove {
        path: &'a str,
        recursive: bool,
        #[serde(flatten)]
        expected: Expected<'a>,
    },
    Move(Trip<'a>),
    Copy(Trip<'a>),
    Chmod {
        path: &'a str,
        #[serde(flatten)]
        change: Mode,
    },
    Check {
        path: &'a str,
        #[serde(flatten)]
        expected: Expected<'a>,
    },
}

/// From one place to another.
#[derive(Debug, Serialize)]
pub(super) struct Trip<'a> {
    pub(super) from: &'a str,
    pub(super) to: &'a str,
    pub(super) target: WireTarget,
}

/// What may be at a destination.
#[derive(Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum WireTarget {
    New,
    Replace,
    Merge,
}

impl From<Target> for WireTarget {
    fn from(target: Target) -> Self {
        match target {
            Target::New => Self::New,
            Target::Replace => Self::Replace,
            Target::Merge => Self::Merge,
        }
    }
}

/// The bytes of a file, as text where they are text.
#[derive(Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Content<'a> {
    Text(&'a str),
    Base64(String),
}

/// How a write treats what is there.
#[derive(Debug, Serialize)]
#[serde(tag = "mode", rename_all = "lowercase")]
pub(super) enum WireMode {
    Replace,
    Create,
    Append,
    Part { offset: u64, total: Option<u64> },
}

/// What a step believes about its target.
#[derive(Debug, Default, Serialize)]
pub(super) struct Expected<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    if_match: Option<Versions<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    if_none_match: Option<Versions<'a>>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Versions<'a> {
    Any(&'static str),
    Listed(Vec<&'a str>),
}

/// A step as it is sent.
pub(super) fn spelled(step: &Step) -> Result<WireStep<'_>> {
    Ok(match step {
        Step::Write { file, content, mode, parents, expected } => WireStep::Write {
            path: file.as_str(),
            content: content.as_ref().into(),
            mode: (*mode).into(),
            parents: *parents == Parents::Create,
            expected: expected.into(),
        },
        Step::CreateDir { dir, parents } => {
            WireStep::Mkdir { path: dir.as_str(), parents: *parents == Parents::Create }
        }
        Step::Symlink { link, target } => WireStep::Link { path: link.as_str(), target },
        Step::Remove { path, depth, expected } => WireStep::Remove {
            path: path.as_str(),
            recursive: *depth == Depth::All,
            expected: expected.into(),
        },
        Step::Rename { from, to, target } => {
            WireStep::Move(Trip { from: from.as_str(), to: to.as_str(), target: (*target).into() })
        }
        Step::Copy { from, to, target } => {
            WireStep::Copy(Trip { from: from.as_str(), to: to.as_str(), target: (*target).into() })
        }
        Step::SetMetadata { path, change } => WireStep::Chmod {
            path: path.as_str(),
            change: Mode::new(*change).map_err(|err| err.on(path))?,
        },
        Step::Check { path, expected } => {
            WireStep::Check { path: path.as_str(), expected: expected.into() }
        }
    })
}

impl<'a> From<&'a [u8]> for Content<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        // A control character may take six bytes of JSON, a byte of base64 never more than 1.4.
        let escaped: usize =
            bytes.iter().map(|byte| if byte.is_ascii_control() { 6 } else { 1 }).sum();
        match std::str::from_utf8(bytes) {
            Ok(text) if escaped / 4 <= bytes.len() / 3 => Self::Text(text),
            Ok(_) | Err(_) => Self::Base64(STANDARD.encode(bytes)),
        }
    }
}

impl From<WriteMode> for WireMode {
    fn from(mode: WriteMode) -> Self {
        match mode {
            WriteMode::CreateNew => Self::Create,
            WriteMode::Replace => Self::Replace,
            WriteMode::Append => Self::Append,
            WriteMode::Part(part) => Self::Part { offset: part.offset, total: part.total },
        }
    }
}

impl<'a> From<&'a If> for Expected<'a> {
    fn from(expected: &'a If) -> Self {
        let any = || Some(Versions::Any("*"));
        let listed = |versions: &'a [Version]| {
            Some(Versions::Listed(versions.iter().map(Version::as_str).collect()))
        };
        match expected {
            If::Always => Self::default(),
            If::Exists => Self { if_match: any(), if_none_match: None },
            If::Missing => Self { if_match: None, if_none_match: any() },
            If::Matches(versions) => Self { if_match: listed(versions), if_none_match: None },
            If::Differs(versions) => Self { if_match: None, if_none_match: listed(versions) },
        }
    }
}

#[cfg(test)]
mod tests {
    use engine::{Part, SandboxPath};
    use serde_json::json;

    use super::*;

    fn write(content: &'static [u8], mode: WriteMode, expected: If) -> serde_json::Value {
        let (file, parents) = (SandboxPath::clamped("f").unwrap(), Parents::Create);
        let step = Step::Write { file, content: content.into(), mode, parents, expected };
        serde_json::to_value(spelled(&step).unwrap()).unwrap()
    }

    #[test]
    fn text_is_sent_as_text_and_other_bytes_in_base64() {
        assert_eq!(
            write(b"hi", WriteMode::Append, If::Always),
            json!({"op": "write", "path": "/f", "text": "hi", "mode": "append", "parents": true})
        );
        assert_eq!(write(&[0; 9], WriteMode::Replace, If::Always)["base64"], "AAAAAAAAAAAA");
        let part = WriteMode::Part(Part { offset: 3, total: None });
        assert_eq!(
            write(b"\xff", part, If::Matches(Vec::new())),
            json!({"op": "write", "path": "/f", "base64": "/w==", "mode": "part", "offset": 3,
                "total": null, "parents": true, "if_match": []})
        );
    }
}
