//! Query strings, read strictly: what the server knows must be given once and well.

use axum::extract::FromRequestParts;
use http::StatusCode;
use http::request::Parts;
use percent_encoding::percent_decode_str;

use crate::problem::Problem;

/// The longest value: a path of 4,096 bytes beneath a prefix of as many.
const MOST_BYTES: usize = 8192;

/// What a route reads from the query string.
pub(crate) trait FromParams: Sized {
    fn from_params(params: &Params) -> Result<Self, Problem>;
}

/// The query string of a request as a value.
#[derive(Debug)]
pub(crate) struct Query<T>(pub(crate) T);

impl<S: Send + Sync, T: FromParams> FromRequestParts<S> for Query<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let params = Params::parse(parts.uri.query().unwrap_or_default())?;
        T::from_params(&params).map(Self)
    }
}

/// The parameters of a query string, decoded.
#[derive(Debug)]
pub(crate) struct Params(Vec<(String, String)>);

impl Params {
    pub(crate) fn parse(query: &str) -> Result<Self, Problem> {
        let pairs = query.split('&').filter(|pair| !pair.is_empty());
        let decoded = pairs.map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            Ok((decode(name)?, decode(value)?))
        });
        decoded.collect::<Result<_, _>>().map(Self)
    }

    /// The value of a parameter that may be absent.
    pub(crate) fn optional(&self, name: &str) -> Result<Option<&str>, Problem> {
        let mut values = self.0.iter().filter(|(known, _)| known == name);
        let value = values.next().map(|(_, value)| value.as_str());
        if values.next().is_some() {
            return Err(unreadable(&format!("duplicate field `{name}`"))
                .hint(format!("send `{name}` once")));
        }
        Ok(value)
    }

    /// The value of a parameter that must be there.
    pub(crate) fn required(&self, name: &str) -> Result<&str, Problem> {
        self.optional(name)?.ok_or_else(|| {
            unreadable(&format!("missing field `{name}`"))
                .hint(format!("add `?{name}=…` to the address"))
        })
    }

    /// A parameter that is `true` or `false`.
    pub(crate) fn flag(&self, name: &str) -> Result<Option<bool>, Problem> {
        match self.optional(name)? {
            None => Ok(None),
            Some("true") => Ok(Some(true)),
            Some("false") => Ok(Some(false)),
            Some(_) => Err(unreadable("provided string was not `true` or `false`")
                .hint(format!("send `{name}=true` or `{name}=false`"))),
        }
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
            (one, other) => Ok(one.or(other).map(str::to_owned)),
        }
    }
}

fn decode(text: &str) -> Result<String, Problem> {
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
        let params = Params::parse("path=a+b%2Fc%252e").unwrap();
        assert_eq!(params.required("path").unwrap(), "a b/c%2e");
    }

    #[test]
    fn unknown_parameters_may_repeat() {
        assert!(Params::parse("x=1&x=2&path=p").unwrap().required("path").is_ok());
    }

    #[test]
    fn a_known_parameter_may_not_repeat() {
        assert!(Params::parse("path=a&path=a").unwrap().required("path").is_err());
    }

    #[test]
    fn broken_percent_encoding_is_refused() {
        assert!(Params::parse("path=a%2").is_err());
        assert!(Params::parse("path=a%zz").is_err());
        assert!(Params::parse("path=%").is_err());
        assert!(Params::parse("path=%C3%28").is_err());
    }

    #[test]
    fn both_names_of_a_session_may_agree_and_may_not_differ() {
        let agreed = Params::parse("sessionId=a&session_id=a").unwrap();
        assert_eq!(agreed.session().unwrap().as_deref(), Some("a"));
        assert!(Params::parse("sessionId=a&session_id=b").unwrap().session().is_err());
    }

    #[test]
    fn a_number_is_digits_alone() {
        assert_eq!(Params::parse("n=12").unwrap().number("n").unwrap(), Some(12));
        assert!(Params::parse("n=%2B1").unwrap().number("n").is_err());
        assert!(Params::parse("n=-1").unwrap().number("n").is_err());
        assert!(Params::parse("n=").unwrap().number("n").is_err());
        assert!(Params::parse("n=99999999999999999999").unwrap().number("n").is_err());
    }

    #[test]
    fn a_value_has_a_longest_length() {
        assert!(Params::parse(&format!("path={}", "a".repeat(MOST_BYTES))).is_ok());
        assert!(Params::parse(&format!("path={}", "a".repeat(MOST_BYTES + 1))).is_err());
    }
}
