//! What a failure of the service means for the storage.

use std::error::Error as StdError;

use aws_credential_types::provider::error::CredentialsError;
use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};

use crate::{Error, ErrorKind};

/// What passes by itself.
const PASSING: [&str; 11] = [
    "InternalFailure",
    "InternalServerError",
    "LimitExceededException",
    "ProvisionedThroughputExceededException",
    "ReplicatedWriteConflictException",
    "RequestLimitExceeded",
    "ServiceUnavailable",
    "ThrottledException",
    "Throttling",
    "ThrottlingException",
    "TransactionConflictException",
];

/// What the service says to credentials that it does not know.
const UNKNOWN: [&str; 8] = [
    "ExpiredTokenException",
    "IncompleteSignature",
    "IncompleteSignatureException",
    "InvalidClientTokenId",
    "InvalidSignatureException",
    "MissingAuthenticationToken",
    "MissingAuthenticationTokenException",
    "UnrecognizedClientException",
];

/// The error that a request ended with.
#[expect(clippy::needless_pass_by_value, reason = "requests end with a value")]
pub(super) fn failure<E>(err: SdkError<E>) -> Error
where
    E: ProvideErrorMetadata + StdError + Send + Sync + 'static,
{
    match &err {
        SdkError::ServiceError(refusal) => {
            let status = refusal.raw().status().as_u16();
            refused(refusal.err(), status)
        }
        SdkError::DispatchFailure(_) if wants_credentials(&err) => without_credentials(),
        SdkError::ConstructionFailure(_) => {
            Error::new(ErrorKind::Io, "the request to DynamoDB cannot be made").because(told(&err))
        }
        SdkError::TimeoutError(_)
        | SdkError::DispatchFailure(_)
        | SdkError::ResponseError(_)
        | _ => unavailable("DynamoDB does not answer").because(told(&err)),
    }
}

/// The words of an error and its causes. Their details could hold what was stored.
fn told<E: StdError + 'static>(err: &SdkError<E>) -> String {
    let mut words = err.to_string();
    let mut next = err.source();
    while let Some(cause) = next {
        words.extend([": ", &cause.to_string()]);
        next = cause.source();
    }
    words
}

fn refused(refusal: &impl ProvideErrorMetadata, status: u16) -> Error {
    let code = refusal.code().unwrap_or_default();
    if UNKNOWN.contains(&code) {
        // The words of the service may hold what was signed, a session's token among it.
        let message = "DynamoDB refuses the credentials; check AWS_ACCESS_KEY_ID, \
                       AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN";
        return Error::new(ErrorKind::Io, message).because(code.to_owned());
    }
    let words = format!("{code}: {}", refusal.message().unwrap_or_default());
    let err = match code {
        "AccessDeniedException" => {
            Error::new(ErrorKind::Io, "the credentials do not allow this on the table")
        }
        "ResourceNotFoundException" => Error::new(ErrorKind::Io, "the table is gone"),
        _ if PASSING.contains(&code) => unavailable("DynamoDB is busy"),
        _ if status == 429 || status >= 500 => unavailable("DynamoDB failed"),
        _ => Error::new(ErrorKind::Io, "DynamoDB refuses the request"),
    };
    err.because(words)
}

pub(super) fn unavailable(message: &'static str) -> Error {
    Error::new(ErrorKind::Unavailable, message)
}

pub(super) fn without_credentials() -> Error {
    let message = "there are no credentials for DynamoDB; set AWS_ACCESS_KEY_ID and \
                   AWS_SECRET_ACCESS_KEY, or give the machine a role";
    Error::new(ErrorKind::Io, message)
}

/// Whether nobody has credentials; those who have some but cannot be asked may answer later.
fn wants_credentials<E: StdError + 'static>(err: &SdkError<E>) -> bool {
    let mut next: Option<&(dyn StdError + 'static)> = err.source();
    while let Some(cause) = next {
        if let Some(err) = cause.downcast_ref::<CredentialsError>() {
            return matches!(
                err,
                CredentialsError::CredentialsNotLoaded(_)
                    | CredentialsError::InvalidConfiguration(_)
            );
        }
        next = cause.source();
    }
    false
}

#[cfg(test)]
mod tests {
    use aws_sdk_dynamodb::error::ErrorMetadata;

    use super::*;

    fn kind(code: &str, status: u16) -> ErrorKind {
        refused(&refusal(code, "words"), status).kind()
    }

    fn refusal(code: &str, message: &str) -> ErrorMetadata {
        ErrorMetadata::builder().code(code).message(message).build()
    }

    #[test]
    fn what_passes_is_tried_again() {
        assert_eq!(kind("ThrottlingException", 400), ErrorKind::Unavailable);
        assert_eq!(kind("ProvisionedThroughputExceededException", 400), ErrorKind::Unavailable);
        assert_eq!(kind("SomethingNew", 503), ErrorKind::Unavailable);
        assert_eq!(kind("", 429), ErrorKind::Unavailable);
    }

    #[test]
    fn what_stays_is_not_tried_again() {
        assert_eq!(kind("AccessDeniedException", 400), ErrorKind::Io);
        assert_eq!(kind("ResourceNotFoundException", 400), ErrorKind::Io);
        assert_eq!(kind("ValidationException", 400), ErrorKind::Io);
        assert_eq!(kind("UnrecognizedClientException", 400), ErrorKind::Io);
    }

    #[test]
    fn what_was_signed_is_told_to_nobody() {
        let words = "the canonical string is x-amz-security-token:hunter2";
        let err = refused(&refusal("InvalidSignatureException", words), 400);
        assert!(err.to_string().contains("AWS_SECRET_ACCESS_KEY"), "{err}");
        assert!(!format!("{err:?}").contains("hunter2"));
    }
}
