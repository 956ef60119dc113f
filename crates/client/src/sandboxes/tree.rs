//! The tree of one sandbox, and how it is asked for.

use engine::{Error, ErrorKind, Point, Result, SandboxId, SandboxPath, SnapshotId, Snapshots};
use http::Method;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::{RequestBuilder, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::endpoint::{Endpoint, with_json};

/// What stands for itself in one part of an address. A dot never stands alone: no path holds `.`
/// or `..`, which would be taken away on the way.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
/// What stands for itself in a path.
const PLAIN_PATH: &AsciiSet = &PLAIN.remove(b'/');

/// The files of one sandbox of a server, as they are now or as they were.
#[derive(Clone, Debug)]
pub struct SandboxFs {
    pub(super) endpoint: Endpoint,
    id: SandboxId,
    pub(super) state: Point,
}

impl SandboxFs {
    pub(super) fn new(endpoint: Endpoint, id: SandboxId) -> Self {
        Self { endpoint, id, state: Point::Live }
    }

    /// The same sandbox as it was, if there is such a snapshot.
    pub async fn as_of(&self, id: &SnapshotId) -> Result<Self> {
        Snapshots::stat(self, id).await?;
        Ok(Self { state: Point::Snapshot(id.clone()), ..self.clone() })
    }

    /// A request about the sandbox as a whole.
    pub(super) fn request(&self, method: Method, route: &str) -> RequestBuilder {
        self.endpoint.request(method, &format!("/v1/sandboxes/{}/{route}", self.id))
    }

    /// A request about one of its snapshots.
    pub(super) fn about_snapshot(
        &self,
        method: Method,
        id: &SnapshotId,
        more: &str,
    ) -> RequestBuilder {
        let id = utf8_percent_encode(id.as_str(), PLAIN);
        self.request(method, &format!("snapshots/{id}{more}"))
    }

    /// A request to see what is at a path.
    pub(super) fn look(&self, word: &str, path: &SandboxPath) -> RequestBuilder {
        self.look_by(Method::GET, word, path)
    }

    /// The same by another method than GET.
    pub(super) fn look_by(&self, method: Method, word: &str, path: &SandboxPath) -> RequestBuilder {
        let request = self.about(method, word, path);
        match &self.state {
            Point::Live => request,
            Point::Snapshot(id) => request.query(&[("snapshot", id.as_str())]),
        }
    }

    /// A request to change what is at a path.
    pub(super) fn change(
        &self,
        method: Method,
        word: &str,
        path: &SandboxPath,
    ) -> Result<RequestBuilder> {
        self.must_be_live().map_err(|err| err.on(path))?;
        Ok(self.about(method, word, path))
    }

    fn about(&self, method: Method, word: &str, path: &SandboxPath) -> RequestBuilder {
        let path = utf8_percent_encode(path.as_str(), PLAIN_PATH);
        self.request(method, &format!("{word}{path}"))
    }

    /// Refuses to change what was.
    pub(super) fn must_be_live(&self) -> Result<()> {
        match &self.state {
            Point::Live => Ok(()),
            Point::Snapshot(_) => {
                Err(Error::new(ErrorKind::ReadOnly, "a snapshot cannot be changed"))
            }
        }
    }

    /// The answer to a request about a path, if it is a success.
    pub(super) async fn send(
        &self,
        request: RequestBuilder,
        path: &SandboxPath,
    ) -> Result<Response> {
        self.endpoint.send(request).await.map_err(|err| err.on(path))
    }

    /// What the short answer to a request about a path says.
    pub(super) async fn tell<T: DeserializeOwned>(
        &self,
        request: RequestBuilder,
        path: &SandboxPath,
    ) -> Result<T> {
        self.endpoint.tell(request).await.map_err(|err| err.on(path))
    }

    /// What the short answer to a request with a JSON body says.
    pub(super) async fn ask<T: DeserializeOwned>(
        &self,
        request: RequestBuilder,
        body: &impl Serialize,
    ) -> Result<T> {
        self.endpoint.tell(with_json(request, body)?).await
    }
}

#[cfg(test)]
mod tests {
    use engine::DotDot;

    use super::*;

    fn address(path: &str) -> String {
        let endpoint = Endpoint::connect("http://host/base", None).unwrap();
        let files = SandboxFs::new(endpoint, SandboxId::parse("alice").unwrap());
        let path = SandboxPath::parse(path, DotDot::Refuse).unwrap();
        files.look("fs", &path).build().unwrap().url().as_str().to_owned()
    }

    #[test]
    fn a_path_stands_in_the_address_as_it_is_or_escaped() {
        for (path, spelled) in [
            ("/", "/"),
            ("/a/b.txt", "/a/b.txt"),
            ("/a b/%2e%2e", "/a%20b/%252e%252e"),
            ("/#?&+", "/%23%3F%26%2B"),
            (r"/..\x", "/..%5Cx"),
            ("/\n\t", "/%0A%09"),
            ("/你", "/%E4%BD%A0"),
        ] {
            let expected = format!("http://host/base/v1/sandboxes/alice/fs{spelled}");
            assert_eq!(address(path), expected, "{path}");
        }
    }
}
