//! A client's world: an id, one tree, and where the client sees it.

use std::fmt;
use std::sync::Arc;

use crate::{DotDot, Error, ErrorKind, FileSystem, Result, SandboxPath};

/// A lower-case, DNS-safe name: letters, digits and inner hyphens, at most 63.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SandboxId(String);

impl SandboxId {
    /// The id that a text spells.
    pub fn parse(text: &str) -> Result<Self> {
        let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        let right = (1..=63).contains(&text.len())
            && text.bytes().all(inner)
            && !text.starts_with('-')
            && !text.ends_with('-');
        if !right {
            let message = "a sandbox id is 1 to 63 lower-case letters, digits and inner hyphens";
            return Err(Error::new(ErrorKind::InvalidArgument, message));
        }
        Ok(Self(text.into()))
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SandboxId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// One sandbox, ready to be worked in.
#[derive(Clone, Debug)]
pub struct Sandbox {
    /// Its id.
    pub id: SandboxId,
    /// Its tree.
    pub files: Arc<dyn FileSystem>,
    /// The absolute path at which its clients see the root of the tree.
    pub prefix: SandboxPath,
    /// Where relative paths begin without a session.
    pub home: SandboxPath,
    /// Whether its root is that of a whole system, a machine's or a container's, whose own
    /// directories are nothing for tools.
    pub is_system: bool,
}

impl Sandbox {
    /// The path in the tree that an absolute path of the client means. A path outside the prefix
    /// leads out of the sandbox.
    pub fn locate(&self, outward: &str) -> Result<SandboxPath> {
        let inward = match self.prefix.is_root() {
            true => Some(outward),
            false => outward.strip_prefix(self.prefix.as_str()),
        };
        if let Some(path) = inward.and_then(SandboxPath::plain) {
            return Ok(path);
        }
        let mut segments: Vec<&str> = Vec::new();
        for segment in outward.split('/') {
            match segment {
                "" | "." => {}
                ".." => drop(segments.pop()),
                _ => segments.push(segment),
            }
        }
        let mut rest = segments.into_iter();
        for name in self.prefix.segments() {
            if rest.next() != Some(name) {
                let message = format!("path is outside the sandbox, which lies at {}", self.prefix);
                return Err(Error::new(ErrorKind::OutsideSandbox, message));
            }
        }
        SandboxPath::parse(&rest.collect::<Vec<_>>().join("/"), DotDot::Refuse)
    }

    /// The absolute path at which the client sees `path`.
    pub fn outward(&self, path: &SandboxPath) -> String {
        match (self.prefix.is_root(), path.is_root()) {
            (true, _) => path.as_str().into(),
            (false, true) => self.prefix.as_str().into(),
            (false, false) => format!("{}{path}", self.prefix),
        }
    }
}
