//! `read_file`.

use engine::{Error, ErrorKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::reading::{Part, Reading};
use crate::call::Call;
use crate::encoding::TextEncoding;
use crate::failure::Failure;
use crate::outcome::{Done, Metadata, Truncation};
use crate::tool::{Effect, Tool};

/// Read a file: all of it, a range of its lines, its last lines, or a range of its bytes. Nothing is
/// trimmed or replaced. What is too long for one answer comes in parts: `metadata.truncated.next`
/// has the arguments for the next one.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ReadFile {
    /// The file.
    path: String,
    /// How bytes become text: a name such as `utf-8` or `shift_jis`, `base64` for any bytes, or
    /// `auto` to recognise it (base64 if it is no text).
    encoding: Option<String>,
    /// The first line to read, from 1 on.
    #[schemars(range(min = 1))]
    start_line: Option<u64>,
    /// The last line to read.
    #[schemars(range(min = 1))]
    end_line: Option<u64>,
    /// Read only the last so many lines.
    #[schemars(range(min = 1))]
    tail: Option<u64>,
    /// The first byte to read, from 0 on.
    offset: Option<u64>,
    /// How many bytes to read at most.
    length: Option<u64>,
}

/// What a file holds.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ReadOutput {
    /// The file.
    path: String,
    /// The content, exactly as it is.
    content: String,
    /// How `content` stands for bytes: the name of an encoding, or `base64`.
    encoding: String,
    /// How many bytes the file has.
    size: u64,
    /// Which bytes of the file these are.
    range: ByteRange,
    /// Which lines these are, where lines were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "LineRange")]
    lines: Option<LineRange>,
    /// A token of the file's state; null where there is none yet.
    version: Option<String>,
}

/// Bytes of a file.
#[derive(Debug, Serialize, JsonSchema)]
struct ByteRange {
    /// The first.
    start: u64,
    /// The one behind the last.
    end: u64,
}

/// Lines of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct LineRange {
    /// The first, from 1 on.
    pub(crate) start: u64,
    /// The last.
    pub(crate) end: u64,
    /// How many there are; null where nobody counted to the end.
    pub(crate) total: Option<u64>,
}

impl Tool for ReadFile {
    const NAME: &'static str = "read_file";
    const TITLE: &'static str = "Read a file";
    const EFFECT: Effect = Effect::Looks;
    type Output = ReadOutput;

    async fn run(self, call: &Call) -> Result<Done<ReadOutput>, Failure> {
        let file = call.path(&self.path)?;
        let encoding = match self.encoding.as_deref() {
            Some(label) => TextEncoding::named(label)?,
            None => call.settings.default_encoding,
        };
        let part = self.part()?;
        let reading = Reading::new(call, &file, encoding)?;
        let read = reading.read(part).await?;
        let output = ReadOutput {
            path: call.shown(&file),
            encoding: read.encoding.name(),
            size: read.size,
            range: ByteRange { start: read.range.start, end: read.range.end },
            lines: read.lines,
            version: read.version,
            content: read.content,
        };
        let text = in_words(&output, encoding, read.truncated.as_ref());
        let bytes = read.range.end - read.range.start;
        let metadata =
            Metadata { bytes_read: Some(bytes), truncated: read.truncated, ..Metadata::default() };
        Ok(Done::new(output, text).with(metadata))
    }
}

impl ReadFile {
    /// Which part is asked for.
    fn part(&self) -> engine::Result<Part> {
        let Self { start_line, end_line, tail, offset, length, .. } = *self;
        let lines = start_line.is_some() || end_line.is_some();
        let bytes = offset.is_some() || length.is_some();
        let refuse = |message: &'static str| Err(Error::new(ErrorKind::InvalidArgument, message));
        match (lines, tail, bytes) {
            (false, None, false) => Ok(Part::Whole),
            (false, None, true) if length == Some(0) => refuse("`length` must be at least 1"),
            (false, None, true) => Ok(Part::Bytes { offset: offset.unwrap_or(0), length }),
            (false, Some(0), false) => refuse("`tail` must be at least 1"),
            (false, Some(count), false) => Ok(Part::Tail(count)),
            (true, None, false) => {
                let (first, last) = (start_line.unwrap_or(1), end_line);
                if first == 0 {
                    return refuse("lines are counted from 1 on");
                }
                if last.is_some_and(|last| last < first) {
                    return refuse("`endLine` comes before `startLine`");
                }
                Ok(Part::Lines { first, last })
            }
            _ => refuse("ask for lines, or for the last lines, or for bytes, not for several"),
        }
    }
}

fn in_words(output: &ReadOutput, wished: TextEncoding, truncated: Option<&Truncation>) -> String {
    let mut text = output.content.clone();
    if wished == TextEncoding::Auto && output.encoding == TextEncoding::Base64.name() {
        text.push_str("\n\n[no text: these are bytes as base64]");
    }
    if let Some(truncated) = truncated {
        text.push_str("\n\n");
        text.push_str(&truncated.in_words());
    }
    text
}
