//! Failures between here and the server.

use std::error::Error as StdError;
use std::io;

use engine::{Error, ErrorKind};

use crate::hint::Hint;

/// What it means that a request, or the body of an answer, did not come through.
pub(crate) fn failed(err: reqwest::Error, endpoint: &str) -> Error {
    let (kind, message, advice) = if err.is_timeout() {
        let message = format!("the server at {endpoint} does not answer");
        (ErrorKind::Timeout, message, "is the address right, and is a firewall in the way?")
    } else if concerns_tls(&err) {
        let message = format!("cannot connect securely to {endpoint}");
        let advice = "is it an https server, and is its certificate valid for this address?";
        (ErrorKind::Unavailable, message, advice)
    } else if err.is_connect() {
        let message = format!("cannot reach the server at {endpoint}");
        let advice = "is the server running? start one with `sandkeep serve DIR`";
        (ErrorKind::Unavailable, message, advice)
    } else {
        let message = format!("the connection to {endpoint} broke off");
        (ErrorKind::Io, message, "the server may have stopped, or refused in the middle; try again")
    };
    // The address is in the message already, and a path in it would only repeat.
    Error::new(kind, message).because(Hint::new(advice).about(err.without_url()))
}

/// What it means that an answer makes no sense.
pub(crate) fn not_understood(cause: impl Into<Box<dyn StdError + Send + Sync>>) -> Error {
    let advice = "is this a Sandkeep server? its GET /v1/health answers {\"status\":\"ok\"}";
    let message = "the server's answer cannot be understood";
    Error::new(ErrorKind::Io, message).because(Hint::new(advice).about(cause))
}

fn concerns_tls(err: &(dyn StdError + 'static)) -> bool {
    let io = err.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
    // An `io::Error` hides what it wraps from the chain of sources.
    let cause = io.map(|inner| inner as &(dyn StdError + 'static)).or_else(|| err.source());
    err.is::<rustls::Error>() || cause.is_some_and(concerns_tls)
}

#[cfg(test)]
mod tests {
    use engine::{FileSystem as _, Links, SandboxPath};

    use super::*;
    use crate::canned::answering;
    use crate::{Remote, hint};

    async fn failure(endpoint: &str) -> Error {
        let remote = Remote::connect(endpoint, None).unwrap();
        remote.stat(&SandboxPath::root(), Links::Follow).await.unwrap_err()
    }

    #[tokio::test]
    async fn a_server_that_is_not_there_is_unavailable() {
        // Bound and closed at once, so that nobody listens there.
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let err = failure(&format!("http://127.0.0.1:{port}")).await;
        assert_eq!(err.kind(), ErrorKind::Unavailable);
        assert!(hint(&err).unwrap().contains("is the server running?"));
    }

    #[tokio::test]
    async fn a_server_that_speaks_no_tls_is_told_from_one_that_is_not_there() {
        let (address, _) = answering("HTTP/1.1 400 Bad Request\r\n\r\n").await;
        let err = failure(&format!("https://{address}")).await;
        assert_eq!(err.kind(), ErrorKind::Unavailable);
        assert!(err.message().contains("securely"), "{err:?}");
    }

    #[tokio::test]
    async fn a_connection_that_breaks_off_is_an_io_failure() {
        let (address, _) = answering("").await;
        let err = failure(&format!("http://{address}")).await;
        assert_eq!(err.kind(), ErrorKind::Io);
        assert!(hint(&err).is_some());
    }

    #[tokio::test]
    async fn an_answer_of_something_else_is_not_understood() {
        let (address, _) = answering("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello").await;
        let err = failure(&format!("http://{address}")).await;
        assert_eq!(err.kind(), ErrorKind::Io);
        assert!(hint(&err).unwrap().contains("is this a Sandkeep server?"));
    }
}
