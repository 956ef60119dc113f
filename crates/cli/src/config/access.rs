//! Who may call: one token, a made one, or anybody.

use anyhow::{Context as _, Result, ensure};
use clap::error::{Error, ErrorKind};

/// What guards a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// A token that the operator gave.
    Given(String),
    /// A token that was made for this run.
    Made(String),
    /// Nothing.
    Open,
}

/// What one source says of the token.
#[derive(Clone, Debug, Default)]
pub(crate) struct TokenWish {
    /// A token to use.
    pub(crate) token: Option<String>,
    /// Whether to go without.
    pub(crate) no_token: Option<bool>,
}

impl TokenWish {
    /// This wish, and `lower` where this one says nothing. What is said twice in one place
    /// contradicts itself no less for standing apart: `-n serve --token t` is refused.
    pub(crate) fn over(self, lower: Self) -> Result<Self, Error> {
        let merged =
            Self { token: self.token.or(lower.token), no_token: self.no_token.or(lower.no_token) };
        match merged {
            Self { token: Some(_), no_token: Some(true) } => Err(contradiction()),
            merged => Ok(merged),
        }
    }
}

impl Access {
    /// What the sources ask for, the strongest first. The first that speaks decides, so that
    /// `--no-token` beats a token in the environment.
    pub(crate) fn choose(sources: impl IntoIterator<Item = TokenWish>) -> Result<Self> {
        let mut open_allowed = true;
        for TokenWish { token, no_token } in sources {
            let open = no_token == Some(true) && open_allowed;
            match token {
                Some(_) if open => return Err(contradiction().into()),
                Some(token) => return Ok(Self::Given(checked(token)?)),
                None if open => return Ok(Self::Open),
                None => open_allowed &= no_token != Some(false),
            }
        }
        made().map(Self::Made)
    }

    /// The token that clients must send.
    pub(crate) fn token(&self) -> Option<&str> {
        match self {
            Self::Given(token) | Self::Made(token) => Some(token),
            Self::Open => None,
        }
    }
}

fn contradiction() -> Error {
    Error::raw(ErrorKind::ArgumentConflict, "--token and --no-token contradict each other\n")
}

fn checked(token: String) -> Result<String> {
    // It travels in a header, where spaces and other letters cannot be told apart reliably.
    ensure!(
        !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic()),
        "a token is one or more visible ASCII characters without spaces"
    );
    Ok(token)
}

fn made() -> Result<String> {
    let mut secret = [0_u8; 32];
    rustix::rand::getrandom(&mut secret, rustix::rand::GetRandomFlags::empty())
        .context("the system gives no random bytes")?;
    Ok(secret.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wish(token: Option<&str>, no_token: Option<bool>) -> TokenWish {
        TokenWish { token: token.map(str::to_owned), no_token }
    }

    #[test]
    fn without_a_wish_a_token_of_32_bytes_is_made_anew() {
        let (one, two) = (Access::choose([]).unwrap(), Access::choose([]).unwrap());
        assert_eq!(one.token().unwrap().len(), 64);
        assert_ne!(one, two);
    }

    #[test]
    fn the_stronger_source_decides() {
        let flags = wish(None, Some(true));
        let environment = wish(Some("t"), None);
        assert_eq!(Access::choose([flags, environment]).unwrap(), Access::Open);
        let access = Access::choose([wish(Some("f"), None), wish(None, Some(true))]).unwrap();
        assert_eq!(access, Access::Given("f".into()));
    }

    #[test]
    fn a_stronger_no_to_openness_stands() {
        let access = Access::choose([wish(None, Some(false)), wish(None, Some(true))]).unwrap();
        assert!(matches!(access, Access::Made(_)));
    }

    #[test]
    fn one_source_cannot_ask_for_both() {
        assert!(Access::choose([wish(Some("t"), Some(true))]).is_err());
    }

    #[test]
    fn the_later_of_two_tokens_wins() {
        let merged = wish(Some("late"), None).over(wish(Some("early"), None)).unwrap();
        assert_eq!(Access::choose([merged]).unwrap(), Access::Given("late".into()));
    }

    #[test]
    fn a_token_before_the_word_and_none_behind_it_contradict_each_other() {
        assert!(wish(None, Some(true)).over(wish(Some("early"), None)).is_err());
        assert!(wish(Some("late"), None).over(wish(None, Some(true))).is_err());
        assert!(wish(Some("late"), Some(false)).over(wish(None, Some(true))).is_ok());
    }

    #[test]
    fn a_token_that_a_header_cannot_carry_is_refused() {
        assert!(Access::choose([wish(Some(""), None)]).is_err());
        assert!(Access::choose([wish(Some("two words"), None)]).is_err());
        assert!(Access::choose([wish(Some("ü"), None)]).is_err());
    }
}
