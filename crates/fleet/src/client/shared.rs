//! What clients change together, in batches: pairs of files, and tokens.

use std::collections::BTreeMap;

use engine::{ErrorKind, FileSystem as _, Page, Result, Step, Target, VirtualFs};
use futures::TryStreamExt as _;
use rand::RngExt as _;
use rand::seq::IndexedRandom as _;

use super::Client;
use crate::furnish::put;
use crate::history::{Act, Ride, mark};
use crate::outfit::{TOKEN_DIRS, at, outfit, pair, token};

impl Client {
    /// Writes the same to both files of a pair.
    pub(super) async fn write_pair(&mut self, sandbox: u32, files: &VirtualFs) -> Result<()> {
        let number = self.dice.random_range(0..outfit(sandbox).pairs);
        let text = mark(self.id, self.next());
        let steps = pair(number).iter().map(|side| put(side, &text)).collect();
        self.act(sandbox, Act::Pair { pair: number }, files.batch(steps)).await;
        Ok(())
    }

    /// Carries two tokens, each to where the other is, or one to a directory that has none.
    pub(super) async fn carry(&mut self, sandbox: u32, files: &VirtualFs) -> Result<()> {
        let places = places(files).await?;
        let all: Vec<(u32, u32)> = places.into_iter().collect();
        let Some(&(one, from)) = all.choose(&mut self.dice) else { return Ok(()) };
        let to = (from + self.dice.random_range(1..TOKEN_DIRS)) % TOKEN_DIRS;
        let there: Vec<u32> =
            all.iter().filter(|(_, dir)| *dir == to).map(|(token, _)| *token).collect();
        let mut tokens = vec![Ride { token: one, from, to }];
        if let Some(&other) = there.choose(&mut self.dice) {
            tokens.push(Ride { token: other, from: to, to: from });
        }
        let steps = tokens.iter().map(|ride| Step::Rename {
            from: at(&token(ride.token, ride.from)),
            to: at(&token(ride.token, ride.to)),
            target: Target::New,
        });
        let work = files.batch(steps.collect());
        self.act(sandbox, Act::Carry { tokens }, work).await;
        Ok(())
    }
}

/// Where each token was a moment ago. Others may carry it elsewhere at any time.
async fn places(files: &VirtualFs) -> Result<BTreeMap<u32, u32>> {
    let mut places = BTreeMap::new();
    for dir in 0..TOKEN_DIRS {
        let listed = files.list(&at(&format!("/tokens/{dir}")), Page::default()).await;
        let mut entries = match listed {
            // Nothing was ever carried there.
            Err(err) if err.kind() == ErrorKind::NotFound => continue,
            listed => listed?,
        };
        while let Some(entry) = entries.try_next().await? {
            places.insert(entry.path.name().parse().unwrap(), dir);
        }
    }
    Ok(places)
}
