//! A store in a table of Amazon `DynamoDB`, for any number of machines.
//!
//! `dynamodb://TABLE/PREFIX?create=true` makes the table when it is missing. Region, keys and endpoint
//! are those of the environment or the credentials file (`AWS_REGION`, `AWS_ACCESS_KEY_ID`,
//! `AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN`, `AWS_ENDPOINT_URL_DYNAMODB`), else of the profile or the
//! role of the machine. It needs `DescribeTable`, `GetItem`, `BatchGetItem`, `Query`, `PutItem`,
//! `DeleteItem` and `BatchWriteItem`, and `CreateTable` to make the table.
//!
//! A commit is two requests one after the other: its objects by `BatchWriteItem`, then the ref by a
//! conditional `PutItem`. Large objects take two more before the ref, and the first objects of a
//! domain one. One transaction could do both, but costs twice the write units, takes the
//! service two phases as well, and fails with a conflict where of two puts one wins; and since the
//! objects of a commit are stored even if it is lost, whoever lost would have to store them after all.
//!
//! - `connection`, `making`, `table`, `batch`: the service, the table, its items, many of them
//! - `layout`: where in the table what lies
//! - `objects`, `large`, `domains`, `refs`: what is kept
//! - `age`: what is relied on, and what may be removed
//! - `turns`: sources that follow each other
//! - `failure`: what goes wrong

mod age;
mod batch;
mod connection;
mod domains;
mod failure;
mod large;
mod layout;
mod making;
mod objects;
mod refs;
mod table;
mod turns;

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use async_trait::async_trait;
use bytes::Bytes;
use parking_lot::Mutex;

use self::layout::Layout;
use self::making::Missing;
use self::table::Table;
use crate::address::{Address, invalid};
use crate::{
    Capabilities, Domain, Expected, Listed, ObjectKey, Objects, Ref, RefKey, Refs, Result, Storage,
    Swap, Token,
};

/// How many bytes a prefix has at most: a part of the 2,048 that the key of a partition may have.
const LONGEST_PREFIX: usize = 512;

/// Opens the store that an address names.
pub(crate) async fn open(mut address: Address) -> Result<Arc<dyn Storage>> {
    let missing = if address.take_flag("create")? { Missing::Make } else { Missing::Refuse };
    address.check_all_taken()?;
    let (name, prefix) = address.place_and_prefix()?;
    if prefix.len() > LONGEST_PREFIX {
        return Err(invalid("the prefix of dynamodb: has more than 512 bytes"));
    }
    let table = Table { client: connection::client(&address.settings).await?, name };
    table.be_ready(missing).await?;
    Ok(Arc::new(DynamoStorage { table, layout: Layout::of(&prefix), noted: Mutex::default() }))
}

/// Objects and refs in a table.
struct DynamoStorage {
    table: Table,
    layout: Layout,
    /// The domains that this process wrote down, and when.
    noted: Mutex<HashMap<Domain, SystemTime>>,
}

impl fmt::Debug for DynamoStorage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DynamoStorage").field("table", &self.table).finish_non_exhaustive()
    }
}

#[async_trait]
impl Objects for DynamoStorage {
    async fn get(&self, key: &ObjectKey) -> Result<Option<Bytes>> {
        self.object(key).await
    }

    async fn get_many(&self, keys: &[ObjectKey]) -> Result<Vec<Option<Bytes>>> {
        self.objects(keys).await
    }

    async fn put_many(&self, objects: Vec<(ObjectKey, Bytes)>) -> Result<()> {
        self.put(objects).await
    }

    async fn list(
        &self,
        domain: Option<Domain>,
        after: Option<ObjectKey>,
        limit: usize,
    ) -> Result<Vec<Listed>> {
        let Some(domain) = domain else { return self.find_in_all(after, limit).await };
        let after = match after {
            Some(after) if after.domain > domain => return Ok(Vec::new()),
            Some(after) if after.domain == domain => Some(after.id),
            Some(_) | None => None,
        };
        if limit == 0 {
            return Ok(Vec::new());
        }
        let found = self.find(domain, after, limit).await?;
        self.sweep(domain, after, &found, limit).await;
        Ok(found.into_iter().map(|found| found.listed).collect())
    }

    async fn delete_exact(&self, objects: &[(ObjectKey, Token)]) -> Result<u64> {
        self.delete(objects).await
    }
}

#[async_trait]
impl Refs for DynamoStorage {
    async fn load(&self, key: &RefKey) -> Result<Option<Ref>> {
        self.reference(key).await
    }

    async fn swap(&self, key: &RefKey, expected: &Expected, value: Bytes) -> Result<Swap> {
        self.set(key, expected, value).await
    }

    async fn delete_ref(&self, key: &RefKey, token: &Token) -> Result<bool> {
        self.remove(key, token).await
    }

    async fn list_refs(
        &self,
        prefix: &str,
        after: Option<&RefKey>,
        limit: usize,
    ) -> Result<Vec<(RefKey, Ref)>> {
        self.references(prefix, after, limit).await
    }
}

#[async_trait]
impl Storage for DynamoStorage {
    fn capabilities(&self) -> Capabilities {
        Capabilities { durable: true, one_step_commit: false, exact_delete: true, shared: true }
    }

    async fn commit(
        &self,
        objects: Vec<(ObjectKey, Bytes)>,
        key: &RefKey,
        expected: &Expected,
        value: Bytes,
    ) -> Result<Swap> {
        self.put(objects).await?;
        self.set(key, expected, value).await
    }
}
