//! The database: how it is opened, read and tidied up.

use std::ops::Bound;
use std::path::Path;
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use fjall::{Keyspace, KeyspaceCreateOptions, KvSeparationOptions, OwnedWriteBatch, PersistMode};

use super::record::{self, Head};
use crate::frame::Generation;
use crate::{Domain, Listed, ObjectKey, Ref, RefKey, Result, page};

const MIB: u64 = 1 << 20;

/// What the engine reads often, it keeps itself.
const CACHE: u64 = 4 * MIB;
/// How much is gathered in memory before it goes from the journal into tables.
const OBJECTS_IN_MEMORY: u64 = 4 * MIB;
const HEADS_IN_MEMORY: u64 = MIB;
const REFS_IN_MEMORY: u64 = MIB;
/// Writers wait while so much is in memory. fjall itself bounds only what waits to become a table,
/// and goes on filling what is next while its threads are busy.
const MOST_IN_MEMORY: u64 = 12 * MIB;
/// The least that fjall accepts. It bounds what is read again after a crash.
const JOURNALS: u64 = 64 * MIB;
/// Larger objects lie in files of their own, where merging tables does not copy them again and
/// again: a gigabyte of objects of 64 KiB is written twice instead of five times.
const APART: u32 = 1024;
/// fjall stops writers at four and at thirty.
const WAITING_IN_MEMORY: usize = 2;
const WAITING_ON_DISK: usize = 27;
const OPEN_FILES: usize = 128;
/// One flushes while the other merges.
const THREADS: usize = 2;

/// An open fjall database.
pub(super) struct Database {
    fjall: fjall::Database,
    objects: Keyspace,
    heads: Keyspace,
    refs: Keyspace,
}

impl Database {
    /// Opens the database in a directory, or makes it there.
    pub(super) fn open(dir: &Path) -> fjall::Result<Self> {
        let fjall = fjall::Database::builder(dir)
            .cache_size(CACHE)
            .max_journaling_size(JOURNALS)
            .max_cached_files(Some(OPEN_FILES))
            .worker_threads(THREADS)
            .open()?;
        let objects = fjall.keyspace("objects", || {
            let apart = KvSeparationOptions::default().separation_threshold(APART);
            // Who asks for an object has seen its name, so it is nearly always there.
            small(OBJECTS_IN_MEMORY).with_kv_separation(Some(apart)).expect_point_read_hits(true)
        })?;
        let heads = fjall.keyspace("heads", || small(HEADS_IN_MEMORY))?;
        let refs = fjall.keyspace("refs", || small(REFS_IN_MEMORY))?;
        Ok(Self { fjall, objects, heads, refs })
    }

    /// The sealed object, if there is one.
    pub(super) fn object(&self, key: &ObjectKey) -> Result<Option<Bytes>> {
        Ok(self.objects.get(key.to_bytes())?.map(Bytes::from))
    }

    /// The generation of an object, if there is one.
    pub(super) fn generation(&self, key: &ObjectKey) -> Result<Option<Generation>> {
        let head = self.heads.get(key.to_bytes())?;
        head.map(|head| Ok(Head::decode(&head)?.generation)).transpose()
    }

    pub(super) fn list(
        &self,
        domain: Option<Domain>,
        after: Option<ObjectKey>,
        limit: usize,
    ) -> Result<Vec<Listed>> {
        let start = page::start(ObjectKey::first(domain), after).bound().map(ObjectKey::to_bytes);
        let mut page = Vec::new();
        for entry in self.heads.range((start, Bound::Unbounded)).take(limit) {
            let (key, head) = entry.into_inner()?;
            let key = record::object_key(&key)?;
            if domain.is_some_and(|domain| key.domain != domain) {
                break;
            }
            page.push(Head::decode(&head)?.listed(key));
        }
        Ok(page)
    }

    pub(super) fn load(&self, key: &RefKey) -> Result<Option<Ref>> {
        self.refs.get(key.as_str())?.map(|stored| record::decode_ref(&stored.into())).transpose()
    }

    pub(super) fn list_refs(
        &self,
        prefix: &str,
        after: Option<&RefKey>,
        limit: usize,
    ) -> Result<Vec<(RefKey, Ref)>> {
        let start = page::start(prefix, after.map(RefKey::as_str)).bound();
        let mut page = Vec::new();
        for entry in self.refs.range::<&str, _>((start, Bound::Unbounded)).take(limit) {
            let (key, stored) = entry.into_inner()?;
            if !key.starts_with(prefix.as_bytes()) {
                break;
            }
            page.push((record::ref_key(&key)?, record::decode_ref(&stored.into())?));
        }
        Ok(page)
    }

    /// Whether nothing has failed that makes fjall refuse every write until it is opened again.
    pub(super) fn takes_writes(&self) -> bool {
        self.fjall.persist(PersistMode::Buffer).is_ok()
    }

    /// Whether more waits to be tidied up than should, and will be.
    ///
    /// fjall would wait by itself a little later, but not notice when there is nobody left to wait
    /// for.
    pub(super) fn is_behind(&self) -> bool {
        let is_behind = |keyspace: &Keyspace| {
            keyspace.sealed_memtable_count() > WAITING_IN_MEMORY
                || keyspace.l0_table_count() > WAITING_ON_DISK
        };
        let keyspaces = [&self.objects, &self.heads, &self.refs];
        let is_full = self.fjall.write_buffer_size() > MOST_IN_MEMORY;
        if is_full && keyspaces.iter().all(|keyspace| keyspace.sealed_memtable_count() == 0) {
            // Nothing of it would ever go, and whoever waits would wait for ever.
            self.seal();
        }
        (is_full || keyspaces.into_iter().any(is_behind)) && self.takes_writes()
    }

    /// Hands over what is gathered in memory, so that it becomes tables.
    fn seal(&self) {
        for keyspace in [&self.objects, &self.heads, &self.refs] {
            if let Err(err) = keyspace.rotate_memtable() {
                tracing::warn!(error = &err as &dyn std::error::Error, "memory stays full");
            }
        }
    }

    /// Gives up the files of what was deleted, for which fjall would wait until more is written.
    /// They go when the database is opened again.
    pub(super) fn reclaim(&self) -> fjall::Result<()> {
        for keyspace in [&self.objects, &self.heads] {
            keyspace.rotate_memtable()?;
            while keyspace.sealed_memtable_count() > 0 {
                self.fjall.persist(PersistMode::Buffer)?;
                thread::sleep(Duration::from_millis(1));
            }
            // The first time finds which files hold nothing any more, the second gives them up.
            keyspace.major_compact()?;
            keyspace.major_compact()?;
        }
        Ok(())
    }

    /// What is to be written whole or not at all.
    pub(super) fn batch(&self) -> Batch<'_> {
        let fjall = self.fjall.batch().durability(Some(PersistMode::SyncData));
        Batch { database: self, fjall }
    }
}

fn small(memory: u64) -> KeyspaceCreateOptions {
    KeyspaceCreateOptions::default().max_memtable_size(memory)
}

/// Writes that happen together. Whoever reads meanwhile sees them in the order in which they were
/// added.
pub(super) struct Batch<'a> {
    database: &'a Database,
    fjall: OwnedWriteBatch,
}

impl Batch<'_> {
    pub(super) fn put(&mut self, key: ObjectKey, generation: Generation, stored: Bytes) {
        let (key, size) = (key.to_bytes(), stored.len() as u64);
        self.fjall.insert(&self.database.objects, key, stored);
        self.fjall.insert(&self.database.heads, key, Head { generation, size }.encode());
    }

    pub(super) fn remove(&mut self, key: ObjectKey) {
        let key = key.to_bytes();
        self.fjall.remove(&self.database.heads, key);
        self.fjall.remove(&self.database.objects, key);
    }

    pub(super) fn set_ref(&mut self, key: &RefKey, value: &Ref) {
        self.fjall.insert(&self.database.refs, key.as_str(), record::encode_ref(value));
    }

    pub(super) fn remove_ref(&mut self, key: &RefKey) {
        self.fjall.remove(&self.database.refs, key.as_str());
    }

    /// Writes all of it, and syncs it.
    pub(super) fn commit(self) -> fjall::Result<()> {
        self.fjall.commit()
    }
}
