//! Requests that another reader might cut elsewhere, or that name nobody to answer.
//!
//! hyper answers by itself, with a 400: lengths that differ or are no numbers, an encoding of
//! which `chunked` is not the last, any encoding in HTTP/1.0. It folds a repeated equal length into
//! one, and takes a length away that stands beside an encoding; such a connection it closes after
//! the answer. What it lets through is refused here.

use axum::extract::Request;
use http::header::{CONNECTION, HOST, TRANSFER_ENCODING};
use http::{HeaderMap, HeaderValue, StatusCode, Version};

use crate::problem::{Class, Problem};

/// Refuses a request that is not framed plainly; the answer closes its connection.
pub(crate) fn check(request: &Request) -> Result<(), Problem> {
    let framed = check_encoding(request.headers());
    framed
        .and_then(|()| check_host(request.version(), request.headers()))
        .map_err(|problem| problem.header(CONNECTION, HeaderValue::from_static("close")))
}

// What is coded within the chunks would be stored as it is.
fn check_encoding(headers: &HeaderMap) -> Result<(), Problem> {
    let mut values = headers.get_all(TRANSFER_ENCODING).iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(()),
        (Some(value), None) if value.as_bytes().eq_ignore_ascii_case(b"chunked") => Ok(()),
        (Some(_), None) => {
            let message = "only the transfer encoding `chunked` is known";
            Err(Problem::new(StatusCode::NOT_IMPLEMENTED, Class::STREAM_ERROR, message)
                .message(message)
                .kind("unsupported")
                .hint("send the bytes as they are, chunked or with a Content-Length"))
        }
        (Some(_), Some(_)) => Err(Problem::invalid_request("transfer-encoding is repeated")
            .hint("send one Transfer-Encoding or one Content-Length")),
    }
}

// RFC 9112, section 3.2: exactly one, from HTTP/1.1 on.
fn check_host(version: Version, headers: &HeaderMap) -> Result<(), Problem> {
    let hosts = headers.get_all(HOST).iter().count();
    if hosts == 1 || (hosts == 0 && version < Version::HTTP_11) {
        return Ok(());
    }
    Err(Problem::invalid_request("the request does not name one host")
        .hint("send the header `Host` once"))
}
