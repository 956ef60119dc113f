//! The mark of a copy that is not finished: written first, lifted last.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::{BufMut as _, Bytes, BytesMut};

use crate::{Domain, Error, ErrorKind, Expected, Ref, RefKey, Result, Storage, Swap, Token};

use super::ledger::Ledger;
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
    /// What no other copy has in its mark, so that ours is known again.
    copier: [u8; 16],
    /// What copies may have written until now.
    ledger: Ledger,
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
        let noted = current.as_ref().and_then(|current| noted_in(&current.value));
        let ledger = Ledger::read(&**to, noted).await?;
        let copier = rand::random();
        let value = value_of(copier, &ledger);
        let swap = to.swap(&mark, &expected, value.clone()).await?;
        let Swap::Won(token) = swap else { return Err(taken_over()) };
        let claim = Self { to: &**to, mark, token, copier, ledger, resumes: current.is_some() };
        let there = from.load(&claim.mark).await?;
        if there.is_some_and(|found| found.value == value) {
            claim.lift().await?;
            return Err(same());
        }
        Ok(claim)
    }

    /// The refs of the store, if copies wrote all of them.
    pub(super) async fn present(&self) -> Result<BTreeMap<RefKey, Ref>> {
        let present = roll::read(self.to).await?;
        for (key, Ref { value, .. }) in &present {
            if !self.ledger.knows(key, value) {
                return Err(in_use(key));
            }
        }
        Ok(present.into_iter().collect())
    }

    /// Notes which refs the store may have from now on. Fails when somebody else has begun to copy
    /// into the store.
    pub(super) async fn note<'r>(
        &mut self,
        refs: impl Iterator<Item = (&'r RefKey, &'r Bytes)>,
    ) -> Result<()> {
        let ledger = Ledger::write(self.to, refs).await?;
        let expected = Expected::Token(self.token.clone());
        let value = value_of(self.copier, &ledger);
        let Swap::Won(token) = self.to.swap(&self.mark, &expected, value).await? else {
            ledger.remove(self.to).await?;
            return Err(taken_over());
        };
        self.token = token;
        std::mem::replace(&mut self.ledger, ledger).remove(self.to).await
    }

    /// Leaves the store to those who use it, unless it holds a part of what is copied.
    pub(super) async fn give_up(self) -> Result<()> {
        if self.ledger.is_empty() { self.lift().await } else { Ok(()) }
    }

    /// Declares the copy finished.
    pub(super) async fn lift(self) -> Result<()> {
        if !self.to.delete_ref(&self.mark, &self.token).await? {
            return Err(taken_over());
        }
        self.ledger.remove(self.to).await
    }
}

/// The value of a mark: who copies, and where it is noted which refs copies may have written.
fn value_of(copier: [u8; 16], ledger: &Ledger) -> Bytes {
    let mut value = BytesMut::new();
    value.put_slice(&copier);
    value.put_slice(ledger.domain.as_ref().map_or(&[], |domain| &domain.0));
    value.freeze()
}

/// Where it is noted which refs copies may have written.
fn noted_in(value: &[u8]) -> Option<Domain> {
    let (_, ledger) = value.split_first_chunk::<16>()?;
    Some(Domain(ledger.try_into().ok()?))
}

fn same() -> Error {
    refused("a store cannot be copied to itself")
}

fn taken_over() -> Error {
    Error::new(ErrorKind::InUse, "somebody else copies into the same store")
}

fn in_use(key: &RefKey) -> Error {
    let message = format!(
        "the store to copy to is in use: somebody else wrote `{key}`, which is left as it is; \
         copy to an empty store that nobody has open"
    );
    Error::new(ErrorKind::InUse, message)
}

fn refused(message: &'static str) -> Error {
    Error::new(ErrorKind::InvalidUrl, message)
}
