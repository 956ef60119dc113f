//! What is answered, for the description of the interface.
//!
//! What is really sent is written by `tools`, which knows no HTTP; a test compares the two.

use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

/// The name of a tool.
#[derive(Debug)]
pub(super) struct ToolName;

impl PartialSchema for ToolName {
    fn schema() -> RefOr<Schema> {
        let names = tools::TOOLS.iter().map(|tool| tool.name);
        ObjectBuilder::new().schema_type(Type::String).enum_values(Some(names)).into()
    }
}

impl ToSchema for ToolName {}

/// The arguments of a tool, as its schema says.
#[derive(Debug, ToSchema)]
#[schema(value_type = Object)]
#[expect(dead_code, reason = "a description")]
pub(super) struct ToolArguments(Map<String, Value>);

/// The tools in the format that was asked for.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ToolList {
    /// One object a tool.
    #[schema(value_type = Vec<Object>)]
    pub(super) tools: Vec<Value>,
}

/// A tool in the format that was asked for.
#[derive(Debug, ToSchema)]
#[schema(value_type = Object)]
#[expect(dead_code, reason = "a description")]
pub(super) struct ToolDescription(Map<String, Value>);

/// What came of a call. Whatever goes wrong looks the same.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "a description")]
pub(crate) struct ToolAnswer {
    /// Whether it was done.
    success: bool,
    /// What it gave; null if it failed.
    #[schema(required, value_type = Option<Object>)]
    data: Option<Map<String, Value>>,
    /// What went wrong and what to do next; null if it was done.
    #[schema(required)]
    error: Option<String>,
    /// What else there is to say.
    metadata: ToolMetadata,
}

/// What else there is to say of a call. What does not concern it is left out.
#[derive(Debug, ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "a description")]
pub(crate) struct ToolMetadata {
    /// Which tool it was, as it was asked for.
    #[schema(example = "read_file")]
    tool: String,
    /// How long it took, in milliseconds.
    duration_ms: f64,
    /// How many bytes of a file were read.
    #[schema(nullable = false)]
    bytes_read: Option<u64>,
    /// How many bytes were written.
    #[schema(nullable = false)]
    bytes_written: Option<u64>,
    /// How many things were counted: entries, matches, changes, steps.
    #[schema(nullable = false)]
    items: Option<u64>,
    /// That there is more than was given, why, and how to get it.
    #[schema(nullable = false)]
    truncated: Option<ToolTruncation>,
    /// The kind of failure, a stable word for programs.
    #[schema(nullable = false, example = "not_found")]
    kind: Option<String>,
    /// The path that it went wrong at.
    #[schema(nullable = false)]
    path: Option<String>,
    /// What to do next.
    #[schema(nullable = false)]
    hint: Option<String>,
    /// Names that are there and look like the one that is not.
    #[schema(nullable = false)]
    suggestions: Option<Vec<String>>,
    /// Whether the same call may be made again as it is, and may succeed then.
    #[schema(nullable = false)]
    retryable: Option<bool>,
}

/// That there is more than was given.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "a description")]
pub(crate) struct ToolTruncation {
    /// How much was given.
    returned: u64,
    /// How much there is; null where nobody counted to the end.
    #[schema(required)]
    total: Option<u64>,
    /// What is counted.
    unit: ToolUnit,
    /// Why there is no more.
    reason: ToolReason,
    /// The arguments to call with, beside those of this call, to go on where it ended; null if that
    /// cannot be done.
    #[schema(required, value_type = Option<Object>)]
    next: Option<Map<String, Value>>,
}

/// What is counted.
#[derive(Debug, ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "a description")]
pub(crate) enum ToolUnit {
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
#[derive(Debug, ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "a description")]
pub(crate) enum ToolReason {
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use tools::{Metadata, ToolResult, Truncation, Unit, Why};

    use super::*;

    fn names<T: Serialize>(value: &T) -> BTreeSet<String> {
        serde_json::to_value(value).unwrap().as_object().unwrap().keys().cloned().collect()
    }

    fn described<T: PartialSchema>() -> (BTreeSet<String>, BTreeSet<String>) {
        let schema = serde_json::to_value(T::schema()).unwrap();
        let required = schema["required"].as_array().unwrap().iter();
        let required = required.map(|name| name.as_str().unwrap().to_owned()).collect();
        (names(&schema["properties"]), required)
    }

    #[test]
    fn what_is_described_is_what_is_sent() {
        let truncated = Truncation {
            returned: 1,
            total: None,
            unit: Unit::Bytes,
            reason: Why::Limit,
            next: None,
        };
        let full = Metadata {
            bytes_read: Some(1),
            bytes_written: Some(1),
            items: Some(1),
            truncated: Some(truncated.clone()),
            kind: Some("io".into()),
            path: Some("/".into()),
            hint: Some("hint".into()),
            suggestions: vec!["/a".into()],
            retryable: Some(true),
            ..Metadata::default()
        };
        let (least, most) = (names(&Metadata::default()), names(&full));
        let (properties, required) = described::<ToolMetadata>();
        assert_eq!((most, least), (properties, required));
        let (properties, required) = described::<ToolTruncation>();
        assert_eq!((names(&truncated), names(&truncated)), (properties, required));
        let result = ToolResult {
            success: false,
            data: None,
            error: None,
            metadata: full,
            text: String::new(),
            kind: None,
        };
        let (properties, required) = described::<ToolAnswer>();
        assert_eq!((names(&result), names(&result)), (properties, required));
    }
    #[test]
    fn the_words_are_those_that_are_sent() {
        fn words<T: PartialSchema>() -> Value {
            serde_json::to_value(T::schema()).unwrap()["enum"].clone()
        }
        let units = [
            Unit::Bytes,
            Unit::Lines,
            Unit::Entries,
            Unit::Matches,
            Unit::Changes,
            Unit::Snapshots,
            Unit::Steps,
        ];
        assert_eq!(words::<ToolUnit>(), serde_json::to_value(units).unwrap());
        let reasons = [Why::Limit, Why::Budget, Why::Depth, Why::Bytes, Why::Time];
        assert_eq!(words::<ToolReason>(), serde_json::to_value(reasons).unwrap());
    }
}
