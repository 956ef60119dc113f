//! Settings of a store that several servers share: what is kept here, and how they find each other.

use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow};
use clap::Args;
use clap::error::{Error, ErrorKind};
use engine::{DiskCache, StoreOptions};
use http::Uri;
use serde::{Deserialize, Serialize};

use crate::failure::OrHint as _;

use super::{Pause, Size, Source, Sources};

/// How much of a store is kept on the disk when nobody says.
const CACHE_SIZE: u64 = 10 << 30;
/// Every key, as a configuration file spells it.
const KEYS: [&str; 5] =
    ["advertise", "staleness", "store-memory", "store-cache", "store-cache-size"];

/// One source's settings of a shared store; what is absent is left to the next source.
#[derive(Args, Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[command(next_help_heading = "Stores that servers share")]
pub(crate) struct Sharing {
    /// How other servers on the same store reach this one, such as http://10.0.0.5:2468; they then
    /// send it the changes of sandboxes that it changes itself. Port 0 is the one it listens on
    #[arg(long, env = "SANDKEEP_ADVERTISE", value_name = "URL")]
    pub(crate) advertise: Option<String>,

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

    /// Refuses what was said of a store where a directory is served.
    pub(super) fn check_stored(&self, sources: Sources<'_>) -> Result<(), Error> {
        let given = KEYS.iter().find(|key| sources.of(key) < Source::File);
        given.map_or(Ok(()), |key| {
            let message = format!("--{key} is about --store, not about a directory\n");
            Err(Error::raw(ErrorKind::ArgumentConflict, message))
        })
    }

    /// How the store is used by a server that listens on this port.
    pub(crate) fn options(&self, port: u16) -> Result<StoreOptions> {
        let usual = StoreOptions::default();
        let limit = self.store_cache_size.map_or(CACHE_SIZE, |Size(bytes)| bytes);
        let disk_cache = self.store_cache.clone().map(|dir| DiskCache { dir, limit });
        Ok(StoreOptions {
            staleness: self.staleness.map_or(usual.staleness, |Pause(time)| time),
            memory: self.store_memory.map_or(usual.memory, |Size(bytes)| bytes),
            disk_cache,
            address: self.advertise.as_deref().map(|it| reachable(it, port)).transpose()?,
        })
    }
}

/// An address that other servers can use.
fn reachable(address: &str, port: u16) -> Result<String> {
    let uri: Option<Uri> = address.parse().ok();
    let is_plain = |uri: &Uri| {
        let is_bare = uri.authority().is_some_and(|authority| !authority.as_str().contains('@'));
        uri.scheme_str() == Some("http") && is_bare && matches!(uri.path(), "" | "/")
    };
    if let Some(uri) = uri.filter(is_plain)
        && let Some(host) = uri.host()
    {
        let port = uri.port_u16().filter(|given| *given != 0).unwrap_or(port);
        return Ok(format!("http://{host}:{port}"));
    }
    Err(anyhow!("--advertise {address:?} is no address of a server")).or_hint(|| {
        "write http://HOST:PORT, as other servers reach it; they speak plain HTTP".into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_plain_http_to_a_host() {
        for (given, address) in [
            ("http://10.0.0.5:2468", "http://10.0.0.5:2468"),
            ("http://sandkeep-0.sandkeep:2468/", "http://sandkeep-0.sandkeep:2468"),
            ("http://[::1]:0", "http://[::1]:7777"),
            ("http://a", "http://a:7777"),
        ] {
            assert_eq!(reachable(given, 7777).unwrap(), address);
        }
        for bad in ["", "10.0.0.5:2468", "https://a", "http://", "http://u@a", "http://a/b"] {
            assert!(reachable(bad, 7777).is_err(), "{bad}");
        }
    }
}
