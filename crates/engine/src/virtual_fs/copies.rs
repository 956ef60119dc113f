//! States that another ref is about to lead to, too.
//!
//! A collector reads refs one after the other. What is copied from a ref that it has not read yet
//! to one that it has, and then taken away from the first, it would not see. In this process it
//! sees every state that anybody holds. Other processes announce in the store itself what they
//! copy, look whether it is still where they found it, and only then copy it; a collector reads the
//! announcements last.

use std::sync::Arc;

use bytes::Bytes;
use storage::{Expected, Ref, RefKey, Token};

use crate::snapshot::Point;
use crate::{Error, ErrorKind, Result};

use super::meaning::meaning;
use super::objects::damaged;
use super::root::Root;
use super::shelf::now;
use super::trunk::{State, Trunk};

/// Where copies are announced. Keys behind it begin with the time, in milliseconds.
pub(super) const COPIES: &str = "gc/copies/";
/// How often a state is looked at again that changes all the time.
const TRIES: u32 = 64;

impl Trunk {
    /// A state, to be read for as long as it is held.
    pub(crate) async fn state_at(&self, point: &Point) -> Result<Arc<State>> {
        match point {
            Point::Live => self.fresh_state().await,
            Point::Snapshot(id) => self.snapshots().state(id).await,
        }
    }

    /// The state that a ref beside the sandbox's own leads to, to be read for as long as it is
    /// held, and the ref's token. There is no state when the ref cannot be read.
    pub(crate) async fn state_behind(
        &self,
        key: &RefKey,
    ) -> Result<Option<(Option<Arc<State>>, Token)>> {
        let entered = self.shelf.pins.enter().await;
        let stored = self.shelf.cache.storage().load(key).await.map_err(meaning)?;
        let Some(Ref { value, token }) = stored else { return Ok(None) };
        let domain = self.state().root.family.domain;
        let root = Root::decode(&value).ok().filter(|root| root.family.domain == domain);
        let state = root.map(|root| {
            let state = State { root, token: Some(token.clone()) };
            self.shelf.pins.hold_seen(state, &entered)
        });
        Ok(Some((state, token)))
    }

    /// A state, to be put where another ref leads to it.
    pub(crate) async fn state_to_copy(&self, point: &Point) -> Result<Arc<State>> {
        if self.shelf.is_resident() || !self.shelf.cache.storage().capabilities().shared {
            return self.state_at(point).await;
        }
        // Our own commits wait meanwhile; those of others may come in between.
        let _turn = self.fresh.turn().await;
        for _ in 0..TRIES {
            let state = self.stored_state(point).await?;
            self.announce(&state.root).await?;
            if self.stored_state(point).await?.token == state.token {
                return Ok(state);
            }
        }
        Err(Error::new(ErrorKind::Busy, "others keep changing the sandbox"))
    }

    /// A state as the store has it now.
    async fn stored_state(&self, point: &Point) -> Result<Arc<State>> {
        if let Point::Snapshot(id) = point {
            return self.snapshots().state(id).await;
        }
        let entered = self.shelf.pins.enter().await;
        let stored = self.shelf.cache.storage().load(&self.ref_key()?).await.map_err(meaning)?;
        let root = self.stored_root(stored.as_ref())?;
        let state = State { root, token: stored.map(|stored| stored.token) };
        Ok(self.shelf.pins.hold_seen(state, &entered))
    }

    async fn announce(&self, root: &Root) -> Result<()> {
        let now = now();
        let millis = now.seconds.saturating_mul(1000) + i64::from(now.nanoseconds / 1_000_000);
        let key = format!("{COPIES}{millis:013}-{:016x}", rand::random::<u64>());
        let key = RefKey::new(&key).map_err(meaning)?;
        let value = Bytes::from(root.encode().map_err(|err| damaged(err.0))?);
        let storage = self.shelf.cache.storage();
        storage.swap(&key, &Expected::Absent, value).await.map_err(meaning)?;
        Ok(())
    }
}
