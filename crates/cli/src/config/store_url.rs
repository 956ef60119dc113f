//! Where a store is, as people write it: `memory:`, `file:./store`, `file:/var/lib/sandkeep`.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::{Context as _, Result};
use serde::de::{self, Deserialize, Deserializer};
use serde::{Serialize, Serializer};

/// The address of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StoreUrl {
    /// A store that ends with its process.
    Memory,
    /// A store in a directory of this machine. Unlike the storage, people may write a relative one.
    Directory(PathBuf),
    /// What only the storage can tell.
    Other(String),
}

impl StoreUrl {
    /// The directory that the store lies in, if it lies in one.
    pub(crate) fn directory(&self) -> Option<&Path> {
        match self {
            Self::Directory(dir) => Some(dir),
            Self::Memory | Self::Other(_) => None,
        }
    }

    /// The same store, with a relative directory beginning at `base`.
    pub(crate) fn relative_to(self, base: &Path) -> Self {
        match self {
            Self::Directory(dir) => Self::Directory(base.join(dir)),
            Self::Memory | Self::Other(_) => self,
        }
    }

    /// The address as the storage wants it: a directory is absolute.
    pub(crate) fn absolute(&self) -> Result<String> {
        let Self::Directory(dir) = self else { return Ok(self.to_string()) };
        let dir = std::path::absolute(dir)
            .with_context(|| format!("{} cannot be a directory", dir.display()))?;
        let dir = dir.to_str().with_context(|| format!("{} is not UTF-8", dir.display()))?;
        Ok(format!("file:{dir}"))
    }
}

impl FromStr for StoreUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "memory:" {
            return Ok(Self::Memory);
        }
        match text.strip_prefix("file:") {
            // A shell expands the tilde at the beginning of a word only.
            Some(dir) if dir == "~" || dir.starts_with("~/") => {
                Err("`~` is not expanded behind file:; write file:$HOME".into())
            }
            // `file:///dir` is how other programs write `file:/dir`.
            Some(dir) => match dir.strip_prefix("//").unwrap_or(dir) {
                rest if rest.is_empty() || (rest != dir && !rest.starts_with('/')) => {
                    Ok(Self::Other(text.into()))
                }
                dir => Ok(Self::Directory(dir.into())),
            },
            None => Ok(Self::Other(text.into())),
        }
    }
}

impl fmt::Display for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory => f.write_str("memory:"),
            Self::Directory(dir) => write!(f, "file:{}", dir.display()),
            Self::Other(text) => f.write_str(text),
        }
    }
}

impl Serialize for StoreUrl {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for StoreUrl {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> StoreUrl {
        text.parse().unwrap()
    }

    #[test]
    fn a_directory_may_be_relative_for_people_and_is_absolute_for_the_storage() {
        let url = parsed("file:./store");
        assert_eq!(url.directory(), Some(Path::new("./store")));
        let url = url.relative_to(Path::new("/etc/sandkeep"));
        assert_eq!(url.absolute().unwrap(), "file:/etc/sandkeep/store");
    }

    #[test]
    fn an_absolute_directory_has_one_slash_or_three() {
        assert_eq!(parsed("file:///srv/s"), parsed("file:/srv/s"));
        assert_eq!(parsed("file:/srv/s").absolute().unwrap(), "file:/srv/s");
    }

    #[test]
    fn a_tilde_that_no_shell_expanded_is_refused() {
        assert!("file:~/store".parse::<StoreUrl>().unwrap_err().contains("file:$HOME"));
        assert_eq!(parsed("file:~store").directory(), Some(Path::new("~store")));
    }

    #[test]
    fn what_is_not_known_is_left_to_the_storage() {
        for text in ["", "store", "memory:x", "file:", "file://host/x", "redis://x"] {
            assert_eq!(parsed(text), StoreUrl::Other(text.into()));
        }
    }
}
