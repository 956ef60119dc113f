//! How requests travel, and what servers refuse.
//!
//! The driver tells most refusals as text alone. So they are read here, where they arrive, and
//! travel through the driver as a [`Refusal`].

use std::fmt;

use async_trait::async_trait;
use bytes::Bytes;
use http::StatusCode;
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpService,
    ReqwestConnector,
};

/// How long the code of a refusal is at most, which is told in logs.
const CODE: usize = 64;

/// Makes connections with TLS by rustls and ring.
#[derive(Debug)]
pub(super) struct Connector;

impl HttpConnector for Connector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        // One that somebody else installed is as good.
        rustls::crypto::ring::default_provider().install_default().ok();
        let requests = ReqwestConnector::default().connect(options)?;
        Ok(HttpClient::new(Wire { requests }))
    }
}

#[derive(Debug)]
struct Wire {
    requests: HttpClient,
}

#[async_trait]
impl HttpService for Wire {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let answer = self.requests.execute(request).await?;
        let status = answer.status();
        // These answer a question; the driver knows them.
        let is_answer =
            [StatusCode::NOT_MODIFIED, StatusCode::PRECONDITION_FAILED, StatusCode::CONFLICT];
        if status.is_success() || is_answer.contains(&status) {
            return Ok(answer);
        }
        let (parts, body) = answer.into_parts();
        let body = body.bytes().await?;
        match Refusal::of(status, &body) {
            Some(refusal) => Err(HttpError::new(HttpErrorKind::Unknown, refusal)),
            None => Ok(HttpResponse::from_parts(parts, body.into())),
        }
    }
}

/// What a server does not do, in its own word.
#[derive(Clone, Debug)]
pub(super) struct Refusal {
    pub(super) status: StatusCode,
    /// The server's word for it, such as `NoSuchBucket`, or nothing.
    pub(super) code: String,
}

impl Refusal {
    /// What an answer refuses, unless that is for the driver to understand: a key that is not there,
    /// and what those say who give out credentials.
    fn of(status: StatusCode, body: &Bytes) -> Option<Self> {
        let code = code(body);
        let is_of_a_key = matches!(code, "NoSuchKey" | "BlobNotFound");
        let may_pass = status.is_server_error()
            || matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT);
        (may_pass || !(code.is_empty() || is_of_a_key))
            .then(|| Self { status, code: code.to_owned() })
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.status.as_u16(), self.code)
    }
}

impl std::error::Error for Refusal {}

/// The code of an error in XML, if there is one. Nothing but a word is taken for one.
fn code(body: &[u8]) -> &str {
    let text = str::from_utf8(body).unwrap_or_default();
    let code = text.split_once("<Code>").and_then(|(_, rest)| rest.split_once("</Code>"));
    let is_word = |code: &&str| {
        code.len() <= CODE && code.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'.')
    };
    code.map(|(code, _)| code).filter(is_word).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_of_a_refusal_is_one_word() {
        let xml = |code: &str| format!("<?xml version=\"1.0\"?><Error><Code>{code}</Code></Error>");
        assert_eq!(code(xml("NoSuchBucket").as_bytes()), "NoSuchBucket");
        assert_eq!(code(xml("two words").as_bytes()), "");
        assert_eq!(code(xml(&"x".repeat(65)).as_bytes()), "");
        assert_eq!(code(b"\xff<Code>A</Code>"), "");
    }
}
