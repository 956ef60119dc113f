//! Bytes as text in JSON. Only small files travel like that.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use http::StatusCode;

use crate::problem::{Class, Problem};

/// The most bytes that are sent or read as text. Whatever is larger has a route that streams it.
pub(super) const MOST_BYTES: usize = 1024 * 1024;

/// Some leave the padding out.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

pub(super) fn encode(bytes: &[u8]) -> String {
    BASE64.encode(bytes)
}

/// The bytes that a text means. `route` is where more of them are taken.
pub(super) fn decode(method: &str, text: &str, route: &'static str) -> Result<Vec<u8>, Problem> {
    // Four letters are three bytes.
    if text.len() / 4 > MOST_BYTES / 3 + 1 {
        return Err(too_large(route));
    }
    let bytes = BASE64.decode(text).map_err(|err| {
        Problem::invalid_request(&format!("{method} invalid base64 content: {err}"))
            .hint("send the bytes in the standard alphabet of base64 (RFC 4648, section 4)")
    })?;
    if bytes.len() > MOST_BYTES { Err(too_large(route)) } else { Ok(bytes) }
}

/// The problem of what is too large for this, with the route that takes it.
pub(super) fn too_large(route: &str) -> Problem {
    let message = format!("more than {MOST_BYTES} bytes do not go through JSON");
    Problem::new(StatusCode::PAYLOAD_TOO_LARGE, Class::LIMIT_EXCEEDED, &message)
        .message(&message)
        .kind("limit_exceeded")
        .limit("contentBase64", MOST_BYTES as u64)
        .hint(format!("use {route}, which streams bytes of any number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROUTE: &str = "PUT /v2/fs/file";

    #[test]
    fn bytes_come_back_and_padding_may_be_missing() {
        let bytes: Vec<u8> = (0..=255).collect();
        assert_eq!(decode("m", &encode(&bytes), ROUTE).unwrap(), bytes);
        assert_eq!(decode("m", "aGk=", ROUTE).unwrap(), b"hi");
        assert_eq!(decode("m", "aGk", ROUTE).unwrap(), b"hi");
        assert_eq!(decode("m", "", ROUTE).unwrap(), b"");
    }

    #[test]
    fn what_is_no_base64_is_told() {
        for text in ["a", "a b=", "\u{e4}", "ab-_", "===="] {
            let problem = decode("m", text, ROUTE).unwrap_err();
            let detail = &problem.details().detail;
            assert!(detail.starts_with("invalid request: m invalid base64 content: "), "{detail}");
        }
    }

    #[test]
    fn the_largest_is_taken_and_one_byte_more_is_sent_elsewhere() {
        let largest = encode(&vec![7; MOST_BYTES]);
        assert_eq!(decode("m", &largest, ROUTE).unwrap().len(), MOST_BYTES);
        for more in [MOST_BYTES + 1, 2 * MOST_BYTES] {
            let problem = decode("m", &encode(&vec![7; more]), ROUTE).unwrap_err();
            assert_eq!(problem.details().status, 413);
            assert!(problem.details().hint.as_ref().unwrap().contains(ROUTE));
        }
    }
}
