//! A server's files over `/v1/fs`, and how they are asked for.

use engine::{DotDot, Result, SandboxPath};
use http::Method;
use reqwest::RequestBuilder;

use crate::endpoint::Endpoint;
use crate::wire::Stat;

/// The files of a server, over its `/v1/fs` interface.
#[derive(Clone, Debug)]
pub struct Remote {
    pub(crate) endpoint: Endpoint,
}

impl Remote {
    /// The files of the server at `endpoint`, such as `http://127.0.0.1:2468`. Nothing is sent
    /// before the first operation.
    pub fn connect(endpoint: &str, token: Option<&str>) -> Result<Self> {
        Ok(Self { endpoint: Endpoint::connect(endpoint, token)? })
    }

    /// Whether the server is there and lets this client in.
    pub async fn health(&self) -> Result<()> {
        self.endpoint.health().await
    }

    /// Where relative paths begin for a session, or without one: one request.
    pub async fn working_directory(&self, session: Option<&str>) -> Result<SandboxPath> {
        let mut request = self.endpoint.request(Method::GET, "/v1/fs/stat").query(&[("path", ".")]);
        if let Some(session) = session {
            request = request.query(&[("sessionId", session)]);
        }
        let stat: Stat = self.endpoint.tell(request).await?;
        SandboxPath::parse(&stat.path, DotDot::Clamp)
    }

    /// A request about one path.
    pub(crate) fn about(&self, method: Method, route: &str, path: &SandboxPath) -> RequestBuilder {
        self.endpoint.request(method, route).query(&[("path", path.as_str())])
    }
}

#[cfg(test)]
mod tests {
    use engine::ErrorKind;

    use super::*;
    use crate::canned::answering;

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
