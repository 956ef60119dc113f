//! What every request passes on its way to its route, and its answer on the way back.
//!
//! It is one function after the other, and not one layer around the other: a layer of the router is
//! a copy of all that is within it and some allocations for every request.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures::FutureExt as _;
use http::StatusCode;
use tracing::Instrument as _;

use crate::app::App;
use crate::faces::Words;
use crate::problem::{Class, Problem, Told};
use crate::refusals::Witness;
use crate::{auth, framing, observe, peers, quota, visit};

/// What is asked of every request, whoever sends it and wherever it goes.
pub(crate) async fn through_the_door(
    State(app): State<Arc<App>>,
    request: Request,
    next: Next,
) -> Response {
    let (request, followed) = observe::follow(app, request);
    let response = in_its_words(request, next).instrument(followed.span()).await;
    followed.answered(response)
}

async fn in_its_words(request: Request, next: Next) -> Response {
    if let Err(problem) = framing::check(&request) {
        return problem.into_response();
    }
    let words = Words::of(&request);
    let answering = AssertUnwindSafe(next.run(request)).catch_unwind();
    words.say(answering.await.unwrap_or_else(|panic| panicked(&*panic)))
}

/// What is asked of whoever wants something that is not for everyone.
pub(crate) async fn through_the_gate(
    State(app): State<Arc<App>>,
    request: Request,
    next: Next,
) -> Response {
    let witness = Witness::of(&request);
    let response = let_in(&app, request, next, &witness).await;
    let response = response.unwrap_or_else(IntoResponse::into_response);
    if let Some(told) = response.extensions().get::<Told>() {
        Box::pin(witness.note(&app, told)).await;
    }
    response
}

async fn let_in(
    app: &Arc<App>,
    request: Request,
    next: Next,
    witness: &Witness,
) -> Result<Response, Problem> {
    let (mut parts, body) = request.into_parts();
    auth::admit(app, &mut parts, witness).await?;
    let share = quota::heed(app, &parts)?;
    visit::enter(app, &mut parts, witness.docket()).await?;
    let response = peers::attend(app, Request::from_parts(parts, body), next).await;
    Ok(share.held_by(response))
}

fn panicked(panic: &(dyn Any + Send)) -> Response {
    let words = panic.downcast_ref::<String>().map(String::as_str);
    let words = words.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("unknown");
    tracing::error!(panic = ?words, "a request broke off inside the server");
    let message = "the request broke off inside the server";
    Problem::new(StatusCode::INTERNAL_SERVER_ERROR, Class::STREAM_ERROR, message)
        .message(message)
        .kind("io")
        .hint("the server's log says more under this request's x-request-id")
        .into_response()
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::body::Body;
    use axum::middleware::from_fn;
    use axum::routing::get;
    use http::header::HOST;
    use http_body_util::BodyExt as _;
    use tower::ServiceExt as _;

    use super::*;

    #[tokio::test]
    async fn a_panic_is_a_500_that_tells_nothing_of_the_server() {
        async fn broken() {
            panic!("secret");
        }
        let routes: Router = Router::new().route("/", get(broken)).layer(from_fn(in_its_words));
        let request = Request::get("/").header(HOST, "here").body(Body::empty()).unwrap();
        let response = routes.oneshot(request).await.unwrap();
        assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
        let body = response.into_body().collect().await.unwrap().to_bytes();
        let problem: serde_json::Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(problem["kind"], "io");
        assert!(!problem.to_string().contains("secret"));
    }
}
