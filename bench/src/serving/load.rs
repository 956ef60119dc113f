//! Load: so many connections, each of which asks again as soon as it was answered.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use serde::{Deserialize, Serialize};
use tokio::task::JoinSet;
use tokio::time::{sleep_until, timeout_at};

use super::connection::Connection;
use super::script::{Expected, Script};
use super::server::Server;
use crate::spread::Times;

/// How long an answer may be late.
const PATIENCE: Duration = Duration::from_secs(60);

/// How fast somebody answers.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Pace {
    /// Answers a second.
    pub(crate) rate: f64,
    /// What half, and what all but one of a hundred, took at most, in nanoseconds.
    pub(crate) p50: f64,
    pub(crate) p99: f64,
    /// Processor time of the server for one answer, in nanoseconds.
    pub(crate) cpu: f64,
}

impl Pace {
    pub(crate) fn new(times: Vec<Duration>, wall: Duration, cpu: Duration) -> Self {
        let times = Times::of(times);
        let count = times.count() as f64;
        Self {
            rate: count / wall.as_secs_f64(),
            p50: times.permille(500).as_nanos() as f64,
            p99: times.permille(990).as_nanos() as f64,
            cpu: cpu.as_nanos() as f64 / count,
        }
    }
}

/// For how long: first to warm up, then to count.
#[derive(Clone, Copy, Debug)]
pub(super) struct Period {
    pub(super) warm: Duration,
    pub(super) counted: Duration,
}

/// Asks by as many connections as there are scripts.
pub(super) async fn press(
    server: &Server,
    scripts: Vec<Script>,
    expected: Expected,
    period: Period,
) -> Result<Pace> {
    let mut connections = Vec::with_capacity(scripts.len());
    for script in scripts {
        connections.push((Connection::open(server.address).await?, script));
    }
    let begin = Instant::now() + period.warm;
    let end = begin + period.counted;
    let mut asking = JoinSet::new();
    for (connection, script) in connections {
        asking.spawn(ask(connection, script, expected, begin..end));
    }
    sleep_until(begin.into()).await;
    let (before, began) = (server.processor_time()?, Instant::now());
    sleep_until(end.into()).await;
    let (mut cpu, mut wall) = (server.processor_time()? - before, began.elapsed());
    let (mut times, mut late) = (Vec::new(), Vec::new());
    while let Some(asked) = timeout_at((end + PATIENCE).into(), asking.join_next())
        .await
        .context("an answer does not come")?
    {
        let (in_time, last) = asked??;
        times.extend(in_time);
        late.extend(last);
    }
    // What takes longer than the period is measured by the answers that were under way at its end.
    if times.is_empty() {
        (cpu, wall) = (server.processor_time()? - before, began.elapsed());
        times = late;
    }
    ensure!(!times.is_empty(), "nothing was answered");
    Ok(Pace::new(times, wall, cpu))
}

/// Asks until the end, and gives the times of what was answered within the period, and that of what was
/// answered after it.
async fn ask(
    mut connection: Connection,
    mut script: Script,
    expected: Expected,
    period: std::ops::Range<Instant>,
) -> Result<(Vec<Duration>, Option<Duration>)> {
    let (mut times, mut late) = (Vec::with_capacity(1 << 16), None);
    loop {
        let request = script.next()?;
        let began = Instant::now();
        if began >= period.end {
            return Ok((times, late));
        }
        connection.send(&request.bytes).await?;
        let answer = connection.receive(request.answer, |_| {}).await?;
        let ended = Instant::now();
        ensure!(expected.fits(answer), "{answer:?} instead of {expected:?}");
        if period.contains(&ended) {
            times.push(ended - began);
        } else if ended >= period.end {
            late = Some(ended - began);
        }
    }
}
