//! What came of a call.

use engine::ErrorKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What came of a call, whoever asked and however.
#[derive(Clone, Debug, Serialize)]
pub struct ToolResult {
    /// Whether it was done.
    pub success: bool,
    /// What it gave; none if it failed.
    pub data: Option<Value>,
    /// What went wrong and what to do next; none if it was done.
    pub error: Option<String>,
    /// What else there is to say.
    pub metadata: Metadata,
    /// The same for a model that reads text: a file's content as it is, not a JSON string of it.
    #[serde(skip)]
    pub text: String,
    /// The kind of failure.
    #[serde(skip)]
    pub kind: Option<ErrorKind>,
}

/// What else there is to say of a call. What does not concern it is left out.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Metadata {
    /// Which tool it was.
    pub tool: String,
    /// How long it took, in milliseconds.
    pub duration_ms: f64,
    /// How many bytes of a file were read.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64")]
    pub bytes_read: Option<u64>,
    /// How many bytes were written.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64")]
    pub bytes_written: Option<u64>,
    /// How many things were counted: entries, matches, changes, steps.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64")]
    pub items: Option<u64>,
    /// That there is more than was given, why, and how to get it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Truncation")]
    pub truncated: Option<Truncation>,
    /// The kind of failure, a stable word for programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub kind: Option<String>,
    /// The path that it went wrong at.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub path: Option<String>,
    /// What to do next.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub hint: Option<String>,
    /// Names that are there and look like the one that is not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub suggestions: Vec<String>,
    /// Whether the same call may be made again as it is, and may succeed then.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "bool")]
    pub retryable: Option<bool>,
}

/// That there is more than was given.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Truncation {
    /// How much was given.
    pub returned: u64,
    /// How much there is; null where nobody counted to the end.
    pub total: Option<u64>,
    /// What is counted.
    pub unit: Unit,
    /// Why there is no more.
    pub reason: Why,
    /// The arguments to call with, beside those of this call, to go on where it ended; null if that
    /// cannot be done.
    pub next: Option<Map<String, Value>>,
}

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Unit {
    /// Bytes of a file.
    Bytes,
    /// Lines of a file.
    Lines,
    /// Entries of a directory.
    Entries,
    /// Names or lines that were found.
    Matches,
    /// Paths that differ.
    Changes,
    /// Snapshots.
    Snapshots,
    /// Steps of a batch.
    Steps,
}

/// Why there is no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Why {
    /// As much was asked for.
    Limit,
    /// One answer holds no more.
    Budget,
    /// No deeper directory was looked at.
    Depth,
    /// As many bytes of files were read as may be.
    Bytes,
    /// The time was up.
    Time,
}

/// What a tool did.
#[derive(Debug)]
pub(crate) struct Done<T> {
    /// What it gives.
    pub(crate) data: T,
    /// What else there is to say.
    pub(crate) metadata: Metadata,
    /// The same for a model.
    pub(crate) text: String,
}

impl<T> Done<T> {
    /// Something that was done, in words.
    pub(crate) fn new(data: T, text: impl Into<String>) -> Self {
        Self { data, metadata: Metadata::default(), text: text.into() }
    }

    /// The same with more to say.
    pub(crate) fn with(mut self, metadata: Metadata) -> Self {
        self.metadata = metadata;
        self
    }
}

impl Truncation {
    /// The same for a model.
    pub(crate) fn in_words(&self) -> String {
        let Self { returned, total, unit, reason, next } = self;
        let unit = unit.word();
        let of = total.map(|total| format!(" of {total}")).unwrap_or_default();
        let why = match reason {
            Why::Limit => "as many as were asked for",
            Why::Budget => "one answer holds no more",
            Why::Depth => "no deeper directory was looked at",
            Why::Bytes => "no more bytes may be read",
            Why::Time => "the time was up",
        };
        let how = match next {
            Some(next) => {
                let next = Value::Object(next.clone());
                format!("; to go on, call again with {next}")
            }
            None => String::new(),
        };
        format!("[truncated: {returned}{of} {unit}, {why}{how}]")
    }
}

impl Unit {
    fn word(self) -> &'static str {
        match self {
            Self::Bytes => "bytes",
            Self::Lines => "lines",
            Self::Entries => "entries",
            Self::Matches => "matches",
            Self::Changes => "changes",
            Self::Snapshots => "snapshots",
            Self::Steps => "steps",
        }
    }
}
