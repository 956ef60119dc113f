//! The tables of a store, made by whoever comes first.

use super::connections::Lease;
use super::failure;
use crate::address::invalid;
use crate::{Error, ErrorKind, Result};

/// Of the tables.
const VERSION: i32 = 1;

/// By which those who make tables tell each other from other programs.
const LOCK: i32 = i32::from_be_bytes(*b"Sndk");

/// A place of our own in a database.
#[derive(Clone)]
pub(super) struct Schema {
    name: String,
}

impl Schema {
    pub(super) fn named(name: String) -> Result<Self> {
        let is_plain = |byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_');
        let begins = name.starts_with(|letter: char| letter.is_ascii_lowercase() || letter == '_');
        if !begins || name.len() > 63 || !name.bytes().all(is_plain) || name.starts_with("pg_") {
            let message = "schema is a name of [a-z0-9_] that does not begin with a number or pg_";
            return Err(invalid(message));
        }
        Ok(Self { name })
    }

    /// A table of the schema, as statements name it.
    pub(super) fn table(&self, name: &str) -> String {
        format!("\"{}\".{name}", self.name)
    }

    /// Makes sure that the tables are there and are those that we know.
    pub(super) async fn furnish(&self, lease: &mut Lease) -> Result<()> {
        refuse_laxity(lease).await?;
        let version = match self.version(lease).await {
            Err(err) if failure::is_missing(&err) => None,
            version => version?,
        };
        match version {
            Some(VERSION) => Ok(()),
            Some(version) if version > VERSION => Err(unknown()),
            Some(_) | None => lease.run(&self.script()).await,
        }
    }

    async fn version(&self, lease: &mut Lease) -> Result<Option<i32>> {
        let sql = format!("SELECT max(version) FROM {}", self.table("migrations"));
        let rows = lease.ask_once(&sql).await?;
        Ok(rows.first().map(|row| row.try_get(0)).transpose()?.flatten())
    }

    /// Makes what is missing, in one statement that happens wholly or not at all. Who comes while
    /// another is at it waits, and finds it done.
    ///
    /// A schema that is there is not made again, because that takes rights which the owner of the
    /// schema need not have. Frames are compressed already, and an index that has all that a
    /// listing tells saves it from reading the rows. Refs change often: half of each page is left
    /// free, so that they change where they are.
    fn script(&self) -> String {
        let name = &self.name;
        let [migrations, objects, refs] =
            ["migrations", "objects", "refs"].map(|name| self.table(name));
        format!(
            r#"DO $script$ BEGIN
    PERFORM pg_advisory_xact_lock({LOCK}, hashtext('{name}'));
    IF to_regnamespace('"{name}"') IS NULL THEN
        CREATE SCHEMA "{name}";
    END IF;
    CREATE TABLE IF NOT EXISTS {migrations} (
        version integer PRIMARY KEY,
        applied timestamptz NOT NULL DEFAULT now()
    );
    IF NOT EXISTS (SELECT FROM {migrations} WHERE version >= 1) THEN
        CREATE TABLE {objects} (
            domain bytea NOT NULL,
            id bytea NOT NULL,
            generation bytea NOT NULL,
            size integer NOT NULL GENERATED ALWAYS AS (octet_length(frame)) STORED,
            frame bytea NOT NULL,
            PRIMARY KEY (domain, id) INCLUDE (generation, size)
        );
        ALTER TABLE {objects} ALTER COLUMN frame SET STORAGE EXTERNAL;
        CREATE TABLE {refs} (
            key text COLLATE "C" PRIMARY KEY,
            token bytea NOT NULL,
            value bytea NOT NULL
        ) WITH (fillfactor = 50);
        INSERT INTO {migrations} (version) VALUES (1);
    END IF;
END $script$"#
        )
    }
}

fn unknown() -> Error {
    Error::new(ErrorKind::Corrupt, "the storage was made by a version that is not known")
}

/// Refuses a server that acknowledges what it may still lose. Connections that can be told when to
/// acknowledge have been told, but whether anything reaches the disk is the server's own affair.
async fn refuse_laxity(lease: &mut Lease) -> Result<()> {
    let settings = "SELECT current_setting('fsync'), current_setting('synchronous_commit')";
    let rows = lease.ask_once(settings).await?;
    let row = rows.first().ok_or_else(|| failure::corrupt("an answer"))?;
    let message = match (row.try_get(0)?, row.try_get(1)?) {
        ("on", "on" | "remote_apply") => return Ok(()),
        ("on", _) => {
            "postgres acknowledges commits that it may lose: \
             set synchronous_commit = on for its user"
        }
        (_, _) => {
            "postgres does not wait until its disk has what it acknowledges: \
             set fsync = on in its configuration"
        }
    };
    Err(Error::new(ErrorKind::Unsafe, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> Result<Schema> {
        Schema::named(name.to_owned())
    }

    #[test]
    fn a_schema_has_a_plain_name() {
        for name in ["sandkeep", "_a1", &"a".repeat(63)] {
            assert_eq!(named(name).unwrap().table("refs"), format!("\"{name}\".refs"));
        }
    }

    #[test]
    fn what_could_be_more_than_a_name_is_refused() {
        for name in ["", "1a", "A", "a\"b", "a'b", "a b", "a.b", "pg_temp", &"a".repeat(64)] {
            assert!(named(name).is_err(), "{name}");
        }
    }
}
