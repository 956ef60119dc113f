//! What one store has and another lacks, page by page.

use std::cmp::Ordering;
use std::collections::VecDeque;

use crate::{Listed, ObjectKey, Result, Storage};

use super::Amount;

/// How many objects are listed at a time.
const PAGE: usize = 1000;

/// The objects of two stores, side by side.
pub(super) struct Gap<'a> {
    from: &'a dyn Storage,
    after: Option<ObjectKey>,
    to: Rising<'a>,
}

/// One page of what there is.
pub(super) struct Page {
    /// What both have.
    pub(super) present: Amount,
    /// What only one has.
    pub(super) missing: Vec<Listed>,
}

impl<'a> Gap<'a> {
    pub(super) fn between(from: &'a dyn Storage, to: &'a dyn Storage) -> Self {
        let to = Rising { storage: to, page: VecDeque::new(), after: None, is_over: false };
        Self { from, after: None, to }
    }

    /// The next page; none at the end.
    pub(super) async fn next(&mut self) -> Result<Option<Page>> {
        let listed = self.from.list(None, self.after, PAGE).await?;
        let Some(last) = listed.last() else { return Ok(None) };
        self.after = Some(last.key);
        let mut page = Page { present: Amount::default(), missing: Vec::new() };
        for object in listed {
            if self.to.has(&object.key).await? {
                page.present += Amount::of([&object]);
            } else {
                page.missing.push(object);
            }
        }
        Ok(Some(page))
    }
}

/// A store that is asked for one key after the other, each behind the last.
struct Rising<'a> {
    storage: &'a dyn Storage,
    page: VecDeque<ObjectKey>,
    after: Option<ObjectKey>,
    is_over: bool,
}

impl Rising<'_> {
    async fn has(&mut self, key: &ObjectKey) -> Result<bool> {
        loop {
            while let Some(next) = self.page.front() {
                match next.cmp(key) {
                    Ordering::Less => drop(self.page.pop_front()),
                    Ordering::Equal => return Ok(true),
                    Ordering::Greater => return Ok(false),
                }
            }
            if self.is_over {
                return Ok(false);
            }
            self.turn().await?;
        }
    }

    /// Turns to the next page.
    async fn turn(&mut self) -> Result<()> {
        let listed = self.storage.list(None, self.after, PAGE).await?;
        self.page.extend(listed.iter().map(|object| object.key));
        self.is_over = listed.is_empty();
        self.after = listed.last().map(|last| last.key).or(self.after);
        Ok(())
    }
}
