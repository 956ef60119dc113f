//! What each request is called in the audit, and what it is about.

use engine::Sandbox;
use http::{Method, Uri};

use crate::faces::{Subject, spelled};
use crate::query::Params;

const OPERATIONS: &[(&str, &str, &str)] = &[
    ("GET", "/v1/fs/entries", "list"),
    ("GET", "/v1/fs/file", "read"),
    ("HEAD", "/v1/fs/file", "read"),
    ("PUT", "/v1/fs/file", "write"),
    ("PATCH", "/v1/fs/file", "write"),
    ("DELETE", "/v1/fs/entry", "remove"),
    ("POST", "/v1/fs/mkdir", "create_dir"),
    ("POST", "/v1/fs/move", "rename"),
    ("POST", "/v1/fs/copy", "copy"),
    ("GET", "/v1/fs/stat", "stat"),
    ("POST", "/v1/fs/upload-batch", "unpack"),
    ("GET", "/v1/fs/download-batch", "pack"),
    ("POST", "/v1/sessions/{id}", "open_session"),
];

/// What a request of a route is called. The engine calls it the same when it gets that far.
pub(in crate::faces) fn operation(route: &str, method: &Method) -> Option<&'static str> {
    let mut rows = OPERATIONS.iter();
    rows.find(|(verb, at, _)| method == verb && *at == route).map(|(_, _, word)| *word)
}

/// What a request is about, as far as its address says so. What a relative path means depends on the
/// session, so that it is told as it was spelled.
pub(in crate::faces) fn subject(uri: &Uri, sandbox: Option<&Sandbox>) -> Subject {
    let text = Params::of(uri).optional("path").ok().flatten();
    let Some(text) = text else { return Subject::default() };
    let absolute = sandbox.filter(|_| text.starts_with('/'));
    match absolute.and_then(|sandbox| sandbox.locate(&text).ok()) {
        Some(path) => Subject { path: Some(path), id: None },
        None => Subject { path: None, id: spelled(&text) },
    }
}
