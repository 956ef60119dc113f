//! What is known of a sandbox changes.

use std::collections::BTreeMap;
use std::time::Duration;

use super::create::after;
use super::open::registered_record;
use super::record::{Home, check_labels};
use super::{Registered, Registry, is_main, missing};
use crate::virtual_fs::now;
use crate::{Limits, Result, SandboxId};

/// What is to change; what is absent stays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RegisteredChange {
    /// How much it may hold from now on. What it holds already stays.
    pub limits: Option<Limits>,
    /// Labels that are set, or taken away.
    pub labels: BTreeMap<String, Option<String>>,
    /// How long it lives from now on; for ever if that is absent.
    pub ttl: Option<Option<Duration>>,
}

impl Registry {
    /// Changes what is known of a sandbox.
    pub async fn change(&self, id: &SandboxId, change: RegisteredChange) -> Result<Registered> {
        if self.is_main(id) {
            return Err(is_main(id));
        }
        let known = self.stat(id).await?;
        let moment = now();
        let expires = match change.ttl {
            None => known.expires,
            Some(None) => None,
            Some(Some(ttl)) => Some(after(moment, ttl)?),
        };
        if let (Some(end), true) = (expires, expires != known.expires) {
            self.note_end(id, end).await?;
        }
        let fresh = registered_record(&known);
        let altered = self.alter(id, Some(fresh), |record| {
            if record.is_over(moment) {
                return Err(missing(id));
            }
            for (key, value) in &change.labels {
                match value {
                    Some(value) => drop(record.labels.insert(key.clone(), value.clone())),
                    None => drop(record.labels.remove(key)),
                }
            }
            check_labels(&record.labels)?;
            if change.ttl.is_some() {
                record.expires = expires;
            }
            match (&mut record.home, change.limits) {
                (Home::Directory(directory), Some(limits)) => directory.limits = limits,
                (Home::Attached(attached), Some(limits)) => attached.limits = limits,
                (Home::Store, _) | (_, None) => {}
            }
            Ok(())
        });
        let altered = altered.await?;
        // It is opened anew, with what holds from now on.
        self.shared.open.close(id);
        if let (Home::Store, Some(limits)) = (&altered.home, change.limits) {
            self.set_virtual_limits(id, limits).await?;
        }
        self.stat(id).await
    }

    async fn set_virtual_limits(&self, id: &SandboxId, limits: Limits) -> Result<()> {
        self.virtual_tree(id).await?.set_limits(limits).await
    }
}
