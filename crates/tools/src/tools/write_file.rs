//! `write_file` and `append_file`.

use bytes::Bytes;
use engine::{
    Error, ErrorKind, If, Links, Parents, SandboxPath, Version, WriteMode, WriteOptions, Written,
};
use futures::stream::{self, StreamExt as _};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::call::Call;
use crate::encoding::TextEncoding;
use crate::failure::Failure;
use crate::outcome::{Done, Metadata};
use crate::reach::Manner;
use crate::tool::{Effect, Tool};

/// Write a whole file. What was there is replaced at once: whoever reads sees the old content or
/// the new, never a part. Missing directories are made.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct WriteFile {
    /// The file.
    path: String,
    /// The content, exactly as it shall be.
    content: String,
    /// How `content` stands for bytes: `utf-8` (the default), another encoding such as `utf-16le`
    /// or `shift_jis`, or `base64` for binary data.
    encoding: Option<String>,
    /// `false` to make no directories. They are made by default.
    #[serde(alias = "createParentDirs")]
    create_parents: Option<bool>,
    /// `false` to refuse to replace a file that is there. It is replaced by default.
    force: Option<bool>,
    /// Write only if the file still has this version, as `read_file` or `file_info` told it.
    if_version: Option<String>,
}

/// Add to the end of a file. A missing file is made, with the directories on the way.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct AppendFile {
    /// The file.
    path: String,
    /// What is added, exactly as it is: begin with a line break if the last line has none.
    content: String,
    /// How `content` stands for bytes: `utf-8` (the default), another encoding, or `base64`.
    encoding: Option<String>,
}

/// What was written.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WriteOutput {
    /// The file.
    path: String,
    /// How many bytes were written.
    bytes_written: u64,
    /// Whether the file is new.
    created: bool,
    /// How long the file is now.
    size: u64,
    /// A token of the file's state now; null where there is none yet.
    version: Option<String>,
}

impl Tool for WriteFile {
    const NAME: &'static str = "write_file";
    const TITLE: &'static str = "Write a file";
    const EFFECT: Effect = Effect::Replaces { idempotent: true };
    type Output = WriteOutput;

    async fn run(self, call: &Call) -> Result<Done<WriteOutput>, Failure> {
        let file = call.path(&self.path)?;
        let body = bytes_of(call, self.content, self.encoding.as_deref())?;
        check_size(call, &file, body.len() as u64)?;
        let replaces = self.force.unwrap_or(true);
        let options = WriteOptions {
            mode: if replaces { WriteMode::Replace } else { WriteMode::CreateNew },
            parents: parents(self.create_parents),
            expected: expected(self.if_version.as_deref()),
            length: Some(body.len() as u64),
        };
        let written = write(call, &file, body, options).await;
        let written = written.map_err(|err| taken_by_file(err, replaces))?;
        Ok(done(call, &file, &written, "wrote"))
    }
}

impl Tool for AppendFile {
    const NAME: &'static str = "append_file";
    const TITLE: &'static str = "Append to a file";
    const EFFECT: Effect = Effect::Adds { idempotent: false };
    type Output = WriteOutput;

    async fn run(self, call: &Call) -> Result<Done<WriteOutput>, Failure> {
        let file = call.path(&self.path)?;
        let body = bytes_of(call, self.content, self.encoding.as_deref())?;
        let before = length_of(call, &file).await?;
        check_size(call, &file, before.saturating_add(body.len() as u64))?;
        let options = WriteOptions {
            mode: WriteMode::Append,
            parents: Parents::Create,
            expected: If::Always,
            length: Some(body.len() as u64),
        };
        let written = write(call, &file, body, options).await?;
        Ok(done(call, &file, &written, "appended"))
    }
}

/// The bytes that an argument stands for.
pub(crate) fn bytes_of(call: &Call, content: String, label: Option<&str>) -> engine::Result<Bytes> {
    let encoding = match label {
        Some(label) => TextEncoding::named(label)?,
        None => call.settings.default_encoding,
    };
    encoding.bytes_of(content)
}

/// Refuses a file that is longer than one may be.
pub(crate) fn check_size(call: &Call, file: &SandboxPath, size: u64) -> engine::Result<()> {
    let most = call.settings.max_file_size;
    if size <= most {
        return Ok(());
    }
    let message = format!("the file would have {size} bytes, and {most} are allowed");
    Err(Error::new(ErrorKind::FileTooLarge, message).on(file))
}

/// How long a file is; nothing if it is missing.
pub(crate) async fn length_of(call: &Call, file: &SandboxPath) -> engine::Result<u64> {
    match call.at(file, Manner::Follow)?.stat(file, Links::Follow).await {
        Ok(entry) => Ok(entry.size),
        Err(err) if err.kind() == ErrorKind::NotFound => Ok(0),
        Err(err) => Err(err),
    }
}

/// What to do where something is there already that only a file may take the place of.
pub(crate) fn taken_by_file(err: Error, force: bool) -> Failure {
    if force {
        return err.into();
    }
    let hint = "choose another name, or set `force` to replace a file";
    Failure::hinting(err, ErrorKind::AlreadyExists, hint)
}

/// Whether missing directories are made.
pub(crate) fn parents(wish: Option<bool>) -> Parents {
    if wish.unwrap_or(true) { Parents::Create } else { Parents::Require }
}

/// What the caller believes about a file.
pub(crate) fn expected(version: Option<&str>) -> If {
    version.map_or(If::Always, |token| If::Matches(vec![Version::new(token)]))
}

async fn write(
    call: &Call,
    file: &SandboxPath,
    body: Bytes,
    options: WriteOptions,
) -> engine::Result<Written> {
    let body = stream::once(async move { Ok(body) }).boxed();
    call.at(file, Manner::Follow)?.write(file, body, options).await
}

fn done(call: &Call, file: &SandboxPath, written: &Written, verb: &str) -> Done<WriteOutput> {
    let Written { entry, bytes, created, .. } = written;
    let output = WriteOutput {
        path: call.shown(file),
        bytes_written: *bytes,
        created: *created,
        size: entry.size,
        version: entry.version.as_ref().map(ToString::to_string),
    };
    let new = if *created { " (new)" } else { "" };
    let text = format!("{verb} {bytes} bytes: {}{new}", output.path);
    Done::new(output, text).with(Metadata { bytes_written: Some(*bytes), ..Metadata::default() })
}
