//! One question to one engine.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use bytes::Bytes;
use engine::{ContainerName, ContainerState};
use http::{Request, StatusCode};
use http_body_util::{BodyExt as _, Empty, Limited};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::net::UnixStream;
use tokio::time::timeout;

use crate::answer;

/// How long an engine may take, all in all.
const PATIENCE: Duration = Duration::from_secs(5);
/// More than what an engine says of one container.
const MOST: usize = 4 << 20;

/// Why nothing was learned.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Nobody answers there.
    Silent(std::io::Error),
    /// Somebody does, and not as an engine would.
    Amiss(&'static str),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Silent(err) => fmt::Display::fmt(err, f),
            Self::Amiss(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for Failure {}

/// What a container is, as the engine at a socket says.
pub(crate) async fn ask(path: &Path, name: &ContainerName) -> Result<ContainerState, Failure> {
    let answer = timeout(PATIENCE, exchange(path, name)).await;
    answer.unwrap_or(Err(Failure::Amiss("the container engine does not answer in time")))
}

async fn exchange(path: &Path, name: &ContainerName) -> Result<ContainerState, Failure> {
    let amiss = |_| Failure::Amiss("the container engine broke off");
    let stream = UnixStream::connect(path).await.map_err(Failure::Silent)?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(amiss)?;
    let talk = async {
        // Every character of a name stands for itself in a path.
        let request = Request::get(format!("/containers/{name}/json"))
            .header(http::header::HOST, "localhost")
            .body(Empty::<Bytes>::new())
            .map_err(|_| Failure::Amiss("the container's name cannot be asked for"))?;
        let (head, body) = sender.send_request(request).await.map_err(amiss)?.into_parts();
        match head.status {
            StatusCode::NOT_FOUND => return Ok(ContainerState::Missing),
            StatusCode::OK => {}
            _ => return Err(Failure::Amiss("the container engine refuses to answer")),
        }
        let body = Limited::new(body, MOST).collect().await;
        let body =
            body.map_err(|_| Failure::Amiss("the container engine's answer is cut short"))?;
        answer::state(&body.to_bytes(), name)
            .ok_or(Failure::Amiss("the container engine's answer makes no sense"))
    };
    // The talk moves only while its connection does; whichever ends first, both end here.
    tokio::pin!(talk, connection);
    tokio::select! {
        biased;
        answer = &mut talk => answer,
        ended = &mut connection => match ended {
            Ok(()) => talk.await,
            Err(_) => Err(Failure::Amiss("the container engine broke off")),
        },
    }
}
