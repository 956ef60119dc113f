//! A store in Redis, or in a Redis cluster, that any number of machines share.
//!
//! # What is kept
//!
//! The layout is permanent. What stands in braces decides where a cluster keeps a key.
//!
//! ```text
//! {PREFIX:xx}:domains          sorted set of the domains whose first byte is xx
//! {PREFIX:xx}:i:DOMAIN         sorted set of the ids of the domain's objects
//! {PREFIX:xx}:o:DOMAIN ID      an object, as it was sealed
//! {PREFIX:rN}:refs             sorted set of the names of the refs whose xxh3 is N modulo 16
//! {PREFIX:rN}:r:NAME           a ref: its token (16 bytes) and its value
//! ```
//!
//! - **Whatever must agree lies in one group** (`{PREFIX:xx}` or `{PREFIX:rN}`), on one server of a
//!   cluster, and changes in one step there: an object with the two sets that list it, a ref with
//!   the one that lists it. So no set ever names what is missing or misses what is there, and the
//!   domain goes with its last object, whoever stores another at the same moment.
//! - **An object is a key of its own.** Clusters move keys one by one while they grow, and do not
//!   move one of a gigabyte. A listing reads 16 bytes and the length of each, never the object.
//! - **256 groups of domains** spread sandboxes over a cluster and are still walked in the order
//!   of their keys. **16 groups of refs** are merged where refs are listed.
//!
//! # How it changes
//!
//! A commit is one `MULTI … EXEC` that ends in a script which swaps the ref. It is one round trip,
//! and after a crash all of it is there or nothing, because Redis writes it to its journal as one.
//! What is more than 256 MiB of objects is sent before it. In a cluster the objects are
//! stored first, and then the ref is swapped. Scripts are called by their hashes; a server that does
//! not know them, because it was restarted, is told them.
//!
//! # What lasts
//!
//! Redis acknowledges what it has in memory. What outlives it depends on how it is configured, so
//! the store asks (`INFO`) on every new connection, which is where a failover shows, and refuses
//! what would lose data:
//!
//! - `durability=server`, the default, needs `appendonly yes`. With `appendfsync always` nothing is
//!   lost. With `appendfsync everysec`, which is Redis's default, a power cut may take the last two
//!   seconds. The end of the Redis process alone takes nothing, unless it comes while the disk is
//!   syncing what was written before: Redis then answers first, and writes when the sync is done.
//! - `durability=fsync` promises that nothing is lost. Redis 7.2 is asked by `WAITAOF` with every
//!   change. An older one needs `appendfsync always`, and is asked with every change whether that
//!   still holds (`CONFIG GET`).
//! - `durability=none` takes the server as it is.
//! - `replicas=N` waits (`WAIT`) until so many replicas have a change before it is acknowledged.
//!   Without it, a failover may take back what was acknowledged last: Redis replicates after it
//!   has answered.
//! - A server that evicts keys when its memory is full is refused whatever is demanded.
//! - Of a cluster, whose connections are the driver's, it is asked only when the store is opened
//!   whether there is a journal and whether keys are evicted. `fsync` and `replicas` are asked
//!   with every change there too.
//!
//! While a cluster moves a group to another server, changes of that group wait for the end of it.
//!
//! - `place`: the URL; `link` and `line`: connections
//! - `names`: keys; `script`: what happens on the server; `answer`: what it says
//! - `change`, `objects`, `listing`, `refs`: what the store does
//! - `durability`: what is demanded of the server; `confirmation`: what it says after a change
//! - `failure`: what its errors mean

mod answer;
mod change;
mod confirmation;
mod durability;
mod failure;
mod line;
mod link;
mod listing;
mod names;
mod objects;
mod place;
mod refs;
mod script;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use tokio::time::timeout;

use self::durability::Demands;
use self::link::Link;
use self::names::{Group, Names};
use self::place::Place;
use self::refs::Wish;
use crate::address::{Address, invalid};
use crate::frame::Generation;
use crate::{
    Capabilities, Domain, Expected, Listed, ObjectKey, Objects, Ref, RefKey, Refs, Result, Storage,
    Swap, Token,
};

/// What keys begin with unless the URL says otherwise.
const PREFIX: &str = "sandkeep";

/// How long the server may take to say what it is.
const OPENING: Duration = Duration::from_secs(15);

/// Objects and refs in Redis.
pub(crate) struct RedisStorage {
    link: Link,
    names: Names,
}

/// Opens the store that a URL names:
/// `redis://[user@]host[:port][,host…][/database][?prefix=…&cluster=true&durability=…&replicas=…]`,
/// or the same with `rediss:` and `cacert=FILE`.
pub(crate) async fn open(mut address: Address) -> Result<Arc<dyn Storage>> {
    let place = Place::of(&mut address).await?;
    let names = Names::new(prefix(&mut address)?);
    let demands = Demands::of(&mut address, place.is_cluster)?;
    address.check_all_taken()?;
    let storage = timeout(OPENING, RedisStorage::connect(&place, names, demands));
    Ok(Arc::new(storage.await.map_err(|_| failure::silent())??))
}

/// What keys begin with. Braces would change where a cluster keeps them.
fn prefix(address: &mut Address) -> Result<String> {
    let prefix = address.take("prefix")?.unwrap_or_else(|| PREFIX.to_owned());
    let is_plain =
        |byte| matches!(byte, b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'_' | b'-');
    if prefix.is_empty() || prefix.len() > 64 || !prefix.bytes().all(is_plain) {
        return Err(invalid("prefix is 1 to 64 letters, digits, '.', '_' and '-'"));
    }
    Ok(prefix)
}

impl RedisStorage {
    async fn connect(place: &Place, names: Names, demands: Demands) -> Result<Self> {
        Ok(Self { link: Link::to(place, &names, demands).await?, names })
    }
}

impl fmt::Debug for RedisStorage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisStorage").finish_non_exhaustive()
    }
}

#[async_trait]
impl Objects for RedisStorage {
    async fn get(&self, key: &ObjectKey) -> Result<Option<Bytes>> {
        Ok(self.read(&[*key]).await?.pop().flatten())
    }

    async fn get_many(&self, keys: &[ObjectKey]) -> Result<Vec<Option<Bytes>>> {
        self.read(keys).await
    }

    async fn put_many(&self, objects: Vec<(ObjectKey, Bytes)>) -> Result<()> {
        check(&objects)?;
        self.put(&objects).await
    }

    async fn list(
        &self,
        domain: Option<Domain>,
        after: Option<ObjectKey>,
        limit: usize,
    ) -> Result<Vec<Listed>> {
        self.list_objects(domain, after, limit).await
    }

    async fn delete_exact(&self, objects: &[(ObjectKey, Token)]) -> Result<u64> {
        self.remove(objects).await
    }
}

#[async_trait]
impl Refs for RedisStorage {
    async fn load(&self, key: &RefKey) -> Result<Option<Ref>> {
        self.load_ref(key).await
    }

    async fn swap(&self, key: &RefKey, expected: &Expected, value: Bytes) -> Result<Swap> {
        self.commit(Vec::new(), key, expected, value).await
    }

    async fn delete_ref(&self, key: &RefKey, token: &Token) -> Result<bool> {
        self.remove_ref(key, token).await
    }

    async fn list_refs(
        &self,
        prefix: &str,
        after: Option<&RefKey>,
        limit: usize,
    ) -> Result<Vec<(RefKey, Ref)>> {
        self.list_stored_refs(prefix, after, limit).await
    }
}

#[async_trait]
impl Storage for RedisStorage {
    fn capabilities(&self) -> Capabilities {
        let one_step_commit = self.link.is_one_server();
        Capabilities { durable: true, one_step_commit, exact_delete: true, shared: true }
    }

    async fn commit(
        &self,
        objects: Vec<(ObjectKey, Bytes)>,
        key: &RefKey,
        expected: &Expected,
        value: Bytes,
    ) -> Result<Swap> {
        check(&objects)?;
        let together = match objects::steps(&objects).last() {
            Some(last) if self.link.is_one_server() => last,
            Some(_) | None => &[],
        };
        let (before, _) = objects.split_at(objects.len() - together.len());
        self.put(before).await?;
        let wish = Wish::new(expected, value);
        let answers = self.change(Group::of_ref(key), |form| {
            let mut commands: Vec<_> = self.puts(together).into_values().flatten().collect();
            commands.push(self.swap_call(form, key, &wish));
            commands
        });
        let mut answers = answers.await?;
        wish.outcome(answers.pop())
    }
}

/// Refuses bytes that are no sealed objects before any of them is stored.
fn check(objects: &[(ObjectKey, Bytes)]) -> Result<()> {
    objects.iter().try_for_each(|(_, stored)| Generation::of_new(stored).map(drop))
}
