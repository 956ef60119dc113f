//! Where the server is, and how it is spoken to: the URL, taken apart.

use std::time::Duration;

use percent_encoding::percent_decode_str;
use redis::io::tcp::{TcpSettings, socket2::TcpKeepalive};
use redis::{Client, ConnectionAddr, ConnectionInfo, IntoConnectionInfo as _, RedisConnectionInfo};
use redis::{TlsCertificates, cluster::ClusterClient};

use super::failure;
use crate::address::{Address, invalid};
use crate::{Error, ErrorKind, Result, blocking};

/// Where Redis listens unless it is told otherwise.
const PORT: u16 = 6379;

/// After so long without a word a connection is taken for lost, even if nobody closed it.
const SILENCE: Duration = Duration::from_secs(10);

/// How long a connection may take to be made.
pub(super) const CONNECT: Duration = Duration::from_secs(5);

/// How long a server may take to answer in a cluster, where connections are not ours to watch.
const RESPONSE: Duration = Duration::from_secs(60);

/// The servers that a URL names.
pub(super) struct Place {
    nodes: Vec<(String, u16)>,
    credentials: RedisConnectionInfo,
    tls: Option<TlsCertificates>,
    /// Whether the servers are a cluster.
    pub(super) is_cluster: bool,
}

impl Place {
    /// Takes out of an address what says where the server is.
    pub(super) async fn of(address: &mut Address) -> Result<Self> {
        let rest = address.rest.strip_prefix("//").ok_or_else(example)?;
        let (authority, database) = rest.split_once('/').unwrap_or((rest, ""));
        let (user, nodes) = match authority.rsplit_once('@') {
            Some((user, nodes)) => (user, nodes),
            None => ("", authority),
        };
        let nodes = nodes.split(',').map(node).collect::<Result<Vec<_>>>()?;
        let credentials = credentials(address, user)?.set_db(self::database(database)?);
        let is_cluster = address.take_flag("cluster")?;
        if nodes.len() > 1 && !is_cluster {
            return Err(invalid("several servers are a cluster: add cluster=true"));
        }
        if is_cluster && credentials.db() != 0 {
            return Err(invalid("a cluster has no database but 0"));
        }
        let tls = tls(address).await?;
        Ok(Self { nodes, credentials, tls, is_cluster })
    }

    /// What connects to the one server.
    pub(super) fn client(&self) -> Result<Client> {
        let node = self.nodes.first().ok_or_else(example)?;
        let info = self.connection(node)?;
        let client = match &self.tls {
            None => Client::open(info),
            Some(certificates) => Client::build_with_tls(info, certificates.clone()),
        };
        client.map_err(failure::of)
    }

    /// What connects to the cluster.
    ///
    /// It tries nothing again by itself: a delete that is tried in secret cannot say what it did.
    pub(super) fn cluster(&self) -> Result<ClusterClient> {
        let nodes =
            self.nodes.iter().map(|node| self.connection(node)).collect::<Result<Vec<_>>>()?;
        let mut builder = ClusterClient::builder(nodes)
            .retries(0)
            .connection_timeout(CONNECT)
            .response_timeout(RESPONSE)
            .tcp_settings(watchful());
        if let Some(certificates) = &self.tls {
            builder = builder.certs(certificates.clone());
        }
        builder.build().map_err(failure::of)
    }

    fn connection(&self, (host, port): &(String, u16)) -> Result<ConnectionInfo> {
        let host = host.clone();
        let address = match self.tls {
            None => ConnectionAddr::Tcp(host, *port),
            Some(_) => {
                ConnectionAddr::TcpTls { host, port: *port, insecure: false, tls_params: None }
            }
        };
        let info = address.into_connection_info().map_err(failure::of)?;
        Ok(info.set_redis_settings(self.credentials.clone()).set_tcp_settings(watchful()))
    }
}

/// Small requests leave at once, and a server that vanished is noticed.
fn watchful() -> TcpSettings {
    let keepalive =
        TcpKeepalive::new().with_time(SILENCE).with_interval(SILENCE / 4).with_retries(4);
    let settings = TcpSettings::default().set_nodelay(true).set_keepalive(keepalive);
    #[cfg(target_os = "linux")]
    let settings = settings.set_user_timeout(SILENCE);
    settings
}

/// Who asks: what the URL says, or else the settings.
fn credentials(address: &Address, user: &str) -> Result<RedisConnectionInfo> {
    let (name, password) = match user.split_once(':') {
        Some((name, password)) => (plain(name)?, plain(password)?),
        None => (plain(user)?, String::new()),
    };
    let given = |value: String| Some(value).filter(|value| !value.is_empty());
    let mut credentials =
        RedisConnectionInfo::default().set_lib_name("sandkeep", env!("CARGO_PKG_VERSION"));
    if let Some(name) = given(name).or_else(|| address.settings.value("REDIS_USERNAME")) {
        credentials = credentials.set_username(name);
    }
    if let Some(password) = given(password).or_else(|| address.settings.value("REDIS_PASSWORD")) {
        credentials = credentials.set_password(password);
    }
    Ok(credentials)
}

/// A part of the URL in which `%40` is an `@`.
fn plain(part: &str) -> Result<String> {
    let decoded = percent_decode_str(part).decode_utf8();
    decoded.map(Into::into).map_err(|_| invalid("the user of the URL is not UTF-8"))
}

/// A server: `host`, `host:port`, `[::1]` or `[::1]:port`.
fn node(text: &str) -> Result<(String, u16)> {
    let (host, port) = match text.strip_prefix('[') {
        Some(rest) => rest.split_once(']').ok_or_else(example)?,
        None => text.find(':').map_or((text, ""), |colon| text.split_at(colon)),
    };
    if host.is_empty() {
        return Err(example());
    }
    let port = match port.strip_prefix(':') {
        None if port.is_empty() => PORT,
        None => return Err(example()),
        Some(port) => port.parse().map_err(|_| example())?,
    };
    Ok((host.to_owned(), port))
}

fn database(text: &str) -> Result<i64> {
    if text.is_empty() {
        return Ok(0);
    }
    let number = text.parse::<u32>().map_err(|_| invalid("a database of redis: is a number"))?;
    Ok(i64::from(number))
}

/// Whom to trust, if the connection is encrypted.
async fn tls(address: &mut Address) -> Result<Option<TlsCertificates>> {
    let authority = address.take("cacert")?;
    if address.scheme != "rediss" {
        return match authority {
            None => Ok(None),
            Some(_) => Err(invalid("cacert is for rediss://, which is encrypted")),
        };
    }
    // The driver builds its TLS from whatever provider is the default. Another may be by now.
    rustls::crypto::ring::default_provider().install_default().ok();
    let root_cert = match authority {
        Some(path) => Some(blocking::run(move || read(&path)).await?),
        None => None,
    };
    Ok(Some(TlsCertificates { client_tls: None, root_cert }))
}

fn read(path: &str) -> Result<Vec<u8>> {
    #[expect(clippy::disallowed_methods, reason = "the operator named this file")]
    std::fs::read(path).map_err(|err| {
        Error::new(ErrorKind::InvalidUrl, "the file that cacert names cannot be read").because(err)
    })
}

fn example() -> Error {
    invalid("redis:// is followed by a server, as in redis://localhost:6379/0")
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn place(url: &str) -> Result<Place> {
        Place::of(&mut Address::of(url).await?).await
    }

    #[tokio::test]
    async fn a_server_has_a_port_and_a_database() {
        for (url, host, port, database) in [
            ("redis://localhost", "localhost", 6379, 0),
            ("redis://localhost/", "localhost", 6379, 0),
            ("redis://10.0.0.1:7000/3", "10.0.0.1", 7000, 3),
            ("redis://[::1]/2", "::1", 6379, 2),
            ("redis://me@[::1]:7000/2", "::1", 7000, 2),
        ] {
            let place = place(url).await.unwrap();
            assert_eq!(place.nodes, [(host.to_owned(), port)], "{url}");
            assert_eq!(place.credentials.db(), database, "{url}");
        }
    }

    #[tokio::test]
    async fn what_names_no_server_is_refused() {
        for url in [
            "redis:localhost",
            "redis://",
            "redis://:6379",
            "redis://host:port",
            "redis://[::1",
            "redis://[::1]7000",
            "redis://host/zero",
            "redis://one,two",
            "redis://one,two/1?cluster=true",
            "redis://host?cacert=/ca.pem",
            "rediss://host?cacert=/no/such/file",
        ] {
            let err = place(url).await.map(drop).unwrap_err();
            assert_eq!(err.kind(), ErrorKind::InvalidUrl, "{url}");
        }
    }

    #[tokio::test]
    async fn a_cluster_has_several_servers() {
        let place = place("redis://one,two:7001,[::1]:7002/?cluster=true").await.unwrap();
        assert_eq!(place.nodes.len(), 3);
        assert!(place.is_cluster);
    }

    #[tokio::test]
    async fn a_user_of_the_url_may_hold_any_letter() {
        let place = place("redis://me%40here:p%3Aw%2F@host").await.unwrap();
        assert_eq!(place.credentials.username(), Some("me@here"));
        assert_eq!(place.credentials.password(), Some("p:w/"));
    }
}
