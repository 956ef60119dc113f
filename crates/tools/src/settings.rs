//! How much a call may do, and where.

use std::fmt::Display;
use std::time::Duration;

use engine::{DotDot, Error, ErrorKind, Result, Sandbox, SandboxPath};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use crate::encoding::TextEncoding;
use crate::shown::locate;

/// How much the calls of a server may do, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// How text is written and read where a call does not say.
    pub default_encoding: TextEncoding,
    /// The longest file that is read whole or written.
    pub max_file_size: u64,
    /// How many bytes of content one answer holds.
    pub max_result_bytes: u64,
    /// Where calls may look and change; everywhere if there are none.
    pub allowed_paths: Vec<SandboxPath>,
    /// Where they may not, even if it is allowed.
    pub blocked_paths: Vec<SandboxPath>,
    /// How long a call may take.
    pub timeout: Duration,
    /// How many levels are looked at beneath a directory.
    pub max_depth: usize,
    /// How many entries one answer holds.
    pub max_entries: usize,
    /// Whether nothing may be changed.
    pub read_only: bool,
    /// Where relative paths begin.
    pub beginning: Beginning,
}

/// Where relative paths begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beginning {
    /// At the sandbox's home.
    Home,
    /// At its root.
    Root,
}

/// The longest file by default, of a read and of a write.
const FILE_SIZE: u64 = 16 << 20;
/// How much of a file a model gets at once by default: some 16,000 words.
const MODEL_BUDGET: u64 = 64 << 10;

impl Settings {
    /// The directories of a system, which no tool has business with where a tree is a whole one.
    pub const SYSTEM_DIRECTORIES: [&str; 13] = [
        "/bin", "/boot", "/dev", "/etc", "/lib", "/lib64", "/proc", "/root", "/run", "/sbin",
        "/sys", "/usr", "/var/run",
    ];

    /// For programs: whole files.
    pub fn for_programs() -> Self {
        Self {
            default_encoding: TextEncoding::default(),
            max_file_size: FILE_SIZE,
            max_result_bytes: FILE_SIZE,
            allowed_paths: Vec::new(),
            blocked_paths: Vec::new(),
            timeout: Duration::from_secs(30),
            max_depth: 64,
            max_entries: 10_000,
            read_only: false,
            beginning: Beginning::Home,
        }
    }

    /// For models, whose memory is small: text is recognised, and long answers come in parts.
    pub fn for_models() -> Self {
        Self {
            default_encoding: TextEncoding::Auto,
            max_result_bytes: MODEL_BUDGET,
            max_depth: 16,
            max_entries: 1000,
            ..Self::for_programs()
        }
    }

    /// These settings in a sandbox. Where its tree is that of a whole system, nothing of the system
    /// itself is reached; where its home is blocked, relative paths begin at its root.
    #[must_use]
    pub fn in_sandbox(&self, sandbox: &Sandbox) -> Self {
        let mut settings = self.clone();
        if sandbox.is_system {
            let paths = Self::SYSTEM_DIRECTORIES.iter();
            let paths = paths.filter_map(|path| SandboxPath::parse(path, DotDot::Refuse).ok());
            settings.blocked_paths.extend(paths);
        }
        if settings.blocked_paths.iter().any(|blocked| sandbox.home.starts_with(blocked)) {
            settings.beginning = Beginning::Root;
        }
        settings
    }

    /// The directory of a sandbox where relative paths begin.
    pub fn begin_in(&self, sandbox: &Sandbox) -> SandboxPath {
        match self.beginning {
            Beginning::Home => sandbox.home.clone(),
            Beginning::Root => SandboxPath::root(),
        }
    }

    /// These settings as one call wishes them. It may ask for less, and for another encoding.
    pub fn narrowed(&self, wish: &CallSettings, sandbox: &Sandbox) -> Result<Self> {
        let mut narrowed = self.clone();
        if let Some(label) = &wish.default_encoding {
            narrowed.default_encoding = TextEncoding::named(label)?;
        }
        let CallSettings {
            max_file_size,
            max_result_bytes,
            timeout_ms,
            max_depth,
            max_entries,
            ..
        } = wish;
        let most = u64::try_from(self.timeout.as_millis()).unwrap_or(u64::MAX);
        if timeout_ms.is_some() {
            narrowed.timeout = Duration::from_millis(lesser("timeoutMs", *timeout_ms, most)?);
        }
        narrowed.max_file_size = lesser("maxFileSize", *max_file_size, self.max_file_size)?;
        narrowed.max_result_bytes =
            lesser("maxResultBytes", *max_result_bytes, self.max_result_bytes)?;
        narrowed.max_depth = lesser("maxDepth", *max_depth, self.max_depth)?;
        narrowed.max_entries = lesser("maxEntries", *max_entries, self.max_entries)?;
        if let Some(paths) = &wish.allowed_paths {
            let asked = self.located(paths, sandbox)?;
            if asked.is_empty() {
                let message = "`allowedPaths` names no path, so nothing could be done";
                return Err(Error::new(ErrorKind::InvalidArgument, message));
            }
            narrowed.allowed_paths = both(&self.allowed_paths, asked)?;
        }
        narrowed.blocked_paths.extend(self.located(&wish.blocked_paths, sandbox)?);
        narrowed.read_only |= wish.read_only;
        Ok(narrowed)
    }

    fn located(&self, paths: &[String], sandbox: &Sandbox) -> Result<Vec<SandboxPath>> {
        let begin = self.begin_in(sandbox);
        paths.iter().map(|path| locate(sandbox, &begin, path)).collect()
    }
}

/// What one call asks for. It is the business of the program that calls, not of its model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct CallSettings {
    /// How text is written and read where the arguments do not say: a name such as `utf-8` or
    /// `shift_jis`, `base64`, or `auto`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_encoding: Option<String>,
    /// The longest file that is read whole or written, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_file_size: Option<u64>,
    /// How many bytes of content the answer holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_result_bytes: Option<u64>,
    /// The files and directories that may be looked at and changed, with what is beneath them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowed_paths: Option<Vec<String>>,
    /// Those that may not.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "or_default")]
    #[schemars(with = "Option<Vec<String>>")]
    pub blocked_paths: Vec<String>,
    /// How long the call may take, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// How many levels are looked at beneath a directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_depth: Option<usize>,
    /// How many entries the answer holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_entries: Option<usize>,
    /// Whether nothing may be changed.
    #[serde(deserialize_with = "or_default")]
    #[schemars(with = "Option<bool>")]
    pub read_only: bool,
}

/// Some clients spell out what they leave out.
fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    from: D,
) -> std::result::Result<T, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or_default())
}

/// What is wished, if that is no more than may be; as much as may be without a wish.
fn lesser<N: Copy + PartialOrd + Display + From<bool>>(
    name: &str,
    wished: Option<N>,
    most: N,
) -> Result<N> {
    match wished {
        Some(wish) if wish > most => {
            let message = format!("`{name}` can be at most {most} here");
            Err(Error::new(ErrorKind::InvalidArgument, message))
        }
        Some(wish) if wish < N::from(true) => {
            let message = format!("`{name}` must be at least 1");
            Err(Error::new(ErrorKind::InvalidArgument, message))
        }
        wished => Ok(wished.unwrap_or(most)),
    }
}

/// What lies in both: where the server allows it, and where the call does.
fn both(ours: &[SandboxPath], theirs: Vec<SandboxPath>) -> Result<Vec<SandboxPath>> {
    if ours.is_empty() {
        return Ok(theirs);
    }
    let mut both = Vec::new();
    for path in theirs {
        if ours.iter().any(|our| path.starts_with(our)) {
            both.push(path);
        } else {
            both.extend(ours.iter().filter(|our| our.starts_with(&path)).cloned());
        }
    }
    if both.is_empty() {
        let message = "`allowedPaths` names nothing that the server allows";
        return Err(Error::new(ErrorKind::InvalidArgument, message));
    }
    Ok(both)
}
