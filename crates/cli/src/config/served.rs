//! Which tree is served where several places speak of one: a directory, or a sandbox of a store.

use clap::error::{Error, ErrorKind};

use super::{Confine, Durability, Source, Sources};

impl Confine {
    /// The settings of the one tree that is meant: the strongest place that speaks of a tree
    /// decides. What it or a stronger place says of the other kind contradicts it; what weaker
    /// places say of that is left aside.
    pub(super) fn settled(mut self, sources: Sources<'_>) -> Result<Self, Error> {
        let (dir, store) = (sources.of("dir"), sources.of("store"));
        if dir == store && dir != Source::Default {
            return Err(contradiction(
                "DIR and --store contradict each other: a server serves a directory, or a sandbox \
                 of a store",
            ));
        }
        if store < dir {
            self.dir = None;
            self.settle_store(store, sources)
        } else {
            self.store = None;
            Ok(self)
        }
    }

    fn settle_store(mut self, decided: Source, sources: Sources<'_>) -> Result<Self, Error> {
        let idle = |key: &str| sources.of(key) <= decided;
        if self.durability.take_if(|wish| *wish == Durability::Relaxed).is_some()
            && idle("durability")
        {
            return Err(contradiction(
                "--durability relaxed does nothing with --store: what a file: store acknowledged is \
                 durable, and what memory: holds ends with the process",
            ));
        }
        if self.snapshots.take().is_some() && idle("snapshots") {
            return Err(contradiction(
                "--snapshots is about a directory: a sandbox of --store keeps its snapshots there",
            ));
        }
        let staged = self.staging.take().is_some() && idle("staging");
        if staged || (self.cross_mounts.take() == Some(true) && idle("cross-mounts")) {
            let flag = if staged { "--staging" } else { "--cross-mounts" };
            return Err(contradiction(&format!("{flag} is about a directory, not about --store")));
        }
        Ok(self)
    }
}

pub(super) fn contradiction(message: &str) -> Error {
    Error::raw(ErrorKind::ArgumentConflict, format!("{message}\n"))
}
