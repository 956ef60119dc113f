//! Connections to the server that are used again and again, by one caller at a time.

use std::time::Duration;

use deadpool_postgres::{Hook, HookError, Manager, ManagerConfig, Object, Pool, Runtime};
use tokio::runtime::Handle;
use tokio::time::timeout;
use tokio_postgres::Row;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::failure;
use super::link::{Link, Parsing};
use super::statements::Statement;
use crate::{Error, ErrorKind, Result};

/// How long a caller waits for a connection to be free, and for a new one.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long the server may take to answer one whose caller left, and then to be told to stop.
const REST: Duration = Duration::from_secs(3);
const CANCELLING: Duration = Duration::from_secs(5);

/// What every new connection is told: that an acknowledged commit is on the disk whatever the
/// default, that nobody works for ever, and on which rules the statements rely.
const GREETING: &str = "
SELECT set_config('synchronous_commit', 'on', false)
WHERE current_setting('synchronous_commit') NOT IN ('on', 'remote_apply');
SET statement_timeout = '60s';
SET default_transaction_isolation = 'read committed';
SET client_min_messages = warning;
";

/// The connections of one store.
pub(super) struct Connections {
    pool: Pool,
    tls: MakeRustlsConnect,
    parsing: Parsing,
}

impl Connections {
    /// Those that a link leads to. None is open yet.
    pub(super) fn through(link: Link) -> Result<Self> {
        let Link { config, tls, parsing, size, .. } = link;
        let lenders = Manager::from_config(config, tls.clone(), ManagerConfig::default());
        let mut pool = Pool::builder(lenders)
            .max_size(size)
            .runtime(Runtime::Tokio1)
            .wait_timeout(Some(PATIENCE))
            .create_timeout(Some(PATIENCE));
        // Behind a pooler that changes connections between statements it would tell others.
        if parsing == Parsing::Once {
            pool = pool.post_create(Hook::async_fn(|client, _| {
                Box::pin(async { client.batch_execute(GREETING).await.map_err(HookError::Backend) })
            }));
        }
        let pool = pool.build().map_err(|err| {
            Error::new(ErrorKind::Io, "the connections to postgres cannot be kept").because(err)
        })?;
        Ok(Self { pool, tls, parsing })
    }

    /// A connection, for one caller.
    pub(super) async fn lease(&self) -> Result<Lease> {
        let client = self.pool.get().await.map_err(failure::of_pool)?;
        let (tls, parsing) = (self.tls.clone(), self.parsing);
        Ok(Lease { client: Some(client), tls, parsing, is_sound: true })
    }
}

/// A connection that one caller has.
///
/// It goes back to the others when it was answered. If the caller leaves before, it rests until the
/// server has answered, and if that does not happen, the server is told to stop, and it is closed.
pub(super) struct Lease {
    client: Option<Object>,
    tls: MakeRustlsConnect,
    parsing: Parsing,
    /// Whether everything that was asked was answered.
    is_sound: bool,
}

impl Lease {
    /// Has a statement executed, in one round trip if this connection knows it already.
    pub(super) async fn ask(
        &mut self,
        statement: &Statement,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>> {
        let parsing = self.parsing;
        self.with(async |client| match parsing {
            Parsing::Once => {
                let known = client.prepare_typed_cached(&statement.sql, statement.types).await?;
                client.query(&known, values).await
            }
            Parsing::Always => {
                let types = statement.types.iter().cloned();
                let typed: Vec<(&(dyn ToSql + Sync), Type)> =
                    values.iter().copied().zip(types).collect();
                client.query_typed(&statement.sql, &typed).await
            }
        })
        .await
    }

    /// Has a statement without values executed, which is not worth remembering.
    pub(super) async fn ask_once(&mut self, sql: &str) -> Result<Vec<Row>> {
        self.with(async |client| client.query_typed(sql, &[]).await).await
    }

    /// Has a script executed.
    pub(super) async fn run(&mut self, script: &str) -> Result<()> {
        self.with(async |client| client.batch_execute(script).await).await
    }

    async fn with<T>(
        &mut self,
        work: impl AsyncFnOnce(&Object) -> Result<T, tokio_postgres::Error>,
    ) -> Result<T> {
        let Some(client) = &self.client else { return Err(failure::lost()) };
        self.is_sound = false;
        match work(client).await {
            Ok(answer) => {
                self.is_sound = true;
                Ok(answer)
            }
            Err(err) => {
                self.is_sound = failure::leaves_sound(&err);
                if !self.is_sound {
                    drop(self.client.take().map(Object::take));
                }
                Err(err.into())
            }
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let Some(client) = self.client.take() else { return };
        if self.is_sound {
            return;
        }
        match Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn(rest(client, self.tls.clone()))),
            Err(_) => drop(Object::take(client)),
        }
    }
}

/// Waits until the server has done what a caller who left asked for.
async fn rest(client: Object, tls: MakeRustlsConnect) {
    let answered = timeout(REST, client.batch_execute("")).await;
    if answered.is_ok_and(|answer| answer.is_ok()) {
        return;
    }
    // A server that waits for a lock does not notice that nobody listens any more, and those who try
    // again would fill it. It may stop whatever it is asked next, so nobody else may have it.
    if !client.is_closed() {
        timeout(CANCELLING, client.cancel_token().cancel_query(tls)).await.ok();
    }
    drop(Object::take(client));
}
