//! What each request is called in the audit.

use http::Method;

use super::ROUTE;

/// What a request of a route is called. What a tool does is called as the engine calls it.
pub(in crate::faces) fn operation(route: &str, method: &Method) -> Option<&'static str> {
    match *method {
        _ if route != ROUTE => None,
        Method::POST => Some("mcp_call"),
        Method::GET | Method::HEAD => Some("mcp_listen"),
        Method::DELETE => Some("mcp_close"),
        _ => None,
    }
}
