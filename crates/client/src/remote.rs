//! A server's files, and how they are asked for.

use std::fmt;

use bytes::{Bytes, BytesMut};
use engine::{DotDot, Error, ErrorKind, Result, SandboxPath};
use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue, Method};
use reqwest::{Client, RequestBuilder, Response, Url};
use serde::de::DeserializeOwned;

use crate::connection::{Scheme, pool};
use crate::hint::Hint;
use crate::wire::{Health, Stat};
use crate::{problem, transport};

/// The longest answer that is gathered whole: 1,024 paths of 4,096 bytes, each escaped.
const LONGEST_ANSWER: usize = 32 << 20;

/// The files of a server, over its `/v1/fs` interface.
#[derive(Clone)]
pub struct Remote {
    client: Client,
    /// The address without a slash at its end.
    endpoint: String,
}

impl Remote {
    /// The files of the server at `endpoint`, such as `http://127.0.0.1:2468`. Nothing is sent
    /// before the first operation.
    pub fn connect(endpoint: &str, token: Option<&str>) -> Result<Self> {
        let scheme = check(endpoint)?;
        let mut headers = HeaderMap::new();
        if let Some(token) = token {
            headers.insert(AUTHORIZATION, bearer(token)?);
        }
        let client = pool(scheme, headers)?;
        Ok(Self { client, endpoint: endpoint.trim_end_matches('/').to_owned() })
    }

    /// Whether the server is there and lets this client in.
    pub async fn health(&self) -> Result<()> {
        let answer = self.send(self.request(Method::GET, "/v1/health")).await?;
        let health: Health = self.parse(answer).await?;
        if health.status == "ok" {
            return Ok(());
        }
        let message = format!("the server says that its status is {}", health.status);
        Err(Error::new(ErrorKind::Unavailable, message))
    }

    /// Where relative paths begin for a session, or without one: one request.
    pub async fn working_directory(&self, session: Option<&str>) -> Result<SandboxPath> {
        let mut request = self.request(Method::GET, "/v1/fs/stat").query(&[("path", ".")]);
        if let Some(session) = session {
            request = request.query(&[("sessionId", session)]);
        }
        let answer = self.send(request).await?;
        let stat: Stat = self.parse(answer).await?;
        SandboxPath::parse(&stat.path, DotDot::Clamp)
    }

    pub(crate) fn request(&self, method: Method, route: &str) -> RequestBuilder {
        self.client.request(method, format!("{}{route}", self.endpoint))
    }

    /// A request about one path.
    pub(crate) fn about(&self, method: Method, route: &str, path: &SandboxPath) -> RequestBuilder {
        self.request(method, route).query(&[("path", path.as_str())])
    }

    /// The answer to a request, if it is a success.
    pub(crate) async fn send(&self, request: RequestBuilder) -> Result<Response> {
        let answer = request.send().await.map_err(|err| transport::failed(err, &self.endpoint))?;
        if answer.status().is_success() {
            return Ok(answer);
        }
        Err(problem::explain(answer).await)
    }

    /// What a short answer says.
    pub(crate) async fn parse<T: DeserializeOwned>(&self, answer: Response) -> Result<T> {
        let body = self.gather(answer, LONGEST_ANSWER).await?;
        serde_json::from_slice(&body).map_err(transport::not_understood)
    }

    /// The body of an answer, which must not be longer than this.
    pub(crate) async fn gather(&self, mut answer: Response, most: usize) -> Result<Bytes> {
        let mut body = BytesMut::new();
        loop {
            let piece = answer.chunk().await;
            match piece.map_err(|err| transport::failed(err, &self.endpoint))? {
                None => return Ok(body.freeze()),
                Some(piece) if body.len() + piece.len() <= most => body.extend_from_slice(&piece),
                Some(_) => return Err(transport::not_understood("the answer is too long")),
            }
        }
    }

    /// Where the server is.
    pub(crate) fn endpoint(&self) -> &str {
        &self.endpoint
    }
}

impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Remote").field(&self.endpoint).finish()
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canned::answering;

    fn refusal(endpoint: &str) -> String {
        let err = Remote::connect(endpoint, None).unwrap_err();
        assert_eq!(err.kind(), ErrorKind::InvalidArgument);
        err.message().to_owned()
    }

    #[test]
    fn an_endpoint_is_an_address_with_or_without_a_path() {
        for endpoint in ["http://127.0.0.1:2468", "http://[::1]:1/", "https://host/sandbox/"] {
            let remote = Remote::connect(endpoint, Some("token")).unwrap();
            assert!(!remote.endpoint.ends_with('/'));
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
        let remote = Remote::connect("http://host", Some("secret")).unwrap();
        assert!(!format!("{remote:?}").contains("secret"));
        assert!(Remote::connect("http://host", Some("two\nlines")).is_err());
    }

    #[tokio::test]
    async fn a_working_directory_is_where_the_session_is() {
        let (address, came) = answering(
            "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n\
             {\"path\":\"/home/u/\",\"entryType\":\"directory\",\"size\":4096}",
        )
        .await;
        let remote = Remote::connect(&format!("http://{address}/base/"), Some("secret")).unwrap();
        let directory = remote.working_directory(Some("s 1")).await.unwrap();
        assert_eq!(directory.as_str(), "/home/u");
        let request = came.await.unwrap();
        assert!(request.starts_with("GET /base/v1/fs/stat?path=.&sessionId=s+1 HTTP/1.1\r\n"));
        assert!(request.contains("authorization: Bearer secret\r\n"));
    }

    #[tokio::test]
    async fn a_server_that_is_not_well_is_unavailable() {
        let (address, _) =
            answering("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{\"status\":\"starting\"}")
                .await;
        let remote = Remote::connect(&format!("http://{address}"), None).unwrap();
        assert_eq!(remote.health().await.unwrap_err().kind(), ErrorKind::Unavailable);
    }

    #[tokio::test]
    async fn a_redirect_is_not_followed() {
        let (address, came) = answering(
            "HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n",
        )
        .await;
        let remote = Remote::connect(&format!("http://{address}"), Some("secret")).unwrap();
        let err = remote.health().await.unwrap_err();
        came.await.unwrap();
        assert!(crate::hint(&err).unwrap().contains("redirects"), "{err}");
    }
}
