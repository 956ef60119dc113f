//! Everything that is ever asked, in the words of the database.

use tokio_postgres::types::Type;

use super::migration::Schema;

/// A statement, and the types of its values.
pub(super) struct Statement {
    pub(super) sql: String,
    pub(super) types: &'static [Type],
}

/// All statements, on the tables of one schema.
pub(super) struct Statements {
    pub(super) get: Statement,
    pub(super) get_many: Statement,
    pub(super) put: Statement,
    pub(super) list_from: Statement,
    pub(super) list_behind: Statement,
    pub(super) delete_exact: Statement,
    pub(super) load: Statement,
    pub(super) delete_ref: Statement,
    pub(super) list_refs_from: Statement,
    pub(super) list_refs_behind: Statement,
    /// Stores objects and makes a ref.
    pub(super) commit_new: Statement,
    /// Stores objects and sets a ref that still has its token.
    pub(super) commit: Statement,
}

const BYTES: Type = Type::BYTEA;
const MANY: Type = Type::BYTEA_ARRAY;

impl Statements {
    pub(super) fn of(schema: &Schema) -> Self {
        let (objects, refs) = (&schema.table("objects"), &schema.table("refs"));
        let new = |sql: String, types| Statement { sql, types };
        Self {
            get: new(
                format!("SELECT frame FROM {objects} WHERE domain = $1 AND id = $2"),
                &[BYTES, BYTES],
            ),
            get_many: new(get_many(objects), &[MANY, MANY]),
            put: new(put(objects), &[MANY, MANY, MANY, MANY]),
            list_from: new(list(objects, ">="), &[BYTES, BYTES, BYTES, Type::INT8]),
            list_behind: new(list(objects, ">"), &[BYTES, BYTES, BYTES, Type::INT8]),
            delete_exact: new(delete_exact(objects), &[MANY, MANY, MANY]),
            load: new(format!("SELECT token, value FROM {refs} WHERE key = $1"), &[Type::TEXT]),
            delete_ref: new(delete_ref(refs), &[Type::TEXT, BYTES]),
            list_refs_from: new(list_refs(refs, ">="), &[Type::TEXT, Type::TEXT, Type::INT8]),
            list_refs_behind: new(list_refs(refs, ">"), &[Type::TEXT, Type::TEXT, Type::INT8]),
            commit_new: new(
                commit_new(objects, refs),
                &[MANY, MANY, MANY, MANY, Type::TEXT, BYTES, BYTES],
            ),
            commit: new(
                commit(objects, refs),
                &[MANY, MANY, MANY, MANY, Type::TEXT, BYTES, BYTES, BYTES],
            ),
        }
    }
}

fn get_many(objects: &str) -> String {
    format!(
        "SELECT position, frame
         FROM unnest($1, $2) WITH ORDINALITY AS wanted (domain, id, position)
         JOIN {objects} USING (domain, id)"
    )
}

/// Rows are locked in the order of the keys, in which they come, so that nobody waits for one who
/// waits for him.
fn put(objects: &str) -> String {
    format!(
        "INSERT INTO {objects} (domain, id, generation, frame)
         SELECT * FROM unnest($1, $2, $3, $4)
         ON CONFLICT (domain, id) DO UPDATE
         SET generation = excluded.generation, frame = excluded.frame"
    )
}

fn list(objects: &str, behind: &str) -> String {
    format!(
        "SELECT domain, id, generation, size FROM {objects}
         WHERE (domain, id) {behind} ($1, $2) AND domain <= $3
         ORDER BY domain, id LIMIT $4"
    )
}

/// Locks what is to go in the order of the keys, as those who put do. Whoever has waited for a lock
/// looks at the row again, and leaves it when somebody wrote it meanwhile.
fn delete_exact(objects: &str) -> String {
    format!(
        "WITH stale AS (
             SELECT domain, id, generation FROM {objects} AS object
             JOIN unnest($1, $2, $3) AS wanted (domain, id, generation)
             USING (domain, id, generation)
             ORDER BY domain, id FOR UPDATE OF object
         ), gone AS (
             DELETE FROM {objects} AS object USING stale
             WHERE object.domain = stale.domain AND object.id = stale.id
             AND object.generation = stale.generation RETURNING 1
         ) SELECT count(*) FROM gone"
    )
}

fn delete_ref(refs: &str) -> String {
    format!(
        "WITH gone AS (DELETE FROM {refs} WHERE key = $1 AND token = $2 RETURNING 1)
         SELECT count(*) FROM gone"
    )
}

fn list_refs(refs: &str, behind: &str) -> String {
    format!(
        "SELECT token, value, key FROM {refs}
         WHERE key {behind} $1 AND key < $2 ORDER BY key LIMIT $3"
    )
}

/// The ref is made behind the objects because it counts them first: whoever else wants it waits for
/// as short a time as can be.
fn commit_new(objects: &str, refs: &str) -> String {
    let put = put(objects);
    format!(
        "WITH stored AS ({put} RETURNING 1), swapped AS (
             INSERT INTO {refs} (key, token, value)
             SELECT $5, $6, $7 WHERE (SELECT count(*) FROM stored) >= 0
             ON CONFLICT (key) DO NOTHING RETURNING 1
         ) SELECT count(*) FROM swapped"
    )
}

/// Whoever waits for another to set the ref looks at its token again when that is done.
fn commit(objects: &str, refs: &str) -> String {
    let put = put(objects);
    format!(
        "WITH stored AS ({put} RETURNING 1), swapped AS (
             UPDATE {refs} SET token = $6, value = $7
             WHERE key = $5 AND token = $8 AND (SELECT count(*) FROM stored) >= 0 RETURNING 1
         ) SELECT count(*) FROM swapped"
    )
}
