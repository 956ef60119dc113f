//! Who is let in.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::MatchedPath;
use engine::{Actor, Grant, Recorder, SecretHash};
use http::header::{AUTHORIZATION, HOST, ORIGIN, WWW_AUTHENTICATE};
use http::request::Parts;
use http::uri::Authority;
use http::{HeaderMap, HeaderValue, Method, StatusCode};

use crate::app::{App, SetupError};
use crate::caller::Caller;
use crate::faces;
use crate::options::{Access, Options};
use crate::pace::Pace;
use crate::problem::{Class, Problem};
use crate::refusals::Witness;

/// What every key begins with.
const KEY: &str = "ask_";

/// The rule by which requests are let in.
#[derive(Debug)]
pub(crate) enum Gate {
    /// By a token, of which only the hash is kept, or by a key.
    Token(SecretHash),
    /// Everyone, except web pages that were not invited.
    Open { host_names: Option<Vec<String>>, origins: Vec<String> },
}

impl Gate {
    pub(crate) fn new(options: &Options) -> Result<Self, SetupError> {
        match &options.access {
            Access::Token(token) if is_sendable(token) => Ok(Self::Token(SecretHash::of(token))),
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

    /// What binds an address that is signed with the server's own token to that token.
    pub(crate) fn secret(&self) -> SecretHash {
        match self {
            Self::Token(hash) => *hash,
            Self::Open { .. } => SecretHash::of(""),
        }
    }
}

/// Lets a request in or refuses it. Nothing of its body has been read by then.
pub(crate) async fn admit(app: &App, parts: &mut Parts, witness: &Witness) -> Result<(), Problem> {
    let caller = recognise(app, parts).await?;
    let recorder = Recorder::new(app.audit.clone(), caller.actor, witness.id());
    witness.docket().let_in(&caller, &recorder);
    parts.extensions.insert(caller);
    parts.extensions.insert(recorder);
    // Only a test asks without a connection.
    if let Some(pace) = parts.extensions.get::<Arc<Pace>>() {
        pace.let_in();
    }
    Ok(())
}

/// Who asks. Whoever has the one token is the owner, and so is everyone at an open server who shows
/// nothing else. What has to ask a store lies apart, so that other requests need no room for it.
async fn recognise(app: &App, request: &Parts) -> Result<Caller, Problem> {
    let shown = shown(&request.headers);
    match &app.gate {
        Gate::Token(expected) => match shown {
            Shown::Text(text) if SecretHash::of(text) == *expected => {
                Ok(Caller::owner(Some(Actor::Token)))
            }
            Shown::Text(text) => Box::pin(with_key(app, text)).await,
            Shown::Nothing => Box::pin(with_address(app, request)).await,
            Shown::Nonsense => Err(token_invalid()),
        },
        Gate::Open { host_names, origins } => {
            if let Some(names) = host_names {
                check_host(request, names)?;
            }
            check_origin(request, origins)?;
            match shown {
                // Whoever shows a key is who it says, here too.
                Shown::Text(text) if text.starts_with(KEY) => Box::pin(with_key(app, text)).await,
                Shown::Text(_) | Shown::Nothing | Shown::Nonsense => match signed(request) {
                    Some(_) => Box::pin(with_address(app, request)).await,
                    None => Ok(Caller::owner(None)),
                },
            }
        }
    }
}

async fn with_key(app: &App, text: &str) -> Result<Caller, Problem> {
    let found = app.keys.check(text).await.map_err(|err| faces::problem(&err))?;
    found.map(|record| Caller::with_key(&record)).ok_or_else(token_invalid)
}

/// Whoever comes by an address that somebody signed, if he still may.
async fn with_address(app: &App, request: &Parts) -> Result<Caller, Problem> {
    let text = signed(request).ok_or_else(token_invalid)?;
    let unknown = |err: engine::Error| faces::problem(&err);
    let signer = app.keys.signer().await.map_err(unknown)?;
    let signed = signer.verify(&text).ok_or_else(address_invalid)?;
    let caller = match signed.by() {
        Actor::Token => {
            let claim = signed.claim(&app.gate.secret());
            claim.and_then(|claim| Caller::with_claim(claim, &Grant::everything()))
        }
        Actor::Key(id) => {
            let record = app.keys.find(&id).await.map_err(unknown)?;
            record.and_then(|record| {
                let claim = signed.claim(&record.secret)?;
                Caller::with_claim(claim, &record.grant)
            })
        }
    };
    let route = request.extensions.get::<MatchedPath>();
    let fits = |caller: &Caller| {
        route.is_some_and(|route| faces::lets_through(caller, route.as_str(), &request.method))
    };
    caller.filter(fits).ok_or_else(address_invalid)
}

/// What a request shows to be let in.
enum Shown<'a> {
    Nothing,
    Text(&'a str),
    /// More than one thing, or something that cannot be meant.
    Nonsense,
}

fn shown(headers: &HeaderMap) -> Shown<'_> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    match (values.next(), values.next()) {
        (None, _) => Shown::Nothing,
        (Some(value), None) => {
            let text = value.to_str().ok().and_then(|text| text.strip_prefix("Bearer "));
            text.map_or(Shown::Nonsense, Shown::Text)
        }
        (Some(_), Some(_)) => Shown::Nonsense,
    }
}

/// The signature that an address bears.
fn signed(request: &Parts) -> Option<String> {
    let query = request.uri.query()?;
    let mut values = query.split('&').filter_map(|pair| pair.strip_prefix("signed="));
    values.next().filter(|_| values.next().is_none()).map(ToOwned::to_owned)
}

fn is_sendable(token: &str) -> bool {
    !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic())
}

fn token_invalid() -> Problem {
    Problem::plain(StatusCode::UNAUTHORIZED, Class::TOKEN_INVALID, "token invalid")
        .message("missing or invalid bearer token")
        .kind("token_invalid")
        .hint("send the header `Authorization: Bearer <token>` with the server's token or a key")
        .header(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))
}

fn address_invalid() -> Problem {
    let message = "the signed address has expired, was changed, or its signer may no longer";
    Problem::plain(StatusCode::UNAUTHORIZED, Class::TOKEN_INVALID, message)
        .message(message)
        .kind("token_invalid")
        .hint("ask whoever gave it to you for a new one")
        .header(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))
}

// A page of a foreign site that rebinds its own name to this address sends that name as the host.
fn check_host(request: &Parts, names: &[String]) -> Result<(), Problem> {
    let host = spoken_host(request);
    let known = host.as_ref().is_some_and(|authority| is_known(authority.host(), names));
    if known {
        return Ok(());
    }
    Err(forbidden("the server does not answer to this host name")
        .hint("connect by a loopback address, or add the name to those the server answers to"))
}

fn spoken_host(request: &Parts) -> Option<Authority> {
    let mut values = request.headers.get_all(HOST).iter();
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
fn check_origin(request: &Parts, origins: &[String]) -> Result<(), Problem> {
    let Some(origin) = request.headers.get(ORIGIN) else { return Ok(()) };
    let reads = [Method::GET, Method::HEAD].contains(&request.method);
    let invited = origins.iter().any(|known| known == "*" || known.as_bytes() == origin);
    if reads || invited || is_own(origin, request) {
        return Ok(());
    }
    Err(forbidden("this origin may not change anything")
        .hint("start the server with --cors-allow-origin for this origin, or use a token"))
}

/// Refuses pages that were not invited, even if they show a token: for what a page might be misled to
/// say for somebody else.
pub(crate) fn refuse_pages(app: &App, request: &Parts) -> Result<(), Problem> {
    let Some(origin) = request.headers.get(ORIGIN) else { return Ok(()) };
    let mut invited = app.origins.iter();
    if invited.any(|known| known == "*" || known.as_bytes() == origin) || is_own(origin, request) {
        return Ok(());
    }
    Err(forbidden("this origin may not speak to the server")
        .hint("start the server with --cors-allow-origin for this origin"))
}

fn is_own(origin: &HeaderValue, request: &Parts) -> bool {
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
