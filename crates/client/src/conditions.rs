//! Preconditions and spans as the headers of a request.

use engine::{Error, ErrorKind, If, Part, Result, Span, Version, WriteMode};
use http::HeaderName;
use http::header::{IF_MATCH, IF_NONE_MATCH};
use reqwest::RequestBuilder;

/// The header that says what a write of this mode expects.
pub(crate) fn for_write(mode: WriteMode, expected: &If) -> Result<Option<(HeaderName, String)>> {
    match (mode, expected) {
        (WriteMode::CreateNew, If::Exists | If::Matches(_)) => {
            let message = "a new file cannot be expected to exist";
            Err(Error::new(ErrorKind::InvalidArgument, message))
        }
        (WriteMode::CreateNew, If::Always | If::Missing | If::Differs(_)) => {
            Ok(header(&If::Missing))
        }
        (WriteMode::Replace | WriteMode::Append | WriteMode::Part(_), expected) => {
            Ok(header(expected))
        }
    }
}

/// The `Content-Range` of a part, whose length must be known and not nothing.
pub(crate) fn placed(part: Part, length: Option<u64>) -> Result<String> {
    let last = length.and_then(|length| part.offset.checked_add(length)?.checked_sub(1));
    let Some(last) = last.filter(|_| length != Some(0)) else {
        let message = "over this interface a part has a known length of at least one byte";
        return Err(Error::new(ErrorKind::Unsupported, message));
    };
    let total = part.total.map_or_else(|| "*".to_owned(), |total| total.to_string());
    Ok(format!("bytes {}-{last}/{total}", part.offset))
}

/// The request with a condition, if there is one.
pub(crate) fn applied(
    request: RequestBuilder,
    condition: Option<(HeaderName, String)>,
) -> RequestBuilder {
    match condition {
        Some((name, value)) => request.header(name, value),
        None => request,
    }
}

/// The header that says what a request expects.
pub(crate) fn header(expected: &If) -> Option<(HeaderName, String)> {
    match expected {
        If::Always => None,
        If::Exists => Some((IF_MATCH, "*".into())),
        If::Missing => Some((IF_NONE_MATCH, "*".into())),
        // No file has the empty version, and a header cannot hold an empty list.
        If::Matches(versions) if versions.is_empty() => Some((IF_MATCH, "\"\"".into())),
        If::Matches(versions) => Some((IF_MATCH, list(versions))),
        If::Differs(versions) if versions.is_empty() => None,
        If::Differs(versions) => Some((IF_NONE_MATCH, list(versions))),
    }
}

fn list(versions: &[Version]) -> String {
    let tags: Vec<String> = versions.iter().map(|version| format!("\"{version}\"")).collect();
    tags.join(", ")
}

/// The value of `Range`; none for the whole. A span must not be empty.
pub(crate) fn range(span: &Span) -> Option<String> {
    match span {
        Span::Whole => None,
        Span::From(start) => Some(format!("bytes={start}-")),
        Span::Between(range) => Some(format!("bytes={}-{}", range.start, range.end - 1)),
        Span::Last(count) => Some(format!("bytes=-{count}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn versions() -> Vec<Version> {
        vec![Version::new("a"), Version::new("b")]
    }

    #[test]
    fn beliefs_become_headers() {
        assert_eq!(header(&If::Always), None);
        assert_eq!(header(&If::Exists), Some((IF_MATCH, "*".into())));
        assert_eq!(header(&If::Matches(versions())), Some((IF_MATCH, "\"a\", \"b\"".into())));
        assert_eq!(header(&If::Differs(versions())), Some((IF_NONE_MATCH, "\"a\", \"b\"".into())));
    }

    #[test]
    fn an_empty_list_means_what_it_means_to_the_engine() {
        assert_eq!(header(&If::Matches(Vec::new())), Some((IF_MATCH, "\"\"".into())));
        assert_eq!(header(&If::Differs(Vec::new())), None);
    }

    #[test]
    fn a_new_file_expects_nothing_there() {
        let header = for_write(WriteMode::CreateNew, &If::Differs(versions())).unwrap();
        assert_eq!(header, Some((IF_NONE_MATCH, "*".into())));
        assert!(for_write(WriteMode::CreateNew, &If::Exists).is_err());
    }

    #[test]
    fn spans_become_ranges() {
        assert_eq!(range(&Span::Whole), None);
        assert_eq!(range(&Span::From(3)).unwrap(), "bytes=3-");
        assert_eq!(range(&Span::Between(3..5)).unwrap(), "bytes=3-4");
        assert_eq!(range(&Span::Last(2)).unwrap(), "bytes=-2");
    }
}
