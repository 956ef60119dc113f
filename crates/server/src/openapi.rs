//! The description of the interface, made from the routes themselves.

use std::iter;
use std::sync::LazyLock;

use utoipa::openapi::header::HeaderBuilder;
use utoipa::openapi::path::Operation;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{Object, OpenApi, RefOr, Required, Response, Type};
use utoipa::{Modify, OpenApi as _};
use utoipa_axum::router::OpenApiRouter;

use crate::faces;
use crate::faces::Refusal;
use crate::problem::ProblemDetails;

/// The OpenAPI 3.1 document of every route, as it is committed at `contract/openapi.json`.
pub fn openapi_json() -> String {
    DOCUMENT.clone()
}

/// The document, made once.
pub(crate) static DOCUMENT: LazyLock<String> = LazyLock::new(|| {
    let routes = OpenApiRouter::with_openapi(Description::openapi());
    let mut document = routes.merge(faces::guarded()).merge(faces::open()).into_openapi();
    refine(&mut document);
    let mut text = document.to_pretty_json().unwrap_or_default();
    text.push('\n');
    text
});

/// Says of each route what follows from its kind: the headers of its answers, and which of the
/// problems that all routes name it cannot have.
fn refine(document: &mut OpenApi) {
    let shared = document.components.iter_mut().flat_map(|components| &mut components.responses);
    for (name, response) in shared {
        add_headers(name.trim_start_matches(|c: char| !c.is_ascii_digit()), response);
    }
    for item in document.paths.paths.values_mut() {
        for operation in [&mut item.get, &mut item.head].into_iter().flatten() {
            operation.responses.responses.remove("507");
        }
        let operations = [&mut item.get, &mut item.head, &mut item.put, &mut item.post];
        let operations = operations.into_iter().chain([&mut item.patch, &mut item.delete]);
        operations.flatten().for_each(refine_operation);
    }
}

fn refine_operation(operation: &mut Operation) {
    let takes = |part: &str| {
        let parameters = operation.parameters.iter().flatten();
        let mut names = parameters.filter_map(|parameter| match parameter {
            RefOr::T(parameter) => Some(&parameter.name),
            RefOr::Ref(_) => None,
        });
        names.any(|name| name.contains(part))
    };
    let body = operation.request_body.as_ref();
    let takes_json = matches!(
        body, Some(RefOr::T(body)) if body.content.contains_key("application/json")
    );
    // Each step of a batch has conditions of its own, and the arguments of a tool may be ranges too.
    let id = operation.operation_id.as_deref();
    let (is_batch, is_tool) = (id == Some("batchSandboxChanges"), id == Some("callTool"));
    let possible = [
        ("412", takes("If-") || is_batch || is_tool),
        ("415", body.is_some()),
        ("416", takes("Range") || is_tool),
        ("422", takes_json && !is_tool),
    ];
    // No body means no arguments.
    if is_tool && let Some(RefOr::T(body)) = &mut operation.request_body {
        body.required = Some(Required::False);
    }
    let responses = &mut operation.responses.responses;
    responses.retain(|status, _| possible.iter().all(|(name, is_so)| status != name || *is_so));
    for (status, response) in responses {
        add_headers(status, response);
    }
}

fn add_headers(status: &str, response: &mut RefOr<Response>) {
    let RefOr::T(response) = response else { return };
    let always = ("x-request-id", "The request's id in the log: the client's own if it sent one");
    let more = match status {
        "401" => Some(("WWW-Authenticate", "Always `Bearer`")),
        "429" | "503" => Some(("Retry-After", "After how many seconds to try again")),
        _ => None,
    };
    for (name, description) in iter::once(always).chain(more) {
        let header = HeaderBuilder::new()
            .schema(Some(Object::with_type(Type::String)))
            .description(Some(description))
            .build();
        response.headers.insert(name.to_owned(), RefOr::T(header));
    }
}

#[derive(utoipa::OpenApi)]
#[openapi(
    info(
        title = "Sandkeep",
        description = "The files of an agent's sandbox over HTTP.\n\n\
            Absolute paths are as the sandbox sees them. Relative ones begin at the working \
            directory of the session, or at the sandbox's home when no session is named.\n\n\
            Failures are problem details (RFC 9457) with a `kind` for programs and a `hint` for \
            people.",
        license(name = "Apache-2.0", identifier = "Apache-2.0")
    ),
    tags(
        (name = "files", description = "Reading and changing the sandbox's files"),
        (name = "sandboxes", description = "Which sandboxes there are"),
        (name = "sandbox files", description = "The files of one of them"),
        (name = "snapshots", description = "A sandbox as it was"),
        (name = "keys", description = "Who may do what"),
        (name = "audit", description = "Who did what"),
        (name = "sessions", description = "Working directories for relative paths"),
        (name = "agents", description = "Agents that clients talk with, and files and sessions as \
            they ask for them, by JSON-RPC"),
        (name = "tools", description = "File operations as tools that models and workflows call"),
        (name = "server", description = "The server itself")
    ),
    components(schemas(ProblemDetails, Refusal)),
    modifiers(&Shared)
)]
struct Description;

struct Shared;

impl Modify for Shared {
    fn modify(&self, document: &mut OpenApi) {
        let scheme = HttpBuilder::new()
            .scheme(HttpAuthScheme::Bearer)
            .description(Some("The server's token. An open server (--no-token) needs none."))
            .build();
        let components = document.components.get_or_insert_default();
        components.responses.extend(faces::shared_responses());
        components.add_security_scheme("bearer", SecurityScheme::Http(scheme));
    }
}
