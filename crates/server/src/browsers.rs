//! What browsers and caches are told about the files of a sandbox.

use http::header::{
    CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, HeaderName, HeaderValue,
    X_CONTENT_TYPE_OPTIONS,
};

/// An answer may be kept, but is to be asked about before it is used again.
pub(crate) const ASK_AGAIN: [(HeaderName, HeaderValue); 1] =
    [(CACHE_CONTROL, HeaderValue::from_static("no-cache"))];

/// Bytes that anybody may have written: a browser neither guesses what they are, nor shows them,
/// nor runs them as a page of this server. There is no file name, which would have to be escaped.
pub(crate) const INERT: [(HeaderName, HeaderValue); 3] = [
    (X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (CONTENT_SECURITY_POLICY, HeaderValue::from_static("sandbox")),
    (CONTENT_DISPOSITION, HeaderValue::from_static("attachment")),
];
