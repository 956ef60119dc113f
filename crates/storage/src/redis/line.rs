//! A connection that is made when it is needed, and made anew when it broke.

use std::time::Duration;

use parking_lot::Mutex;
use redis::aio::{ConnectionLike as _, MultiplexedConnection};
use redis::{AsyncConnectionConfig, Client, Cmd, Pipeline, Value};
use tokio::time::{Instant, timeout};

use super::confirmation::Confirmation;
use super::durability::Demands;
use super::failure;
use super::place::CONNECT;
use crate::Result;

/// Who waited so long for an answer and left, left a connection that may be dead.
const SUSPICIOUS: Duration = Duration::from_secs(1);

/// A way to a server that many use at the same time.
pub(super) struct Line {
    client: Client,
    demands: Demands,
    open: Mutex<Option<Open>>,
    // Those who find no connection make one, not many. Holds how many there have been.
    made: tokio::sync::Mutex<u64>,
}

/// A connection to a server that meets the demands, and which one in the life of the line.
#[derive(Clone)]
pub(super) struct Open {
    number: u64,
    connection: MultiplexedConnection,
    /// What this server is asked after every change.
    pub(super) confirmation: Confirmation,
}

impl Line {
    pub(super) fn to(client: Client, demands: Demands) -> Self {
        let (open, made) = (Mutex::new(None), tokio::sync::Mutex::new(0));
        Self { client, demands, open, made }
    }

    /// Sends commands in one piece; the answers come in the order of the commands.
    ///
    /// What was sent is carried out even if nobody waits for the answer.
    pub(super) async fn ask(&self, open: Open, commands: &Pipeline) -> Result<Vec<Value>> {
        let Open { number, mut connection, .. } = open;
        let mut watch = Watch { line: self, number, since: Instant::now(), is_over: false };
        let answers = connection.req_packed_commands(commands, 0, commands.len()).await;
        watch.is_over = true;
        answers.map_err(|err| {
            self.forget(number);
            failure::of(err)
        })
    }

    /// The connection that there is, or a new one.
    pub(super) async fn open(&self) -> Result<Open> {
        if let Some(open) = self.open.lock().clone() {
            return Ok(open);
        }
        let mut made = self.made.lock().await;
        if let Some(open) = self.open.lock().clone() {
            return Ok(open);
        }
        let mut connection = self.connect().await?;
        // Whoever answers may be another server than before, or the same with other settings.
        let confirmation = timeout(CONNECT, self.check(&mut connection));
        let confirmation = confirmation.await.map_err(|_| failure::silent())??;
        *made += 1;
        let open = Open { number: *made, connection, confirmation };
        *self.open.lock() = Some(open.clone());
        Ok(open)
    }

    async fn connect(&self) -> Result<MultiplexedConnection> {
        // How long an answer may take depends on what is asked, which is the caller's to know.
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(CONNECT))
            .set_response_timeout(None);
        let connection = self.client.get_multiplexed_async_connection_with_config(&config);
        connection.await.map_err(failure::of)
    }

    /// Refuses a server that does not meet the demands.
    async fn check(&self, connection: &mut MultiplexedConnection) -> Result<Confirmation> {
        let questions = pipeline(self.demands.questions());
        let answers = connection.req_packed_commands(&questions, 0, questions.len());
        let answers = answers.await.map_err(failure::of)?;
        self.demands.judge(answers.into_iter().map(|answer| vec![answer]).collect())
    }

    /// Lets nobody else begin on a connection. Who waits for an answer on it still does.
    fn forget(&self, number: u64) {
        self.open.lock().take_if(|open| open.number == number);
    }
}

/// Commands that are sent in one piece.
pub(super) fn pipeline(commands: Vec<Cmd>) -> Pipeline {
    let mut pipeline = Pipeline::with_capacity(commands.len());
    for command in commands {
        pipeline.add_command(command);
    }
    pipeline
}

/// Looks whether a connection answers.
struct Watch<'a> {
    line: &'a Line,
    number: u64,
    since: Instant,
    is_over: bool,
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        // A caller that has gone away early says nothing about the connection.
        if !self.is_over && self.since.elapsed() >= SUSPICIOUS {
            self.line.forget(self.number);
        }
    }
}
