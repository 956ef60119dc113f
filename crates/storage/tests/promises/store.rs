//! The store under test, and short words for what the promises do with it.

use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use sandkeep_storage::{
    self as storage, DiskCache, Domain, Error, Expected, Listed, ObjectId, ObjectKey, RefKey,
    Storage, Swap, Token, frame,
};

/// An open store.
#[derive(Clone)]
pub(crate) struct Store {
    storage: Arc<dyn Storage>,
    pub(crate) url: String,
}

impl Deref for Store {
    type Target = dyn Storage;

    fn deref(&self) -> &Self::Target {
        &*self.storage
    }
}

impl Store {
    pub(crate) async fn open(url: &str) -> Self {
        Self::try_open(url).await.unwrap()
    }

    pub(crate) async fn try_open(url: &str) -> Result<Self, Error> {
        let storage = match url.strip_prefix("cached:").and_then(|rest| rest.split_once(':')) {
            Some((dir, url)) => {
                DiskCache::over(storage::open(url).await?, Path::new(dir), 64 << 20).await?
            }
            None => storage::open(url).await?,
        };
        Ok(Self { storage, url: url.to_owned() })
    }

    /// Opens a store for a trial. A server is proven once before all of them, since the proof takes
    /// longer than most.
    pub(crate) async fn for_trial(url: &str) -> Self {
        if !is_server(url) {
            return Self::open(url).await;
        }
        Self { storage: storage::connect(url).await.unwrap(), url: url.to_owned() }
    }

    /// Closes the store and opens it again.
    pub(crate) async fn reopened(self) -> Self {
        let Self { storage, url } = self;
        drop(storage);
        Self::open(&url).await
    }

    /// How often something is done that a server takes its time for.
    pub(crate) fn times(&self, often: u32) -> u32 {
        if is_server(&self.url) { often.div_ceil(5) } else { often }
    }

    /// Stores an object.
    pub(crate) async fn put(&self, key: ObjectKey, content: &[u8]) {
        self.put_many(vec![(key, frame::seal(content))]).await.unwrap();
    }

    /// The content of an object that must be there.
    pub(crate) async fn content(&self, key: ObjectKey) -> Bytes {
        frame::open(&self.get(&key).await.unwrap().unwrap()).unwrap()
    }

    /// Whether an object is there.
    pub(crate) async fn has(&self, key: ObjectKey) -> bool {
        self.get(&key).await.unwrap().is_some()
    }

    /// The token of an object that must be there.
    pub(crate) async fn token(&self, key: ObjectKey) -> Token {
        let listed = self.listed(key.domain).await;
        listed.into_iter().find(|listed| listed.key == key).unwrap().token
    }

    /// Every object of a domain.
    pub(crate) async fn listed(&self, domain: Domain) -> Vec<Listed> {
        self.list(Some(domain), None, usize::MAX).await.unwrap()
    }

    /// Makes a ref that must not be there yet.
    pub(crate) async fn create(&self, key: &str, value: impl Into<Bytes>) -> Token {
        won(self.swap(&named(key), &Expected::Absent, value.into()).await.unwrap())
    }

    /// Sets a ref that must still have its token.
    pub(crate) async fn set(&self, key: &str, token: &Token, value: impl Into<Bytes>) -> Token {
        let expected = Expected::Token(token.clone());
        won(self.swap(&named(key), &expected, value.into()).await.unwrap())
    }

    /// The value of a ref, if there is one.
    pub(crate) async fn value(&self, key: &str) -> Option<Bytes> {
        self.load(&named(key)).await.unwrap().map(|current| current.value)
    }

    /// The keys of the refs with a prefix.
    pub(crate) async fn keys(&self, prefix: &str) -> Vec<String> {
        let refs = self.list_refs(prefix, None, usize::MAX).await.unwrap();
        refs.into_iter().map(|(key, _)| key.to_string()).collect()
    }
}

/// Whether a store is reached over a network.
pub(crate) fn is_server(url: &str) -> bool {
    url.contains("://")
}

/// The token of a swap that must be won.
pub(crate) fn won(swap: Swap) -> Token {
    match swap {
        Swap::Won(token) => token,
        Swap::Lost(current) => panic!("lost to {current:?}"),
    }
}

/// The value that a swap lost to, if any; it must be lost.
pub(crate) fn lost(swap: Swap) -> Option<Bytes> {
    match swap {
        Swap::Won(_) => panic!("won"),
        Swap::Lost(current) => current.map(|current| current.value),
    }
}

/// The key of a ref.
pub(crate) fn named(key: &str) -> RefKey {
    RefKey::new(key).unwrap()
}

/// The objects 0, 1, 2, … of a domain, in the order of their keys.
pub(crate) fn numbered(domain: Domain, number: u32) -> ObjectKey {
    let mut id = [0; 32];
    id[..4].copy_from_slice(&number.to_be_bytes());
    ObjectKey { domain, id: ObjectId(id) }
}

/// A key that nobody has used.
pub(crate) fn fresh() -> ObjectKey {
    numbered(Domain::random(), 0)
}

/// Bytes that no compression makes smaller.
pub(crate) fn noise(len: usize) -> Vec<u8> {
    use rand::Rng as _;
    let mut bytes = vec![0; len];
    rand::rng().fill_bytes(&mut bytes);
    bytes
}
