//! What the errors of the driver and of the server mean.

use std::error::Error as StdError;
use std::io;

use deadpool_postgres::{HookError, PoolError};
use tokio_postgres::error::{Severity, SqlState};

use crate::{Error, ErrorKind};

impl From<tokio_postgres::Error> for Error {
    fn from(err: tokio_postgres::Error) -> Self {
        let (kind, message) = match err.code() {
            Some(code) => meaning(code),
            None => meaning_of_driver(&err),
        };
        Self::new(kind, message).because(err)
    }
}

/// What it means that there is no connection.
pub(super) fn of_pool(err: PoolError) -> Error {
    match err {
        PoolError::Backend(err) | PoolError::PostCreateHook(HookError::Backend(err)) => err.into(),
        PoolError::Timeout(_) => {
            Error::new(ErrorKind::Unavailable, "postgres does not answer").because(err)
        }
        PoolError::Closed | PoolError::NoRuntimeSpecified | PoolError::PostCreateHook(_) => {
            lost().because(err)
        }
    }
}

/// What those are told whose connection is gone.
pub(super) fn lost() -> Error {
    Error::new(ErrorKind::Unavailable, "the connection to postgres is lost")
}

pub(super) fn corrupt(what: &str) -> Error {
    Error::new(ErrorKind::Corrupt, format!("{what} is not as it was written"))
}

/// Whether a connection can be used again after an error: if the server told it and did not end the
/// session, and can write, and knows the statements that it was given.
pub(super) fn leaves_sound(err: &tokio_postgres::Error) -> bool {
    err.as_db_error().is_some_and(|err| {
        err.parsed_severity() == Some(Severity::Error) && !matches!(class(err.code()), "25" | "26")
    })
}

/// Whether there is no such table.
pub(super) fn is_missing(err: &Error) -> bool {
    let cause = err.source().and_then(|cause| cause.downcast_ref::<tokio_postgres::Error>());
    let code = cause.and_then(tokio_postgres::Error::code);
    code == Some(&SqlState::UNDEFINED_TABLE) || code == Some(&SqlState::INVALID_SCHEMA_NAME)
}

/// What a failure means that the server tells.
fn meaning(code: &SqlState) -> (ErrorKind, &'static str) {
    match (class(code), code.code()) {
        (_, "53100") => (ErrorKind::Full, "the storage is full"),
        (_, "25006") => (ErrorKind::Unavailable, "postgres takes no writes for now"),
        ("40" | "55", _) => (ErrorKind::Unavailable, "others are at the same rows of postgres"),
        ("08" | "53" | "57", _) => (ErrorKind::Unavailable, "postgres cannot be used for now"),
        ("28", _) => (
            ErrorKind::InvalidUrl,
            "postgres refuses the user or the password; the password is read from PGPASSWORD or \
             from the file that PGPASSFILE names",
        ),
        ("3D", _) => (ErrorKind::InvalidUrl, "postgres has no such database; make it first"),
        (_, "42501") => (
            ErrorKind::Io,
            "the user of postgres may not do this; let it create the schema or own it",
        ),
        // Both are what a pooler between us leaves of statements that the server should remember.
        ("26", _) | (_, "42P05") => (
            ErrorKind::Io,
            "postgres forgot a prepared statement; behind a pooler the URL needs prepared=false",
        ),
        ("XX", "XX001" | "XX002") | (_, "42P01" | "42703" | "3F000") => {
            (ErrorKind::Corrupt, "what is stored cannot be read")
        }
        _ => (ErrorKind::Io, "postgres failed"),
    }
}

/// The first two letters of a code, which tell what it is about.
fn class(code: &SqlState) -> &str {
    code.code().get(..2).unwrap_or_default()
}

/// What a failure means that the driver tells. It shows its kinds only in its words.
fn meaning_of_driver(err: &tokio_postgres::Error) -> (ErrorKind, &'static str) {
    if causes(err).any(<dyn StdError>::is::<rustls::Error>) {
        return (ErrorKind::InvalidUrl, "the certificate of postgres is not trusted");
    }
    if err.is_closed() || causes(err).any(<dyn StdError>::is::<io::Error>) {
        return (ErrorKind::Unavailable, "postgres cannot be reached");
    }
    match err.to_string().as_str() {
        "error performing TLS handshake" => (ErrorKind::InvalidUrl, "postgres offers no TLS"),
        "authentication error" | "invalid configuration" => (
            ErrorKind::InvalidUrl,
            "postgres wants a password: set PGPASSWORD, or PGPASSFILE to the file that has it",
        ),
        "timeout waiting for server" => (ErrorKind::Unavailable, "postgres does not answer"),
        _ => (ErrorKind::Io, "postgres failed"),
    }
}

/// The causes of an error, also those that an I/O error wraps.
fn causes<'a>(
    err: &'a (dyn StdError + 'static),
) -> impl Iterator<Item = &'a (dyn StdError + 'static)> {
    std::iter::successors(Some(err), |&err| {
        let wrapped = err.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        wrapped.map(|inner| inner as &(dyn StdError + 'static)).or_else(|| err.source())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(code: &str) -> ErrorKind {
        meaning(&SqlState::from_code(code)).0
    }

    #[test]
    fn what_passes_is_tried_again() {
        for code in [
            "57P01", "57P02", "57P03", "57014", "08000", "08006", "40001", "40P01", "53300",
            "53200", "25006", "55P03",
        ] {
            assert_eq!(kind(code), ErrorKind::Unavailable, "{code}");
        }
    }

    #[test]
    fn what_stays_is_told_at_once() {
        assert_eq!(kind("53100"), ErrorKind::Full);
        assert_eq!(kind("28P01"), ErrorKind::InvalidUrl);
        assert_eq!(kind("28000"), ErrorKind::InvalidUrl);
        assert_eq!(kind("3D000"), ErrorKind::InvalidUrl);
        assert_eq!(kind("42501"), ErrorKind::Io);
        assert_eq!(kind("26000"), ErrorKind::Io);
        assert_eq!(kind("XX001"), ErrorKind::Corrupt);
        assert_eq!(kind("22001"), ErrorKind::Io);
    }
}
