//! A server, and how it is asked.

use std::fmt;

use bytes::{Bytes, BytesMut};
use engine::{Error, ErrorKind, Result};
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method};
use reqwest::{Client, RequestBuilder, Response, Url};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::connection::{Scheme, pool};
use crate::hint::Hint;
use crate::{problem, transport};

/// The longest answer that is gathered whole: 1,024 paths of 4,096 bytes, each escaped.
const LONGEST_ANSWER: usize = 32 << 20;

/// A server and the connections to it.
#[derive(Clone)]
pub(crate) struct Endpoint {
    client: Client,
    /// Without a slash at its end.
    address: String,
}

/// The answer of `/v1/health`.
#[derive(Debug, Deserialize)]
struct Health {
    status: String,
}

impl Endpoint {
    /// The server at `address`, such as `http://127.0.0.1:2468`. Nothing is sent before the first
    /// request.
    pub(crate) fn connect(address: &str, token: Option<&str>) -> Result<Self> {
        let scheme = check(address)?;
        let mut headers = HeaderMap::new();
        if let Some(token) = token {
            headers.insert(AUTHORIZATION, bearer(token)?);
        }
        let client = pool(scheme, headers)?;
        Ok(Self { client, address: address.trim_end_matches('/').to_owned() })
    }

    /// Whether the server is there and lets this client in.
    pub(crate) async fn health(&self) -> Result<()> {
        let health: Health = self.tell(self.request(Method::GET, "/v1/health")).await?;
        if health.status == "ok" {
            return Ok(());
        }
        let message = format!("the server says that its status is {}", health.status);
        Err(Error::new(ErrorKind::Unavailable, message))
    }

    pub(crate) fn request(&self, method: Method, route: &str) -> RequestBuilder {
        self.client.request(method, format!("{}{route}", self.address))
    }

    /// The answer to a request, if it is a success.
    pub(crate) async fn send(&self, request: RequestBuilder) -> Result<Response> {
        let answer = request.send().await.map_err(|err| transport::failed(err, &self.address))?;
        if answer.status().is_success() {
            return Ok(answer);
        }
        Err(problem::explain(answer).await)
    }

    /// What the short answer to a request says.
    pub(crate) async fn tell<T: DeserializeOwned>(&self, request: RequestBuilder) -> Result<T> {
        self.parse(self.send(request).await?).await
    }

    /// What a short answer says.
    pub(crate) async fn parse<T: DeserializeOwned>(&self, answer: Response) -> Result<T> {
        let body = self.gather(answer, LONGEST_ANSWER).await?;
        serde_json::from_slice(&body).map_err(transport::not_understood)
    }

    /// The body of an answer, which must not be longer than this.
    async fn gather(&self, mut answer: Response, most: usize) -> Result<Bytes> {
        let mut body = BytesMut::new();
        loop {
            let piece = answer.chunk().await;
            match piece.map_err(|err| transport::failed(err, &self.address))? {
                None => return Ok(body.freeze()),
                Some(piece) if body.len() + piece.len() <= most => body.extend_from_slice(&piece),
                Some(_) => return Err(transport::not_understood("the answer is too long")),
            }
        }
    }

    /// Where the server is.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Endpoint").field(&self.address).finish()
    }
}

/// The request with this body.
pub(crate) fn with_json(request: RequestBuilder, body: &impl Serialize) -> Result<RequestBuilder> {
    let body = serde_json::to_vec(body).map_err(transport::not_understood)?;
    Ok(request.header(CONTENT_TYPE, "application/json").body(body))
}

fn check(endpoint: &str) -> Result<Scheme> {
    let wrong = |problem: &str| {
        let message = format!("the endpoint {problem}: {endpoint}");
        let hint = Hint::new("write it like http://127.0.0.1:2468");
        Err(Error::new(ErrorKind::InvalidArgument, message).because(hint))
    };
    let Ok(url) = Url::parse(endpoint) else { return wrong("is no address") };
    if !url.username().is_empty() || url.password().is_some() {
        return wrong("holds a user name; a token is given apart from it");
    }
    if url.query().is_some() || url.fragment().is_some() {
        return wrong("holds more than a scheme, a host, a port and a path");
    }
    match (url.scheme(), url.has_host()) {
        ("http", true) => Ok(Scheme::Http),
        ("https", true) => Ok(Scheme::Https),
        _ => wrong("does not begin with http:// or https://"),
    }
}

fn bearer(token: &str) -> Result<HeaderValue> {
    let mut value = HeaderValue::try_from(format!("Bearer {token}")).map_err(|_| {
        let message = "the token holds characters that cannot be sent";
        let hint = Hint::new("a token is visible ASCII without spaces around it");
        Error::new(ErrorKind::InvalidArgument, message).because(hint)
    })?;
    value.set_sensitive(true);
    Ok(value)
}

/// A server confines whoever comes with a key or a signed address that says so; a client that
/// confined itself could be led out by whoever changes the tree.
pub(crate) fn cannot_confine() -> Error {
    let message = "only the server can confine a view; ask it for a key with a path prefix";
    Error::new(ErrorKind::Unsupported, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(endpoint: &str) -> String {
        let err = Endpoint::connect(endpoint, None).unwrap_err();
        assert_eq!(err.kind(), ErrorKind::InvalidArgument);
        err.message().to_owned()
    }

    #[test]
    fn an_endpoint_is_an_address_with_or_without_a_path() {
        for address in ["http://127.0.0.1:2468", "http://[::1]:1/", "https://host/sandbox/"] {
            let endpoint = Endpoint::connect(address, Some("token")).unwrap();
            assert!(!endpoint.address.ends_with('/'));
        }
    }

    #[test]
    fn an_endpoint_without_a_scheme_says_what_is_missing() {
        assert!(refusal("127.0.0.1:2468").contains("is no address"));
        assert!(refusal("localhost:2468").contains("does not begin with http://"));
        assert!(refusal("ftp://host").contains("does not begin with http://"));
    }

    #[test]
    fn an_endpoint_holds_no_secrets_and_no_query() {
        assert!(refusal("http://user:secret@host").contains("user name"));
        assert!(refusal("http://host/?a=b").contains("more than"));
    }

    #[test]
    fn a_token_is_never_shown() {
        let endpoint = Endpoint::connect("http://host", Some("secret")).unwrap();
        assert!(!format!("{endpoint:?}").contains("secret"));
        assert!(Endpoint::connect("http://host", Some("two\nlines")).is_err());
    }
}
