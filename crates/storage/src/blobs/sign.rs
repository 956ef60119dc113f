//! What tells one write of a name from another, and how it is said to servers.

use object_store::{ObjectMeta, PutResult, UpdateVersion};

use crate::{Error, ErrorKind, Result, Token};

/// By what a kind of bucket tells writes apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sign {
    /// The entity tag: a hash of what was written, or a number. No two writes are of equal bytes.
    Tag,
    /// A number of the write. Listings do not tell it; they tell the tag.
    Generation,
}

impl Sign {
    /// The token of what was read.
    pub(super) fn of_read(self, read: &ObjectMeta) -> Result<Token> {
        self.token(read.e_tag.as_deref(), read.version.as_deref())
    }

    /// The token of what was written.
    pub(super) fn of_written(self, written: &PutResult) -> Result<Token> {
        self.token(written.e_tag.as_deref(), written.version.as_deref())
    }

    fn token(self, tag: Option<&str>, generation: Option<&str>) -> Result<Token> {
        let token = match self {
            Self::Tag => tag.map(unquoted),
            Self::Generation => generation.map(|generation| Token::new(generation.to_owned())),
        };
        token.ok_or_else(unsigned)
    }

    /// What a token is in the condition of a request; none if it never was one.
    ///
    /// Servers take some odd ones for any write, or for no condition at all.
    pub(super) fn condition(self, token: &Token) -> Option<String> {
        let text = str::from_utf8(token.as_bytes()).ok().filter(|text| !text.is_empty())?;
        match self {
            Self::Tag => {
                let is_odd = |byte: u8| !byte.is_ascii_graphic() || b"\"*,".contains(&byte);
                (!text.bytes().any(is_odd)).then(|| format!("\"{text}\""))
            }
            Self::Generation => {
                let is_number = text.bytes().all(|byte| byte.is_ascii_digit()) && text != "0";
                is_number.then(|| text.to_owned())
            }
        }
    }

    /// The same, as the driver wants it.
    pub(super) fn version(self, token: &Token) -> Option<UpdateVersion> {
        let condition = Some(self.condition(token)?);
        Some(match self {
            Self::Tag => UpdateVersion { e_tag: condition, version: None },
            Self::Generation => UpdateVersion { e_tag: None, version: condition },
        })
    }
}

/// The token of what a listing tells.
pub(super) fn of_listed(found: &ObjectMeta) -> Result<Token> {
    found.e_tag.as_deref().map(unquoted).ok_or_else(unsigned)
}

/// A tag without its quotes, which some answers have and others have not.
fn unquoted(tag: &str) -> Token {
    Token::new(tag.trim_matches('"').to_owned())
}

fn unsigned() -> Error {
    Error::new(ErrorKind::Unsafe, "the bucket does not tell one write from another")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn condition(sign: Sign, token: &'static str) -> Option<String> {
        sign.condition(&Token::new(token))
    }

    #[test]
    fn a_tag_has_its_quotes_in_a_condition_alone() {
        assert_eq!(condition(Sign::Tag, "0x8D-ab").as_deref(), Some("\"0x8D-ab\""));
        assert_eq!(unquoted("\"0x8D-ab\""), unquoted("0x8D-ab"));
    }

    #[test]
    fn odd_tokens_are_no_conditions() {
        for odd in ["", "*", "\"*\"", "a\", \"b", "a,b", "\r\nx: y", "ä"] {
            assert_eq!(condition(Sign::Tag, odd), None, "{odd:?}");
            assert_eq!(condition(Sign::Generation, odd), None, "{odd:?}");
        }
    }

    #[test]
    fn a_generation_is_a_number() {
        let number = "1763233200123456";
        assert_eq!(condition(Sign::Generation, number).as_deref(), Some(number));
        assert_eq!(condition(Sign::Generation, "0x1"), None);
        // Nothing has this one, and a request that names it wants that nothing is there.
        assert_eq!(condition(Sign::Generation, "0"), None);
    }
}
