//! What a client believes about a file: `If-Match` and its kin (RFC 9110, section 13).

use engine::{Entry, If, Version};
use http::header::{
    ETAG, IF_MATCH, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_RANGE, IF_UNMODIFIED_SINCE, LAST_MODIFIED,
};
use http::{HeaderMap, HeaderName, HeaderValue};

use crate::dates;
use crate::problem::Problem;

/// The conditions of a request.
#[derive(Debug, Default)]
pub(crate) struct Conditions {
    if_match: Option<Tags>,
    if_none_match: Option<Tags>,
    /// Seconds since 1970.
    if_modified_since: Option<i64>,
    if_unmodified_since: Option<i64>,
}

/// What the conditions of a read say to an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The answer is due.
    Proceed,
    /// The client has it already.
    NotModified,
    /// It is not what the client expects.
    Failed,
}

/// What the conditions of a change say about its target.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Expected {
    /// This.
    If(If),
    /// It was last modified at this second since 1970 or earlier.
    UnmodifiedSince(i64),
}

#[derive(Debug, PartialEq, Eq)]
enum Tags {
    Any,
    Listed(Vec<Tag>),
}

#[derive(Debug, PartialEq, Eq)]
struct Tag {
    version: Version,
    weak: bool,
}

impl Conditions {
    pub(crate) fn read(headers: &HeaderMap) -> Result<Self, Problem> {
        let date = |name| headers.get(name).and_then(dates::seconds);
        Ok(Self {
            if_match: tags(headers, &IF_MATCH)?,
            if_none_match: tags(headers, &IF_NONE_MATCH)?,
            if_modified_since: date(IF_MODIFIED_SINCE),
            if_unmodified_since: date(IF_UNMODIFIED_SINCE),
        })
    }

    /// What a read of this entry comes to, in the order of section 13.2.2.
    pub(crate) fn judge(&self, entry: &Entry) -> Verdict {
        let modified = entry.modified.map(|time| time.seconds);
        let later = |date: i64| modified.is_some_and(|modified| modified > date);
        let failed = match &self.if_match {
            Some(tags) => !tags.name(entry, Tag::is_strong),
            None => self.if_unmodified_since.is_some_and(later),
        };
        if failed {
            return Verdict::Failed;
        }
        let held = match &self.if_none_match {
            Some(tags) => tags.name(entry, |_| true),
            None => self.if_modified_since.is_some_and(|date| modified.is_some() && !later(date)),
        };
        if held { Verdict::NotModified } else { Verdict::Proceed }
    }

    /// What a change may expect of its target. The engine checks it together with the change.
    pub(crate) fn expected(self) -> Result<Expected, Problem> {
        let expected = match (self.if_match, self.if_none_match, self.if_unmodified_since) {
            (Some(_), Some(_), _) | (None, Some(_), Some(_)) => {
                return Err(Problem::invalid_request("the conditions cannot be checked together")
                    .hint("send one of If-Match, If-None-Match and If-Unmodified-Since"));
            }
            (Some(Tags::Any), None, _) => If::Exists,
            (Some(Tags::Listed(tags)), None, _) => {
                If::Matches(versions(tags.into_iter().filter(Tag::is_strong)))
            }
            (None, Some(Tags::Any), None) => If::Missing,
            (None, Some(Tags::Listed(tags)), None) => If::Differs(versions(tags)),
            (None, None, Some(date)) => return Ok(Expected::UnmodifiedSince(date)),
            (None, None, None) => If::Always,
        };
        Ok(Expected::If(expected))
    }
}

impl Tags {
    fn name(&self, entry: &Entry, counts: impl Fn(&Tag) -> bool) -> bool {
        match self {
            Self::Any => true,
            Self::Listed(tags) => {
                let names = |tag: &Tag| Some(&tag.version) == entry.version.as_ref() && counts(tag);
                tags.iter().any(names)
            }
        }
    }
}

impl Tag {
    fn is_strong(&self) -> bool {
        !self.weak
    }
}

/// Whether a part may be sent: there is no `If-Range`, or it names this very state.
///
/// A date never does: two writes within a second have the same one.
pub(crate) fn allows_part(headers: &HeaderMap, entry: &Entry) -> bool {
    let Some(value) = headers.get(IF_RANGE) else { return true };
    let tag = entity_tag(entry);
    tag.is_some_and(|tag| tag == value)
}

/// The entity tag of an entry, as a header carries it.
pub(crate) fn entity_tag(entry: &Entry) -> Option<HeaderValue> {
    HeaderValue::try_from(["\"", entry.version.as_ref()?.as_str(), "\""].concat()).ok()
}

/// The headers by which a client can ask about this state again.
pub(crate) fn validators(entry: &Entry) -> impl Iterator<Item = (HeaderName, HeaderValue)> + use<> {
    let tag = entity_tag(entry).map(|tag| (ETAG, tag));
    let date = entry.modified.and_then(dates::last_modified).map(|date| (LAST_MODIFIED, date));
    tag.into_iter().chain(date)
}

fn versions(tags: impl IntoIterator<Item = Tag>) -> Vec<Version> {
    tags.into_iter().map(|tag| tag.version).collect()
}

// A list that cannot be read is refused: to ignore it would lift the client's protection.
fn tags(headers: &HeaderMap, name: &HeaderName) -> Result<Option<Tags>, Problem> {
    let mut listed = Vec::new();
    for value in headers.get_all(name) {
        let text = value.to_str().map_err(|_| unreadable(name))?.trim();
        if text == "*" {
            return Ok(Some(Tags::Any));
        }
        listed.extend(parse_list(text).ok_or_else(|| unreadable(name))?);
    }
    let found = headers.contains_key(name).then_some(Tags::Listed(listed));
    Ok(found)
}

fn unreadable(name: &HeaderName) -> Problem {
    Problem::invalid_request(&format!("{name} is not a list of entity tags"))
        .hint("send an ETag as it was received, with its quotes, or `*`")
}

fn parse_list(text: &str) -> Option<Vec<Tag>> {
    let mut tags = Vec::new();
    // Empty elements are nothing (RFC 9110, section 5.6.1).
    let between = |c: char| c == ',' || c.is_ascii_whitespace();
    let mut rest = text.trim_start_matches(between);
    while !rest.is_empty() {
        let (weak, opening) = match rest.strip_prefix("W/") {
            Some(rest) => (true, rest),
            None => (false, rest),
        };
        let (token, after) = opening.strip_prefix('"')?.split_once('"')?;
        tags.push(Tag { version: Version::new(token), weak });
        rest = after.trim_start();
        if !rest.is_empty() && !rest.starts_with(',') {
            return None;
        }
        rest = rest.trim_start_matches(between);
    }
    (!tags.is_empty()).then_some(tags)
}

#[cfg(test)]
mod tests {
    use engine::{EntryKind, SandboxPath, UnixTime};

    use super::*;

    fn entry() -> Entry {
        Entry {
            path: SandboxPath::root(),
            kind: EntryKind::File,
            size: 1,
            mode: None,
            created: None,
            modified: Some(UnixTime { seconds: 1_700_000_000, nanoseconds: 5 }),
            version: Some(Version::new("a,b")),
        }
    }

    fn conditions(pairs: &[(HeaderName, &'static str)]) -> Conditions {
        let headers = pairs.iter().map(|(n, v)| (n.clone(), HeaderValue::from_static(v)));
        Conditions::read(&headers.collect()).unwrap()
    }

    #[test]
    fn a_listed_version_is_not_sent_again() {
        let held = conditions(&[(IF_NONE_MATCH, "\"x\", W/\"a,b\"")]);
        assert_eq!(held.judge(&entry()), Verdict::NotModified);
        assert_eq!(conditions(&[(IF_NONE_MATCH, "\"x\"")]).judge(&entry()), Verdict::Proceed);
    }

    #[test]
    fn a_weak_tag_never_satisfies_if_match() {
        assert_eq!(conditions(&[(IF_MATCH, "W/\"a,b\"")]).judge(&entry()), Verdict::Failed);
        assert_eq!(conditions(&[(IF_MATCH, "\"a,b\"")]).judge(&entry()), Verdict::Proceed);
        assert_eq!(conditions(&[(IF_MATCH, "*")]).judge(&entry()), Verdict::Proceed);
    }

    #[test]
    fn dates_are_compared_by_the_second() {
        let same = "Tue, 14 Nov 2023 22:13:20 GMT";
        let before = "Tue, 14 Nov 2023 22:13:19 GMT";
        let judge = |name, date| conditions(&[(name, date)]).judge(&entry());
        assert_eq!(judge(IF_MODIFIED_SINCE, same), Verdict::NotModified);
        assert_eq!(judge(IF_MODIFIED_SINCE, before), Verdict::Proceed);
        assert_eq!(judge(IF_UNMODIFIED_SINCE, same), Verdict::Proceed);
        assert_eq!(judge(IF_UNMODIFIED_SINCE, before), Verdict::Failed);
    }

    #[test]
    fn tags_win_over_dates() {
        let both = conditions(&[
            (IF_NONE_MATCH, "\"x\""),
            (IF_MODIFIED_SINCE, "Tue, 14 Nov 2023 22:13:20 GMT"),
        ]);
        assert_eq!(both.judge(&entry()), Verdict::Proceed);
    }

    #[test]
    fn a_list_that_cannot_be_read_is_refused() {
        for text in ["a", "\"a", "\"a\" \"b\"", "", ",", "\"a\", b"] {
            assert!(parse_list(text).is_none(), "{text}");
        }
    }

    #[test]
    fn empty_elements_of_a_list_are_ignored() {
        let held = conditions(&[(IF_NONE_MATCH, ", \"a,b\" ,, \"x\",")]);
        assert_eq!(held.judge(&entry()), Verdict::NotModified);
    }

    #[test]
    fn a_file_is_younger_than_any_date_before_1970() {
        let judge = |name| conditions(&[(name, "Wed, 31 Dec 1969 23:59:59 GMT")]).judge(&entry());
        assert_eq!(judge(IF_UNMODIFIED_SINCE), Verdict::Failed);
        assert_eq!(judge(IF_MODIFIED_SINCE), Verdict::Proceed);
    }

    #[test]
    fn create_only_expects_nothing_there() {
        let expected = conditions(&[(IF_NONE_MATCH, "*")]).expected().unwrap();
        assert_eq!(expected, Expected::If(If::Missing));
    }

    #[test]
    fn a_change_with_a_weak_tag_matches_no_version() {
        let expected = conditions(&[(IF_MATCH, "W/\"v\"")]).expected().unwrap();
        assert_eq!(expected, Expected::If(If::Matches(Vec::new())));
    }
}
