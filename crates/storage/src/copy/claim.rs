//! The mark of a copy that is not finished: written first, lifted last.

use std::sync::Arc;

use crate::{Error, ErrorKind, Expected, Ref, RefKey, Result, Storage, Swap, Token};

use super::roll;

/// Where the mark is. Whoever meets it knows that the store is not whole.
const UNFINISHED: &str = "copy/unfinished";

/// Whether a store is a copy that broke off, or is still being made: it must not be used.
pub async fn is_unfinished_copy(storage: &dyn Storage) -> Result<bool> {
    Ok(storage.load(&mark()?).await?.is_some())
}

pub(super) fn mark() -> Result<RefKey> {
    RefKey::new(UNFINISHED)
}

/// A store that we are copying to.
pub(super) struct Claim<'a> {
    to: &'a dyn Storage,
    mark: RefKey,
    token: Token,
    /// Somebody began before us, and did not finish.
    pub(super) resumes: bool,
}

impl<'a> Claim<'a> {
    /// Marks a store, which has no refs or bears a mark already.
    pub(super) async fn on(from: &Arc<dyn Storage>, to: &'a Arc<dyn Storage>) -> Result<Self> {
        if Arc::ptr_eq(from, to) {
            return Err(same());
        }
        if is_unfinished_copy(&**from).await? {
            return Err(refused("the store to copy from is itself a copy that did not finish"));
        }
        let mark = mark()?;
        let current = to.load(&mark).await?;
        let expected = match &current {
            Some(Ref { token, .. }) => Expected::Token(token.clone()),
            None if roll::is_empty(&**to).await? => Expected::Absent,
            None => {
                let message = "the store to copy to is in use: it holds something already";
                return Err(refused(message));
            }
        };
        // No two copies write the same, so that the mark is known again.
        let value = format!("{:032x}", rand::random::<u128>());
        let swap = to.swap(&mark, &expected, value.clone().into()).await?;
        let Swap::Won(token) = swap else { return Err(taken_over()) };
        let claim = Self { to: &**to, mark, token, resumes: current.is_some() };
        let there = from.load(&claim.mark).await?;
        if there.is_some_and(|found| found.value == value) {
            claim.lift().await?;
            return Err(same());
        }
        Ok(claim)
    }

    /// Fails when somebody else has begun to copy into the store.
    pub(super) async fn check(&self) -> Result<()> {
        let current = self.to.load(&self.mark).await?;
        let is_ours = current.is_some_and(|current| current.token == self.token);
        if is_ours { Ok(()) } else { Err(taken_over()) }
    }

    /// Declares the copy finished.
    pub(super) async fn lift(self) -> Result<()> {
        let was_ours = self.to.delete_ref(&self.mark, &self.token).await?;
        if was_ours { Ok(()) } else { Err(taken_over()) }
    }
}

fn same() -> Error {
    refused("a store cannot be copied to itself")
}

fn taken_over() -> Error {
    Error::new(ErrorKind::InUse, "somebody else copies into the same store")
}

fn refused(message: &'static str) -> Error {
    Error::new(ErrorKind::InvalidUrl, message)
}
