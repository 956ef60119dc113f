//! Where a store is, as people write it: `memory:`, `file:./store`, `postgres://user@host/database`.

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
    /// A store in one file of this machine.
    File(PathBuf),
    /// What only the storage can tell.
    Other(String),
}

impl StoreUrl {
    /// The directory or file of this machine that the store lies in, if it lies in one.
    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Self::Directory(path) | Self::File(path) => Some(path),
            Self::Memory | Self::Other(_) => None,
        }
    }

    /// The stores that it consists of: two if it is split, else it alone.
    pub(crate) fn parts(&self) -> Vec<Self> {
        let text = if let Self::Other(text) = self { text.as_str() } else { "" };
        match text.strip_prefix("split:refs=").and_then(|parts| parts.split_once(",chunks=")) {
            Some((refs, chunks)) => [refs, chunks]
                .map(|part| part.parse().unwrap_or_else(|_| Self::Other(part.into())))
                .into(),
            None => vec![self.clone()],
        }
    }

    /// Whether several servers can have it at once.
    pub(crate) fn is_shared(&self) -> bool {
        self.parts().iter().all(|part| match part {
            Self::File(_) | Self::Other(_) => true,
            Self::Memory | Self::Directory(_) => false,
        })
    }

    /// Whether it ends with its process.
    pub(crate) fn is_in_memory(&self) -> bool {
        self.parts().iter().all(|part| *part == Self::Memory)
    }

    /// The same store, with a relative directory beginning at `base`.
    pub(crate) fn relative_to(self, base: &Path) -> Self {
        match self {
            Self::Directory(dir) => Self::Directory(base.join(dir)),
            Self::File(file) => Self::File(base.join(file)),
            Self::Memory | Self::Other(_) => self,
        }
    }

    /// The address as the storage wants it, secrets and all: a path is absolute.
    pub(crate) fn absolute(&self) -> Result<String> {
        match self {
            Self::Memory => Ok("memory:".into()),
            Self::Directory(dir) => Ok(format!("file:{}", absolute(dir)?)),
            Self::File(file) => Ok(format!("sqlite:{}", absolute(file)?)),
            Self::Other(text) => Ok(text.clone()),
        }
    }

    /// Whether the address tells a password to whoever sees it.
    pub(crate) fn has_password(&self) -> bool {
        matches!(self, Self::Other(text) if hidden(text) != *text)
    }
}

impl FromStr for StoreUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "memory:" {
            return Ok(Self::Memory);
        }
        if let Some(file) = text.strip_prefix("sqlite:").filter(|file| is_path(file)) {
            return Ok(Self::File(file.strip_prefix("//").unwrap_or(file).into()));
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

fn absolute(path: &Path) -> Result<String> {
    let path = std::path::absolute(path)
        .with_context(|| format!("{} cannot be a path", path.display()))?;
    let text = path.to_str().with_context(|| format!("{} is not UTF-8", path.display()))?;
    Ok(text.to_owned())
}

/// Whether what follows a scheme is a path, of which only three slashes mean one.
fn is_path(text: &str) -> bool {
    let rest = text.strip_prefix("//").unwrap_or(text);
    !rest.is_empty() && (rest == text || rest.starts_with('/')) && !text.starts_with('~')
}

/// An address with stars where a password stands: `scheme://user:password@host`.
fn hidden(text: &str) -> String {
    let mut shown = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("://") {
        shown.extend([before, "://"]);
        // A host may be followed by a path, parameters, or a second address.
        let end = after.find(['/', '?', ',']).unwrap_or(after.len());
        let (authority, behind) = after.split_at(end);
        match authority.rsplit_once('@').map(|(user, host)| (user.split_once(':'), host)) {
            Some((Some((user, _)), host)) => shown.extend([user, ":***@", host]),
            Some((None, _)) | None => shown.push_str(authority),
        }
        rest = behind;
    }
    shown + rest
}

/// Without a password, wherever it is shown.
impl fmt::Display for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory => f.write_str("memory:"),
            Self::Directory(dir) => write!(f, "file:{}", dir.display()),
            Self::File(file) => write!(f, "sqlite:{}", file.display()),
            Self::Other(text) => f.write_str(&hidden(text)),
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
        assert_eq!(url.path(), Some(Path::new("./store")));
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
        assert_eq!(parsed("file:~store").path(), Some(Path::new("~store")));
    }

    #[test]
    fn a_password_is_not_shown_and_yet_used() {
        for (text, shown) in [
            ("postgres://u:p@h/d", "postgres://u:***@h/d"),
            ("redis://:p@h:1/0?x=a@b", "redis://:***@h:1/0?x=a@b"),
            (
                "split:refs=postgres://u:p@h/d,chunks=s3://b/c",
                "split:refs=postgres://u:***@h/d,chunks=s3://b/c",
            ),
        ] {
            let url = parsed(text);
            assert!(url.has_password());
            assert_eq!((url.to_string().as_str(), url.absolute().unwrap().as_str()), (shown, text));
        }
        for text in ["postgres://u@h/d", "s3://bucket/a:b@c", "redis://h:6379/0", "file:/a:b@c"] {
            assert!(!parsed(text).has_password(), "{text}");
        }
    }

    #[test]
    fn a_database_may_lie_in_a_file() {
        assert_eq!(parsed("sqlite:a.db"), StoreUrl::File("a.db".into()));
        assert_eq!(parsed("sqlite:///a.db").absolute().unwrap(), "sqlite:/a.db");
        assert_eq!(parsed("sqlite:"), StoreUrl::Other("sqlite:".into()));
    }

    #[test]
    fn servers_share_what_one_process_does_not_have_alone() {
        for text in ["sqlite:/a.db", "s3://b", "split:refs=sqlite:/a.db,chunks=s3://b"] {
            assert!(parsed(text).is_shared() && !parsed(text).is_in_memory(), "{text}");
        }
        for text in ["memory:", "file:/a", "split:refs=sqlite:/a.db,chunks=file:/b"] {
            assert!(!parsed(text).is_shared(), "{text}");
        }
        assert!(parsed("split:refs=memory:,chunks=memory:").is_in_memory());
        assert!(!parsed("file:/a").is_in_memory());
    }

    #[test]
    fn what_is_not_known_is_left_to_the_storage() {
        for text in ["", "store", "memory:x", "file:", "file://host/x", "redis://x"] {
            assert_eq!(parsed(text), StoreUrl::Other(text.into()));
        }
    }
}
