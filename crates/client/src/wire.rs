//! The JSON of `/v1/fs`, as far as this client reads and writes it.

use engine::{Entry, EntryKind, Result, SandboxPath, UnixTime, Version};
use http::HeaderMap;
use http::header::ETAG;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::transport::not_understood;

/// The answer of `/v1/fs/stat`.
#[derive(Debug, Deserialize)]
pub(crate) struct Stat {
    pub(crate) path: String,
    #[serde(flatten)]
    state: State,
}

/// One element of `/v1/fs/entries`.
#[derive(Debug, Deserialize)]
pub(crate) struct Child {
    name: String,
    #[serde(flatten)]
    state: State,
}

/// What both tell of a file or directory.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct State {
    entry_type: EntryType,
    size: u64,
    modified: Option<String>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum EntryType {
    File,
    Directory,
}

/// The answer to a write.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Written {
    pub(crate) bytes_written: u64,
}

/// What a move or copy is asked with.
#[derive(Debug, Serialize)]
pub(crate) struct Relocation<'a> {
    pub(crate) from: &'a str,
    pub(crate) to: &'a str,
    pub(crate) overwrite: bool,
}

/// The answer to an uploaded archive.
#[derive(Debug, Deserialize)]
pub(crate) struct Uploaded {
    pub(crate) paths: Vec<String>,
}

impl Stat {
    /// The entry at `path`, whose headers may carry its version.
    pub(crate) fn entry(self, path: &SandboxPath, headers: &HeaderMap) -> Entry {
        Entry { version: version(headers), ..self.state.entry(path.clone()) }
    }
}

impl Child {
    /// The entry as it lies in `dir`.
    pub(crate) fn entry(self, dir: &SandboxPath) -> Result<Entry> {
        let path = dir.join(&self.name).map_err(not_understood)?;
        Ok(self.state.entry(path))
    }
}

impl State {
    fn entry(self, path: SandboxPath) -> Entry {
        let kind = match self.entry_type {
            EntryType::File => EntryKind::File,
            EntryType::Directory => EntryKind::Directory,
        };
        let modified = self.modified.as_deref().and_then(time);
        Entry { modified, ..entry(path, kind, self.size) }
    }
}

/// An entry of which nothing more is known.
pub(crate) fn entry(path: SandboxPath, kind: EntryKind, size: u64) -> Entry {
    Entry { path, kind, size, mode: None, created: None, modified: None, version: None }
}

/// The version that a strong `ETag` tells.
pub(crate) fn version(headers: &HeaderMap) -> Option<Version> {
    let tag = headers.get(ETAG)?.to_str().ok()?;
    let token = tag.strip_prefix('"')?.strip_suffix('"')?;
    Some(Version::new(token))
}

/// A number in a header of our own.
pub(crate) fn number(headers: &HeaderMap, name: &str) -> Option<u64> {
    headers.get(name)?.to_str().ok()?.parse().ok()
}

/// The time that RFC 3339 spells.
pub(crate) fn time(text: &str) -> Option<UnixTime> {
    const SECOND: i128 = 1_000_000_000;
    let nanoseconds = text.parse::<Timestamp>().ok()?.as_nanosecond();
    Some(UnixTime {
        seconds: i64::try_from(nanoseconds.div_euclid(SECOND)).ok()?,
        nanoseconds: u32::try_from(nanoseconds.rem_euclid(SECOND)).ok()?,
    })
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn a_stat_is_read_with_its_time_and_version() {
        let json = r#"{"path":"/f","entryType":"file","size":5,
            "modified":"2023-11-14T22:13:20.123456789+00:00"}"#;
        let stat: Stat = serde_json::from_str(json).unwrap();
        let headers = [(ETAG, HeaderValue::from_static("\"1-2-3\""))].into_iter().collect();
        let entry = stat.entry(&SandboxPath::root(), &headers);
        let time = UnixTime { seconds: 1_700_000_000, nanoseconds: 123_456_789 };
        assert_eq!((entry.size, entry.modified), (5, Some(time)));
        assert_eq!(entry.version, Some(Version::new("1-2-3")));
    }

    #[test]
    fn a_time_before_1970_counts_its_nanoseconds_forward() {
        let time = time("1969-12-31T23:59:58.500+00:00").unwrap();
        assert_eq!((time.seconds, time.nanoseconds), (-2, 500_000_000));
    }

    #[test]
    fn a_weak_tag_is_no_version() {
        let headers = [(ETAG, HeaderValue::from_static("W/\"1\""))].into_iter().collect();
        assert_eq!(version(&headers), None);
    }
}
