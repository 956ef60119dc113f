//! How a browser is to show a file.

use axum::response::{IntoResponse as _, Response};
use http::HeaderValue;
use http::header::{
    CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS,
};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use utoipa::IntoParams;

use crate::problem::Problem;
use crate::query::{FromParams, Params};

/// What RFC 8187 lets stand as it is.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// How a browser is to show a file.
#[derive(Clone, Debug, Default, serde::Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Showing {
    /// `1` for a type that is guessed from the name, shown without any rights.
    #[param(nullable = false)]
    pub(super) inline: Option<bool>,
    /// `1` to be kept as a file.
    #[param(nullable = false)]
    pub(super) download: Option<bool>,
}

impl FromParams for Showing {
    fn from_params(params: &Params<'_>) -> Result<Self, Problem> {
        let (inline, download) = (params.switch("inline")?, params.switch("download")?);
        if inline == Some(true) && download == Some(true) {
            return Err(Problem::invalid_request("`inline` and `download` contradict each other")
                .hint("send one of the two"));
        }
        Ok(Self { inline, download })
    }
}

impl Showing {
    /// The answer, with what a browser needs to know. Whoever wrote the file may mean harm, so that
    /// it is never shown as a page of this server.
    pub(super) fn dress(&self, name: &str, mut answer: Response) -> Response {
        let headers = answer.headers_mut();
        let fixed = |value: &'static str| HeaderValue::from_static(value);
        headers.insert(X_CONTENT_TYPE_OPTIONS, fixed("nosniff"));
        headers.insert(CONTENT_SECURITY_POLICY, fixed("sandbox; default-src 'none'"));
        if self.inline == Some(true) {
            if headers.contains_key(CONTENT_TYPE) {
                headers.insert(CONTENT_TYPE, guessed(name));
            }
            headers.insert(CONTENT_DISPOSITION, fixed("inline"));
        } else if self.download == Some(true) {
            let name = utf8_percent_encode(name, PLAIN);
            let value = HeaderValue::try_from(format!("attachment; filename*=UTF-8''{name}"));
            headers.insert(CONTENT_DISPOSITION, value.unwrap_or_else(|_| fixed("attachment")));
        }
        answer.into_response()
    }
}

fn guessed(name: &str) -> HeaderValue {
    let guess = mime_guess::from_path(name).first_raw();
    let kind = match guess {
        Some(text) if text.starts_with("text/") => format!("{text}; charset=utf-8"),
        Some(other) => other.to_owned(),
        None => "application/octet-stream".to_owned(),
    };
    HeaderValue::try_from(kind)
        .unwrap_or_else(|_| HeaderValue::from_static("application/octet-stream"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_is_guessed_from_the_name() {
        assert_eq!(guessed("a.html"), "text/html; charset=utf-8");
        assert_eq!(guessed("a.png"), "image/png");
        assert_eq!(guessed("a"), "application/octet-stream");
    }

    #[test]
    fn a_name_cannot_forge_a_header() {
        let showing = Showing { inline: None, download: Some(true) };
        let answer = showing.dress("a\"; x=\r\n你.txt", Response::default());
        let value = answer.headers().get(CONTENT_DISPOSITION).unwrap();
        assert_eq!(value, "attachment; filename*=UTF-8''a%22%3B%20x%3D%0D%0A%E4%BD%A0.txt");
    }
}
