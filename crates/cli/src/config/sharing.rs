//! Settings of a store that several servers share: what is kept here, and how they find each other.

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use engine::{DiskCache, Error, ErrorKind, StoreOptions};
use serde::{Deserialize, Serialize};

use crate::failure::OrHint as _;

use super::advertised::Advertised;
use super::{Pause, Size, Source, Sources, StoreUrl};

/// How much of a store is kept on the disk when nobody says.
const CACHE_SIZE: u64 = 10 << 30;
/// Every key, as a configuration file spells it.
const KEYS: [&str; 5] =
    ["store-memory", "advertise", "staleness", "store-cache", "store-cache-size"];
/// Those of them that mean nothing where one process has the store.
const SHARED: [&str; 4] = ["advertise", "staleness", "store-cache", "store-cache-size"];

/// One source's settings of a shared store; what is absent is left to the next source.
#[derive(Args, Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[command(next_help_heading = "Stores that servers share")]
pub(crate) struct Sharing {
    /// How other servers on the same store reach this one, such as http://10.0.0.5:2468; they then
    /// send it the changes of sandboxes that it changes itself. Port 0 is the one it listens on
    #[arg(long, env = "SANDKEEP_ADVERTISE", value_name = "URL")]
    pub(crate) advertise: Option<Advertised>,

    /// How long a change that another server made may go unseen [default: 1s]
    #[arg(long, env = "SANDKEEP_STALENESS", value_name = "TIME")]
    pub(crate) staleness: Option<Pause>,

    /// Memory for what was read of the store [default: 32MiB]
    #[arg(long, env = "SANDKEEP_STORE_MEMORY", value_name = "SIZE")]
    pub(crate) store_memory: Option<Size>,

    /// Directory that keeps what was read of a remote store, for this server alone
    #[arg(long, env = "SANDKEEP_STORE_CACHE", value_name = "DIR")]
    pub(crate) store_cache: Option<PathBuf>,

    /// How large that directory may become [default: 10GiB]
    #[arg(long, env = "SANDKEEP_STORE_CACHE_SIZE", value_name = "SIZE")]
    pub(crate) store_cache_size: Option<Size>,
}

impl Sharing {
    /// These settings, and those of `lower` where these say nothing.
    pub(crate) fn over(self, lower: Self) -> Self {
        Self {
            advertise: self.advertise.or(lower.advertise),
            staleness: self.staleness.or(lower.staleness),
            store_memory: self.store_memory.or(lower.store_memory),
            store_cache: self.store_cache.or(lower.store_cache),
            store_cache_size: self.store_cache_size.or(lower.store_cache_size),
        }
    }

    /// The same settings, with relative paths beginning at `base`.
    pub(crate) fn relative_to(mut self, base: &Path) -> Self {
        self.store_cache = self.store_cache.map(|dir| base.join(dir));
        self
    }

    /// What of these settings means anything for what is served. The rest contradicts the place that
    /// says what is served, if that or a stronger one says it; in a weaker place it is left aside.
    pub(super) fn settled(self, store: Option<&StoreUrl>, sources: Sources<'_>) -> Result<Self> {
        match store {
            None => {
                let why = "is about --store, not about a directory";
                refuse(&KEYS, sources, sources.of("dir"), why)?;
                Ok(Self::default())
            }
            Some(url) if url.is_in_memory() => {
                let why = "does nothing where all is in the memory of this server";
                refuse(&KEYS, sources, sources.of("store"), why)?;
                Ok(Self::default())
            }
            Some(url) if !url.is_shared() => {
                let why = format!("is about stores that servers share, and one process has {url}");
                refuse(&SHARED, sources, sources.of("store"), &why)?;
                Ok(Self { store_memory: self.store_memory, ..Self::default() })
            }
            Some(_) if self.store_cache.is_none() && self.store_cache_size.is_some() => {
                let message = "--store-cache-size is about a directory that nobody named";
                Err(Error::new(ErrorKind::InvalidArgument, message))
                    .or_hint(|| "name it with --store-cache DIR, or leave it out".into())
            }
            Some(_) => Ok(self),
        }
    }

    /// How the store is used by a server that listens on this port.
    pub(crate) fn options(&self, port: u16) -> StoreOptions {
        let usual = StoreOptions::default();
        let limit = self.store_cache_size.map_or(CACHE_SIZE, |Size(bytes)| bytes);
        let disk_cache = self.store_cache.clone().map(|dir| DiskCache { dir, limit });
        StoreOptions {
            staleness: self.staleness.map_or(usual.staleness, |Pause(time)| time),
            memory: self.store_memory.map_or(usual.memory, |Size(bytes)| bytes),
            disk_cache,
            address: self.advertise.as_ref().map(|address| address.on_port(port)),
        }
    }
}

/// Refuses the first of these keys that the place which decides, or a stronger one, speaks of.
fn refuse(keys: &[&str], sources: Sources<'_>, decided: Source, why: &str) -> Result<()> {
    let is_said = |source: Source| source <= decided && source != Source::Default;
    keys.iter().find(|key| is_said(sources.of(key))).map_or(Ok(()), |key| {
        let message = format!("--{key} {why}");
        Err(Error::new(ErrorKind::InvalidArgument, message)).or_hint(|| {
            "leave it out, or serve a store that several servers can have, such as sqlite:FILE or \
             postgres://USER@HOST/DATABASE"
                .into()
        })
    })
}
