//! How a file is written, and how its writer is answered.

use axum::Json;
use axum::response::{AppendHeaders, IntoResponse as _, Response};
use engine::{Parents, WriteMode, Written};
use http::header::HeaderName;
use http::{HeaderMap, HeaderValue, StatusCode};

use super::wire::Stat;
use crate::conditions::validators;
use crate::problem::Problem;
use crate::query::{FromParams, Params};

/// How long the file is after a write.
const SIZE: HeaderName = HeaderName::from_static("x-size");
/// There when a write made the file, or when a directory is new.
const CREATED: HeaderName = HeaderName::from_static("x-created");
/// There when a mount pins the file, so that it was not replaced at once.
const IN_PLACE: HeaderName = HeaderName::from_static("x-in-place");
const ONE: HeaderValue = HeaderValue::from_static("1");
/// What a client would like the answer to be (RFC 7240).
const PREFER: HeaderName = HeaderName::from_static("prefer");
const PREFERENCE_APPLIED: HeaderName = HeaderName::from_static("preference-applied");
const REPRESENTATION: &str = "return=representation";

/// Whether a file must be new.
#[derive(Clone, Debug, Default, serde::Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Fresh {
    /// `true` to be told with 409 that something is there already.
    #[param(nullable = false)]
    new: Option<bool>,
}

impl FromParams for Fresh {
    fn from_params(params: &Params<'_>) -> Result<Self, Problem> {
        Ok(Self { new: params.flag("new")? })
    }
}

impl Fresh {
    pub(super) fn mode(&self) -> WriteMode {
        if self.new == Some(true) { WriteMode::CreateNew } else { WriteMode::Replace }
    }
}

/// What a write does about missing directories.
#[derive(Clone, Debug, Default, serde::Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Writing {
    /// `false` to write only where the directory is there already.
    #[param(nullable = false)]
    parents: Option<bool>,
}

impl FromParams for Writing {
    fn from_params(params: &Params<'_>) -> Result<Self, Problem> {
        Ok(Self { parents: params.flag("parents")? })
    }
}

impl Writing {
    pub(super) fn parents(&self) -> Parents {
        if self.parents == Some(false) { Parents::Require } else { Parents::Create }
    }
}

/// A header that is there when something is new.
pub(in crate::faces) fn created(is_new: bool) -> AppendHeaders<Option<(HeaderName, HeaderValue)>> {
    AppendHeaders(is_new.then_some((CREATED, ONE)))
}

/// The answer to a write: nothing but headers, or what is there if the client prefers that.
pub(super) fn answered(written: &Written, headers: &HeaderMap) -> Response {
    let size = (SIZE, HeaderValue::from(written.entry.size));
    let in_place = AppendHeaders(written.in_place.then_some((IN_PLACE, ONE)));
    let told =
        (AppendHeaders(validators(&written.entry)), [size], created(written.created), in_place);
    if !prefers_representation(headers) {
        return (StatusCode::NO_CONTENT, told).into_response();
    }
    let applied = [(PREFERENCE_APPLIED, REPRESENTATION)];
    (told, applied, Json(Stat::new(&written.entry))).into_response()
}

fn prefers_representation(headers: &HeaderMap) -> bool {
    let values = headers.get_all(PREFER).iter().filter_map(|value| value.to_str().ok());
    let mut wishes = values.flat_map(|value| value.split([',', ';']));
    wishes.any(|wish| wish.trim().eq_ignore_ascii_case(REPRESENTATION))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_preference_is_found_among_others() {
        for (value, is_so) in [
            ("return=representation", true),
            ("respond-async, Return=Representation", true),
            ("return=minimal", false),
        ] {
            let headers = [(PREFER, HeaderValue::from_static(value))].into_iter().collect();
            assert_eq!(prefers_representation(&headers), is_so, "{value}");
        }
    }
}
