//! Which web pages may ask.

use http::header::{ACCEPT_RANGES, CONTENT_RANGE, ETAG, HeaderName, RETRY_AFTER};
use http::{HeaderValue, Method};
use tower_http::cors::{
    AllowHeaders, AllowMethods, AllowOrigin, CorsLayer, preflight_request_headers,
};

use crate::app::SetupError;
use crate::options::Cors;

/// What every answer depends on that a page may get. Clients expect all three, whatever the rules are.
pub(crate) const VARYING: HeaderValue = HeaderValue::from_static(
    "origin, access-control-request-method, access-control-request-headers",
);

/// What pages are told.
#[derive(Debug)]
pub(crate) struct Pages {
    layer: CorsLayer,
    is_closed: bool,
}

impl Pages {
    pub(crate) fn new(cors: &Cors) -> Result<Self, SetupError> {
        let is_closed = cors.origins.is_empty() && !cors.credentials;
        Ok(Self { layer: layer(cors)?, is_closed })
    }

    /// Whether no page may ask, so that only preflights are answered, and all alike.
    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// What answers preflights and marks answers.
    pub(crate) fn layer(&self) -> &CorsLayer {
        &self.layer
    }
}

fn layer(cors: &Cors) -> Result<CorsLayer, SetupError> {
    let layer = CorsLayer::new()
        .allow_methods(methods(cors)?)
        .allow_headers(headers(cors)?)
        .allow_credentials(cors.credentials)
        .vary(preflight_request_headers().collect::<Vec<_>>());
    if cors.origins.is_empty() {
        return Ok(layer);
    }
    Ok(layer.allow_origin(origins(cors)?).expose_headers([
        ETAG,
        CONTENT_RANGE,
        ACCEPT_RANGES,
        RETRY_AFTER,
        HeaderName::from_static("mcp-session-id"),
        HeaderName::from_static("x-acp-connection-id"),
        HeaderName::from_static("x-acp-connection-name"),
        HeaderName::from_static("x-acp-event-id"),
        HeaderName::from_static("x-created"),
        HeaderName::from_static("x-entries"),
        HeaderName::from_static("x-next-after"),
        HeaderName::from_static("x-request-id"),
        HeaderName::from_static("x-size"),
    ]))
}

fn origins(cors: &Cors) -> Result<AllowOrigin, SetupError> {
    if cors.origins.iter().any(|origin| origin == "*") {
        if cors.credentials {
            let what = "the origin `*` cannot be combined with credentials";
            return Err(SetupError::new(what, "name the origins that may send credentials"));
        }
        return Ok(AllowOrigin::any());
    }
    let parsed = cors.origins.iter().map(|origin| match HeaderValue::from_str(origin) {
        Ok(value) if is_origin(origin) => Ok(value),
        _ => Err(SetupError::new(
            format!("`{origin}` is not an origin"),
            "write it as a scheme, a host and a port if it has one: https://example.org:8080",
        )),
    });
    parsed.collect::<Result<Vec<_>, _>>().map(AllowOrigin::list)
}

// With credentials the wildcard has no meaning to a browser; what it asks for is repeated instead.
fn methods(cors: &Cors) -> Result<AllowMethods, SetupError> {
    if cors.methods.is_empty() {
        let any =
            if cors.credentials { AllowMethods::mirror_request() } else { AllowMethods::any() };
        return Ok(any);
    }
    let parsed = cors.methods.iter().map(|method| {
        Method::from_bytes(method.as_bytes()).map_err(|_| {
            SetupError::new(format!("`{method}` is not a method"), "write it as GET or PUT")
        })
    });
    parsed.collect::<Result<Vec<_>, _>>().map(AllowMethods::list)
}

fn headers(cors: &Cors) -> Result<AllowHeaders, SetupError> {
    if cors.headers.is_empty() {
        let any =
            if cors.credentials { AllowHeaders::mirror_request() } else { AllowHeaders::any() };
        return Ok(any);
    }
    let parsed = cors.headers.iter().map(|header| {
        HeaderName::from_bytes(header.as_bytes()).map_err(|_| {
            SetupError::new(
                format!("`{header}` is not the name of a header"),
                "write it as content-type",
            )
        })
    });
    parsed.collect::<Result<Vec<_>, _>>().map(AllowHeaders::list)
}

fn is_origin(text: &str) -> bool {
    let Some((scheme, authority)) = text.split_once("://") else { return text == "null" };
    let letters = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    !scheme.is_empty()
        && scheme.bytes().all(letters)
        && !authority.is_empty()
        && !authority.contains(['/', '?', '#', '@', '*', ' '])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_origin(origin: &str) -> Cors {
        Cors { origins: vec![origin.to_owned()], ..Cors::default() }
    }

    #[test]
    fn an_origin_has_no_path() {
        assert!(layer(&with_origin("https://example.org")).is_ok());
        assert!(layer(&with_origin("http://localhost:3000")).is_ok());
        assert!(layer(&with_origin("https://example.org/")).is_err());
        assert!(layer(&with_origin("example.org")).is_err());
        assert!(layer(&with_origin("https://exa\nmple.org")).is_err());
    }

    #[test]
    fn every_origin_and_credentials_exclude_each_other() {
        assert!(layer(&Cors { credentials: true, ..with_origin("*") }).is_err());
        assert!(layer(&with_origin("*")).is_ok());
    }

    #[test]
    fn a_bad_method_or_header_is_an_error() {
        let cors = Cors { methods: vec!["GE T".to_owned()], ..Cors::default() };
        assert!(layer(&cors).is_err());
        let cors = Cors { headers: vec!["x y".to_owned()], ..Cors::default() };
        assert!(layer(&cors).is_err());
    }
}
