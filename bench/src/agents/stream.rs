//! The stream of events of one connection, which is cut and taken up again.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use futures::StreamExt as _;
use serde_json::Value;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use super::wire::Line;

/// How long the server has to see that a stream was cut.
const PATIENCE: Duration = Duration::from_secs(20);
/// What every prompt, and so its echo, ends with.
pub(super) const MARK: char = '#';
const PAUSE: Duration = Duration::from_millis(20);

/// What was heard.
#[derive(Debug, Default)]
pub(super) struct Account {
    /// The number of the last event.
    pub(super) last: u64,
    pub(super) cuts: usize,
    /// Events that came again, and numbers that never came.
    pub(super) repeated: u64,
    pub(super) missed: u64,
    /// What every session was told, in its order.
    pub(super) told: BTreeMap<String, String>,
}

/// Listens until as many answers came as are expected, once that is known, and cuts the stream so many times, each time within some event.
pub(super) async fn listen(
    line: Line,
    connection: String,
    (number, cuts): (usize, usize),
    mut expected: watch::Receiver<Option<usize>>,
) -> Result<Account> {
    let mut account = Account::default();
    let mut before_cut = wait_for_cut(number, 0);
    loop {
        let response = reopened(&line, &connection, account.last).await?;
        let mut bytes = response.bytes_stream();
        let mut text = Vec::new();
        loop {
            if expected.borrow_and_update().is_some_and(|all| account.answers() >= all) {
                return Ok(account);
            }
            let piece = tokio::select! {
                piece = bytes.next() => piece,
                _ = expected.changed() => continue,
            };
            let piece = piece.context("the server ended the stream")??;
            text.extend_from_slice(&piece);
            // What is cut off with half an event is told again.
            if account.cuts < cuts && text.len() >= before_cut {
                account.cuts += 1;
                before_cut = wait_for_cut(number, account.cuts);
                break;
            }
            before_cut = before_cut.saturating_sub(account.take(&mut text)?);
        }
    }
}

/// How many bytes come before the next cut: another number for every agent and cut.
fn wait_for_cut(number: usize, cut: usize) -> usize {
    200 + (number * 131 + cut * 977) % 1500
}

async fn reopened(line: &Line, connection: &str, after: u64) -> Result<reqwest::Response> {
    let opened = async {
        loop {
            if let Some(response) = line.stream(connection, after).await? {
                return Ok(response);
            }
            sleep(PAUSE).await;
        }
    };
    timeout(PATIENCE, opened).await.context("the old stream is held to be open")?
}

impl Account {
    /// How many prompts were answered, by the mark that each ends with.
    fn answers(&self) -> usize {
        self.told.values().map(|told| told.matches(MARK).count()).sum()
    }

    /// Takes all whole events out of what came, and tells how many bytes they were.
    fn take(&mut self, text: &mut Vec<u8>) -> Result<usize> {
        let mut taken = 0;
        while let Some(end) = text.windows(2).position(|pair| pair == b"\n\n") {
            let event: Vec<u8> = text.drain(..end + 2).collect();
            taken += event.len();
            self.note(std::str::from_utf8(&event)?)?;
        }
        Ok(taken)
    }

    fn note(&mut self, event: &str) -> Result<()> {
        let field =
            |name: &str| event.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
        let Some(id) = field("id") else {
            ensure!(event.starts_with(':'), "an event without a number: {event}");
            return Ok(());
        };
        let id: u64 = id.parse()?;
        if id <= self.last {
            self.repeated += 1;
            return Ok(());
        }
        self.missed += id - self.last - 1;
        self.last = id;
        let data: Value = serde_json::from_str(field("data").context("an event without data")?)?;
        let session = data.pointer("/params/sessionId").and_then(Value::as_str);
        let chunk = data.pointer("/params/update/content/text").and_then(Value::as_str);
        if let Some((session, chunk)) = session.zip(chunk) {
            self.told.entry(session.to_owned()).or_default().push_str(chunk);
        }
        Ok(())
    }
}
