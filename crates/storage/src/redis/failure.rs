//! What an error of the driver or of the server means for the storage.

use std::error::Error as StdError;
use std::io;
use std::sync::Arc;

use redis::{ErrorKind as Kind, RedisError, ServerError};

use crate::address::invalid;
use crate::{Error, ErrorKind};

/// Answers that say: not now. Some other time, or another server, will do.
const PASSING: [&str; 10] = [
    "ASK",
    "BUSY",
    "CLUSTERDOWN",
    "EXECABORT",
    "LOADING",
    "MASTERDOWN",
    "MOVED",
    "NOREPLICAS",
    "READONLY",
    "TRYAGAIN",
];

/// The error that a failed exchange is.
pub(super) fn of(err: RedisError) -> Error {
    let kind = err.kind();
    let details = err.detail().unwrap_or_default();
    // Of a cluster that cannot be reached the driver tells in words alone why.
    if kind == Kind::AuthenticationFailed || details.contains("authentication failed") {
        return credentials();
    }
    if distrust(&err) || details.contains("invalid peer certificate") {
        let message = "the server's certificate is not trusted, or it speaks no TLS; \
                       cacert=FILE names an authority to trust";
        return Error::new(ErrorKind::InvalidUrl, message).because(err);
    }
    // An answer that was cut off cannot be parsed.
    if matches!(kind, Kind::Io | Kind::Parse | Kind::ClusterConnectionNotFound) {
        return Error::new(ErrorKind::Unavailable, "redis cannot be reached").because(err);
    }
    match ServerError::try_from(err) {
        Ok(err) => of_server(&err),
        Err(err) => {
            of_words(err.detail().unwrap_or_default()).unwrap_or_else(unexpected).because(err)
        }
    }
}

/// The error that the server answered with.
pub(super) fn of_server(err: &ServerError) -> Error {
    let details = err.details().unwrap_or_default();
    let error = match err.code() {
        "NOAUTH" | "WRONGPASS" => return credentials(),
        "NOPERM" => Error::new(
            ErrorKind::InvalidUrl,
            "the user of redis may not do what a store needs: it must be allowed to use the keys \
             of its prefix and the commands @read, @write, @scripting, @transaction and info, \
             and for durability=fsync command, config|get and waitaof",
        ),
        "OOM" => full(),
        "MISCONF" if details.contains("No space left") => full(),
        "MISCONF" => Error::new(ErrorKind::Unavailable, "redis cannot write to its disk"),
        code if PASSING.contains(&code) => {
            Error::new(ErrorKind::Unavailable, "redis is not ready for requests")
        }
        _ => of_words(details)
            .unwrap_or_else(|| Error::new(ErrorKind::Io, "redis refused a request")),
    };
    error.because(err.clone())
}

/// What an answer means that has no code of its own, or has lost it on the way through the driver.
fn of_words(details: &str) -> Option<Error> {
    // Redis 6 hides the code of what goes wrong in a script among its words.
    if details.contains("OOM command not allowed") {
        return Some(full());
    }
    let passing = ["max number of clients", "loading the dataset", "read only replica"];
    if passing.into_iter().any(|words| details.contains(words)) {
        return Some(Error::new(ErrorKind::Unavailable, "redis is not ready for requests"));
    }
    if details.contains("cluster support disabled") {
        return Some(invalid("this redis is no cluster: leave out cluster=true"));
    }
    if details.contains("DB index is out of range") {
        return Some(invalid("redis has no database of this number"));
    }
    None
}

/// The error of an answer that has no meaning here.
pub(super) fn unexpected() -> Error {
    Error::new(ErrorKind::Io, "the answer of redis cannot be understood")
}

/// The error of a server that says nothing.
pub(super) fn silent() -> Error {
    Error::new(ErrorKind::Unavailable, "redis does not answer")
}

/// What the driver would tell about them is not told: nobody knows what it holds.
fn credentials() -> Error {
    let message = "redis refuses the user or the password (REDIS_USERNAME, REDIS_PASSWORD)";
    Error::new(ErrorKind::InvalidUrl, message)
}

fn full() -> Error {
    Error::new(ErrorKind::Full, "redis has no room left")
}

/// Whether the two sides could not agree on an encrypted connection.
fn distrust(err: &RedisError) -> bool {
    let source = err.source().and_then(|err| err.downcast_ref::<Arc<dyn StdError + Send + Sync>>());
    let err = source.and_then(|err| err.downcast_ref::<io::Error>());
    let cause = err.and_then(io::Error::get_ref);
    matches!(cause, Some(cause) if cause.is::<rustls::Error>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redis::answer::checked;

    fn answered(answer: &str) -> Error {
        checked(redis::parse_redis_value(answer.as_bytes()).unwrap()).unwrap_err()
    }

    #[test]
    fn what_passes_is_tried_again() {
        for answer in [
            "-LOADING Redis is loading the dataset in memory\r\n",
            "-READONLY You can't write against a read only replica.\r\n",
            "-MASTERDOWN Link with MASTER is down\r\n",
            "-CLUSTERDOWN The cluster is down\r\n",
            "-TRYAGAIN Multiple keys request during rehashing of slot\r\n",
            "-MOVED 3999 127.0.0.1:6381\r\n",
            "-ASK 3999 127.0.0.1:6381\r\n",
            "-EXECABORT Transaction discarded because of previous errors.\r\n",
            "-NOREPLICAS Not enough good replicas to write.\r\n",
            "-BUSY Redis is busy running a script.\r\n",
            "-ERR max number of clients reached\r\n",
            "-MISCONF Errors writing to the AOF file: Input/output error\r\n",
        ] {
            assert_eq!(answered(answer).kind(), ErrorKind::Unavailable, "{answer}");
        }
    }

    #[test]
    fn a_lack_of_room_is_told() {
        for answer in [
            "-OOM command not allowed when used memory > 'maxmemory'.\r\n",
            "-ERR Error running script: @user_script: OOM command not allowed\r\n",
            "-MISCONF Errors writing to the AOF file: No space left on device\r\n",
        ] {
            assert_eq!(answered(answer).kind(), ErrorKind::Full, "{answer}");
        }
    }

    #[test]
    fn what_will_not_pass_is_told_at_once() {
        for (answer, kind) in [
            ("-NOAUTH Authentication required.\r\n", ErrorKind::InvalidUrl),
            ("-WRONGPASS invalid username-password pair\r\n", ErrorKind::InvalidUrl),
            ("-NOPERM this user has no permissions\r\n", ErrorKind::InvalidUrl),
            ("-WRONGTYPE Operation against a key\r\n", ErrorKind::Io),
            ("-ERR unknown command\r\n", ErrorKind::Io),
        ] {
            assert_eq!(answered(answer).kind(), kind, "{answer}");
        }
    }

    #[test]
    fn a_cluster_that_refuses_a_password_is_told_from_one_that_is_away() {
        let failed = |why: &str| {
            of(RedisError::from((Kind::Io, "failed to create initial connections", why.to_owned())))
        };
        let refused = failed("Password authentication failed - AuthenticationFailed");
        assert_eq!(refused.kind(), ErrorKind::InvalidUrl);
        assert_eq!(failed("Connection refused").kind(), ErrorKind::Unavailable);
    }
}
