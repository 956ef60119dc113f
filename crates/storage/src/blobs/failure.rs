//! What the errors of a bucket mean.
//!
//! The driver's own words are never passed on: they hold addresses, and some addresses are signed.

use std::error::Error as StdError;

use http::StatusCode;
use object_store::client::HttpError;

use super::wire::Refusal;
use crate::{Error, ErrorKind};

/// What an error of the driver means, unless it is the answer to a question.
pub(super) fn failed(err: &object_store::Error) -> Error {
    let mut cause: Option<&(dyn StdError + 'static)> = Some(err);
    while let Some(err) = cause {
        if let Some(err) = err.downcast_ref::<HttpError>() {
            return of_http(err);
        }
        cause = err.source();
    }
    // Several wrote or removed the same name at once. Who asks whether it is there has his answer.
    if matches!(err, object_store::Error::AlreadyExists { .. }) {
        return undecided();
    }
    let is_denied = matches!(
        err,
        object_store::Error::PermissionDenied { .. } | object_store::Error::Unauthenticated { .. }
    );
    if is_denied {
        return denied();
    }
    Error::new(ErrorKind::Io, "the bucket answers what cannot be understood")
}

/// What it means that a request got no answer, or one that refuses it.
pub(super) fn of_http(err: &HttpError) -> Error {
    if let Some(refusal) = find::<Refusal>(err) {
        return refused(refusal).because(refusal.clone());
    }
    // Its words have no address in them: the driver takes it out.
    let cause = root(err).to_string();
    if let Some(rustls::Error::InvalidCertificate(_)) = find::<rustls::Error>(err) {
        let message = "the certificate of the bucket's server is not trusted";
        return Error::new(ErrorKind::Io, message).because(cause);
    }
    Error::new(ErrorKind::Unavailable, "the bucket cannot be reached").because(cause)
}

/// What it means that a server refuses.
pub(super) fn refused(refusal: &Refusal) -> Error {
    let code = refusal.code.as_str();
    if matches!(code, "NoSuchBucket" | "ContainerNotFound" | "ContainerBeingDeleted") {
        let message = "there is no such bucket; make it first, or correct its name";
        return Error::new(ErrorKind::InvalidUrl, message);
    }
    if matches!(
        code,
        "PermanentRedirect" | "AuthorizationHeaderMalformed" | "IllegalLocationConstraintException"
    ) {
        let message = "the bucket is in another region: set AWS_REGION to that";
        return Error::new(ErrorKind::InvalidUrl, message);
    }
    if code == "RequestTimeTooSkewed" {
        return Error::new(ErrorKind::Io, "the clock of this machine is wrong by minutes");
    }
    if refusal.status == StatusCode::INSUFFICIENT_STORAGE || code == "QuotaExceeded" {
        return Error::new(ErrorKind::Full, "the bucket is full");
    }
    let may_pass =
        refusal.status.is_server_error() && refusal.status != StatusCode::NOT_IMPLEMENTED;
    if may_pass
        || matches!(refusal.status, StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT)
        || matches!(code, "RequestTimeout" | "SlowDown" | "ServerBusy")
    {
        return Error::new(ErrorKind::Unavailable, "the bucket does not take requests for now");
    }
    if matches!(refusal.status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN)
        || matches!(code, "ExpiredToken" | "InvalidToken" | "InvalidAccessKeyId")
    {
        return denied();
    }
    Error::new(ErrorKind::Io, "the bucket refuses the request")
}

/// That several changed a name at once, and the bucket gave none of them its due.
pub(super) fn undecided() -> Error {
    Error::new(ErrorKind::Unavailable, "the bucket could not decide between several writers")
}

fn denied() -> Error {
    let message = "the bucket refuses the credentials, or they do not allow this: look at the keys \
                   and at what they may do (read, write, list and delete)";
    Error::new(ErrorKind::Io, message)
}

/// The first cause of a kind.
fn find<'a, E: StdError + 'static>(err: &'a (dyn StdError + 'static)) -> Option<&'a E> {
    let mut cause = Some(err);
    while let Some(err) = cause {
        if let Some(found) = err.downcast_ref::<E>() {
            return Some(found);
        }
        // What an I/O error was made of is not its source.
        let inner = err.downcast_ref::<std::io::Error>().and_then(|err| err.get_ref());
        if let Some(found) = inner.and_then(|inner| inner.downcast_ref::<E>()) {
            return Some(found);
        }
        cause = err.source();
    }
    None
}

/// The cause of all others.
fn root<'a>(err: &'a (dyn StdError + 'static)) -> &'a (dyn StdError + 'static) {
    let mut last = err;
    while let Some(cause) = last.source() {
        last = cause;
    }
    last
}
