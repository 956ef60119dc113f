//! One module per protocol, one line each.

mod acp;
mod fs_v1;
mod mcp;
mod meta;
mod sandboxes_v1;
mod tools;

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::{MatchedPath, Request};
use axum::response::Response as Answer;
use engine::{Error, Sandbox, SandboxId, SandboxPath};
use http::{Method, Uri};
use utoipa::openapi::{RefOr, Response};
use utoipa_axum::router::OpenApiRouter;

use crate::app::App;
use crate::caller::Caller;
use crate::problem::Problem;
use crate::visit::id_in;
pub(crate) use acp::{AgentServers, Connections};
#[cfg(fuzzing)]
pub(crate) use fs_v1::meant;
pub(crate) use mcp::Desk;
pub use sandboxes_v1::EventBody;
pub(crate) use sandboxes_v1::Refusal;
#[cfg(fuzzing)]
pub(crate) use sandboxes_v1::{of_address, of_text};

/// How much of what a client spelled is told in the audit.
const LONGEST_SPELLED: usize = 256;

/// Answers that many routes share, by the names that the description gives them.
pub(crate) fn shared_responses() -> BTreeMap<String, RefOr<Response>> {
    let mut shared = fs_v1::problem_components();
    shared.extend(sandboxes_v1::refusal_components());
    shared.extend(acp::problem_components());
    shared.extend(tools::failure_components());
    shared
}

/// In whose words an answer is.
#[derive(Debug)]
pub(crate) enum Words {
    /// As whoever answers says it.
    AsSaid,
    OfSandboxes,
    OfTools(tools::Asked),
}

impl Words {
    /// Those of the face that a request is of.
    pub(crate) fn of(request: &Request) -> Self {
        if let Some(asked) = tools::Asked::of(request.uri()) {
            return Self::OfTools(asked);
        }
        let route = request.extensions().get::<MatchedPath>();
        match route.is_some_and(|route| sandboxes_v1::speaks_for(route.as_str())) {
            true => Self::OfSandboxes,
            false => Self::AsSaid,
        }
    }

    /// The answer in them.
    pub(crate) fn say(self, answer: Answer) -> Answer {
        match self {
            Self::AsSaid => answer,
            Self::OfSandboxes => sandboxes_v1::in_our_words(answer),
            Self::OfTools(asked) => asked.in_our_words(answer),
        }
    }
}

/// The problem that a failure is before any face saw the request.
pub(crate) fn problem(err: &Error) -> Problem {
    fs_v1::problem(err)
}

/// Which sandbox the requests of a route are about.
#[derive(Debug)]
pub(crate) enum Named {
    /// None.
    None,
    /// The caller's own: the one that he may see, or that of the server.
    Own,
    /// The one that the address names.
    ById(Result<SandboxId, Problem>),
}

/// Which sandbox a request is about. Each face speaks for its own routes.
pub(crate) fn named(route: &str, method: &Method, uri: &Uri) -> Named {
    // A method that is not there is no more so in a sandbox that is not there either.
    let is_tools = tools::operation(route, method).is_some();
    let is_mcp = mcp::operation(route, method).is_some();
    let is_own = fs_v1::speaks_for(route) || acp::is_inside(route) || is_mcp;
    let is_named = sandboxes_v1::is_inside(route) || is_tools || is_mcp;
    match sandbox_in(route, uri).filter(|_| is_named) {
        Some(id) => Named::ById(id),
        None if is_own || tools::is_call(route, method) => Named::Own,
        None => Named::None,
    }
}

/// The sandbox that an address names, if it names one.
pub(crate) fn sandbox_in(route: &str, uri: &Uri) -> Option<Result<SandboxId, Problem>> {
    if sandboxes_v1::names_sandbox(route) {
        Some(id_in(uri).map_err(|err| problem(&err)))
    } else if tools::speaks_for(route) || mcp::speaks_for(route) {
        tools::sandbox_in(uri)
    } else {
        None
    }
}

/// What a request of a route is called in the audit.
pub(crate) fn operation(route: &str, method: &Method) -> Option<&'static str> {
    fs_v1::operation(route, method)
        .or_else(|| sandboxes_v1::operation(route, method))
        .or_else(|| acp::operation(route, method))
        .or_else(|| tools::operation(route, method))
        .or_else(|| mcp::operation(route, method))
        .or_else(|| meta::operation(route))
}

/// What a request is about, as far as its address says so.
#[derive(Clone, Debug, Default)]
pub(crate) struct Subject {
    pub(crate) path: Option<SandboxPath>,
    /// An id, or what was spelled where a path was meant.
    pub(crate) id: Option<Arc<str>>,
}

/// What a request is about. Whoever is not let in has no sandbox yet.
pub(crate) fn subject(route: &str, uri: &Uri, sandbox: Option<&Sandbox>, strip: bool) -> Subject {
    if fs_v1::speaks_for(route) || acp::is_inside(route) {
        fs_v1::subject(uri, sandbox)
    } else if acp::speaks_for(route) {
        acp::subject(uri)
    } else if mcp::speaks_for(route) {
        Subject::default()
    } else if tools::speaks_for(route) {
        tools::subject(uri)
    } else {
        sandboxes_v1::subject(route, uri, strip)
    }
}

/// What a client spelled, as much of it as the audit keeps.
fn spelled(text: &str) -> Option<Arc<str>> {
    text.get(..text.floor_char_boundary(LONGEST_SPELLED)).map(Arc::from)
}

/// Whether somebody may send such a request, if he came by a signed address.
pub(crate) fn lets_through(caller: &Caller, route: &str, method: &Method) -> bool {
    sandboxes_v1::lets_through(caller, route, method)
}

/// Whether the requests of a route send or fetch files or archives.
pub(crate) fn is_transfer(route: &str) -> bool {
    fs_v1::is_transfer(route)
        || acp::is_transfer(route)
        || sandboxes_v1::is_transfer(route)
        || tools::is_transfer(route)
}

/// Routes that ask who is there.
pub(crate) fn guarded() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .merge(fs_v1::routes())
        .merge(sandboxes_v1::routes())
        .merge(acp::routes())
        .merge(tools::routes())
        .merge(mcp::routes())
        .merge(meta::guarded())
}

/// Routes that answer everyone.
pub(crate) fn open() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().merge(meta::open())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_has_a_name_in_the_audit() {
        let paths = guarded().to_openapi().paths.paths;
        let verbs = |item: &utoipa::openapi::PathItem| {
            let verbs = [
                (Method::GET, item.get.is_some()),
                (Method::HEAD, item.head.is_some()),
                (Method::PUT, item.put.is_some()),
                (Method::POST, item.post.is_some()),
                (Method::PATCH, item.patch.is_some()),
                (Method::DELETE, item.delete.is_some()),
            ];
            verbs.into_iter().filter(|(_, is_there)| *is_there).map(|(method, _)| method)
        };
        let all = paths.iter().flat_map(|(path, item)| {
            verbs(item).map(move |method| (path.replace("{path}", "{*path}"), method))
        });
        let nameless: Vec<_> =
            all.filter(|(route, method)| operation(route, method).is_none()).collect();
        assert_eq!(nameless, []);
        // Whoever asks how an answer begins asks for it.
        for route in ["/v2/rpc", "/v1/acp", "/v1/acp/{server_id}"] {
            assert_eq!(operation(route, &Method::HEAD), operation(route, &Method::GET), "{route}");
        }
        assert!(paths.len() > 40);
    }
}
