//! A storage URL, taken apart.

use std::fmt;

use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use crate::settings::Settings;
use crate::{Error, ErrorKind, Result};

/// The parameter that names a file with credentials and other settings.
const CREDENTIALS_FILE: &str = "credentials-file";

/// Schemes that are followed by a path, in which a question mark is a letter as any other.
const PATHS: [&str; 2] = ["file", "sqlite"];

/// A storage URL: `scheme:rest?name=value&…`.
pub(crate) struct Address {
    pub(crate) scheme: String,
    /// What stands between the scheme's colon and the parameters.
    pub(crate) rest: String,
    /// What the operator keeps elsewhere.
    pub(crate) settings: Settings,
    parameters: Vec<(String, String)>,
}

impl Address {
    /// Takes a URL apart, and reads the file with credentials if it names one.
    pub(crate) async fn of(url: &str) -> Result<Self> {
        let Some((scheme, rest)) = url.split_once(':') else {
            return Err(invalid("a storage URL has a scheme, as in file:/var/lib/sandkeep"));
        };
        let query = (!PATHS.contains(&scheme)).then(|| rest.split_once('?')).flatten();
        let (rest, query) = query.unwrap_or((rest, ""));
        let parameters = parameters(query)?;
        let (scheme, rest) = (scheme.to_owned(), rest.to_owned());
        let mut address = Self { scheme, rest, settings: Settings::default(), parameters };
        if let Some(path) = address.take(CREDENTIALS_FILE)? {
            address.settings = Settings::read(&path).await?;
        }
        Ok(address)
    }

    /// Takes the value of a parameter out, if it is there.
    pub(crate) fn take(&mut self, name: &str) -> Result<Option<String>> {
        let named = |(known, _): &mut (String, String)| known == name;
        let mut taken = self.parameters.extract_if(.., named);
        let first = taken.next().map(|(_, value)| value);
        match taken.next() {
            None => Ok(first),
            Some(_) => Err(invalid(format!("{name:?} is given twice"))),
        }
    }

    /// Takes the value of a parameter that is `true` or `false`.
    pub(crate) fn take_flag(&mut self, name: &str) -> Result<bool> {
        match self.take(name)?.as_deref() {
            Some("true" | "1" | "") => Ok(true),
            Some("false" | "0") | None => Ok(false),
            Some(_) => Err(invalid(format!("{name:?} is true or false"))),
        }
    }

    /// Refuses parameters that nobody took: one that does nothing would deceive.
    pub(crate) fn check_all_taken(&self) -> Result<()> {
        let Some((name, _)) = self.parameters.first() else { return Ok(()) };
        let scheme = &self.scheme;
        // A password with a question mark ends up here, if nobody wrote it as %3F.
        let is_word = |name: &str| name.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'-'));
        let is_plain = |(name, value): &(String, String)| is_word(name) && !value.contains('@');
        if !self.parameters.iter().all(is_plain) {
            let advice = "a '?' in a password is written %3F";
            return Err(invalid(format!("{scheme}: has an unknown parameter; {advice}")));
        }
        Err(invalid(format!("{scheme}: has no parameter {name:?}")))
    }

    /// What is left, as a URL for a driver that takes one.
    pub(crate) fn to_url(&self) -> String {
        let mut url = format!("{}:{}", self.scheme, self.rest);
        for (number, (name, value)) in self.parameters.iter().enumerate() {
            url.push(if number == 0 { '?' } else { '&' });
            url.extend([name, "=", &utf8_percent_encode(value, NON_ALPHANUMERIC).to_string()]);
        }
        url
    }

    /// A place and what lies before the keys in it, as in `s3://place/prefix`.
    pub(crate) fn place_and_prefix(&self) -> Result<(String, String)> {
        let scheme = &self.scheme;
        let example =
            || invalid(format!("{scheme}:// is followed by a name, as in {scheme}://name/prefix"));
        let rest = self.rest.strip_prefix("//").ok_or_else(example)?;
        let (place, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        if place.is_empty() || place.contains(['@', ':']) {
            return Err(example());
        }
        let prefix = prefix.trim_end_matches('/');
        let is_plain = |part: &str| !matches!(part, "" | "." | "..");
        if !prefix.is_empty() && !prefix.split('/').all(is_plain) {
            return Err(invalid("a prefix is names joined by '/'"));
        }
        Ok((place.to_owned(), prefix.to_owned()))
    }
}

/// Without anything that could be a secret.
impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Address").field("scheme", &self.scheme).finish_non_exhaustive()
    }
}

fn parameters(query: &str) -> Result<Vec<(String, String)>> {
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    let decoded = pairs.map(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let value = percent_decode_str(value).decode_utf8();
        let value = value.map_err(|_| invalid("a parameter is not UTF-8"))?;
        Ok((name.to_owned(), value.into_owned()))
    });
    decoded.collect()
}

pub(crate) fn invalid(message: impl Into<std::borrow::Cow<'static, str>>) -> Error {
    Error::new(ErrorKind::InvalidUrl, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn address(url: &str) -> Address {
        Address::of(url).await.unwrap()
    }

    #[tokio::test]
    async fn parameters_are_taken_one_by_one() {
        let mut address = address("redis://host:1/0?prefix=a%2Fb&wait").await;
        assert_eq!(address.take("prefix").unwrap().as_deref(), Some("a/b"));
        assert!(address.check_all_taken().is_err());
        assert!(address.take_flag("wait").unwrap());
        assert_eq!(address.take("prefix").unwrap(), None);
        address.check_all_taken().unwrap();
        assert_eq!(address.to_url(), "redis://host:1/0");
    }

    #[tokio::test]
    async fn a_parameter_that_may_be_a_password_is_not_told() {
        for url in [
            "redis://me:12?hunter2@host/0",
            "redis://me:12?hunter&two@host/0",
            "redis://me:12?hunter&two=3@host/0",
        ] {
            let err = address(url).await.check_all_taken().unwrap_err();
            assert!(!err.to_string().contains("hunter"), "{err}");
        }
        let err = address("redis://host?patients=3").await.check_all_taken().unwrap_err();
        assert!(err.to_string().contains("\"patients\""), "{err}");
    }

    #[tokio::test]
    async fn what_is_not_taken_goes_to_the_driver() {
        let url = "postgres://u@h/d?sslmode=require&options=-c%20a%3Db";
        let address = address(url).await;
        assert_eq!(address.to_url(), "postgres://u@h/d?sslmode=require&options=%2Dc%20a%3Db");
    }

    #[tokio::test]
    async fn a_place_may_have_a_prefix() {
        let place = async |url: &str| address(url).await.place_and_prefix();
        let pair = |place: &str, prefix: &str| (place.to_owned(), prefix.to_owned());
        assert_eq!(place("s3://bucket").await.unwrap(), pair("bucket", ""));
        assert_eq!(place("s3://bucket/a/b/").await.unwrap(), pair("bucket", "a/b"));
        for url in ["s3:bucket", "s3://", "s3:///a", "s3://b/../c", "s3://b//c", "s3://k:s@b"] {
            assert!(place(url).await.is_err(), "{url}");
        }
    }

    #[tokio::test]
    async fn a_path_may_have_a_question_mark() {
        assert_eq!(address("file:/a?b=c").await.rest, "/a?b=c");
    }

    #[tokio::test]
    async fn a_parameter_given_twice_is_refused() {
        assert!(address("x:y?a=1&a=2").await.take("a").is_err());
    }
}
