//! A store in a PostgreSQL database, for any number of machines.
//!
//! `postgres://user@host:port/database?schema=…&pool=…&prepared=…&sslmode=…&sslrootcert=…`, also
//! with several hosts, of which the one that takes writes is used. Every change is one statement,
//! and so one round trip that happens wholly or not at all.
//!
//! - `link`: what the URL says, and `password`: what it had better not say
//! - `tls`: how far the server is trusted
//! - `connections`: those that are open, one caller at a time on each
//! - `migration`: the tables
//! - `statements`: everything that is ever asked
//! - `batch`, `rows`: objects as one statement takes them, and what it answers

mod batch;
mod connections;
mod failure;
mod link;
mod migration;
mod password;
mod rows;
mod statements;
mod tls;

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use tokio::sync::OnceCell;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use self::batch::{Batch, Keys};
use self::connections::{Connections, Lease};
use self::failure::corrupt;
use self::link::Link;
use self::migration::Schema;
use self::rows::{bytes, count, listed, reference};
use self::statements::{Statement, Statements};
use crate::address::Address;
use crate::page::{self, Start};
use crate::{
    Capabilities, Domain, Expected, Listed, ObjectKey, Objects, Ref, RefKey, Refs, Result, Storage,
    Swap, Token,
};

/// Opens the store that a URL names. Whether the server is there shows when it is first asked.
pub(crate) async fn open(address: Address) -> Result<Arc<dyn Storage>> {
    let link = Link::of(address).await?;
    Ok(Arc::new(PostgresStorage {
        statements: Statements::of(&link.schema),
        schema: link.schema.clone(),
        furnished: OnceCell::new(),
        connections: Connections::through(link)?,
    }))
}

/// Objects and refs in two tables.
struct PostgresStorage {
    connections: Connections,
    schema: Schema,
    /// Whether the tables are there.
    furnished: OnceCell<()>,
    statements: Statements,
}

impl fmt::Debug for PostgresStorage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresStorage").finish_non_exhaustive()
    }
}

impl PostgresStorage {
    async fn lease(&self) -> Result<Lease> {
        let mut lease = self.connections.lease().await?;
        self.furnished.get_or_try_init(|| self.schema.furnish(&mut lease)).await?;
        Ok(lease)
    }

    async fn ask(&self, statement: &Statement, values: &[&(dyn ToSql + Sync)]) -> Result<Vec<Row>> {
        self.lease().await?.ask(statement, values).await
    }

    /// What the ref is now, for whoever lost it. It is another statement, because the one that lost
    /// sees the ref as it was before the winner.
    async fn lost(&self, lease: &mut Lease, key: &RefKey) -> Result<Swap> {
        let rows = lease.ask(&self.statements.load, &[&key.as_str()]).await?;
        Ok(Swap::Lost(rows.first().map(reference).transpose()?))
    }
}

#[async_trait]
impl Objects for PostgresStorage {
    async fn get(&self, key: &ObjectKey) -> Result<Option<Bytes>> {
        let (domain, id) = (&key.domain.0[..], &key.id.0[..]);
        let rows = self.ask(&self.statements.get, &[&domain, &id]).await?;
        rows.first().map(|row| bytes(row, 0)).transpose()
    }

    async fn get_many(&self, keys: &[ObjectKey]) -> Result<Vec<Option<Bytes>>> {
        let mut found = vec![None; keys.len()];
        if keys.is_empty() {
            return Ok(found);
        }
        let Keys { domains, ids } = Keys::of(keys.iter());
        for row in self.ask(&self.statements.get_many, &[&domains, &ids]).await? {
            let position: i64 = row.try_get(0)?;
            let place = usize::try_from(position - 1).ok().and_then(|at| found.get_mut(at));
            *place.ok_or_else(|| corrupt("an answer"))? = Some(bytes(&row, 1)?);
        }
        Ok(found)
    }

    async fn put_many(&self, objects: Vec<(ObjectKey, Bytes)>) -> Result<()> {
        let batch = Batch::of(objects)?;
        let mut lease = self.lease().await?;
        for part in batch.parts() {
            lease.ask(&self.statements.put, &part.values()).await?;
        }
        Ok(())
    }

    async fn list(
        &self,
        domain: Option<Domain>,
        after: Option<ObjectKey>,
        limit: usize,
    ) -> Result<Vec<Listed>> {
        let Statements { list_behind, list_from, .. } = &self.statements;
        let Start { key, is_behind } = page::start(ObjectKey::first(domain), after);
        let statement = if is_behind { list_behind } else { list_from };
        let end = domain.unwrap_or(Domain([0xff; 16]));
        let (domain, id, end) = (&key.domain.0[..], &key.id.0[..], &end.0[..]);
        let rows = self.ask(statement, &[&domain, &id, &end, &most(limit)]).await?;
        rows.iter().map(listed).collect()
    }

    async fn delete_exact(&self, objects: &[(ObjectKey, Token)]) -> Result<u64> {
        if objects.is_empty() {
            return Ok(0);
        }
        let Keys { domains, ids } = Keys::of(objects.iter().map(|(key, _)| key));
        let tokens: Vec<_> = objects.iter().map(|(_, token)| token.as_bytes()).collect();
        let rows = self.ask(&self.statements.delete_exact, &[&domains, &ids, &tokens]).await?;
        count(&rows)
    }
}

#[async_trait]
impl Refs for PostgresStorage {
    async fn load(&self, key: &RefKey) -> Result<Option<Ref>> {
        let rows = self.ask(&self.statements.load, &[&key.as_str()]).await?;
        rows.first().map(reference).transpose()
    }

    async fn swap(&self, key: &RefKey, expected: &Expected, value: Bytes) -> Result<Swap> {
        self.commit(Vec::new(), key, expected, value).await
    }

    async fn delete_ref(&self, key: &RefKey, token: &Token) -> Result<bool> {
        let values: [&(dyn ToSql + Sync); 2] = [&key.as_str(), &token.as_bytes()];
        Ok(count(&self.ask(&self.statements.delete_ref, &values).await?)? > 0)
    }

    async fn list_refs(
        &self,
        prefix: &str,
        after: Option<&RefKey>,
        limit: usize,
    ) -> Result<Vec<(RefKey, Ref)>> {
        let Statements { list_refs_behind, list_refs_from, .. } = &self.statements;
        let Start { key, is_behind } = page::start(prefix, after.map(RefKey::as_str));
        let statement = if is_behind { list_refs_behind } else { list_refs_from };
        // No key has such a letter, and the database does not take it.
        if prefix.contains('\0') {
            return Ok(Vec::new());
        }
        // What begins with the prefix goes on with letters that sort before this one.
        let end = format!("{prefix}\u{10ffff}");
        let rows = self.ask(statement, &[&key, &end, &most(limit)]).await?;
        let named = |row: &Row| {
            let key = RefKey::new(row.try_get(2)?).map_err(|_| corrupt("the key of a ref"))?;
            Ok((key, reference(row)?))
        };
        rows.iter().map(named).collect()
    }
}

#[async_trait]
impl Storage for PostgresStorage {
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
        let batch = Batch::of(objects)?;
        let (parts, last) = batch.parts_and_last();
        let mut lease = self.lease().await?;
        for part in parts {
            lease.ask(&self.statements.put, &part.values()).await?;
        }
        let token = Token::random();
        let (named, fresh, value) = (key.as_str(), token.as_bytes(), value.as_ref());
        let mut values = last.values();
        values.extend([&named as &(dyn ToSql + Sync), &fresh, &value]);
        let rows = match expected {
            Expected::Absent => lease.ask(&self.statements.commit_new, &values).await?,
            Expected::Token(known) => {
                let known = known.as_bytes();
                values.push(&known);
                lease.ask(&self.statements.commit, &values).await?
            }
        };
        if count(&rows)? == 0 { self.lost(&mut lease, key).await } else { Ok(Swap::Won(token)) }
    }
}

fn most(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}
