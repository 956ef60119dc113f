//! A store that is reached over a network, made steady: what fails for a moment is tried again, and
//! nobody has to guess whether a change happened whose answer got lost.
//!
//! Every value of a ref is stored behind a mark: 16 random bytes of the one who wants to set it. Who
//! got no answer asks again for the same change. If it happened the first time, the second try loses
//! to a value with his own mark, and he knows that he won.
//!
//! If a third one changed the ref in between, the mark is gone: a swap that was tried twice may be
//! lost to a value that came after its own. Whoever must know keeps that in the value, as roots keep
//! the last commit of each of their writers.
//!
//! A swap that expects a token happens once at most, for a token never comes back. One that expects
//! the ref to be absent ([`Expected::Absent`]) may happen twice: if the answer to the first try got
//! lost and a third one removed the ref before the next, that makes it again; and so does a first
//! try that arrives after it was given up. Whoever removes a ref may see it once more, with a value
//! that it had.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::{BufMut as _, Bytes, BytesMut};
use tokio::time::{Instant, sleep, timeout};

use crate::{
    Capabilities, Domain, Error, ErrorKind, Expected, Listed, ObjectKey, Objects, Ref, RefKey,
    Refs, Result, Storage, Swap, Token,
};

/// How long one try may take, besides what its bytes need.
const TRY: Duration = Duration::from_secs(10);
/// How fast bytes travel at least.
const BYTES_A_SECOND: f64 = 1_000_000.0;
/// How many bytes an object is worth besides its own, where each is a request.
const OBJECT: usize = 20_000;
/// The same for a ref in a listing, of which many are read at once.
const REF: usize = 4096;
/// The first and the longest pause between two tries.
const PAUSES: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(2));
/// What is said of in the log.
const LONG: Duration = Duration::from_secs(1);

/// How many bytes stand before the value of a ref.
const MARK: usize = 16;

/// A storage that tries again, for as long as `patience`, what fails with
/// [`Unavailable`](ErrorKind::Unavailable).
pub fn steady(storage: Arc<dyn Storage>, patience: Duration) -> Arc<dyn Storage> {
    Arc::new(Steady { storage, patience })
}

struct Steady {
    storage: Arc<dyn Storage>,
    patience: Duration,
}

impl fmt::Debug for Steady {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Steady").field(&self.storage).finish()
    }
}

impl Steady {
    /// Tries until it is done, fails for good, or has lasted too long.
    async fn insist<T, F>(&self, bytes: usize, attempt: impl Fn() -> F) -> Result<T>
    where
        F: Future<Output = Result<T>>,
    {
        let begin = Instant::now();
        let longest = TRY + Duration::from_secs_f64(bytes as f64 / BYTES_A_SECOND);
        let mut pause = PAUSES.0;
        loop {
            let err = match timeout(longest, attempt()).await {
                Ok(Err(err)) if err.kind() == ErrorKind::Unavailable => err,
                // What an earlier try did is not known, whatever this one was told.
                Ok(Err(err)) if pause > PAUSES.0 => {
                    return Err(Error::new(ErrorKind::Unavailable, err.to_string()).because(err));
                }
                Ok(outcome) => return outcome,
                Err(_) => Error::new(ErrorKind::Unavailable, "the storage does not answer"),
            };
            // Those who were cut off together do not come back together.
            let rest = pause.mul_f64(rand::random_range(0.5..1.5));
            if begin.elapsed() + rest > self.patience {
                return Err(err);
            }
            if begin.elapsed() > LONG {
                tracing::warn!(
                    error = &err as &dyn std::error::Error,
                    "the storage is tried again"
                );
            }
            sleep(rest).await;
            pause = (pause * 2).min(PAUSES.1);
        }
    }
}

#[async_trait]
impl Objects for Steady {
    async fn get(&self, key: &ObjectKey) -> Result<Option<Bytes>> {
        self.insist(0, || self.storage.get(key)).await
    }

    async fn get_many(&self, keys: &[ObjectKey]) -> Result<Vec<Option<Bytes>>> {
        self.insist(keys.len() << 18, || self.storage.get_many(keys)).await
    }

    async fn put_many(&self, objects: Vec<(ObjectKey, Bytes)>) -> Result<()> {
        self.insist(size(&objects), || self.storage.put_many(objects.clone())).await
    }

    async fn list(
        &self,
        domain: Option<Domain>,
        after: Option<ObjectKey>,
        limit: usize,
    ) -> Result<Vec<Listed>> {
        self.insist(limit.min(1 << 20) * 128, || self.storage.list(domain, after, limit)).await
    }

    async fn delete_exact(&self, objects: &[(ObjectKey, Token)]) -> Result<u64> {
        self.insist(objects.len() * OBJECT, || self.storage.delete_exact(objects)).await
    }
}

#[async_trait]
impl Refs for Steady {
    async fn load(&self, key: &RefKey) -> Result<Option<Ref>> {
        self.insist(0, || self.storage.load(key)).await?.map(unmarked).transpose()
    }

    async fn swap(&self, key: &RefKey, expected: &Expected, value: Bytes) -> Result<Swap> {
        let mark = rand::random();
        let value = marked(mark, &value);
        let swap = self.insist(0, || self.storage.swap(key, expected, value.clone())).await?;
        outcome(swap, mark)
    }

    async fn delete_ref(&self, key: &RefKey, token: &Token) -> Result<bool> {
        let tries = std::sync::atomic::AtomicU32::new(0);
        let is_deleted = self.insist(0, || {
            tries.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            self.storage.delete_ref(key, token)
        });
        if is_deleted.await? {
            return Ok(true);
        }
        // A try whose answer got lost may have done it. It is gone, which is what was wanted.
        Ok(tries.into_inner() > 1 && self.load(key).await?.is_none())
    }

    async fn list_refs(
        &self,
        prefix: &str,
        after: Option<&RefKey>,
        limit: usize,
    ) -> Result<Vec<(RefKey, Ref)>> {
        let bytes = limit.min(1 << 16) * REF;
        let refs = self.insist(bytes, || self.storage.list_refs(prefix, after, limit)).await?;
        refs.into_iter().map(|(key, stored)| Ok((key, unmarked(stored)?))).collect()
    }
}

#[async_trait]
impl Storage for Steady {
    fn capabilities(&self) -> Capabilities {
        self.storage.capabilities()
    }

    async fn commit(
        &self,
        objects: Vec<(ObjectKey, Bytes)>,
        key: &RefKey,
        expected: &Expected,
        value: Bytes,
    ) -> Result<Swap> {
        let mark = rand::random();
        let value = marked(mark, &value);
        let commit = self.insist(size(&objects), || {
            self.storage.commit(objects.clone(), key, expected, value.clone())
        });
        outcome(commit.await?, mark)
    }
}

fn size(objects: &[(ObjectKey, Bytes)]) -> usize {
    objects.iter().map(|(_, stored)| stored.len() + OBJECT).sum()
}

fn marked(mark: [u8; MARK], value: &Bytes) -> Bytes {
    let mut marked = BytesMut::with_capacity(MARK + value.len());
    marked.put_slice(&mark);
    marked.put_slice(value);
    marked.freeze()
}

fn unmarked(mut stored: Ref) -> Result<Ref> {
    if stored.value.len() < MARK {
        return Err(Error::new(ErrorKind::Corrupt, "a ref is shorter than its mark"));
    }
    stored.value = stored.value.split_off(MARK);
    Ok(stored)
}

/// How a change ended that was wanted under this mark, whichever try it was.
fn outcome(swap: Swap, mark: [u8; MARK]) -> Result<Swap> {
    match swap {
        Swap::Lost(Some(current)) if current.value.starts_with(&mark) => {
            Ok(Swap::Won(current.token))
        }
        Swap::Lost(current) => Ok(Swap::Lost(current.map(unmarked).transpose()?)),
        Swap::Won(token) => Ok(Swap::Won(token)),
    }
}
