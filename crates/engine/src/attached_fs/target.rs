//! Whose tree is meant: that of a container, or of a process.

use std::fmt;

use async_trait::async_trait;

use crate::{Error, ErrorKind, Result};

/// The longest name that any engine gives.
const LONGEST: usize = 255;

/// Whose tree a sandbox is attached to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttachTarget {
    /// That of a container, whichever process it runs as at any moment.
    Container(ContainerName),
    /// That of one process, until it ends.
    Process {
        /// Its number.
        pid: u32,
        /// What no other process has that is given the number later; none for whichever has it now.
        birth: Option<String>,
    },
}

impl fmt::Display for AttachTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Container(name) => write!(f, "container `{name}`"),
            Self::Process { pid, .. } => write!(f, "process {pid}"),
        }
    }
}

/// The name or id of a container: a letter or digit, then letters, digits, `_`, `.` and `-`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ContainerName(String);

impl ContainerName {
    /// The name that a text spells.
    pub fn parse(text: &str) -> Result<Self> {
        let inner = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
        let right = text.len() <= LONGEST
            && text.bytes().all(inner)
            && text.bytes().next().is_some_and(|first| first.is_ascii_alphanumeric());
        if !right {
            let message = "a container's name or id is 1 to 255 letters, digits, `_`, `.` and `-`, \
                           and begins with a letter or digit";
            return Err(Error::new(ErrorKind::InvalidArgument, message));
        }
        Ok(Self(text.into()))
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ContainerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whoever knows which containers there are.
#[async_trait]
pub trait Containers: fmt::Debug + Send + Sync + 'static {
    /// What a container of this name or id is now. Fails when nobody can tell.
    async fn find(&self, name: &ContainerName) -> Result<ContainerState>;
}

/// What a container is at a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ContainerState {
    /// There is none.
    Missing,
    /// It is there and does not run.
    Stopped,
    /// It runs.
    Running {
        /// Its whole id.
        id: String,
        /// Its first process, by the number that it has for us.
        pid: u32,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_what_engines_allow() {
        for right in ["a", "web-1", "Web_1.2", &"f".repeat(64)] {
            assert_eq!(ContainerName::parse(right).unwrap().as_str(), right);
        }
    }

    #[test]
    fn a_name_that_could_mean_another_path_of_the_engine_is_refused() {
        for wrong in ["", ".", "..", "-x", "_x", "a/b", "a?b", "a b", "a%2f", "ä", "a\n"] {
            let err = ContainerName::parse(wrong).unwrap_err();
            assert_eq!(err.kind(), ErrorKind::InvalidArgument, "{wrong:?}");
        }
        assert!(ContainerName::parse(&"a".repeat(256)).is_err());
    }
}
