//! Which backend a URL names.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::address::{Address, invalid};
use crate::fjall::FjallStorage;
use crate::memory::MemoryStorage;
use crate::steady::steady;
use crate::{ErrorKind, Result, Storage, probe, split};

/// How long an operation on a store that is reached over a network is tried.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long one that does not answer when it is opened is waited for, and how often it is asked.
const PATIENCE_AT_START: Duration = Duration::from_secs(10);
const PAUSE_AT_START: Duration = Duration::from_millis(300);

/// Every scheme, for those who mistype one.
const SCHEMES: &str = "memory:, file:DIR, sqlite:FILE, postgres://, redis://, rediss://, \
                       s3://, az://, gs://, dynamodb://, split:";

/// Opens the store that a URL names, and proves that it can be trusted.
///
/// - `memory:` is a new store in memory, gone when it is dropped.
/// - `file:/var/lib/sandkeep` is a store in that directory, which is made when it is missing. One
///   process has it at a time.
/// - `sqlite:/var/lib/sandkeep.db` is a store in one file, for the processes of one machine.
/// - `postgres://user@host/database`, `redis://host/0` and `rediss://host/0`, `s3://bucket/prefix`,
///   `az://container/prefix`, `gs://bucket/prefix` and `dynamodb://table` are stores that any number
///   of machines share.
/// - `split:refs=URL,chunks=URL` keeps refs and what is small in one, what is large in another.
///
/// `?credentials-file=FILE` reads passwords, keys and endpoints from a file of `NAME=VALUE` lines
/// that lies over the environment, `?patience=SECONDS` says for how long an operation is tried while
/// a remote store does not answer.
pub async fn open(url: &str) -> Result<Arc<dyn Storage>> {
    let storage = connect(url).await?;
    Box::pin(probe(&storage)).await?;
    Ok(storage)
}

/// Opens the store that a URL names without proving it, as one may that was proven a moment ago.
pub async fn connect(url: &str) -> Result<Arc<dyn Storage>> {
    // What follows are URLs of their own.
    if let Some(parts) = url.strip_prefix("split:") {
        return Box::pin(split::open(parts)).await;
    }
    // The futures of all drivers in one are more than some compilers can lay out.
    let storage = Box::pin(place(url)).await?;
    split::refuse_part(&*storage).await?;
    Ok(storage)
}

/// Opens the store that a URL names, or one part of two.
pub(crate) async fn place(url: &str) -> Result<Arc<dyn Storage>> {
    let mut address = Address::of(url).await?;
    match address.scheme.as_str() {
        "memory" => memory(&address),
        "file" => Ok(Arc::new(FjallStorage::open(directory(&address)?).await?)),
        #[cfg(feature = "sqlite")]
        "sqlite" => crate::sqlite::open(&address).await,
        _ => {
            let patience = patience(&mut address)?;
            Ok(steady(reach(url, address, patience).await?, patience))
        }
    }
}

/// A storage that is reached over a network. One that is just being started is waited for.
async fn reach(url: &str, mut address: Address, patience: Duration) -> Result<Arc<dyn Storage>> {
    let end = Instant::now() + patience.min(PATIENCE_AT_START);
    loop {
        match remote(address).await {
            Err(err) if err.kind() == ErrorKind::Unavailable && Instant::now() < end => {
                tracing::warn!(error = &err as &dyn std::error::Error, "the storage is waited for");
                sleep(PAUSE_AT_START).await;
            }
            outcome => return outcome,
        }
        address = Address::of(url).await?;
        address.take("patience")?;
    }
}

/// A storage that is reached over a network.
async fn remote(address: Address) -> Result<Arc<dyn Storage>> {
    match address.scheme.as_str() {
        #[cfg(feature = "postgres")]
        "postgres" | "postgresql" => crate::postgres::open(address).await,
        #[cfg(feature = "redis")]
        "redis" | "rediss" => crate::redis::open(address).await,
        #[cfg(feature = "blobs")]
        "s3" | "az" | "gs" => crate::blobs::open(address).await,
        #[cfg(feature = "dynamodb")]
        "dynamodb" => crate::dynamodb::open(address).await,
        scheme => Err(unknown(scheme)),
    }
}

fn unknown(scheme: &str) -> crate::Error {
    let known = ["sqlite", "postgres", "redis", "rediss", "s3", "az", "gs", "dynamodb"];
    if known.contains(&scheme) {
        return invalid(format!("this program was built without {scheme}:"));
    }
    invalid(format!("the scheme is not known; there are {SCHEMES}"))
}

/// Takes out how long an operation is tried.
fn patience(address: &mut Address) -> Result<Duration> {
    let Some(seconds) = address.take("patience")? else { return Ok(PATIENCE) };
    let seconds: u64 = seconds.parse().map_err(|_| invalid("patience is a number of seconds"))?;
    Ok(Duration::from_secs(seconds))
}

fn memory(address: &Address) -> Result<Arc<dyn Storage>> {
    address.check_all_taken()?;
    if !address.rest.is_empty() {
        return Err(invalid("memory: takes nothing behind the colon"));
    }
    Ok(Arc::new(MemoryStorage::default()))
}

/// The directory of `file:DIR`.
fn directory(address: &Address) -> Result<PathBuf> {
    address.check_all_taken()?;
    absolute(address, "/var/lib/sandkeep")
}

/// An absolute path of this machine. `file:///dir` is how other programs write `file:/dir`.
pub(crate) fn absolute(address: &Address, example: &str) -> Result<PathBuf> {
    let (scheme, rest) = (&address.scheme, address.rest.as_str());
    if rest.is_empty() {
        return Err(invalid(format!("{scheme}: needs a path, as in {scheme}:{example}")));
    }
    let path = match rest.strip_prefix("//") {
        Some(path) if path.starts_with('/') => path,
        Some(_) => {
            let message =
                format!("{scheme}:// is followed by a third slash, as in {scheme}://{example}");
            return Err(invalid(message));
        }
        None => rest,
    };
    if !path.starts_with('/') {
        let message =
            format!("the path of {scheme}: begins with a slash, as in {scheme}:{example}");
        return Err(invalid(message));
    }
    Ok(PathBuf::from(path))
}
