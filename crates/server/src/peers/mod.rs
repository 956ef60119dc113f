//! Other servers on the same store: their changes are seen, and ours are sent to the one who leads.

mod loan;

use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::response::{IntoResponse as _, Response};
use engine::{ErrorKind, Leader};
use http::header::{
    CACHE_CONTROL, CONNECTION, HOST, HeaderName, PRAGMA, TE, TRAILER, TRANSFER_ENCODING, UPGRADE,
};
use http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use hyper::body::Incoming;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;

use self::loan::{Lent, Loan};
use crate::app::App;
use crate::faces;
use crate::passage::{Answers, Next};
use crate::query::Params;
use crate::visit::Visit;

/// What a request bears that another server sent us. It is never sent on.
const FORWARDED: HeaderName = HeaderName::from_static("x-sandkeep-forwarded");
/// How long a leader may take to answer the phone.
const CONNECT: Duration = Duration::from_secs(1);
/// What concerns one connection and not the request.
const OF_CONNECTION: [HeaderName; 7] = [
    CONNECTION,
    HOST,
    TE,
    TRAILER,
    TRANSFER_ENCODING,
    UPGRADE,
    HeaderName::from_static("keep-alive"),
];

/// How other servers are spoken to.
#[derive(Clone, Debug)]
pub(crate) struct Peers(Client<HttpConnector, Lent>);

impl Peers {
    pub(crate) fn new() -> Self {
        let mut connector = HttpConnector::new();
        connector.set_connect_timeout(Some(CONNECT));
        connector.set_nodelay(true);
        Self(Client::builder(TokioExecutor::new()).build(connector))
    }
}

/// Looks at the store before a read that wants no old answer, and sends a change to the server that
/// asks for it.
pub(crate) async fn attend<S: Answers>(app: &App, request: Request, next: Next<S>) -> Response {
    let is_look = matches!(*request.method(), Method::GET | Method::HEAD);
    if is_look && !wants_news(request.headers()) {
        return next.run(request).await;
    }
    let visit = request.extensions().get::<Visit>();
    let Some(workspace) = visit.map(|visit| visit.workspace.clone()) else {
        return next.run(request).await;
    };
    if is_look {
        return match Box::pin(workspace.refresh()).await {
            Ok(()) => next.run(request).await,
            Err(err) => faces::problem(&err).into_response(),
        };
    }
    match workspace.leader().filter(|_| may_be_sent(&request)) {
        Some(leader) => Box::pin(send(app, &leader, request, next)).await,
        None => next.run(request).await,
    }
}

/// Whether a client wants to see what others did a moment ago.
fn wants_news(headers: &HeaderMap) -> bool {
    let values = headers.get_all(CACHE_CONTROL).iter().chain(headers.get_all(PRAGMA));
    let mut words = values.filter_map(|value| value.to_str().ok()).flat_map(|it| it.split(','));
    words.any(|word| matches!(word.trim(), "no-cache" | "no-store" | "max-age=0"))
}

/// Sessions and connections are known only where they were opened.
fn may_be_sent(request: &Request) -> bool {
    let params = Params::of(request.uri());
    let names_session = params.has("sessionId") || params.has("session_id");
    let path = request.uri().path();
    !names_session
        && !path.starts_with("/v1/sessions")
        && !path.starts_with("/v2/rpc")
        && path != "/mcp"
        && !request.headers().contains_key(FORWARDED)
}

/// Sends a request to the leader; makes the change here if he cannot be reached.
async fn send<S: Answers>(app: &App, leader: &Leader, request: Request, next: Next<S>) -> Response {
    let (mut parts, body) = request.into_parts();
    let Some(uri) = uri_at(leader.address(), &parts.uri) else {
        leader.distrust();
        return next.run(Request::from_parts(parts, body)).await;
    };
    let (loan, lent) = Loan::of(body);
    let outgoing = outgoing(&parts, uri, lent);
    let outcome = loan.wait(app.peers.0.request(outgoing)).await;
    // Whoever is told of the change sees it here.
    leader.is_done();
    let err = match outcome {
        Some(Ok(answer)) if answer.status() == StatusCode::UNAUTHORIZED => {
            leader.distrust();
            return stranger();
        }
        Some(Ok(answer)) => return passed_on(answer),
        Some(Err(err)) => err,
        None => {
            leader.distrust();
            tracing::warn!(leader = leader.address(), "the leader is silent");
            return in_doubt();
        }
    };
    leader.distrust();
    tracing::warn!(error = &err as &dyn std::error::Error, "the leader is away");
    // He may have done what he was asked for, unless there was nobody to ask.
    match loan.back().filter(|_| err.is_connect()) {
        Some(body) => {
            parts.headers.insert(FORWARDED, HeaderValue::from_static("back"));
            next.run(Request::from_parts(parts, body)).await
        }
        None => in_doubt(),
    }
}

/// The leader's answer, as the client gets it.
fn passed_on(answer: http::Response<Incoming>) -> Response {
    let (mut parts, body) = answer.into_parts();
    OF_CONNECTION.iter().for_each(|name| drop(parts.headers.remove(name)));
    Response::from_parts(parts, Body::new(body))
}

/// The request as the leader gets it.
fn outgoing(parts: &http::request::Parts, uri: Uri, body: Lent) -> http::Request<Lent> {
    let mut outgoing = http::Request::new(body);
    *outgoing.method_mut() = parts.method.clone();
    *outgoing.uri_mut() = uri;
    *outgoing.headers_mut() = parts.headers.clone();
    OF_CONNECTION.iter().for_each(|name| drop(outgoing.headers_mut().remove(name)));
    outgoing.headers_mut().insert(FORWARDED, HeaderValue::from_static("once"));
    outgoing
}

/// The answer when the leader was there, and then was not.
fn in_doubt() -> Response {
    let message = "another server did not answer; whether the change happened is not known";
    problem(ErrorKind::InDoubt, message)
}

/// The answer when the leader does not let in whom we let in. It is not asked again for a while.
fn stranger() -> Response {
    tracing::warn!("the leader has another token; servers on one store need the same");
    problem(ErrorKind::Unavailable, "another server that was asked has another token")
}

fn problem(kind: ErrorKind, message: &'static str) -> Response {
    faces::problem(&engine::Error::new(kind, message)).into_response()
}

fn uri_at(address: &str, uri: &Uri) -> Option<Uri> {
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    format!("{}{path}", address.trim_end_matches('/')).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn news_is_wanted_by_these_words() {
        let wants = |name: HeaderName, value: &'static str| {
            wants_news(&HeaderMap::from_iter([(name, HeaderValue::from_static(value))]))
        };
        assert!(wants(CACHE_CONTROL, "no-cache"));
        assert!(wants(CACHE_CONTROL, "private, max-age=0"));
        assert!(wants(PRAGMA, "no-cache"));
        assert!(!wants(CACHE_CONTROL, "max-age=60"));
        assert!(!wants(HOST, "no-cache"));
    }

    #[test]
    fn a_leader_is_asked_at_its_own_address() {
        let uri: Uri = "/v1/fs/file?path=a%20b".parse().unwrap();
        let at = |address| uri_at(address, &uri).map(|uri| uri.to_string());
        let expected = Some("http://10.0.0.1:7777/v1/fs/file?path=a%20b".to_owned());
        assert_eq!(at("http://10.0.0.1:7777"), expected);
        assert_eq!(at("http://10.0.0.1:7777/"), expected);
        assert_eq!(at("not an address"), None);
    }
}
