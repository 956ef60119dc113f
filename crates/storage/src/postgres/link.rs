//! What the URL of a store says.

use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::TargetSessionAttrs;
use tokio_postgres_rustls::MakeRustlsConnect;

use super::migration::Schema;
use super::{password, tls};
use crate::Result;
use crate::address::{Address, invalid};

/// How many connections there are at most, unless the URL says otherwise.
const POOL: usize = 16;
/// The schema of the tables, unless the URL says otherwise.
const SCHEMA: &str = "sandkeep";

/// How long a server may take to accept a connection.
const CONNECTING: Duration = Duration::from_secs(5);
/// How long sent bytes may stay unacknowledged, and when a silent peer is asked whether it is there.
const SILENCE: Duration = Duration::from_secs(15);

/// How statements are given to the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Parsing {
    /// It remembers each of them, on each connection.
    Once,
    /// It remembers nothing: it may be another one behind a pooler the next time.
    Always,
}

/// The way to a store.
pub(super) struct Link {
    pub(super) config: Config,
    pub(super) tls: MakeRustlsConnect,
    pub(super) schema: Schema,
    pub(super) parsing: Parsing,
    /// How many connections there are at most.
    pub(super) size: usize,
}

impl Link {
    pub(super) async fn of(mut address: Address) -> Result<Self> {
        let schema = address.take("schema")?.unwrap_or_else(|| SCHEMA.to_owned());
        let (schema, parsing) = (Schema::named(schema)?, parsing(&mut address)?);
        let size = size(&mut address)?;
        let (mode, tls) = tls::of(&mut address).await?;
        // The driver's words could tell a part of a password that holds a '?' or a '&'.
        let parsed = address.to_url().parse::<Config>();
        let mut config = parsed.map_err(|_| invalid(format!("the URL is not {EXAMPLE}")))?;
        if config.get_user().is_none() || config.get_hosts().is_empty() {
            return Err(invalid(format!("postgres:// names a user and a host, as in {EXAMPLE}")));
        }
        settle(&mut config);
        config.ssl_mode(mode);
        if config.get_password().is_none()
            && let Some(password) = password::of(&address.settings, &config).await?
        {
            config.password(password);
        }
        Ok(Self { config, tls, schema, parsing, size })
    }
}

const EXAMPLE: &str = "postgres://user@host:5432/database?schema=sandkeep&sslmode=verify-full";

/// Fills in what the URL does not say.
fn settle(config: &mut Config) {
    if config.get_application_name().is_none() {
        config.application_name("sandkeep");
    }
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(CONNECTING);
    }
    config.tcp_user_timeout(SILENCE).keepalives_idle(SILENCE).keepalives_interval(SILENCE);
    // One of several is the one to write to, and which it is changes.
    if config.get_hosts().len() > 1 {
        config.target_session_attrs(TargetSessionAttrs::ReadWrite);
    }
}

fn parsing(address: &mut Address) -> Result<Parsing> {
    match address.take("prepared")?.as_deref() {
        None | Some("true") => Ok(Parsing::Once),
        Some("false") => Ok(Parsing::Always),
        Some(_) => Err(invalid("prepared is true, or false behind a pooler")),
    }
}

fn size(address: &mut Address) -> Result<usize> {
    let Some(size) = address.take("pool")? else { return Ok(POOL) };
    let size = size.parse().ok().filter(|size| (1..=1000).contains(size));
    size.ok_or_else(|| invalid("pool is a number of connections from 1 to 1000"))
}
