//! Sandboxes whose time is over go by themselves.

use std::sync::Arc;
use std::time::Duration;

use storage::{RefKey, Token};

use super::refs::{AT_ONCE, EXPIRY};
use super::{Registry, Shared};
use crate::virtual_fs::{meaning, now};
use crate::{ErrorKind, Result, SandboxId, UnixTime};

/// How often it is looked whose time is over, and who is idle, unless that is sooner.
const ROUND: Duration = Duration::from_secs(30);
/// Not more often than that, however soon a sandbox is idle.
const SHORTEST: Duration = Duration::from_secs(1);

impl Registry {
    /// Removes sandboxes whose time is over and closes idle ones, in the background, as long as the
    /// registry is there. Must be called within a tokio runtime.
    pub fn tend(&self) {
        let shared = Arc::downgrade(&self.shared);
        let pause = ROUND.min(self.shared.open.idle()).max(SHORTEST);
        tokio::spawn(async move {
            loop {
                // Servers that were started together do not look together.
                tokio::time::sleep(pause.mul_f64(rand::random_range(0.5..1.5))).await;
                let Some(shared) = shared.upgrade() else { return };
                Self::round(shared).await;
            }
        });
    }

    async fn round(shared: Arc<Shared>) {
        let registry = Self { shared };
        registry.shared.open.close_idle();
        if let Err(err) = registry.sweep().await {
            let error = &err as &dyn std::error::Error;
            tracing::warn!(error, "sandboxes whose time is over could not be removed");
        }
    }

    /// Removes every sandbox whose time is over; says how many there were.
    pub async fn sweep(&self) -> Result<u64> {
        let (mut removed, moment) = (0, now());
        let mut after = None;
        loop {
            let page = self.storage().list_refs(EXPIRY, after.as_ref(), AT_ONCE).await;
            let page = page.map_err(meaning)?;
            let Some((last, _)) = page.last() else { return Ok(removed) };
            after = Some(last.clone());
            for (key, stored) in &page {
                match ended(key) {
                    Some((end, _)) if end > moment.seconds => return Ok(removed),
                    // One that cannot be ended keeps nobody else alive.
                    Some((_, id)) => match self.end(&id, key, &stored.token, moment).await {
                        Ok(ended) => removed += ended,
                        Err(err) => {
                            let error = &err as &dyn std::error::Error;
                            tracing::warn!(error, %id, "a sandbox could not be removed");
                        }
                    },
                    None => {}
                }
            }
        }
    }

    /// Removes a sandbox if its time is over, and forgets that it was to be looked at.
    async fn end(
        &self,
        id: &SandboxId,
        key: &RefKey,
        token: &Token,
        moment: UnixTime,
    ) -> Result<u64> {
        let mut removed = 0;
        if self.is_main(id) {
            return Ok(0);
        }
        if let Some((record, token)) = self.load(id).await?
            && record.is_over(moment)
        {
            match self.finish(id, Some((record, token))).await {
                // Its directory is on another machine, whose server will do it.
                Err(err) if err.kind() == ErrorKind::Forbidden => return Ok(0),
                outcome => outcome?,
            }
            removed = 1;
        }
        self.storage().delete_ref(key, token).await.map_err(meaning)?;
        Ok(removed)
    }
}

/// When a sandbox was to end, and which.
fn ended(key: &RefKey) -> Option<(i64, SandboxId)> {
    let (end, id) = key.as_str().strip_prefix(EXPIRY)?.split_once('/')?;
    Some((end.parse().ok()?, SandboxId::parse(id).ok()?))
}
