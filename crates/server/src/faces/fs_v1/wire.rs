//! The types of the wire, in its field order.

use engine::{Entry, EntryKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::dates;

/// The query of routes that are about one path.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema, JsonSchema, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub(in crate::faces) struct FsPathQuery {
    /// Absolute, or relative to the session's working directory or the home.
    pub(in crate::faces) path: String,
    /// The session whose working directory relative paths begin at. Also spelled `session_id`.
    #[serde(skip_serializing_if = "Option::is_none", alias = "session_id")]
    #[param(nullable = false)]
    pub(in crate::faces) session_id: Option<String>,
}

/// The query of a listing.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema, JsonSchema, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub(in crate::faces) struct FsEntriesQuery {
    /// The directory; `.` when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(nullable = false)]
    pub(in crate::faces) path: Option<String>,
    /// The session whose working directory relative paths begin at. Also spelled `session_id`.
    #[serde(skip_serializing_if = "Option::is_none", alias = "session_id")]
    #[param(nullable = false)]
    pub(in crate::faces) session_id: Option<String>,
    /// At most so many entries. When there are more, the header `x-next-after` holds the
    /// percent-encoded name to send as `after`.
    // Described as u128: the format of a u64 would be that of a signed number, which is too small.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(value_type = u128, minimum = 1)]
    pub(in crate::faces) limit: Option<u64>,
    /// Only entries whose names sort after this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(nullable = false)]
    pub(in crate::faces) after: Option<String>,
}

/// The query of a move or copy.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema, JsonSchema, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub(in crate::faces) struct FsSessionQuery {
    /// The session whose working directory relative paths begin at. Also spelled `session_id`.
    #[serde(skip_serializing_if = "Option::is_none", alias = "session_id")]
    #[param(nullable = false)]
    pub(in crate::faces) session_id: Option<String>,
}

/// The query of a removal.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema, JsonSchema, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub(in crate::faces) struct FsDeleteQuery {
    /// Absolute, or relative to the session's working directory or the home.
    pub(in crate::faces) path: String,
    /// The session whose working directory relative paths begin at. Also spelled `session_id`.
    #[serde(skip_serializing_if = "Option::is_none", alias = "session_id")]
    #[param(nullable = false)]
    pub(in crate::faces) session_id: Option<String>,
    /// Whether a directory goes with everything in it; an empty one goes without.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(nullable = false)]
    pub(in crate::faces) recursive: Option<bool>,
}

/// The query of an uploaded archive.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema, JsonSchema, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub(in crate::faces) struct FsUploadBatchQuery {
    /// The directory to unpack into, which is made; `.` when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(nullable = false)]
    pub(in crate::faces) path: Option<String>,
    /// The session whose working directory relative paths begin at. Also spelled `session_id`.
    #[serde(skip_serializing_if = "Option::is_none", alias = "session_id")]
    #[param(nullable = false)]
    pub(in crate::faces) session_id: Option<String>,
}

/// The query of a downloaded archive. The server's own limits apply as well.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema, JsonSchema, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub(in crate::faces) struct FsDownloadBatchQuery {
    /// The directory or file to pack; `.` when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(nullable = false)]
    pub(in crate::faces) path: Option<String>,
    /// The session whose working directory relative paths begin at. Also spelled `session_id`.
    #[serde(skip_serializing_if = "Option::is_none", alias = "session_id")]
    #[param(nullable = false)]
    pub(in crate::faces) session_id: Option<String>,
    /// The most bytes of content.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(value_type = u128)]
    pub(in crate::faces) max_bytes: Option<u64>,
    /// The most files and directories.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(value_type = u128)]
    pub(in crate::faces) max_entries: Option<u64>,
    /// The most names in a member's path.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(value_type = u128)]
    pub(in crate::faces) max_depth: Option<u64>,
}

/// What an entry is. Everything that is not a directory is a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(in crate::faces) enum FsEntryType {
    /// A file, link, FIFO, socket or device.
    File,
    /// A directory.
    Directory,
}

/// One entry of a listing; links are not followed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::faces) struct FsEntry {
    /// Its name in the directory.
    pub(in crate::faces) name: String,
    /// Its absolute path.
    pub(in crate::faces) path: String,
    /// What it is.
    pub(in crate::faces) entry_type: FsEntryType,
    /// Its length in bytes.
    pub(in crate::faces) size: u64,
    /// When it last changed, RFC 3339 in UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = "2023-11-14T22:13:20.123456789+00:00")]
    pub(in crate::faces) modified: Option<String>,
}

/// What a path leads to; links are followed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::faces) struct FsStat {
    /// The absolute path.
    pub(in crate::faces) path: String,
    /// What is there.
    pub(in crate::faces) entry_type: FsEntryType,
    /// Its length in bytes.
    pub(in crate::faces) size: u64,
    /// When it last changed, RFC 3339 in UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = "2023-11-14T22:13:20.123456789+00:00")]
    pub(in crate::faces) modified: Option<String>,
}

/// What a write did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::faces) struct FsWriteResponse {
    /// The absolute path.
    pub(in crate::faces) path: String,
    /// How many bytes the body had.
    pub(in crate::faces) bytes_written: u64,
}

/// What to move or copy, and whereto.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::faces) struct FsMoveRequest {
    /// What to take.
    pub(in crate::faces) from: String,
    /// Where to put it; missing directories on the way are made.
    pub(in crate::faces) to: String,
    /// Whether what is there is replaced whole; false when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::faces) overwrite: Option<bool>,
}

/// What was moved or copied, as absolute paths.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::faces) struct FsMoveResponse {
    /// Where it was.
    pub(in crate::faces) from: String,
    /// Where it is.
    pub(in crate::faces) to: String,
}

/// What was made or removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::faces) struct FsActionResponse {
    /// The absolute path.
    pub(in crate::faces) path: String,
}

/// What an archive put in place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::faces) struct FsUploadBatchResponse {
    /// Absolute paths in the order of the archive, the first 1,024 of them.
    pub(in crate::faces) paths: Vec<String>,
    /// Whether there were more.
    pub(in crate::faces) truncated: bool,
}

/// The answer to a new session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::faces) struct SessionResponse {
    /// Always true.
    pub(in crate::faces) healthy: bool,
}

/// Bytes as they are.
#[derive(ToSchema)]
#[schema(value_type = String, format = Binary)]
pub(in crate::faces) struct RawBytes(
    #[expect(dead_code, reason = "only its schema is used")] Vec<u8>,
);

impl FsEntry {
    /// The entry as it is listed at `path`.
    pub(in crate::faces) fn new(entry: &Entry, path: String) -> Self {
        Self {
            name: entry.path.name().to_owned(),
            path,
            entry_type: entry.kind.into(),
            size: entry.size,
            modified: entry.modified.and_then(dates::rfc3339),
        }
    }
}

impl FsStat {
    /// The entry that `path` leads to.
    pub(in crate::faces) fn new(entry: &Entry, path: String) -> Self {
        Self {
            path,
            entry_type: entry.kind.into(),
            size: entry.size,
            modified: entry.modified.and_then(dates::rfc3339),
        }
    }
}

impl From<EntryKind> for FsEntryType {
    fn from(kind: EntryKind) -> Self {
        match kind {
            EntryKind::Directory => Self::Directory,
            EntryKind::File | EntryKind::Symlink | EntryKind::Special => Self::File,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use schemars::schema_for;
    use serde_json::Value;
    use utoipa::PartialSchema;

    use super::*;

    fn fields(schema: &Value) -> BTreeSet<String> {
        schema["properties"].as_object().unwrap().keys().cloned().collect()
    }

    /// Asserts that the JSON Schema of a type names what its OpenAPI schema names.
    #[track_caller]
    fn agree<T: JsonSchema + PartialSchema>() {
        let described = serde_json::to_value(T::schema()).unwrap();
        assert_eq!(fields(schema_for!(T).as_value()), fields(&described));
    }

    #[test]
    fn both_schemas_of_every_type_have_the_same_fields() {
        agree::<FsPathQuery>();
        agree::<FsEntriesQuery>();
        agree::<FsSessionQuery>();
        agree::<FsDeleteQuery>();
        agree::<FsUploadBatchQuery>();
        agree::<FsDownloadBatchQuery>();
        agree::<FsEntry>();
        agree::<FsStat>();
        agree::<FsWriteResponse>();
        agree::<FsMoveRequest>();
        agree::<FsMoveResponse>();
        agree::<FsActionResponse>();
        agree::<FsUploadBatchResponse>();
        agree::<SessionResponse>();
    }

    #[test]
    fn names_are_in_camel_case_and_absent_fields_are_left_out() {
        let entry = FsEntry {
            name: "n".to_owned(),
            path: "/n".to_owned(),
            entry_type: FsEntryType::Directory,
            size: 1,
            modified: None,
        };
        let json = serde_json::to_string(&entry).unwrap();
        assert_eq!(json, r#"{"name":"n","path":"/n","entryType":"directory","size":1}"#);
        assert_eq!(serde_json::from_str::<FsEntry>(&json).unwrap(), entry);
    }

    #[test]
    fn a_session_has_two_spellings() {
        let query: FsPathQuery = serde_json::from_str(r#"{"path":"p","session_id":"s"}"#).unwrap();
        assert_eq!(query.session_id.as_deref(), Some("s"));
    }
}
