//! The types of the wire, in its field order.

use std::collections::BTreeMap;

use bytes::Bytes;
use engine::{AttachTarget, Entry, EntryKind, Limits, Registered, SandboxKind, UnixTime, Usage};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use super::errors::shown;
use crate::dates;
use crate::problem::{Problem, render};
use crate::query::{FromParams, Params};

/// Bytes of a file.
#[derive(ToSchema)]
#[schema(value_type = String, format = Binary)]
pub(super) struct RawBytes(#[expect(dead_code, reason = "only described")] Vec<u8>);

/// What a directory holds.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema, JsonSchema)]
pub(super) struct Listing {
    /// What it holds.
    pub(super) entries: Vec<ListedEntry>,
    /// How many there are in all. Pages by cursor do not count them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(super) total: Option<u64>,
    /// Whether there are more than these.
    pub(super) truncated: bool,
    /// What to send as `cursor` for the next page.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(super) next_cursor: Option<String>,
}

impl Listing {
    /// What stands behind the entries.
    pub(super) fn end(total: Option<u64>, truncated: bool, cursor: Option<&str>) -> Vec<u8> {
        let next_cursor = cursor.map(ToOwned::to_owned);
        let whole = render(&Self { entries: Vec::new(), total, truncated, next_cursor });
        whole.strip_prefix(br#"{"entries":["#).unwrap_or_default().to_vec()
    }
}

/// An entry of a listing.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema, JsonSchema)]
pub(super) struct ListedEntry {
    /// Its name, without any path.
    pub(super) name: String,
    /// Its length in bytes; 0 for a directory.
    pub(super) size: u64,
    /// When it last changed, in seconds since 1970.
    pub(super) mod_time: i64,
    /// Whether it is a directory.
    pub(super) is_dir: bool,
    /// What it is.
    pub(super) kind: Kind,
    /// Its path from the listed directory on, in a listing of a whole tree.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(super) path: Option<String>,
    /// All that `fs-stat` tells, if `details` ask for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(super) stat: Option<Stat>,
}

impl ListedEntry {
    pub(super) fn new(entry: &Entry, path: Option<String>, stat: Option<Stat>) -> Self {
        Self {
            name: entry.path.name().to_owned(),
            size: Self::size_of(entry),
            mod_time: entry.modified.map_or(0, |time| time.seconds),
            is_dir: entry.kind == EntryKind::Directory,
            kind: entry.kind.into(),
            path,
            stat,
        }
    }

    pub(super) fn size_of(entry: &Entry) -> u64 {
        if entry.kind == EntryKind::Directory { 0 } else { entry.size }
    }
}

/// What an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Symlink,
    /// A FIFO, socket or device node.
    Special,
}

impl From<EntryKind> for Kind {
    fn from(kind: EntryKind) -> Self {
        match kind {
            EntryKind::File => Self::File,
            EntryKind::Directory => Self::Directory,
            EntryKind::Symlink => Self::Symlink,
            EntryKind::Special => Self::Special,
        }
    }
}

impl From<Kind> for EntryKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::File => Self::File,
            Kind::Directory => Self::Directory,
            Kind::Symlink => Self::Symlink,
            Kind::Special => Self::Special,
        }
    }
}

/// What is at a path.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema, JsonSchema)]
pub(super) struct Stat {
    /// Where it is, from the root of the sandbox on; `.` for the root itself.
    pub(super) path: String,
    /// Its name; empty for the root.
    pub(super) name: String,
    /// What it is.
    pub(super) kind: Kind,
    /// Its length in bytes; 0 for a directory.
    pub(super) size: u64,
    /// Permission bits, in octal.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = "644")]
    pub(super) mode: Option<String>,
    /// When its content last changed (RFC 3339).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(super) modified: Option<String>,
    /// When it was made (RFC 3339).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(super) created: Option<String>,
    /// The token of its state, as it stands in an ETag.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(super) version: Option<String>,
}

impl Stat {
    pub(super) fn new(entry: &Entry) -> Self {
        Self {
            path: shown(&entry.path).to_owned(),
            name: entry.path.name().to_owned(),
            kind: entry.kind.into(),
            size: ListedEntry::size_of(entry),
            mode: entry.mode.map(|mode| format!("{:o}", mode & 0o777)),
            modified: entry.modified.and_then(dates::rfc3339),
            created: entry.created.and_then(dates::rfc3339),
            version: entry.version.as_ref().map(ToString::to_string),
        }
    }
}

/// How a directory is listed.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct ListingQuery {
    /// At most so many entries.
    #[param(required = false, value_type = u128, minimum = 1)]
    pub(super) limit: Option<u64>,
    /// The `next_cursor` of the page before.
    #[param(nullable = false)]
    pub(super) cursor: Option<String>,
    /// Leave out so many at the beginning.
    #[param(required = false, value_type = u128)]
    pub(super) offset: Option<u64>,
    /// Whether what lies deeper is listed too.
    #[param(nullable = false)]
    pub(super) recursive: Option<bool>,
    /// How many levels of a recursive listing.
    #[param(required = false, value_type = u128, minimum = 1)]
    pub(super) depth: Option<u64>,
    /// A glob that names must fit, or paths if it has a slash.
    #[param(nullable = false)]
    pub(super) glob: Option<String>,
    /// Only entries of this kind.
    #[param(nullable = false, inline)]
    pub(super) kind: Option<Kind>,
    /// By what the entries are sorted.
    #[param(required = false, nullable = false, inline)]
    pub(super) sort: SortBy,
    /// In which direction.
    #[param(required = false, nullable = false, inline)]
    pub(super) order: Order,
    /// Whether each entry comes with all that `fs-stat` tells.
    #[param(nullable = false)]
    pub(super) details: Option<bool>,
}

/// By what entries are sorted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum SortBy {
    /// Their paths.
    #[default]
    Name,
    /// Their lengths.
    Size,
    /// When they last changed.
    Modified,
}

/// In which direction entries are sorted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
pub(super) enum Order {
    /// The smallest first.
    #[default]
    #[serde(rename = "asc")]
    Ascending,
    /// The greatest first.
    #[serde(rename = "desc")]
    Descending,
}

impl FromParams for ListingQuery {
    fn from_params(params: &Params<'_>) -> Result<Self, Problem> {
        let positive = |name| match params.number(name)? {
            Some(0) => Err(Problem::invalid_request(&format!("`{name}` must be at least 1"))
                .hint(format!("leave `{name}` out to have everything"))),
            number => Ok(number),
        };
        let recursive = params.flag("recursive")?;
        let depth = positive("depth")?;
        if depth.is_some() && recursive != Some(true) {
            return Err(Problem::invalid_request("`depth` is about a recursive listing")
                .hint("add `recursive=true`"));
        }
        let (cursor, offset) = (params.optional("cursor")?, params.number("offset")?);
        if cursor.is_some() && offset.is_some() {
            return Err(Problem::invalid_request("`cursor` and `offset` contradict each other")
                .hint("send one of the two"));
        }
        Ok(Self {
            limit: positive("limit")?,
            cursor,
            offset,
            recursive,
            depth,
            glob: params.optional("glob")?,
            kind: params.word("kind")?,
            sort: params.word("sort")?.unwrap_or_default(),
            order: params.word("order")?.unwrap_or_default(),
            details: params.flag("details")?,
        })
    }
}

/// How much a sandbox may hold; what is absent or null is unlimited.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct WireLimits {
    /// The longest file, in bytes.
    pub(super) file_size: Option<u64>,
    /// The lengths of all files, added up.
    pub(super) total_size: Option<u64>,
    /// Files and directories, the root included.
    pub(super) nodes: Option<u64>,
}

impl From<WireLimits> for Limits {
    fn from(limits: WireLimits) -> Self {
        let WireLimits { file_size, total_size, nodes } = limits;
        Self { file_size, total_size, nodes }
    }
}

impl From<Limits> for WireLimits {
    fn from(limits: Limits) -> Self {
        let Limits { file_size, total_size, nodes } = limits;
        Self { file_size, total_size, nodes }
    }
}

/// How the tree of a sandbox is kept.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub(super) enum TreeKind {
    /// In the server's store, isolated from every machine.
    #[default]
    Virtual,
    /// In a directory of the server's machine, confined by the kernel.
    Host,
}

/// A sandbox that is to be made.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct NewSandboxRequest {
    /// 1 to 63 lower-case letters, digits and inner hyphens; made up without it.
    #[schema(nullable = false, example = "alice")]
    pub(super) id: Option<String>,
    /// How its tree is kept.
    pub(super) kind: TreeKind,
    /// The directory of a `host` sandbox, beneath one that the operator allowed; a new one without
    /// it.
    pub(super) root: Option<String>,
    /// The container or process of the server's machine whose tree a `host` sandbox is. Only for
    /// whoever has the server's token, and only if the operator allowed it.
    pub(super) attach: Option<Attach>,
    /// Where in the container the tree begins: an absolute path, `/` without it.
    pub(super) path: Option<String>,
    /// The absolute path at which clients of `/v1/fs` see the tree; `/` without it.
    pub(super) prefix: Option<String>,
    /// How much it may hold.
    pub(super) limits: Option<WireLimits>,
    /// What programs want to know about it.
    pub(super) labels: BTreeMap<String, String>,
    /// How many seconds it lives; for ever without it.
    pub(super) ttl: Option<u64>,
    /// What it begins as; empty without it.
    pub(super) from: Option<Origin>,
}

/// What a sandbox is attached to: just one of the two.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Attach {
    /// The name or id of a Docker or Podman container. When it ends, the sandbox is unavailable
    /// until it runs again.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = "web")]
    pub(super) container: Option<String>,
    /// The id of a process. When it ends, the sandbox is unavailable for good.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(super) pid: Option<u32>,
}

impl From<&AttachTarget> for Attach {
    fn from(target: &AttachTarget) -> Self {
        match target {
            AttachTarget::Container(name) => {
                Self { container: Some(name.as_str().to_owned()), pid: None }
            }
            AttachTarget::Process { pid, .. } => Self { container: None, pid: Some(*pid) },
        }
    }
}

/// What a sandbox begins as.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Origin {
    /// Another sandbox.
    pub(super) sandbox: String,
    /// A snapshot of it; as it is now without it.
    #[serde(default)]
    pub(super) snapshot: Option<String>,
}

/// What is to change of a sandbox; what is absent stays.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct SandboxChange {
    /// How much it may hold from now on: all limits at once.
    pub(super) limits: Option<WireLimits>,
    /// Labels that are set, or taken away by `null`.
    pub(super) labels: BTreeMap<String, Option<String>>,
    /// How many seconds it lives from now on; for ever if it is `null`.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    #[schema(value_type = Option<u64>)]
    pub(super) ttl: Option<Value>,
}

/// A value that is there, even if it is `null`.
fn present<'de, D: serde::Deserializer<'de>>(input: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(input).map(Some)
}

/// A sandbox.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema, JsonSchema)]
pub(super) struct SandboxBody {
    /// What it is called.
    pub(super) id: String,
    /// How its tree is kept.
    pub(super) kind: TreeKind,
    /// The directory of a `host` sandbox, for owners.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(super) root: Option<String>,
    /// Whether that directory was made for the sandbox, and goes with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(super) root_made: Option<bool>,
    /// What a `host` sandbox is attached to, for owners.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(super) attach: Option<Attach>,
    /// Where in the container the tree begins, for owners.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(super) path: Option<String>,
    /// The absolute path at which clients of `/v1/fs` see the tree.
    pub(super) prefix: String,
    /// How much it may hold.
    pub(super) limits: WireLimits,
    /// What programs want to know about it.
    pub(super) labels: BTreeMap<String, String>,
    /// When it was made (RFC 3339).
    pub(super) created_at: String,
    /// When it ends (RFC 3339), if it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(super) expires_at: Option<String>,
    /// Whether the server was started with it; it then cannot be changed or removed here.
    pub(super) main: bool,
}

impl SandboxBody {
    pub(super) fn new(known: Registered, is_owner: bool) -> Self {
        let (kind, root, attached) = match known.kind {
            SandboxKind::Virtual => (TreeKind::Virtual, None, None),
            SandboxKind::Host { root, made } => (TreeKind::Host, Some((root, made)), None),
            SandboxKind::Attached { target, path } => {
                (TreeKind::Host, None, Some((Attach::from(&target), path.to_string())))
            }
        };
        let (root, root_made) = root.filter(|_| is_owner).unzip();
        let (attach, path) = attached.filter(|_| is_owner).unzip();
        Self {
            id: known.id.to_string(),
            kind,
            root,
            root_made,
            attach,
            path,
            prefix: known.prefix.to_string(),
            limits: known.limits.into(),
            labels: known.labels,
            created_at: time(known.created),
            expires_at: known.expires.map(time),
            main: known.is_main,
        }
    }
}

/// Some of the sandboxes.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema, JsonSchema)]
pub(super) struct SandboxList {
    /// Those that were found.
    pub(super) sandboxes: Vec<SandboxBody>,
    /// What to send as `cursor` for the next page, if there may be more.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(super) next_cursor: Option<String>,
}

/// How much a sandbox holds.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema, JsonSchema)]
pub(super) struct Stats {
    /// The lengths of all files, added up.
    pub(super) bytes: u64,
    /// Everything that is not a directory.
    pub(super) files: u64,
    /// Directories, the root among them.
    pub(super) directories: u64,
    /// Files and directories together.
    pub(super) nodes: u64,
    /// How much it may hold.
    pub(super) limits: WireLimits,
}

impl Stats {
    pub(super) fn new(usage: Usage, limits: Limits) -> Self {
        let Usage { bytes, files, directories } = usage;
        Self { bytes, files, directories, nodes: usage.nodes(), limits: limits.into() }
    }
}

pub(super) fn time(time: UnixTime) -> String {
    dates::rfc3339(time).unwrap_or_default()
}

/// One line of JSON.
pub(super) fn line<T: Serialize>(value: &T) -> Bytes {
    let mut line = render(value);
    line.push(b'\n');
    line.into()
}
