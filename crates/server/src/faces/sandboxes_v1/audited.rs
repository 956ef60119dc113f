//! What each request is called in the audit, and what it is about.

use std::sync::Arc;

use engine::{KeyId, SnapshotId};
use http::{Method, Uri};
use percent_encoding::percent_decode_str;

use super::paths::Place;
use crate::faces::{Subject, spelled};

/// Routes behind `/v1/sandboxes/{id}/` whose address ends in a path.
const WITH_PATH: &[(&str, &str, &str)] = &[
    ("GET", "fs", "read"),
    ("HEAD", "fs", "read"),
    ("PUT", "fs", "write"),
    ("PATCH", "fs", "write"),
    ("DELETE", "fs", "remove"),
    ("GET", "fs-list", "list"),
    ("GET", "fs-stat", "stat"),
    ("POST", "fs-mkdir", "create_dir"),
    ("GET", "fs-link", "read_link"),
    ("PUT", "fs-link", "symlink"),
    ("POST", "fs-chmod", "set_metadata"),
    ("POST", "fs-truncate", "truncate"),
    ("GET", "fs-archive", "pack"),
    ("POST", "fs-archive", "unpack"),
    ("POST", "fs-search", "search"),
    ("POST", "fs-edit", "edit"),
    ("GET", "fs-watch", "watch"),
];
/// The others there.
const INSIDE: &[(&str, &str, &str)] = &[
    ("POST", "fs-move", "rename"),
    ("POST", "fs-copy", "copy"),
    ("POST", "fs-batch", "batch"),
    ("GET", "stats", "usage"),
    ("GET", "audit", "read_audit"),
    ("POST", "sign", "sign"),
    ("GET", "snapshots", "list_snapshots"),
    ("POST", "snapshots", "snapshot"),
    ("GET", "snapshots/{snapshot}", "stat_snapshot"),
    ("DELETE", "snapshots/{snapshot}", "delete_snapshot"),
    ("POST", "snapshots/{snapshot}/restore", "restore"),
    ("GET", "snapshots/{snapshot}/export", "export"),
    ("GET", "export", "export"),
    ("POST", "snapshot-import", "import"),
    ("POST", "fork", "fork_sandbox"),
    ("GET", "diff", "diff"),
];
/// What concerns no one tree.
const OUTSIDE: &[(&str, &str, &str)] = &[
    ("GET", "/v1/sandboxes", "list_sandboxes"),
    ("POST", "/v1/sandboxes", "create_sandbox"),
    ("GET", "/v1/sandboxes/{id}", "show_sandbox"),
    ("PATCH", "/v1/sandboxes/{id}", "change_sandbox"),
    ("DELETE", "/v1/sandboxes/{id}", "remove_sandbox"),
    ("GET", "/v1/keys", "list_keys"),
    ("POST", "/v1/keys", "create_key"),
    ("GET", "/v1/keys/{key}", "show_key"),
    ("DELETE", "/v1/keys/{key}", "revoke_key"),
    ("GET", "/v1/audit", "read_audit"),
    ("GET", "/v1/audit/gate", "read_audit"),
];

/// What a request of a route is called. The engine calls it the same when it gets that far.
pub(in crate::faces) fn operation(route: &str, method: &Method) -> Option<&'static str> {
    let found = |table: &[(&str, &str, &'static str)], route: &str| {
        let mut rows = table.iter();
        rows.find(|(verb, at, _)| method == verb && *at == route).map(|(_, _, word)| *word)
    };
    match inside(route) {
        Some(rest) => found(INSIDE, rest).or_else(|| found(WITH_PATH, word(rest))),
        None => found(OUTSIDE, route),
    }
}

/// What a request is about, as far as its address says so.
pub(in crate::faces) fn subject(route: &str, uri: &Uri, strip: bool) -> Subject {
    let has_path = inside(route)
        .is_some_and(|rest| WITH_PATH.iter().any(|(_, with_path, _)| *with_path == word(rest)));
    if has_path {
        return match Place::of_address(uri.path(), strip) {
            Ok(place) => Subject { path: Some(place.path), id: None },
            Err(_) => Subject { path: None, id: spelled(&Place::text_in(uri.path())) },
        };
    }
    let named = |what: &str| {
        let mut pairs = route.split('/').zip(uri.path().split('/'));
        pairs.find(|(word, _)| *word == what).map(|(_, text)| text)
    };
    // Nothing but an id: somebody may have put his whole key there.
    let key = named("{key}").and_then(|text| KeyId::parse(text).ok());
    let snapshot = named("{snapshot}")
        .and_then(|text| SnapshotId::parse(&percent_decode_str(text).decode_utf8().ok()?).ok());
    let id = key.map(|id| Arc::from(id.as_str()));
    Subject { path: None, id: id.or_else(|| snapshot.map(|id| Arc::from(id.as_str()))) }
}

fn inside(route: &str) -> Option<&str> {
    route.strip_prefix(super::PREFIX)?.strip_prefix("/{id}/")
}

fn word(rest: &str) -> &str {
    rest.split('/').next().unwrap_or_default()
}
