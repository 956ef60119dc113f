//! Who is let in.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use http::header::{AUTHORIZATION, HOST, ORIGIN, WWW_AUTHENTICATE};
use http::uri::Authority;
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use crate::app::{App, SetupError};
use crate::caller::Caller;
use crate::options::{Access, Options};
use crate::pace::Pace;
use crate::problem::{Class, Problem};

/// The rule by which requests are let in.
#[derive(Debug)]
pub(crate) enum Gate {
    /// By a token, of which only the hash is kept.
    Token([u8; 32]),
    /// Everyone, except web pages that were not invited.
    Open { host_names: Option<Vec<String>>, origins: Vec<String> },
}

impl Gate {
    pub(crate) fn new(options: &Options) -> Result<Self, SetupError> {
        match &options.access {
            Access::Token(token) if is_sendable(token) => Ok(Self::Token(hash(token.as_bytes()))),
            Access::Token(_) => Err(SetupError::new(
                "the token cannot be sent in a header",
                "use letters, digits and other visible ASCII characters, without spaces",
            )),
            Access::Open => Ok(Self::Open {
                host_names: options.host_names.clone(),
                origins: options.cors.origins.clone(),
            }),
        }
    }

    /// Whoever has the one token is the owner, and so is everyone at an open server.
    fn admits(&self, request: &Request) -> Result<Caller, Problem> {
        match self {
            Self::Token(expected) => {
                check_token(request.headers(), expected)?;
                Ok(Caller::owner("token"))
            }
            Self::Open { host_names, origins } => {
                if let Some(names) = host_names {
                    check_host(request, names)?;
                }
                check_origin(request, origins)?;
                Ok(Caller::owner("open"))
            }
        }
    }
}

/// Lets a request in or answers it. Nothing of its body has been read by then.
pub(crate) async fn admit(
    State(app): State<Arc<App>>,
    mut request: Request,
    next: Next,
) -> Response {
    match app.gate.admits(&request) {
        Ok(caller) => {
            request.extensions_mut().insert(caller);
            // Only a test asks without a connection.
            if let Some(pace) = request.extensions().get::<Arc<Pace>>() {
                pace.let_in();
            }
            next.run(request).await
        }
        Err(problem) => problem.into_response(),
    }
}

fn is_sendable(token: &str) -> bool {
    !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic())
}

// Hashes have one length, so that comparing them in constant time hides the length as well.
fn hash(token: &[u8]) -> [u8; 32] {
    Sha256::digest(token).into()
}

fn check_token(headers: &HeaderMap, expected: &[u8; 32]) -> Result<(), Problem> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let sent = match (values.next(), values.next()) {
        (Some(value), None) => value.as_bytes().strip_prefix(b"Bearer "),
        _ => None,
    };
    let right = sent.is_some_and(|token| hash(token).ct_eq(expected).into());
    if right { Ok(()) } else { Err(token_invalid()) }
}

fn token_invalid() -> Problem {
    Problem::plain(StatusCode::UNAUTHORIZED, Class::TOKEN_INVALID, "token invalid")
        .message("missing or invalid bearer token")
        .kind("token_invalid")
        .hint("send the header `Authorization: Bearer <token>` with the server's token")
        .header(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))
}

// A page of a foreign site that rebinds its own name to this address sends that name as the host.
fn check_host(request: &Request, names: &[String]) -> Result<(), Problem> {
    let host = spoken_host(request);
    let known = host.as_ref().is_some_and(|authority| is_known(authority.host(), names));
    if known {
        return Ok(());
    }
    Err(forbidden("the server does not answer to this host name")
        .hint("connect by a loopback address, or add the name to those the server answers to"))
}

fn spoken_host(request: &Request) -> Option<Authority> {
    let mut values = request.headers().get_all(HOST).iter();
    match (values.next(), values.next()) {
        (Some(value), None) => value.to_str().ok()?.parse().ok(),
        _ => None,
    }
}

fn is_known(host: &str, names: &[String]) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let loopback = bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    loopback
        || host.eq_ignore_ascii_case("localhost")
        || names.iter().any(|name| name.eq_ignore_ascii_case(host) || name == bare)
}

// A page may send simple requests to any address without asking first. Without a token nothing
// else would stop those that change something.
fn check_origin(request: &Request, origins: &[String]) -> Result<(), Problem> {
    let Some(origin) = request.headers().get(ORIGIN) else { return Ok(()) };
    let reads = [Method::GET, Method::HEAD].contains(request.method());
    let invited = origins.iter().any(|known| known == "*" || known.as_bytes() == origin);
    if reads || invited || is_own(origin, request) {
        return Ok(());
    }
    Err(forbidden("this origin may not change anything")
        .hint("start the server with --cors-allow-origin for this origin, or use a token"))
}

fn is_own(origin: &HeaderValue, request: &Request) -> bool {
    let sender = origin.to_str().ok().and_then(|text| text.split_once("://"));
    match (sender, spoken_host(request)) {
        (Some((_, sender)), Some(host)) => sender.eq_ignore_ascii_case(host.as_str()),
        _ => false,
    }
}

fn forbidden(message: &str) -> Problem {
    Problem::new(StatusCode::FORBIDDEN, Class::PERMISSION_DENIED, message)
        .message(message)
        .kind("forbidden")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_is_known_in_every_spelling() {
        for host in ["localhost", "LOCALHOST", "127.0.0.1", "127.8.8.8", "[::1]"] {
            assert!(is_known(host, &[]), "{host}");
        }
    }

    #[test]
    fn a_foreign_name_is_known_only_when_it_was_named() {
        assert!(!is_known("evil.example", &[]));
        assert!(!is_known("localhost.evil.example", &[]));
        assert!(is_known("box.example", &["Box.Example".to_owned()]));
        assert!(is_known("[fd00::1]", &["fd00::1".to_owned()]));
    }
}
