//! A durable store in one file of this machine, for any number of its processes: SQLite.
//!
//! - `file`: the file, told from others, made, and opened
//! - `tables`: what is kept in it, and how
//! - `writer`: the one thread that writes; what waits is written and synced together
//! - `job`: one write
//! - `readers`: those who read meanwhile

mod failure;
mod file;
mod job;
mod readers;
mod tables;
mod writer;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;

use self::file::File;
use self::readers::Readers;
use self::tables::{Sealed, Tables};
use self::writer::Writer;
use crate::address::Address;
use crate::url::absolute;
use crate::{
    Capabilities, Domain, Expected, Listed, ObjectKey, Objects, Ref, RefKey, Refs, Result, Storage,
    Swap, Token, blocking,
};

/// Opens the store in the file that `sqlite:FILE` names.
pub(crate) async fn open(address: &Address) -> Result<Arc<dyn Storage>> {
    address.check_all_taken()?;
    let path = absolute(address, "/var/lib/sandkeep.db")?;
    Ok(Arc::new(SqliteStorage::open(path).await?))
}

/// Objects and refs in an SQLite database.
///
/// Dropping it waits until what was begun is on the disk.
struct SqliteStorage {
    writer: Writer,
    readers: Arc<Readers>,
}

impl SqliteStorage {
    async fn open(path: PathBuf) -> Result<Self> {
        blocking::run(move || {
            let file = Arc::new(File::at(path)?);
            let writer = Writer::start(Arc::clone(&file))?;
            Ok(Self { writer, readers: Arc::new(Readers::of(file)) })
        })
        .await
    }
}

impl Drop for SqliteStorage {
    fn drop(&mut self) {
        self.writer.stop();
    }
}

impl fmt::Debug for SqliteStorage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteStorage").finish_non_exhaustive()
    }
}

#[async_trait]
impl Objects for SqliteStorage {
    async fn get(&self, key: &ObjectKey) -> Result<Option<Bytes>> {
        let key = *key;
        self.readers.read(move |tables| tables.object(&key)).await
    }

    async fn get_many(&self, keys: &[ObjectKey]) -> Result<Vec<Option<Bytes>>> {
        let keys = keys.to_vec();
        self.readers.read(move |tables| keys.iter().map(|key| tables.object(key)).collect()).await
    }

    async fn put_many(&self, objects: Vec<(ObjectKey, Bytes)>) -> Result<()> {
        let (objects, size) = Sealed::all(objects)?;
        self.writer.write(size, move |tables| tables.put(&objects)).await
    }

    async fn list(
        &self,
        domain: Option<Domain>,
        after: Option<ObjectKey>,
        limit: usize,
    ) -> Result<Vec<Listed>> {
        self.readers.read(move |tables| tables.list(domain, after, limit)).await
    }

    async fn delete_exact(&self, objects: &[(ObjectKey, Token)]) -> Result<u64> {
        let objects = objects.to_vec();
        self.writer.write(0, move |tables| tables.delete_exact(&objects)).await
    }
}

#[async_trait]
impl Refs for SqliteStorage {
    async fn load(&self, key: &RefKey) -> Result<Option<Ref>> {
        let key = key.clone();
        self.readers.read(move |tables| tables.load(&key)).await
    }

    async fn swap(&self, key: &RefKey, expected: &Expected, value: Bytes) -> Result<Swap> {
        self.commit(Vec::new(), key, expected, value).await
    }

    async fn delete_ref(&self, key: &RefKey, token: &Token) -> Result<bool> {
        let (key, token) = (key.clone(), token.clone());
        self.writer.write(0, move |tables| tables.delete_ref(&key, &token)).await
    }

    async fn list_refs(
        &self,
        prefix: &str,
        after: Option<&RefKey>,
        limit: usize,
    ) -> Result<Vec<(RefKey, Ref)>> {
        let (prefix, after) = (prefix.to_owned(), after.cloned());
        self.readers.read(move |tables| tables.list_refs(&prefix, after.as_ref(), limit)).await
    }
}

#[async_trait]
impl Storage for SqliteStorage {
    fn capabilities(&self) -> Capabilities {
        Capabilities { durable: true, one_step_commit: true, exact_delete: true, shared: true }
    }

    async fn commit(
        &self,
        objects: Vec<(ObjectKey, Bytes)>,
        key: &RefKey,
        expected: &Expected,
        value: Bytes,
    ) -> Result<Swap> {
        let (objects, size) = Sealed::all(objects)?;
        let size = size + (key.as_str().len() + value.len()) as u64;
        let (key, expected) = (key.clone(), expected.clone());
        let work = move |tables: &Tables<'_>| {
            tables.put(&objects)?;
            tables.swap(&key, &expected, &value)
        };
        self.writer.write(size, work).await
    }
}
