//! What each request is called in the audit, and what it is about.

use http::{Method, Uri};

use super::naming::spelled_in;
use super::{PREFIX, TOOL};
use crate::faces::{Subject, spelled};

/// What a request of a route is called. What a tool does is called as the engine calls it, and what
/// it refuses as the tool is called.
pub(in crate::faces) fn operation(route: &str, method: &Method) -> Option<&'static str> {
    match (route, method) {
        (PREFIX, &Method::GET | &Method::HEAD) => Some("list_tools"),
        (TOOL, &Method::GET | &Method::HEAD) => Some("show_tool"),
        (TOOL, &Method::POST) => Some("call_tool"),
        _ => None,
    }
}

/// What a request is about: the tool.
pub(in crate::faces) fn subject(uri: &Uri) -> Subject {
    Subject { path: None, id: spelled_in(uri).as_deref().and_then(spelled) }
}
