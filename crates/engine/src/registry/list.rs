//! All sandboxes, page by page.

use std::collections::BTreeMap;

use storage::{Ref, RefKey};

use super::open::registered;
use super::record::{Home, Record};
use super::refs::{AT_ONCE, SANDBOXES, read};
use super::{Registered, Registry};
use crate::virtual_fs::{Root, damaged, meaning, now};
use crate::{Limits, Result, SandboxId, UnixTime};

/// How many sandboxes are looked at for one page, if most of them do not fit the labels.
const MOST_LOOKS: usize = 10_000;

/// Some of the sandboxes.
#[derive(Clone, Debug, Default)]
pub struct RegisteredPage {
    /// Those that were found.
    pub sandboxes: Vec<Registered>,
    /// Behind which sandbox the next page begins, if there may be more.
    pub next: Option<SandboxId>,
}

/// What the refs of one sandbox say.
#[derive(Debug, Default)]
struct Row {
    record: Option<Record>,
    /// Its limits, and when it was made.
    root: Option<(Limits, UnixTime)>,
}

impl Registry {
    /// At most `limit` sandboxes that have all these labels, of those that come after one of them.
    ///
    /// A label without a value is had with any. The order is always the same, and that of the ids
    /// as long as none of them goes on with a hyphen where another one ends.
    pub async fn list(
        &self,
        after: Option<&SandboxId>,
        limit: usize,
        labels: &BTreeMap<String, Option<String>>,
    ) -> Result<RegisteredPage> {
        let (mut page, mut looks) = (RegisteredPage::default(), 0);
        let mut after = after.cloned();
        let moment = now();
        while looks < MOST_LOOKS {
            let rows = self.rows(after.as_ref()).await?;
            let Some((last, _)) = rows.last() else { return Ok(page) };
            let last = last.clone();
            for (id, row) in rows {
                if page.sandboxes.len() == limit {
                    page.next = page.sandboxes.last().map(|last| last.id.clone());
                    return Ok(page);
                }
                looks += 1;
                let known = self.known(&id, row, moment);
                page.sandboxes.extend(known.filter(|known| known.has_labels(labels)));
            }
            after = Some(last);
        }
        page.next = after;
        Ok(page)
    }

    fn known(&self, id: &SandboxId, row: Row, now: UnixTime) -> Option<Registered> {
        if self.is_main(id) {
            let main = self.shared.main.registered();
            return Some(match row.root {
                Some((limits, created)) if self.shared.main.is_stored() => {
                    Registered { limits, created, ..main }
                }
                Some(_) | None => main,
            });
        }
        let Row { record, root } = row;
        if record.as_ref().is_some_and(|record| record.is_over(now)) {
            return None;
        }
        match (&record, root) {
            (Some(Record { home: Home::Directory(directory), created, .. }), _) => {
                Some(registered(id, record.as_ref(), directory.limits, *created))
            }
            (Some(Record { home: Home::Attached(attached), created, .. }), _) => {
                Some(registered(id, record.as_ref(), attached.limits, *created))
            }
            (_, Some((limits, created))) => Some(registered(id, record.as_ref(), limits, created)),
            // A virtual sandbox that is being made or removed.
            (_, None) => None,
        }
    }

    /// What comes next after a sandbox; nothing at the end.
    async fn rows(&self, after: Option<&SandboxId>) -> Result<Vec<(SandboxId, Row)>> {
        let mut rows = self.stored_rows(after).await?;
        let end = rows.last().map(|(id, _)| place(id));
        let is_next = |id: &SandboxId| {
            let place = place(id);
            after.is_none_or(|after| place > self::place(after))
                && end.as_ref().is_none_or(|end| place < *end)
        };
        let mut more: Vec<(SandboxId, Row)> = Vec::new();
        if self.shared.store.shelf.is_resident() {
            for id in self.shared.store.list(after, AT_ONCE).await? {
                let files = self.shared.store.sandbox(&id).await;
                let root = files.ok().map(|files| (files.limits(), files.created()));
                more.push((id, Row { record: None, root }));
            }
        }
        let main = &self.shared.main.sandbox.id;
        more.push((main.clone(), Row::default()));
        for (id, row) in more {
            match rows.iter_mut().find(|(there, _)| *there == id) {
                Some((_, there)) => there.root = there.root.or(row.root),
                None if is_next(&id) => rows.push((id, row)),
                None => {}
            }
        }
        rows.sort_by_key(|(id, _)| place(id));
        Ok(rows)
    }

    async fn stored_rows(&self, after: Option<&SandboxId>) -> Result<Vec<(SandboxId, Row)>> {
        let mut rows: Vec<(SandboxId, Row)> = Vec::new();
        let mut from = after.map(behind).transpose()?;
        while rows.len() < AT_ONCE {
            let page = self.storage().list_refs(SANDBOXES, from.as_ref(), AT_ONCE).await;
            let page = page.map_err(meaning)?;
            let Some((last, _)) = page.last() else { break };
            from = Some(last.clone());
            let is_end = page.len() < AT_ONCE;
            for (key, stored) in page {
                let Some((id, what)) = named(&key) else { continue };
                if rows.last().is_none_or(|(last, _)| *last != id) {
                    rows.push((id, Row::default()));
                }
                if let Some((id, row)) = rows.last_mut()
                    && let Err(err) = row.take(what, &stored)
                {
                    // Perhaps a later version wrote it. It hides nobody else.
                    let error = &err as &dyn std::error::Error;
                    tracing::warn!(error, %id, "what is known of a sandbox cannot be read");
                }
            }
            if is_end {
                break;
            }
            // The refs of one sandbox may be many: what is left of them are its snapshots, unless
            // the page ended before its root.
            if let Some((id, Row { root: Some(_), .. })) = rows.last() {
                from = Some(behind(id)?);
            }
        }
        Ok(rows)
    }
}

impl Row {
    fn take(&mut self, what: &str, stored: &Ref) -> Result<()> {
        match what {
            "record" => self.record = Some(read(stored)?.0),
            "root" => {
                let root = Root::decode(&stored.value).map_err(|err| damaged(err.0))?;
                self.root = Some((root.limits, root.created));
            }
            _ => {}
        }
        Ok(())
    }
}

/// The sandbox that a ref belongs to, and what of it the ref holds.
fn named(key: &RefKey) -> Option<(SandboxId, &str)> {
    let (id, what) = key.as_str().strip_prefix(SANDBOXES)?.split_once('/')?;
    Some((SandboxId::parse(id).ok()?, what))
}

/// What all refs of a sandbox sort before, and none of the next. A zero comes next after a slash.
fn behind(id: &SandboxId) -> Result<RefKey> {
    RefKey::new(&format!("{SANDBOXES}{id}0")).map_err(meaning)
}

/// How sandboxes are ordered: as the keys of their refs are.
fn place(id: &SandboxId) -> String {
    format!("{id}/")
}

impl Registered {
    /// Whether it has all these labels. One without a value is had with any.
    pub fn has_labels(&self, labels: &BTreeMap<String, Option<String>>) -> bool {
        labels.iter().all(|(key, wished)| {
            let value = self.labels.get(key);
            value.is_some() && (wished.is_none() || value == wished.as_ref())
        })
    }
}
