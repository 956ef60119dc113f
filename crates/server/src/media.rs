//! Which media types a client takes.

use http::HeaderMap;
use http::header::ACCEPT;

/// Whether a client takes such an answer (RFC 9110, section 12.5.1). Whoever does not say takes
/// everything.
pub(crate) fn accepts(headers: &HeaderMap, kind: &str, subtype: &str) -> bool {
    if !headers.contains_key(ACCEPT) {
        return true;
    }
    let values = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let ranges = values.flat_map(|value| value.split(','));
    // The range that says the most about the type decides.
    let fitting = ranges.filter_map(|range| weight(range, kind, subtype));
    fitting.max_by_key(|(precision, _)| *precision).is_some_and(|(_, wanted)| wanted)
}

/// How exactly a range names the type, and whether it is wanted; none if it does not name it.
fn weight(range: &str, kind: &str, subtype: &str) -> Option<(u8, bool)> {
    let mut parts = range.split(';').map(str::trim);
    let (named, sub) = parts.next()?.split_once('/')?;
    let precision = match (named, sub) {
        ("*", "*") => 0,
        (named, "*") if named.eq_ignore_ascii_case(kind) => 1,
        (named, sub) if named.eq_ignore_ascii_case(kind) && sub.eq_ignore_ascii_case(subtype) => 2,
        _ => return None,
    };
    let quality = parts.find_map(|part| part.strip_prefix("q=").or(part.strip_prefix("Q=")));
    let unwanted = quality.is_some_and(|quality| quality.parse::<f32>().is_ok_and(|q| q <= 0.0));
    Some((precision, !unwanted))
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn takes_json(value: &'static str) -> bool {
        let headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static(value))]);
        accepts(&headers, "application", "json")
    }

    #[test]
    fn whoever_does_not_say_takes_everything() {
        assert!(accepts(&HeaderMap::new(), "application", "json"));
    }

    #[test]
    fn ranges_and_weights_mean_what_the_standard_says() {
        for value in
            ["*/*", "application/*", "Application/JSON", "text/html, application/json;q=0.1"]
        {
            assert!(takes_json(value), "{value}");
        }
        for value in
            ["", "text/html", "application/json;q=0", "application/json; q=0.0, */*", "json"]
        {
            assert!(!takes_json(value), "{value}");
        }
        assert!(takes_json("*/*;q=0, application/*"));
    }
}
