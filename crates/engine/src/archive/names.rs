//! What a member may be called, and where a link may lead.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

use super::bad;
use crate::{MAX_NAME, MAX_PATH, Result, name};

/// A member's path without `.`; absolute ones and `..` are refused.
pub(super) fn relative(given: &[u8]) -> Result<PathBuf> {
    let refused = |why: &str| bad(format!("{why}: {}", name::to_text(given)));
    if given.contains(&0) || given.len() > MAX_PATH {
        return Err(refused("a member's name is too long or holds NUL"));
    }
    let mut path = PathBuf::new();
    for component in Path::new(OsStr::from_bytes(given)).components() {
        match component {
            Component::CurDir => {}
            Component::Normal(name) if name.len() > MAX_NAME || host::is_reserved(name) => {
                return Err(refused("a member's name is too long or reserved"));
            }
            Component::Normal(name) => path.push(name),
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                return Err(refused("invalid relative path"));
            }
        }
    }
    Ok(path)
}

/// A link's target, if it stays within the destination.
pub(super) fn inward(link: &Path, target: Option<Vec<u8>>) -> Result<Vec<u8>> {
    let right = |target: &Vec<u8>| (1..MAX_PATH).contains(&target.len()) && !target.contains(&0);
    let target = target.filter(right);
    let target = target.ok_or_else(|| bad("a symbolic link has no target that may be"))?;
    let mut depth = link.components().count().saturating_sub(1);
    for component in Path::new(OsStr::from_bytes(&target)).components() {
        let deeper = match component {
            Component::Normal(_) => depth.checked_add(1),
            Component::CurDir => Some(depth),
            Component::ParentDir => depth.checked_sub(1),
            Component::RootDir | Component::Prefix(_) => None,
        };
        depth = deeper.ok_or_else(|| {
            let link = name::to_text(link.as_os_str().as_bytes()).into_owned();
            bad(format!("the symbolic link {link} leads out of the archive"))
        })?;
    }
    Ok(target)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_may_climb_within_the_archive_only() {
        assert!(inward(Path::new("a/b/link"), Some(b"../../c".to_vec())).is_ok());
        assert!(inward(Path::new("a/b/link"), Some(b"../../../c".to_vec())).is_err());
        assert!(inward(Path::new("link"), Some(b"x/../../y".to_vec())).is_err());
        assert!(inward(Path::new("link"), Some(b"/etc/passwd".to_vec())).is_err());
    }

    #[test]
    fn members_lose_dots_and_keep_their_bytes() {
        let path = relative(b"./a/./\xff").unwrap();
        assert_eq!(path.as_os_str().as_bytes(), b"a/\xff");
    }
}
