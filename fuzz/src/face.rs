//! A server without a socket.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use bytes::Bytes;
use engine::{FileSystem as _, Limits, NewSnapshot, Sandbox, SandboxPath, SnapshotId, VirtualFs};
use http::header::{CONTENT_LENGTH, CONTENT_TYPE, HOST};
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body_util::BodyExt as _;
use serde_json::Value;
use server::{Access, App, Options};
use tower::ServiceExt as _;

use crate::trees::{at, id, memory, write};

/// What a file is said to have, where clients see it.
pub(crate) const PREFIX: &str = "/home/user";
/// How much fits.
const LIMITS: Limits =
    Limits { file_size: Some(4 << 20), total_size: Some(8 << 20), nodes: Some(1000) };

/// A server, and the one tree that it was started with.
pub(crate) struct Face {
    router: Router,
    pub(crate) files: VirtualFs,
    clean: SnapshotId,
}

/// What a request was answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    /// Nothing of a stream that does not end.
    pub(crate) body: Bytes,
}

impl Face {
    /// A server over a few files: those that are given, and links that lead nowhere good.
    pub(crate) async fn new(contents: &[(&str, &[u8])]) -> Self {
        let files = memory(LIMITS).await;
        for (path, content) in contents {
            write(&files, path, content).await;
        }
        for (link, target) in [("/out", "../../etc/passwd"), ("/loop", "loop"), ("/in", "dir")] {
            files.symlink(&at(link), target).await.expect("a link can be made");
        }
        let clean = SnapshotId::parse("as-it-began").expect("it is an id");
        let new = NewSnapshot { id: Some(clean.clone()), ..NewSnapshot::default() };
        files.snapshots().expect("it has some").create(new).await.expect("it is the first");
        let sandbox = Sandbox {
            id: id("box"),
            files: Arc::new(files.clone()),
            prefix: at(PREFIX),
            home: SandboxPath::root(),
            is_system: false,
        };
        let app = App::new(sandbox, Options::new(Access::Open)).expect("it can be set up");
        Self { router: server::fuzzing::router(&app), files, clean }
    }

    /// Brings the tree back to how it began.
    pub(crate) async fn clean(&self) {
        let snapshots = self.files.snapshots().expect("it has some");
        let restored = snapshots.restore(&self.clean, &SandboxPath::root()).await;
        restored.expect("a snapshot can be brought back");
    }

    /// Sends a request; holds what must hold of every answer.
    pub(crate) async fn ask(&self, mut request: Request<Bytes>) -> Answer {
        let (method, uri) = (request.method().clone(), request.uri().clone());
        let length = request.body().len();
        let headers = request.headers_mut();
        if !headers.contains_key(HOST) {
            headers.insert(HOST, "localhost".parse().expect("it is a name"));
        }
        if length > 0 || method == Method::PUT {
            headers.insert(CONTENT_LENGTH, length.into());
        }
        let request = request.map(Body::from);
        let response = self.router.clone().oneshot(request).await.expect("it never fails");
        let answer = Answer::of(response).await;
        answer.check(&method, &format!("{method} {uri}"));
        answer
    }
}

impl Answer {
    async fn of(response: Response<Body>) -> Self {
        let (parts, body) = response.into_parts();
        let kind = parts.headers.get(CONTENT_TYPE).map_or(&b""[..], |kind| kind.as_bytes());
        let is_endless = kind.starts_with(b"text/event-stream");
        let body = match is_endless {
            true => Bytes::new(),
            false => body.collect().await.expect("an answer comes to its end").to_bytes(),
        };
        Self { status: parts.status, headers: parts.headers, body }
    }

    fn check(&self, method: &Method, asked: &str) {
        let Self { status, headers, body } = self;
        let known = [StatusCode::NOT_IMPLEMENTED, StatusCode::INSUFFICIENT_STORAGE];
        let text = String::from_utf8_lossy(body);
        assert!(!status.is_server_error() || known.contains(status), "{asked}: {status} {text}");
        let kind = self.header("content-type");
        let read = |text: &[u8]| -> Value {
            serde_json::from_slice(text).unwrap_or_else(|err| {
                panic!("{asked}: {status} with JSON that is none ({err}): {body:?}")
            })
        };
        if kind == "application/x-ndjson" {
            body.split_inclusive(|byte| *byte == b'\n').for_each(|line| drop(read(line)));
        } else if kind.ends_with("json") && *method != Method::HEAD {
            let json = read(body);
            if kind == "application/problem+json" {
                assert_eq!(json["status"], status.as_u16(), "{asked}: {text}");
                assert!(json["title"].is_string() && json["kind"].is_string(), "{asked}: {text}");
            }
        }
        if let Some(length) = headers.get(CONTENT_LENGTH).filter(|_| *method != Method::HEAD) {
            assert_eq!(length.as_bytes(), body.len().to_string().as_bytes(), "{asked}: {text}");
        }
    }

    /// A header as text; empty if it is not there.
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// The body as JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}
