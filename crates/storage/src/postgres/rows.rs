//! What a statement answers.

use bytes::Bytes;
use tokio_postgres::Row;

use super::failure::corrupt;
use crate::frame::Generation;
use crate::{Domain, Listed, ObjectId, ObjectKey, Ref, Result, Token};

pub(super) fn listed(row: &Row) -> Result<Listed> {
    let [domain, id, generation] = [0, 1, 2].map(|column| row.try_get::<_, &[u8]>(column));
    let key = domain?.try_into().ok().zip(id?.try_into().ok());
    let (domain, id) = key.ok_or_else(|| corrupt("the key of an object"))?;
    let generation = generation?.try_into().map_err(|_| corrupt("the generation of an object"))?;
    let generation = Generation::from_bytes(generation);
    let size = u64::try_from(row.try_get::<_, i32>(3)?);
    Ok(Listed {
        key: ObjectKey { domain: Domain(domain), id: ObjectId(id) },
        token: generation.token(),
        written: generation.written(),
        size: size.map_err(|_| corrupt("the size of an object"))?,
    })
}

pub(super) fn reference(row: &Row) -> Result<Ref> {
    Ok(Ref { token: Token::new(bytes(row, 0)?), value: bytes(row, 1)? })
}

pub(super) fn bytes(row: &Row, column: usize) -> Result<Bytes> {
    Ok(row.try_get::<_, Vec<u8>>(column)?.into())
}

/// How many rows a statement changed, which it tells.
pub(super) fn count(rows: &[Row]) -> Result<u64> {
    let count: i64 = rows.first().ok_or_else(|| corrupt("an answer"))?.try_get(0)?;
    u64::try_from(count).map_err(|_| corrupt("an answer"))
}
