//! The refs of a store, as a copy takes and leaves them.

use std::sync::Arc;

use bytes::Bytes;
use tokio::task::JoinSet;

use crate::{Error, ErrorKind, Expected, Ref, RefKey, Result, Storage, Swap, Token};

use super::claim::{self, Claim};

/// How many refs are listed at a time.
const PAGE: usize = 1000;
/// How many refs are written at a time.
const AT_ONCE: usize = 64;
/// What a storage's proof leaves, which is of that storage alone.
const PROBES: &str = "probe/";

/// Every ref that is copied, in order.
pub(super) async fn read(storage: &dyn Storage) -> Result<Vec<(RefKey, Ref)>> {
    let (mut refs, mut after) = (Vec::new(), None);
    while let Some((page, last)) = page(storage, after.as_ref()).await? {
        refs.extend(page);
        after = Some(last);
    }
    Ok(refs)
}

/// Whether a store has no ref that would be copied.
pub(super) async fn is_empty(storage: &dyn Storage) -> Result<bool> {
    let mut after = None;
    while let Some((page, last)) = page(storage, after.as_ref()).await? {
        if !page.is_empty() {
            return Ok(false);
        }
        after = Some(last);
    }
    Ok(true)
}

/// The next page without what is not copied, and the last key of it; none at the end.
async fn page(
    storage: &dyn Storage,
    after: Option<&RefKey>,
) -> Result<Option<(Vec<(RefKey, Ref)>, RefKey)>> {
    let mut page = storage.list_refs("", after, PAGE).await?;
    let Some((last, _)) = page.last() else { return Ok(None) };
    let (last, mark) = (last.clone(), claim::mark()?);
    page.retain(|(key, _)| *key != mark && !key.as_str().starts_with(PROBES));
    Ok(Some((page, last)))
}

/// Gives a store exactly these refs, unless somebody else than copies wrote to it.
pub(super) async fn write(
    to: &Arc<dyn Storage>,
    refs: Vec<(RefKey, Ref)>,
    claim: &mut Claim<'_>,
) -> Result<()> {
    let mut present = claim.present().await?;
    let both = present.iter().chain(refs.iter().map(|(key, it)| (key, it)));
    claim.note(both.map(|(key, Ref { value, .. })| (key, value))).await?;
    let mut writing = JoinSet::new();
    for (key, Ref { value, .. }) in refs {
        let expected = match present.remove(&key) {
            Some(current) if current.value == value => continue,
            Some(current) => Expected::Token(current.token),
            None => Expected::Absent,
        };
        one_less(&mut writing, AT_ONCE).await?;
        writing.spawn(set(Arc::clone(to), key, expected, value));
    }
    // An earlier copy wrote them, and what they were copied from has gone since.
    for (key, Ref { token, .. }) in present {
        one_less(&mut writing, AT_ONCE).await?;
        writing.spawn(remove(Arc::clone(to), key, token));
    }
    one_less(&mut writing, 1).await
}

/// Waits until fewer than so many are being written.
async fn one_less(writing: &mut JoinSet<Result<()>>, most: usize) -> Result<()> {
    while writing.len() >= most
        && let Some(written) = writing.join_next().await
    {
        let broke_down = |err| Error::new(ErrorKind::Io, "the copy broke down").because(err);
        written.map_err(broke_down)??;
    }
    Ok(())
}

async fn set(to: Arc<dyn Storage>, key: RefKey, expected: Expected, value: Bytes) -> Result<()> {
    match to.swap(&key, &expected, value.clone()).await? {
        Swap::Won(_) => Ok(()),
        Swap::Lost(Some(current)) if current.value == value => Ok(()),
        Swap::Lost(_) => Err(disturbed()),
    }
}

async fn remove(to: Arc<dyn Storage>, key: RefKey, token: Token) -> Result<()> {
    if to.delete_ref(&key, &token).await? { Ok(()) } else { Err(disturbed()) }
}

fn disturbed() -> Error {
    Error::new(ErrorKind::InUse, "somebody else changes the store that is copied to")
}
