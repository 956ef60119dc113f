//! The only path type of the engine.

use std::borrow::Cow;
use std::fmt;
use std::iter;

use smol_str::SmolStr;

use crate::name;
use crate::{Error, ErrorKind, Result};

/// The longest name, in bytes on a host.
pub const MAX_NAME: usize = 255;
/// The longest path, in bytes on a host, with its leading slash.
pub const MAX_PATH: usize = 4096;

/// An absolute, normalised path inside a sandbox: no `.`, `..`, NUL or empty segment.
///
/// Names are text; a host name that is not UTF-8 is escaped reversibly.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SandboxPath(SmolStr);

/// What a `..` segment means to a face.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DotDot {
    /// The path is refused.
    Refuse,
    /// It takes back one segment, and nothing at the root.
    Clamp,
}

impl SandboxPath {
    /// The root of the sandbox.
    pub fn root() -> Self {
        Self("/".into())
    }

    /// The path that `raw` means when it starts at the root.
    pub fn parse(raw: &str, dots: DotDot) -> Result<Self> {
        Self::plain(raw).map_or_else(|| Self::root().resolve(raw, dots), Ok)
    }

    /// The path that a text is as it stands, if that is seen at once.
    pub(crate) fn plain(raw: &str) -> Option<Self> {
        is_plain(raw).then(|| Self(raw.into()))
    }

    /// The path that `raw` means by the rules of the library: a backslash is a slash, a missing
    /// leading slash is added, empty and `.` segments vanish, `..` takes back one segment and
    /// nothing at the root. None of that is ever an error.
    ///
    /// A NUL, a name of more than [`MAX_NAME`] bytes and a path of more than [`MAX_PATH`] are
    /// [`InvalidPath`](crate::ErrorKind::InvalidPath), since no tree could hold them.
    ///
    /// ```
    /// # use sandkeep_engine::SandboxPath;
    /// assert_eq!(SandboxPath::clamped(r"\src\.\lib\..\main.rs\")?.as_str(), "/src/main.rs");
    /// assert_eq!(SandboxPath::clamped("../../etc")?.as_str(), "/etc");
    /// assert!(SandboxPath::clamped("")?.is_root());
    /// assert!(SandboxPath::clamped("a\0b").is_err());
    /// # Ok::<(), sandkeep_engine::Error>(())
    /// ```
    pub fn clamped(raw: &str) -> Result<Self> {
        Self::parse(&raw.replace('\\', "/"), DotDot::Clamp)
    }

    /// The path that `raw` means when it starts here, whether or not it begins with a slash.
    pub fn resolve(&self, raw: &str, dots: DotDot) -> Result<Self> {
        let mut segments: Vec<Cow<'_, str>> = self.segments().map(Cow::Borrowed).collect();
        for segment in raw.split('/') {
            match segment {
                "" | "." => {}
                ".." if dots == DotDot::Clamp => drop(segments.pop()),
                _ => segments.push(checked(segment)?),
            }
        }
        Self::from_segments(&segments)
    }

    /// The child of this directory that is called `name`.
    pub fn join(&self, name: &str) -> Result<Self> {
        let mut segments: Vec<Cow<'_, str>> = self.segments().map(Cow::Borrowed).collect();
        segments.push(checked(name)?);
        Self::from_segments(&segments)
    }

    /// The child that a host directory really has, even one too deep for a client to name.
    pub(crate) fn child(&self, name: &str) -> Self {
        let dir = if self.is_root() { "" } else { self.as_str() };
        Self([dir, "/", name].concat().into())
    }

    /// The directory that holds this path; none for the root.
    pub fn parent(&self) -> Option<Self> {
        let (parent, name) = self.0.rsplit_once('/')?;
        match (parent, name) {
            (_, "") => None,
            ("", _) => Some(Self::root()),
            _ => Some(Self(parent.into())),
        }
    }

    /// The last segment; empty for the root.
    pub fn name(&self) -> &str {
        self.0.rsplit_once('/').map_or("", |(_, name)| name)
    }

    /// Whether this is the root.
    pub fn is_root(&self) -> bool {
        self.0.len() == 1
    }

    /// The names from the root down.
    pub fn segments(&self) -> impl Iterator<Item = &str> {
        let mut rest = self.0.get(1..).filter(|rest| !rest.is_empty());
        iter::from_fn(move || {
            let names = rest?;
            let end = names.bytes().position(|byte| byte == b'/').unwrap_or(names.len());
            let (name, behind) = names.split_at_checked(end)?;
            rest = behind.get(1..);
            Some(name)
        })
    }

    /// How many names lie between the root and here.
    pub fn depth(&self) -> usize {
        self.segments().count()
    }

    /// Whether this path is `ancestor` or lies beneath it.
    pub fn starts_with(&self, ancestor: &Self) -> bool {
        self.strip(ancestor).is_some()
    }

    /// What follows `ancestor`, without a leading slash; none if this path lies elsewhere.
    pub fn strip(&self, ancestor: &Self) -> Option<&str> {
        if ancestor.is_root() {
            return self.0.strip_prefix('/');
        }
        match self.0.strip_prefix(ancestor.as_str())? {
            "" => Some(""),
            rest => rest.strip_prefix('/'),
        }
    }

    /// The path as text, beginning with a slash.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The path relative to the root as the host spells it; empty for the root.
    pub(crate) fn host_bytes(&self) -> Cow<'_, [u8]> {
        name::to_bytes(self.0.strip_prefix('/').unwrap_or(&self.0))
    }

    fn from_segments(segments: &[Cow<'_, str>]) -> Result<Self> {
        let mut text = String::with_capacity(segments.iter().map(|name| name.len() + 1).sum());
        for name in segments {
            text.push('/');
            text.push_str(name);
        }
        if text.is_empty() {
            return Ok(Self::root());
        }
        if text.len() > MAX_PATH && name::to_bytes(&text).len() > MAX_PATH {
            let message = format!("path is longer than {MAX_PATH} bytes");
            return Err(Error::new(ErrorKind::InvalidPath, message));
        }
        Ok(Self(text.into()))
    }
}

/// The paths of the children of one directory.
pub(crate) struct Children {
    /// The directory with a slash behind it, and the last name.
    text: String,
    dir: usize,
}

impl Children {
    pub(crate) fn of(dir: &SandboxPath) -> Self {
        let dir = if dir.is_root() { "" } else { dir.as_str() };
        Self { text: [dir, "/"].concat(), dir: dir.len() + 1 }
    }

    /// The child that a directory really has, even one too deep for a client to name.
    pub(crate) fn named(&mut self, name: &str) -> SandboxPath {
        self.text.truncate(self.dir);
        self.text.push_str(name);
        SandboxPath(SmolStr::new(&self.text))
    }
}

/// Whether a text is surely a path as it stands, as most are: nothing needs to be taken apart.
fn is_plain(raw: &str) -> bool {
    let Some((b'/', rest)) = raw.as_bytes().split_first() else { return false };
    // A name that begins with a dot may stand for another one. Escaped bytes, which have more than
    // one spelling, begin with 0xF4.
    let odd = |(before, byte): (&u8, &u8)| {
        (*byte == 0) | (*byte == 0xF4) | (*before == b'/') & ((*byte == b'/') | (*byte == b'.'))
    };
    // Not `any`: looking at all bytes at once is faster than stopping early.
    let is_odd = raw.as_bytes().iter().zip(rest).fold(false, |found, pair| found | odd(pair));
    !is_odd && !raw.ends_with('/') && raw.len() <= MAX_NAME
}

/// A segment as a name, if it can be one.
pub(crate) fn checked(segment: &str) -> Result<Cow<'_, str>> {
    let problem = match segment {
        "" => "a name is empty",
        "." | ".." => "path contains a `..` or `.` segment",
        _ if segment.contains('/') => "a name contains a slash",
        _ if segment.contains('\0') => "path contains a NUL byte",
        _ if segment.len() > MAX_NAME && name::to_bytes(segment).len() > MAX_NAME => {
            "a name is longer than 255 bytes"
        }
        _ => return Ok(name::canonical(segment)),
    };
    Err(Error::new(ErrorKind::InvalidPath, problem))
}

impl fmt::Display for SandboxPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for SandboxPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn clamped(raw: &str) -> String {
        SandboxPath::parse(raw, DotDot::Clamp).unwrap().to_string()
    }

    #[test]
    fn dots_and_double_slashes_disappear() {
        assert_eq!(clamped("//a/./b//c/."), "/a/b/c");
    }

    #[test]
    fn clamped_dots_stop_at_the_root() {
        assert_eq!(clamped("/a/../../../b"), "/b");
    }

    #[test]
    fn refused_dots_are_an_invalid_path() {
        let err = SandboxPath::parse("a/../b", DotDot::Refuse).unwrap_err();
        assert_eq!(err.kind(), ErrorKind::InvalidPath);
    }

    #[test]
    fn a_name_may_have_255_bytes_and_no_more() {
        assert!(SandboxPath::parse(&"x".repeat(255), DotDot::Refuse).is_ok());
        assert!(SandboxPath::parse(&"x".repeat(256), DotDot::Refuse).is_err());
    }

    #[test]
    fn a_path_may_have_4096_bytes_and_no_more() {
        let long = "/abcdefg".repeat(512);
        assert_eq!(SandboxPath::parse(&long, DotDot::Refuse).unwrap().as_str().len(), 4096);
        assert!(SandboxPath::parse(&format!("{long}h"), DotDot::Refuse).is_err());
    }

    #[test]
    fn nul_is_refused() {
        assert!(SandboxPath::parse("a\0b", DotDot::Refuse).is_err());
    }

    #[test]
    fn a_sibling_with_a_longer_name_is_not_beneath() {
        let dir = SandboxPath::parse("/ws", DotDot::Refuse).unwrap();
        assert!(!SandboxPath::parse("/ws-evil/x", DotDot::Refuse).unwrap().starts_with(&dir));
        assert_eq!(SandboxPath::parse("/ws/x", DotDot::Refuse).unwrap().strip(&dir), Some("x"));
    }

    #[test]
    fn the_parent_of_a_top_name_is_the_root() {
        let top = SandboxPath::parse("/a", DotDot::Refuse).unwrap();
        assert!(top.parent().unwrap().is_root());
        assert!(SandboxPath::root().parent().is_none());
    }

    proptest! {
        #[test]
        fn parsing_is_idempotent(raw in "[a./\\\\é\u{10FE80}-]{0,40}") {
            let once = SandboxPath::parse(&raw, DotDot::Clamp).unwrap();
            prop_assert_eq!(&SandboxPath::parse(once.as_str(), DotDot::Refuse).unwrap(), &once);
        }

        #[test]
        fn no_segment_can_climb(raw in any::<String>()) {
            if let Ok(path) = SandboxPath::parse(&raw, DotDot::Clamp) {
                prop_assert!(path.segments().all(|s| s != ".." && s != "." && !s.contains('\0')));
            }
        }
    }
}
