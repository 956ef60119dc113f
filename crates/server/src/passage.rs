//! What every request passes on its way to its route, and its answer on the way back.
//!
//! It is one function after the other, and not one layer around the other: a layer of the router is
//! a copy of all that is within it and some allocations for every request.

use std::any::Any;
use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use http::header::VARY;
use http::{Method, StatusCode};
use tower::{Layer, Service, ServiceExt as _, service_fn};
use tracing::Instrument as _;

use crate::app::App;
use crate::faces::Words;
use crate::problem::{Class, Problem, Told};
use crate::refusals::Witness;
use crate::{auth, cors, framing, observe, peers, quota, visit};

/// What lies before a route.
#[derive(Clone, Debug)]
pub(crate) struct Passage {
    app: Arc<App>,
    /// Whether it asks who is there.
    is_guarded: bool,
}

/// A route, and what lies before it.
#[derive(Clone, Debug)]
pub(crate) struct Passing<S> {
    passage: Passage,
    next: Next<S>,
}

/// What comes after the passage. It is shared: the router copies what lies before a route for each
/// request, and a route is copied once more where it is called.
#[derive(Clone, Debug)]
pub(crate) struct Next<S>(Arc<S>);

/// A route: it never refuses a request, and is always ready.
pub(crate) trait Answers:
    Service<Request, Response = Response, Error = Infallible, Future: Send>
    + Clone
    + Send
    + Sync
    + 'static
{
}

impl<S> Answers for S where
    S: Service<Request, Response = Response, Error = Infallible, Future: Send>
        + Clone
        + Send
        + Sync
        + 'static
{
}

impl<S: Answers> Next<S> {
    /// Goes on, and comes back with the answer.
    pub(crate) async fn run(self, request: Request) -> Response {
        let answering = S::clone(&self.0).call(request);
        let Ok(response) = answering.await;
        response
    }
}

impl Passage {
    /// To what everybody may ask for.
    pub(crate) fn open(app: &Arc<App>) -> Self {
        Self { app: Arc::clone(app), is_guarded: false }
    }

    /// To what is not for everyone.
    pub(crate) fn guarded(app: &Arc<App>) -> Self {
        Self { app: Arc::clone(app), is_guarded: true }
    }

    /// What is asked of every request, whoever sends it and wherever it goes.
    async fn through_the_door<S: Answers>(self, request: Request, next: Next<S>) -> Response {
        let (request, followed) = observe::follow(Arc::clone(&self.app), request);
        let answering = in_its_words(request, |request| self.past_pages(request, next));
        let response = answering.instrument(followed.span()).await;
        followed.answered(response)
    }

    /// Web pages are told what they may, and asked where they are from.
    async fn past_pages<S: Answers>(self, request: Request, next: Next<S>) -> Response {
        // Where no page may ask, all that is told is on what the answer would have depended.
        if self.app.cors.is_closed() && request.method() != Method::OPTIONS {
            let mut response = self.through_the_gate(request, next).await;
            response.headers_mut().append(VARY, cors::VARYING);
            return response;
        }
        let within = |request| async {
            Ok::<_, Infallible>(self.clone().through_the_gate(request, next.clone()).await)
        };
        let layer = self.app.cors.layer();
        let Ok(response) = Box::pin(layer.layer(service_fn(within)).oneshot(request)).await;
        response
    }

    /// What is asked of whoever wants something that is not for everyone.
    async fn through_the_gate<S: Answers>(self, request: Request, next: Next<S>) -> Response {
        if !self.is_guarded {
            return next.run(request).await;
        }
        let witness = Witness::of(&request);
        let response = let_in(&self.app, request, next, &witness).await;
        let response = response.unwrap_or_else(IntoResponse::into_response);
        if let Some(told) = response.extensions().get::<Told>() {
            Box::pin(witness.note(&self.app, told)).await;
        }
        response
    }
}

impl<S> Layer<S> for Passage {
    type Service = Passing<S>;

    fn layer(&self, routes: S) -> Passing<S> {
        Passing { passage: self.clone(), next: Next(Arc::new(routes)) }
    }
}

impl<S: Answers> Service<Request> for Passing<S> {
    type Response = Response;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let Self { passage, next } = self.clone();
        Box::pin(passage.through_the_door(request, next).map(Ok))
    }
}

async fn in_its_words<F: Future<Output = Response>>(
    request: Request,
    next: impl FnOnce(Request) -> F,
) -> Response {
    if let Err(problem) = framing::check(&request) {
        return problem.into_response();
    }
    let words = Words::of(&request);
    let answering = AssertUnwindSafe(next(request)).catch_unwind();
    words.say(answering.await.unwrap_or_else(|panic| panicked(&*panic)))
}

async fn let_in<S: Answers>(
    app: &Arc<App>,
    request: Request,
    next: Next<S>,
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
    use axum::body::Body;
    use http::header::HOST;
    use http_body_util::BodyExt as _;

    use super::*;

    #[tokio::test]
    async fn a_panic_is_a_500_that_tells_nothing_of_the_server() {
        let request = Request::get("/").header(HOST, "here").body(Body::empty()).unwrap();
        let response = in_its_words(request, |_| async { panic!("secret") }).await;
        assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
        let body = response.into_body().collect().await.unwrap().to_bytes();
        let problem: serde_json::Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(problem["kind"], "io");
        assert!(!problem.to_string().contains("secret"));
    }
}
