//! What a round would do, without doing it.

use std::collections::HashMap;

use storage::{Domain, Listed, ObjectId, Ref, Token};

use crate::Result;

use super::super::meaning::meaning;
use super::Collected;
use super::condemned;
use super::mark::Marked;
use super::round::{Grace, LISTED, READ, Round};

impl Round {
    /// Counts what would be deleted and condemned of one family.
    pub(super) async fn rehearse(
        &self,
        domain: Domain,
        marked: &Marked,
        collected: &mut Collected,
    ) -> Result<()> {
        let due = self.due(domain).await?;
        let mut after = None;
        loop {
            let page = self.storage()?.list(Some(domain), after, LISTED).await.map_err(meaning)?;
            after = page.last().map(|listed| listed.key);
            for Listed { key, token, written, size } in page {
                collected.objects += 1;
                if marked.has(&key.id) {
                    collected.live += 1;
                } else if due.get(&key.id) == Some(&token) {
                    collected.deleted += 1;
                    collected.freed += size;
                } else if written < self.horizon {
                    collected.condemned += 1;
                    collected.condemned_bytes += size;
                }
            }
            if after.is_none() {
                return Ok(());
            }
            tokio::task::yield_now().await;
        }
    }

    /// What was condemned long enough ago.
    async fn due(&self, domain: Domain) -> Result<HashMap<ObjectId, Token>> {
        let prefix = condemned::prefix(domain);
        let (mut due, mut after) = (HashMap::new(), None);
        loop {
            let page = self.storage()?.list_refs(&prefix, after.as_ref(), READ).await;
            let page = page.map_err(meaning)?;
            for (key, Ref { value, .. }) in &page {
                match self.grace_of(&prefix, key) {
                    Grace::Waiting => return Ok(due),
                    Grace::Unknown => {}
                    Grace::Over => {
                        let sentences = condemned::decode(value).unwrap_or_default();
                        due.extend(sentences.into_iter().map(|it| (it.id, it.token)));
                    }
                }
            }
            match page.into_iter().next_back() {
                Some((last, _)) => after = Some(last),
                None => return Ok(due),
            }
        }
    }
}
