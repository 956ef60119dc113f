//! Old batches go, whoever wrote them and whether or not their sandbox is still there.

use std::sync::Arc;
use std::time::Duration;

use storage::{Ref, RefKey};
use tokio::time::sleep;

use crate::virtual_fs::{meaning, now};
use crate::{Result, SandboxId, UnixTime};

use super::batch;
use super::event::AuditLog;
use super::ledger::{AUDIT, Ledger};

/// How often all logs are looked at. Each takes one request, and one more for each batch that goes.
const EVERY: Duration = Duration::from_hours(6);
/// A server that was just started has other things to do; and many that were started together do
/// not all sweep at once.
const AT_FIRST: (Duration, Duration) = (Duration::from_mins(5), Duration::from_hours(1));

/// Sweeps again and again, what is older than `age`.
pub(super) async fn sweep_for_ever(ledger: Arc<Ledger>, age: Duration) {
    let (soonest, spread) = AT_FIRST;
    sleep(soonest + spread.mul_f64(rand::random())).await;
    loop {
        match ledger.sweep(before(now(), age)).await {
            Ok(0) => {}
            Ok(removed) => tracing::info!(removed, "old audit was removed"),
            Err(err) => {
                let error: &dyn std::error::Error = &err;
                tracing::warn!(error, "old audit was not removed");
            }
        }
        sleep(EVERY).await;
    }
}

/// The time so long before another.
pub(super) fn before(time: UnixTime, age: Duration) -> UnixTime {
    let seconds = i64::try_from(age.as_secs()).unwrap_or(i64::MAX);
    UnixTime { seconds: time.seconds.saturating_sub(seconds), ..time }
}

impl Ledger {
    /// Removes what was written before a time; says how many batches went.
    pub(super) async fn sweep(&self, before: UnixTime) -> Result<u64> {
        let (mut after, mut removed) = (None, 0);
        while let Some((key, stored)) = self.oldest(after.as_ref()).await? {
            let Some((name, number)) = parts(&key) else {
                after = Some(key);
                continue;
            };
            // One that cannot be read is left to those who can.
            let is_old = batch::head(&stored.value).is_ok_and(|head| head.written < before);
            match log(name) {
                Some(log) if is_old => {
                    self.remove(&log, &[(number, stored)]).await?;
                    removed += 1;
                    after = Some(key);
                }
                // A letter is behind all numbers: on to the next log.
                Some(_) | None => {
                    after = Some(RefKey::new(&format!("{AUDIT}{name}/z")).map_err(meaning)?);
                }
            }
        }
        Ok(removed)
    }

    /// The next batch of any log.
    async fn oldest(&self, after: Option<&RefKey>) -> Result<Option<(RefKey, Ref)>> {
        let next = self.storage.list_refs(AUDIT, after, 1).await.map_err(meaning)?;
        Ok(next.into_iter().next())
    }
}

/// The log and the number that a key names; none if it says where a log begins.
fn parts(key: &RefKey) -> Option<(&str, u64)> {
    let (name, number) = key.as_str().strip_prefix(AUDIT)?.split_once('/')?;
    Some((name, number.parse().ok()?))
}

fn log(name: &str) -> Option<AuditLog> {
    [AuditLog::Server, AuditLog::Gate]
        .into_iter()
        .find(|log| log.name() == name)
        .or_else(|| SandboxId::parse(name).ok().map(AuditLog::Sandbox))
}
