//! What is kept in the database. The format is permanent.
//!
//! ```text
//! objects   key: domain, id (48 bytes)   generation (16 bytes), stored size, the sealed object
//! refs      key: text                    token (16 bytes), value
//! ```

use bytes::Bytes;
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use crate::frame::Generation;
use crate::page::{self, Start};
use crate::{
    Domain, Error, ErrorKind, Expected, Listed, ObjectId, ObjectKey, Ref, RefKey, Result, Swap,
    Token,
};

const OBJECT: &str = "SELECT frame FROM objects WHERE key = ?1";
const PUT: &str = "INSERT INTO objects (key, generation, size, frame) VALUES (?1, ?2, ?3, ?4)
    ON CONFLICT (key) DO UPDATE
    SET generation = excluded.generation, size = excluded.size, frame = excluded.frame";
const DELETE: &str = "DELETE FROM objects WHERE key = ?1 AND generation = ?2";
const LIST_FROM: &str = "SELECT key, generation, size FROM objects
    WHERE key >= ?1 AND key <= ?2 ORDER BY key LIMIT ?3";
const LIST_BEHIND: &str = "SELECT key, generation, size FROM objects
    WHERE key > ?1 AND key <= ?2 ORDER BY key LIMIT ?3";
const LOAD: &str = "SELECT token, value FROM refs WHERE key = ?1";
const SET_REF: &str = "INSERT INTO refs (key, token, value) VALUES (?1, ?2, ?3)
    ON CONFLICT (key) DO UPDATE SET token = excluded.token, value = excluded.value";
const DELETE_REF: &str = "DELETE FROM refs WHERE key = ?1 AND token = ?2";
const LIST_REFS_FROM: &str = "SELECT token, value, key FROM refs
    WHERE key >= ?1 AND key < ?2 ORDER BY key LIMIT ?3";
const LIST_REFS_BEHIND: &str = "SELECT token, value, key FROM refs
    WHERE key > ?1 AND key < ?2 ORDER BY key LIMIT ?3";

/// An object that is fit to be stored.
pub(super) struct Sealed {
    key: ObjectKey,
    generation: Generation,
    stored: Bytes,
}

impl Sealed {
    /// The objects, if all are sealed, and how many bytes they are.
    pub(super) fn all(objects: Vec<(ObjectKey, Bytes)>) -> Result<(Vec<Self>, u64)> {
        let size = objects.iter().map(|(_, stored)| stored.len() as u64).sum();
        let sealed = objects.into_iter().map(|(key, stored)| {
            Ok(Self { key, generation: Generation::of_new(&stored)?, stored })
        });
        Ok((sealed.collect::<Result<_>>()?, size))
    }
}

/// The tables, as one transaction sees them.
pub(super) struct Tables<'a>(pub(super) &'a Connection);

impl Tables<'_> {
    /// The sealed object, if there is one.
    pub(super) fn object(&self, key: &ObjectKey) -> Result<Option<Bytes>> {
        let mut statement = self.0.prepare_cached(OBJECT)?;
        Ok(statement.query_row(params![key.to_bytes()], |row| bytes(row, 0)).optional()?)
    }

    pub(super) fn put(&self, objects: &[Sealed]) -> Result<()> {
        let mut statement = self.0.prepare_cached(PUT)?;
        for Sealed { key, generation, stored } in objects {
            let size = i64::try_from(stored.len()).unwrap_or(i64::MAX);
            let values = params![key.to_bytes(), generation.as_bytes(), size, stored.as_ref()];
            statement.execute(values)?;
        }
        Ok(())
    }

    pub(super) fn delete_exact(&self, objects: &[(ObjectKey, Token)]) -> Result<u64> {
        let mut statement = self.0.prepare_cached(DELETE)?;
        let mut gone = 0;
        for (key, token) in objects {
            gone += statement.execute(params![key.to_bytes(), token.as_bytes()])? as u64;
        }
        Ok(gone)
    }

    pub(super) fn list(
        &self,
        domain: Option<Domain>,
        after: Option<ObjectKey>,
        limit: usize,
    ) -> Result<Vec<Listed>> {
        let Start { key, is_behind } = page::start(ObjectKey::first(domain), after);
        let sql = if is_behind { LIST_BEHIND } else { LIST_FROM };
        let (start, end) = (key.to_bytes(), last(domain).to_bytes());
        let mut statement = self.0.prepare_cached(sql)?;
        let mut rows = statement.query(params![start, end, most(limit)])?;
        let mut page = Vec::new();
        while let Some(row) = rows.next()? {
            page.push(listed(row)?);
        }
        Ok(page)
    }

    pub(super) fn load(&self, key: &RefKey) -> Result<Option<Ref>> {
        let mut statement = self.0.prepare_cached(LOAD)?;
        Ok(statement.query_row(params![key.as_str()], reference).optional()?)
    }

    pub(super) fn swap(&self, key: &RefKey, expected: &Expected, value: &Bytes) -> Result<Swap> {
        let current = self.load(key)?;
        if !expected.matches(current.as_ref()) {
            return Ok(Swap::Lost(current));
        }
        let token = Token::random();
        let mut statement = self.0.prepare_cached(SET_REF)?;
        statement.execute(params![key.as_str(), token.as_bytes(), value.as_ref()])?;
        Ok(Swap::Won(token))
    }

    pub(super) fn delete_ref(&self, key: &RefKey, token: &Token) -> Result<bool> {
        let mut statement = self.0.prepare_cached(DELETE_REF)?;
        Ok(statement.execute(params![key.as_str(), token.as_bytes()])? > 0)
    }

    pub(super) fn list_refs(
        &self,
        prefix: &str,
        after: Option<&RefKey>,
        limit: usize,
    ) -> Result<Vec<(RefKey, Ref)>> {
        let Start { key, is_behind } = page::start(prefix, after.map(RefKey::as_str));
        let sql = if is_behind { LIST_REFS_BEHIND } else { LIST_REFS_FROM };
        // What begins with the prefix goes on with letters that sort before this one.
        let end = format!("{prefix}\u{10ffff}");
        let mut statement = self.0.prepare_cached(sql)?;
        let mut rows = statement.query(params![key, end, most(limit)])?;
        let mut page = Vec::new();
        while let Some(row) = rows.next()? {
            let key = RefKey::new(row.get_ref(2)?.as_str().map_err(rusqlite::Error::from)?);
            page.push((key.map_err(|_| corrupt("the key of a ref"))?, reference(row)?));
        }
        Ok(page)
    }

    /// How many bytes lie free where something was deleted.
    pub(super) fn room(&self) -> Result<u64> {
        let number = |pragma| self.0.pragma_query_value(None, pragma, |row| row.get::<_, u32>(0));
        Ok(u64::from(number("freelist_count")?) * u64::from(number("page_size")?))
    }
}

/// The key behind which no key of the domain sorts, or none at all.
fn last(domain: Option<Domain>) -> ObjectKey {
    ObjectKey { domain: domain.unwrap_or(Domain([0xff; 16])), id: ObjectId([0xff; 32]) }
}

fn listed(row: &Row<'_>) -> Result<Listed> {
    let key = ObjectKey::from_bytes(&bytes(row, 0)?);
    let generation = Generation::from_bytes(row.get(1)?);
    let size: i64 = row.get(2)?;
    Ok(Listed {
        key: key.ok_or_else(|| corrupt("the key of an object"))?,
        token: generation.token(),
        written: generation.written(),
        size: u64::try_from(size).map_err(|_| corrupt("the size of an object"))?,
    })
}

fn reference(row: &Row<'_>) -> rusqlite::Result<Ref> {
    Ok(Ref { token: Token::new(bytes(row, 0)?), value: bytes(row, 1)? })
}

fn bytes(row: &Row<'_>, column: usize) -> rusqlite::Result<Bytes> {
    Ok(Bytes::copy_from_slice(row.get_ref(column)?.as_blob()?))
}

/// SQLite takes what is negative for no limit.
fn most(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

fn corrupt(what: &str) -> Error {
    Error::new(ErrorKind::Corrupt, format!("{what} is not as it was written"))
}
