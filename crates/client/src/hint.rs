//! What to do about a failure.

use std::error::Error as StdError;
use std::fmt;

use engine::Error;

/// What the server, or this client, advises to do about a failure.
pub fn hint(err: &Error) -> Option<&str> {
    let source = StdError::source(err)?;
    source.downcast_ref::<Hint>().map(|hint| hint.advice.as_str())
}

/// Whether the server did not know who asked: the token or key is missing, wrong or revoked.
pub fn is_stranger(err: &Error) -> bool {
    let source = StdError::source(err).and_then(|source| source.downcast_ref::<Hint>());
    source.is_some_and(|hint| hint.is_for_stranger)
}

/// Advice that travels with an error, as the first of its sources.
#[derive(Debug)]
pub(crate) struct Hint {
    advice: String,
    is_for_stranger: bool,
    cause: Option<Box<dyn StdError + Send + Sync>>,
}

impl Hint {
    pub(crate) fn new(advice: impl Into<String>) -> Self {
        Self { advice: advice.into(), is_for_stranger: false, cause: None }
    }

    /// The same advice, for whoever the server does not know.
    pub(crate) fn for_stranger(self) -> Self {
        Self { is_for_stranger: true, ..self }
    }

    pub(crate) fn about(mut self, cause: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.cause = Some(cause.into());
        self
    }
}

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.advice)
    }
}

impl StdError for Hint {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.cause.as_deref().map(|cause| cause as &(dyn StdError + 'static))
    }
}

#[cfg(test)]
mod tests {
    use engine::ErrorKind;

    use super::*;

    #[test]
    fn advice_travels_with_its_error_and_keeps_the_cause() {
        let advice = Hint::new("try again").about("the line is cut");
        let err = Error::new(ErrorKind::Unavailable, "no answer").because(advice);
        assert_eq!(hint(&err), Some("try again"));
        let cause = StdError::source(&err).and_then(StdError::source).unwrap();
        assert_eq!(cause.to_string(), "the line is cut");
    }

    #[test]
    fn an_error_without_advice_has_none() {
        assert_eq!(hint(&Error::new(ErrorKind::Io, "broken").because("a cause")), None);
        assert_eq!(hint(&Error::new(ErrorKind::Io, "broken")), None);
    }
}
