//! The description of the interface, for programs and for people.

use axum::response::{IntoResponse as _, Response};
use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use uuid::Uuid;

use crate::openapi::DOCUMENT;

/// The page, with a placeholder where each answer has a nonce of its own.
const PAGE: &str = include_str!("docs.html");

/// The OpenAPI document.
#[utoipa::path(
    get,
    path = "/openapi.json",
    operation_id = "openapi",
    tag = "server",
    responses((status = 200, description = "OpenAPI 3.1", content_type = "application/json",
        body = serde_json::Value))
)]
pub(super) async fn document() -> Response {
    ([(CONTENT_TYPE, "application/json")], DOCUMENT.as_str()).into_response()
}

/// The OpenAPI document as a page that loads nothing from elsewhere.
#[utoipa::path(
    get,
    path = "/docs",
    operation_id = "docs",
    tag = "server",
    responses((status = 200, description = "A page", content_type = "text/html", body = String))
)]
pub(super) async fn page() -> Response {
    let nonce = Uuid::new_v4().simple().to_string();
    let policy = format!(
        "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; \
         connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    );
    let headers = [
        (CONTENT_TYPE, "text/html; charset=utf-8"),
        (CACHE_CONTROL, "no-store"),
        (REFERRER_POLICY, "no-referrer"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    let page = PAGE.replace("NONCE", &nonce);
    (headers, [(CONTENT_SECURITY_POLICY, policy)], page).into_response()
}
