//! How other servers reach this one, as people write it: `http://10.0.0.5:2468`.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use anyhow::{Result, anyhow};
use http::Uri;
use serde::de::{self, Deserialize, Deserializer};
use serde::{Serialize, Serializer};

use crate::failure::OrHint as _;

use super::Access;

/// The address of a server, for other servers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Advertised {
    host: String,
    /// Nothing for the port on which the server listens.
    port: Option<u16>,
}

impl Advertised {
    /// The address of a server that listens on this port.
    pub(crate) fn on_port(&self, port: u16) -> String {
        format!("http://{}:{}", self.host, self.port.unwrap_or(port))
    }

    /// Refuses an address under which other servers would not find one that listens there, or would
    /// not be let in.
    pub(crate) fn check(&self, listening: &[SocketAddr], access: &Access) -> Result<()> {
        if matches!(access, Access::Made(_)) {
            return Err(anyhow!(
                "servers that send each other changes (--advertise) need the same token, and one \
                 that is made at the start is nobody else's"
            ))
            .or_hint(|| "give one token to all of them, best in SANDKEEP_TOKEN".into());
        }
        if !self.is_loopback() && listening.iter().all(|address| address.ip().is_loopback()) {
            return Err(anyhow!(
                "other servers cannot reach --advertise {self}: this one listens on loopback alone"
            ))
            .or_hint(|| {
                "listen there as well, for example on every address with --host 0.0.0.0; if all \
                 servers are on this machine, --advertise http://127.0.0.1:0"
                    .into()
            });
        }
        Ok(())
    }

    /// Whether it means this machine to whoever uses it. A name may mean another address elsewhere,
    /// whatever it means here.
    fn is_loopback(&self) -> bool {
        match ip(&self.host) {
            Some(address) => address.is_loopback(),
            None => self.host.eq_ignore_ascii_case("localhost"),
        }
    }
}

/// The number that a host in a URL is, if it is one.
fn ip(host: &str) -> Option<IpAddr> {
    host.trim_start_matches('[').trim_end_matches(']').parse().ok()
}

impl FromStr for Advertised {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let usage = || "write http://HOST:PORT, as other servers reach it; they speak plain HTTP";
        let uri: Uri = text.parse().map_err(|_| usage())?;
        let is_bare = uri.authority().is_some_and(|authority| !authority.as_str().contains('@'));
        let is_plain = uri.scheme_str() == Some("http")
            && is_bare
            && matches!(uri.path(), "" | "/")
            && uri.query().is_none();
        let host = uri.host().filter(|host| is_plain && !host.is_empty()).ok_or_else(usage)?;
        if ip(host).is_some_and(|address| address.is_unspecified()) {
            return Err(format!("{host} is an address to listen on; name one to connect to"));
        }
        Ok(Self { host: host.into(), port: uri.port_u16().filter(|port| *port != 0) })
    }
}

impl fmt::Display for Advertised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.on_port(0))
    }
}

impl Serialize for Advertised {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Advertised {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
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
            assert_eq!(given.parse::<Advertised>().unwrap().on_port(7777), address);
        }
        for bad in ["", "10.0.0.5:2468", "https://a", "http://", "http://u@a", "http://a/b"] {
            assert!(bad.parse::<Advertised>().is_err(), "{bad}");
        }
        for bad in ["http://a?b", "http://0.0.0.0:0", "http://[::]:2468"] {
            assert!(bad.parse::<Advertised>().is_err(), "{bad}");
        }
    }

    fn is_found(address: &str, listening: &str) -> bool {
        let address: Advertised = address.parse().unwrap();
        let listening: SocketAddr = listening.parse().unwrap();
        address.check(&[listening], &Access::Given("t".into())).is_ok()
    }

    #[test]
    fn whoever_is_to_be_reached_from_elsewhere_does_not_listen_on_loopback_alone() {
        assert!(is_found("http://10.0.0.5:0", "0.0.0.0:2468"));
        assert!(is_found("http://10.0.0.5:0", "10.0.0.5:2468"));
        assert!(is_found("http://127.0.0.1:0", "127.0.0.1:2468"));
        assert!(is_found("http://[::1]:0", "[::1]:2468"));
        assert!(is_found("http://localhost:0", "127.0.0.1:2468"));
        assert!(!is_found("http://10.0.0.5:0", "127.0.0.1:2468"));
        assert!(!is_found("http://sandkeep-0:0", "[::1]:2468"));
    }

    #[test]
    fn a_token_that_no_other_server_knows_is_none_to_advertise_with() {
        let address: Advertised = "http://127.0.0.1:0".parse().unwrap();
        let listening = ["127.0.0.1:2468".parse().unwrap()];
        assert!(address.check(&listening, &Access::Made("t".into())).is_err());
        assert!(address.check(&listening, &Access::Open).is_ok());
    }
}
