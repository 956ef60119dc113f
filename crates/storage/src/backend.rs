//! What every backend does.

use std::fmt::Debug;

use async_trait::async_trait;
use bytes::Bytes;

use crate::{Domain, Expected, Listed, ObjectKey, Ref, RefKey, Result, Swap, Token};

/// Immutable bytes by name, as [`seal`](crate::frame::seal) made them.
///
/// Whoever reads after a write returned sees it. A name is always written with the same content,
/// so that it does not matter who writes it, how often, and in which order.
#[async_trait]
pub trait Objects: Debug + Send + Sync + 'static {
    /// The sealed object, if there is one.
    async fn get(&self, key: &ObjectKey) -> Result<Option<Bytes>>;

    /// The sealed objects, in the order of the keys.
    async fn get_many(&self, keys: &[ObjectKey]) -> Result<Vec<Option<Bytes>>>;

    /// Stores sealed objects, over those that are there. They are durable when it returns.
    async fn put_many(&self, objects: Vec<(ObjectKey, Bytes)>) -> Result<()>;

    /// At most `limit` objects behind `after`, of one domain or of all, sorted by key.
    ///
    /// What is there from the first page to the last is told exactly once.
    async fn list(
        &self,
        domain: Option<Domain>,
        after: Option<ObjectKey>,
        limit: usize,
    ) -> Result<Vec<Listed>>;

    /// Removes each object that nobody wrote again since its token was told; says how many went.
    async fn delete_exact(&self, objects: &[(ObjectKey, Token)]) -> Result<u64>;
}

/// Small values that change by compare-and-swap.
#[async_trait]
pub trait Refs: Debug + Send + Sync + 'static {
    /// The value now, if there is one.
    async fn load(&self, key: &RefKey) -> Result<Option<Ref>>;

    /// Sets the value if the ref is as expected, else tells what it is.
    ///
    /// Of any number of callers with the same expectation at most one wins. The value is durable
    /// when it returns. After an error, or when the caller stopped waiting, it may be set or not.
    async fn swap(&self, key: &RefKey, expected: &Expected, value: Bytes) -> Result<Swap>;

    /// Removes the ref if it still has this token; says whether it did.
    async fn delete_ref(&self, key: &RefKey, token: &Token) -> Result<bool>;

    /// At most `limit` refs whose keys begin with `prefix`, behind `after`, sorted by the bytes
    /// of their keys.
    ///
    /// What is there from the first page to the last is told exactly once.
    async fn list_refs(
        &self,
        prefix: &str,
        after: Option<&RefKey>,
        limit: usize,
    ) -> Result<Vec<(RefKey, Ref)>>;
}

/// A place for objects and refs.
#[async_trait]
pub trait Storage: Objects + Refs {
    /// What this backend can do.
    fn capabilities(&self) -> Capabilities;

    /// Stores the objects, then swaps the ref: a ref never points at what is missing.
    ///
    /// The objects are stored even if the swap is lost. It is one round trip where the backend can.
    async fn commit(
        &self,
        objects: Vec<(ObjectKey, Bytes)>,
        key: &RefKey,
        expected: &Expected,
        value: Bytes,
    ) -> Result<Swap>;
}

/// What a backend can do beyond what all must.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// What is stored does not end with this process, so that trees are worth turning into objects.
    ///
    /// Whether it outlives a power cut is for those to say who run the store: a Redis may be asked
    /// for less (`durability=none`).
    pub durable: bool,
    /// A commit is one round trip, and after a crash is there wholly or not at all.
    pub one_step_commit: bool,
    /// [`Objects::delete_exact`] is exact; else whoever deletes waits long before it.
    pub exact_delete: bool,
    /// Several processes may have it open.
    pub shared: bool,
}
