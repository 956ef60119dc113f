//! Which backend a URL names.

use std::path::PathBuf;
use std::sync::Arc;

use crate::fjall::FjallStorage;
use crate::memory::MemoryStorage;
use crate::{Error, ErrorKind, Result, Storage, probe};

/// Opens the store that a URL names, and proves that it can be trusted.
///
/// - `memory:` is a new store in memory, gone when it is dropped.
/// - `file:/var/lib/sandkeep` is a store in that directory, which is made when it is missing. One
///   process has it at a time.
pub async fn open(url: &str) -> Result<Arc<dyn Storage>> {
    let storage: Arc<dyn Storage> = match Place::of(url)? {
        Place::Memory => Arc::new(MemoryStorage::default()),
        Place::Directory(dir) => Arc::new(FjallStorage::open(dir).await?),
    };
    probe(&storage).await?;
    Ok(storage)
}

/// What a URL names.
enum Place {
    Memory,
    Directory(PathBuf),
}

impl Place {
    fn of(url: &str) -> Result<Self> {
        match url.split_once(':') {
            Some(("memory", "")) => Ok(Self::Memory),
            Some(("memory", _)) => Err(invalid("memory: takes nothing behind the colon")),
            Some(("file", "")) => {
                Err(invalid("file: needs a directory, as in file:/var/lib/sandkeep"))
            }
            Some(("file", dir)) => directory(dir),
            Some(_) => Err(invalid("the scheme is not known; give memory: or file:DIR")),
            None => Err(invalid("a storage URL has a scheme; give memory: or file:DIR")),
        }
    }
}

fn directory(dir: &str) -> Result<Place> {
    // `file:///dir` is how other programs write `file:/dir`.
    let dir = match dir.strip_prefix("//") {
        Some(rest) if rest.starts_with('/') => rest,
        Some(_) => {
            return Err(invalid(
                "file:// is followed by a third slash, as in file:///var/lib/sandkeep",
            ));
        }
        None => dir,
    };
    if !dir.starts_with('/') {
        return Err(invalid(
            "the directory of file: begins with a slash, as in file:/var/lib/sandkeep",
        ));
    }
    Ok(Place::Directory(PathBuf::from(dir)))
}

fn invalid(message: &'static str) -> Error {
    Error::new(ErrorKind::InvalidUrl, message)
}
