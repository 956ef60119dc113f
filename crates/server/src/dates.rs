//! Times as the wire spells them.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use engine::UnixTime;
use http::HeaderValue;
use jiff::Timestamp;
use jiff::tz::TimeZone;

/// The first second that a date of HTTP cannot spell: the year 10000.
const BEYOND: u64 = 253_402_300_800;

/// RFC 3339 in UTC with `+00:00`, and no, 3, 6 or 9 digits of a second. None outside the years
/// that have four digits.
pub(crate) fn rfc3339(time: UnixTime) -> Option<String> {
    let nanoseconds = i32::try_from(time.nanoseconds).ok()?;
    let timestamp = Timestamp::new(time.seconds, nanoseconds).ok()?;
    let civil = TimeZone::UTC.to_datetime(timestamp);
    if civil.year() < 0 {
        return None;
    }
    let fraction = match time.nanoseconds {
        0 => String::new(),
        n if n % 1_000_000 == 0 => format!(".{:03}", n / 1_000_000),
        n if n % 1_000 == 0 => format!(".{:06}", n / 1_000),
        n => format!(".{n:09}"),
    };
    Some(format!(
        "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}{fraction}+00:00",
        civil.year(),
        civil.month(),
        civil.day(),
        civil.hour(),
        civil.minute(),
        civil.second(),
    ))
}

/// The time.
pub(crate) fn now() -> UnixTime {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let seconds = i64::try_from(since.as_secs()).unwrap_or(i64::MAX);
    UnixTime { seconds, nanoseconds: since.subsec_nanos() }
}

/// The value of a `Last-Modified` header. None before 1970 and after 9999.
pub(crate) fn last_modified(time: UnixTime) -> Option<HeaderValue> {
    let seconds = u64::try_from(time.seconds).ok().filter(|seconds| *seconds < BEYOND)?;
    let date = httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_secs(seconds));
    HeaderValue::try_from(date).ok()
}

/// The second that a date of HTTP names, which may be before 1970.
pub(crate) fn seconds(date: &HeaderValue) -> Option<i64> {
    let text = date.to_str().ok()?;
    let Ok(time) = httpdate::parse_http_date(text) else { return earlier_seconds(text) };
    let since = time.duration_since(UNIX_EPOCH).ok()?;
    i64::try_from(since.as_secs()).ok()
}

// httpdate knows no years before 1970. To ignore such a date would lift the protection that
// If-Unmodified-Since is.
fn earlier_seconds(text: &str) -> Option<i64> {
    let is_http = text.len() == "Sun, 06 Nov 1994 08:49:37 GMT".len() && text.ends_with(" GMT");
    let time = is_http.then(|| jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(text));
    Some(time?.ok()?.as_second())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spelled(seconds: i64, nanoseconds: u32) -> String {
        rfc3339(UnixTime { seconds, nanoseconds }).unwrap()
    }

    #[test]
    fn a_fraction_has_no_three_six_or_nine_digits() {
        assert_eq!(spelled(1_700_000_000, 0), "2023-11-14T22:13:20+00:00");
        assert_eq!(spelled(1_700_000_000, 120_000_000), "2023-11-14T22:13:20.120+00:00");
        assert_eq!(spelled(1_700_000_000, 123_456_000), "2023-11-14T22:13:20.123456+00:00");
        assert_eq!(spelled(1_700_000_000, 123_456_789), "2023-11-14T22:13:20.123456789+00:00");
    }

    #[test]
    fn times_before_1970_count_forward_within_their_second() {
        assert_eq!(spelled(-1, 500_000_000), "1969-12-31T23:59:59.500+00:00");
        assert_eq!(spelled(-1, 0), "1969-12-31T23:59:59+00:00");
    }

    #[test]
    fn a_date_before_1970_is_a_date() {
        let read = |text| seconds(&HeaderValue::from_static(text));
        assert_eq!(read("Thu, 01 Jan 1970 00:00:00 GMT"), Some(0));
        assert_eq!(read("Wed, 31 Dec 1969 23:59:59 GMT"), Some(-1));
        assert_eq!(read("Mon, 01 Jan 1900 00:00:00 GMT"), Some(-2_208_988_800));
        assert_eq!(read("Wed, 32 Dec 1969 23:59:59 GMT"), None);
        assert_eq!(read("31 Dec 1969 23:59:59 +0000"), None);
        assert_eq!(read("long ago"), None);
    }

    #[test]
    fn times_that_cannot_be_spelled_are_left_out() {
        assert_eq!(rfc3339(UnixTime { seconds: i64::MAX, nanoseconds: 0 }), None);
        assert_eq!(last_modified(UnixTime { seconds: 253_402_300_800, nanoseconds: 0 }), None);
        assert_eq!(last_modified(UnixTime { seconds: -1, nanoseconds: 0 }), None);
    }
}
