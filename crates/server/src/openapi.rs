//! The description of the interface, made from the routes themselves.

use std::sync::LazyLock;

use utoipa::Modify;
use utoipa::OpenApi;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa_axum::router::OpenApiRouter;

use crate::faces;
use crate::problem::ProblemDetails;

/// The OpenAPI 3.1 document of every route, as it is committed at `contract/openapi.json`.
pub fn openapi_json() -> String {
    DOCUMENT.clone()
}

/// The document, made once.
pub(crate) static DOCUMENT: LazyLock<String> = LazyLock::new(|| {
    let routes = OpenApiRouter::with_openapi(Description::openapi());
    let document = routes.merge(faces::guarded()).merge(faces::open()).into_openapi();
    let mut text = document.to_pretty_json().unwrap_or_default();
    text.push('\n');
    text
});

#[derive(OpenApi)]
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
        (name = "sessions", description = "Working directories for relative paths"),
        (name = "server", description = "The server itself")
    ),
    components(schemas(ProblemDetails)),
    modifiers(&Shared)
)]
struct Description;

struct Shared;

impl Modify for Shared {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let scheme = HttpBuilder::new()
            .scheme(HttpAuthScheme::Bearer)
            .description(Some("The server's token. An open server (--no-token) needs none."))
            .build();
        let components = document.components.get_or_insert_default();
        components.responses.extend(faces::shared_responses());
        components.add_security_scheme("bearer", SecurityScheme::Http(scheme));
    }
}
