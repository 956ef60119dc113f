//! Parts of files: the `Range` of a read and the `Content-Range` of a change.

use std::ops::Range;

use engine::Span;
use http::header::{CONTENT_RANGE, RANGE};
use http::{HeaderMap, HeaderValue};

use crate::problem::Problem;

/// The part that a request asks for. None when it asks for the whole, for several parts, or in
/// words that are not understood: then the whole is a right answer (RFC 9110, section 14.2).
pub(crate) fn requested(headers: &HeaderMap) -> Option<Span> {
    let mut values = headers.get_all(RANGE).iter();
    let (value, None) = (values.next()?, values.next()) else { return None };
    let (unit, range) = value.to_str().ok()?.split_once('=')?;
    if !unit.trim().eq_ignore_ascii_case("bytes") {
        return None;
    }
    let (first, last) = range.trim().split_once('-')?;
    match (first, last) {
        ("", last) => Some(Span::Last(digits(last)?)),
        (first, "") => Some(Span::From(digits(first)?)),
        (first, last) => {
            let (first, last) = (digits(first)?, digits(last)?);
            (first <= last).then(|| Span::Between(first..last.saturating_add(1)))
        }
    }
}

/// The `Content-Range` of an answer with a part.
pub(crate) fn content_range(range: &Range<u64>, size: u64) -> Option<HeaderValue> {
    let last = range.end.checked_sub(1)?;
    HeaderValue::try_from(format!("bytes {}-{last}/{size}", range.start)).ok()
}

/// The `Content-Range` of an answer to a part that lies behind the end.
pub(crate) fn unsatisfied(size: u64) -> Option<HeaderValue> {
    HeaderValue::try_from(format!("bytes */{size}")).ok()
}

/// Where the body of a change goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Placed {
    /// The bytes that the body replaces.
    pub(crate) range: Range<u64>,
    /// How long the file is to be afterwards, if the client says so.
    pub(crate) total: Option<u64>,
}

/// Where the `Content-Range` of a request puts its body.
pub(crate) fn placed(headers: &HeaderMap) -> Result<Option<Placed>, Problem> {
    let mut values = headers.get_all(CONTENT_RANGE).iter();
    let placed = match (values.next(), values.next()) {
        (None, _) => return Ok(None),
        (Some(value), None) => value.to_str().ok().and_then(parse_placed),
        (Some(_), Some(_)) => None,
    };
    placed.map(Some).ok_or_else(|| {
        Problem::invalid_request("content-range cannot be understood")
            .hint("send `Content-Range: bytes FIRST-LAST/*`, both counted from 0 and inclusive")
    })
}

fn parse_placed(text: &str) -> Option<Placed> {
    let (range, total) = text.strip_prefix("bytes ")?.trim().split_once('/')?;
    let (first, last) = range.split_once('-')?;
    let (first, end) = (digits(first)?, digits(last)?.checked_add(1)?);
    let total = match total {
        "*" => None,
        total => Some(digits(total)?),
    };
    let sensible = first < end && total.is_none_or(|total| end <= total);
    sensible.then_some(Placed { range: first..end, total })
}

fn digits(text: &str) -> Option<u64> {
    // `parse` alone would take a leading plus sign.
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(text: &'static str) -> Option<Span> {
        requested(&[(RANGE, HeaderValue::from_static(text))].into_iter().collect())
    }

    #[test]
    fn one_range_is_a_part() {
        assert_eq!(asked("bytes=2-5"), Some(Span::Between(2..6)));
        assert_eq!(asked("bytes=2-"), Some(Span::From(2)));
        assert_eq!(asked("bytes=-3"), Some(Span::Last(3)));
        assert_eq!(asked("bytes=0-18446744073709551615"), Some(Span::Between(0..u64::MAX)));
    }

    #[test]
    fn what_is_not_one_range_is_the_whole() {
        for text in ["bytes=0-1,3-4", "lines=1-2", "bytes=5-2", "bytes=", "bytes=-", "bytes=+1-2"] {
            assert_eq!(asked(text), None, "{text}");
        }
    }

    #[test]
    fn a_body_is_placed_by_its_first_and_last_byte() {
        let placed = parse_placed("bytes 2-5/*").unwrap();
        assert_eq!(placed, Placed { range: 2..6, total: None });
        assert_eq!(parse_placed("bytes 0-0/9").unwrap().total, Some(9));
    }

    #[test]
    fn a_place_that_makes_no_sense_is_refused() {
        for text in ["bytes 5-2/*", "bytes 0-9/5", "bytes */5", "bytes 1/*", "0-1/*", "bytes 0-1"] {
            assert!(parse_placed(text).is_none(), "{text}");
        }
        assert!(parse_placed("bytes 0-18446744073709551615/*").is_none());
    }
}
