//! Query strings, read strictly: what the server knows must be given once and well.

use axum::extract::FromRequestParts;
use http::request::Parts;
use http::{StatusCode, Uri};
use percent_encoding::percent_decode_str;
use serde::de::{DeserializeOwned, IntoDeserializer as _};

use crate::problem::Problem;

/// The longest value: a path of 4,096 bytes beneath a prefix of as many.
const MOST_BYTES: usize = 8192;

/// What a route reads from the query string.
pub(crate) trait FromParams: Sized {
    fn from_params(params: &Params<'_>) -> Result<Self, Problem>;
}

/// The query string of a request as a value.
#[derive(Debug)]
pub(crate) struct Query<T>(pub(crate) T);

impl<S: Send + Sync, T: FromParams> FromRequestParts<S> for Query<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        T::from_params(&Params::of(&parts.uri)).map(Self)
    }
}

/// The parameters of a query string. What nobody asks for is never decoded, so that it may be
/// anything.
#[derive(Debug)]
pub(crate) struct Params<'a>(&'a str);

impl<'a> Params<'a> {
    /// Those of an address.
    pub(crate) fn of(uri: &'a Uri) -> Self {
        Self(uri.query().unwrap_or_default())
    }

    /// Whether there is such a parameter, however its name is spelled.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.split('&').any(|pair| is_name(pair.split('=').next().unwrap_or_default(), name))
    }

    /// The value of a parameter that may be absent.
    pub(crate) fn optional(&self, name: &str) -> Result<Option<String>, Problem> {
        let pairs = self.0.split('&').map(|pair| pair.split_once('=').unwrap_or((pair, "")));
        let mut values = pairs.filter(|(spelled, _)| is_name(spelled, name));
        let value = values.next().map(|(_, value)| decode(value)).transpose()?;
        if values.next().is_some() {
            return Err(unreadable(&format!("duplicate field `{name}`"))
                .hint(format!("send `{name}` once")));
        }
        Ok(value)
    }

    /// The value of a parameter that must be there.
    pub(crate) fn required(&self, name: &str) -> Result<String, Problem> {
        self.optional(name)?.ok_or_else(|| {
            unreadable(&format!("missing field `{name}`"))
                .hint(format!("add `?{name}=…` to the address"))
        })
    }

    /// A parameter that is `true` or `false`.
    pub(crate) fn flag(&self, name: &str) -> Result<Option<bool>, Problem> {
        match self.optional(name)?.as_deref() {
            None => Ok(None),
            Some("true") => Ok(Some(true)),
            Some("false") => Ok(Some(false)),
            Some(_) => Err(unreadable("provided string was not `true` or `false`")
                .hint(format!("send `{name}=true` or `{name}=false`"))),
        }
    }

    /// A parameter that is `1` or `0`, or `true` or `false`.
    pub(crate) fn switch(&self, name: &str) -> Result<Option<bool>, Problem> {
        match self.optional(name)?.as_deref() {
            None => Ok(None),
            Some("1" | "true") => Ok(Some(true)),
            Some("0" | "false") => Ok(Some(false)),
            Some(_) => Err(unreadable(&format!("`{name}` is neither 1 nor 0"))
                .hint(format!("send `{name}=1`, or leave it out"))),
        }
    }

    /// A parameter that is one of a few words.
    pub(crate) fn word<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, Problem> {
        let Some(text) = self.optional(name)? else { return Ok(None) };
        let word = T::deserialize(text.into_deserializer());
        word.map(Some).map_err(|err: serde::de::value::Error| {
            unreadable(&format!("`{name}`: {err}")).hint("GET /docs lists the words")
        })
    }

    /// All values of a parameter that may be given several times.
    pub(crate) fn all(&self, name: &str) -> Result<Vec<String>, Problem> {
        let pairs = self.0.split('&').map(|pair| pair.split_once('=').unwrap_or((pair, "")));
        let values = pairs.filter(|(spelled, _)| is_name(spelled, name));
        values.map(|(_, value)| decode(value)).collect()
    }

    /// A parameter that is a whole number.
    pub(crate) fn number(&self, name: &str) -> Result<Option<u64>, Problem> {
        let Some(text) = self.optional(name)? else { return Ok(None) };
        // `parse` alone would take a leading plus sign.
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        match text.parse() {
            Ok(number) if digits => Ok(Some(number)),
            _ => Err(unreadable(&format!("`{name}` is not a whole number"))
                .hint(format!("send `{name}` as decimal digits"))),
        }
    }

    /// The session, by either of its names or by both.
    pub(crate) fn session(&self) -> Result<Option<String>, Problem> {
        let (camel, snake) = (self.optional("sessionId")?, self.optional("session_id")?);
        match (camel, snake) {
            (Some(one), Some(other)) if one != other => {
                Err(unreadable("`sessionId` and `session_id` differ").hint("send one of the two"))
            }
            (one, other) => Ok(one.or(other)),
        }
    }
}

fn is_name(spelled: &str, name: &str) -> bool {
    spelled == name || (spelled.contains('%') && decode(spelled).is_ok_and(|it| it == name))
}

fn decode(text: &str) -> Result<String, Problem> {
    // As most are: nothing stands for anything else.
    if text.len() <= MOST_BYTES && !text.bytes().any(|byte| matches!(byte, b'%' | b'+')) {
        return Ok(text.to_owned());
    }
    let complete = |tail: &str| {
        tail.as_bytes()
            .first_chunk::<2>()
            .is_some_and(|pair| pair.iter().all(u8::is_ascii_hexdigit))
    };
    if !text.split('%').skip(1).all(complete) {
        return Err(unreadable("`%` is not followed by two hexadecimal digits")
            .hint("encode a percent sign as `%25`"));
    }
    let spaced = text.replace('+', " ");
    let decoded = percent_decode_str(&spaced).decode_utf8().map_err(|_| {
        unreadable("percent-encoded bytes are not UTF-8").hint("encode names as UTF-8")
    })?;
    if decoded.len() > MOST_BYTES {
        return Err(unreadable(&format!("a value is longer than {MOST_BYTES} bytes"))
            .hint("a path has at most 4096 bytes"));
    }
    Ok(decoded.into_owned())
}

fn unreadable(why: &str) -> Problem {
    let detail = format!("Failed to deserialize query string: {why}");
    Problem::unreadable(StatusCode::BAD_REQUEST, detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plus_is_a_space_and_percent_is_decoded_once() {
        let params = Params("path=a+b%2Fc%252e");
        assert_eq!(params.required("path").unwrap(), "a b/c%2e");
    }

    #[test]
    fn unknown_parameters_may_repeat() {
        assert!(Params("x=1&x=2&path=p").required("path").is_ok());
    }

    #[test]
    fn a_known_parameter_may_not_repeat() {
        assert!(Params("path=a&path=a").required("path").is_err());
    }

    #[test]
    fn broken_percent_encoding_is_refused() {
        assert!(Params("path=a%2").optional("path").is_err());
        assert!(Params("path=a%zz").optional("path").is_err());
        assert!(Params("path=%").optional("path").is_err());
        assert!(Params("path=%C3%28").optional("path").is_err());
    }

    #[test]
    fn both_names_of_a_session_may_agree_and_may_not_differ() {
        let agreed = Params("sessionId=a&session_id=a");
        assert_eq!(agreed.session().unwrap().as_deref(), Some("a"));
        assert!(Params("sessionId=a&session_id=b").session().is_err());
    }

    #[test]
    fn a_number_is_digits_alone() {
        assert_eq!(Params("n=12").number("n").unwrap(), Some(12));
        assert!(Params("n=%2B1").number("n").is_err());
        assert!(Params("n=-1").number("n").is_err());
        assert!(Params("n=").number("n").is_err());
        assert!(Params("n=99999999999999999999").number("n").is_err());
    }

    #[test]
    fn a_value_has_a_longest_length() {
        let longest = format!("path={}", "a".repeat(MOST_BYTES));
        assert!(Params(&longest).optional("path").is_ok());
        assert!(Params(&format!("{longest}a")).optional("path").is_err());
    }

    #[test]
    fn an_unknown_parameter_may_be_unreadable_or_long() {
        for unknown in ["x=%", "%=x", "x=%C3%28", "%ff", &"y".repeat(MOST_BYTES + 1)] {
            let query = format!("{unknown}&path=p");
            assert_eq!(Params(&query).required("path").unwrap(), "p", "{unknown}");
        }
    }

    #[test]
    fn a_name_may_be_percent_encoded() {
        assert_eq!(Params("p%61th=p").required("path").unwrap(), "p");
        assert!(Params("p%61th=p&path=p").required("path").is_err());
    }
}
