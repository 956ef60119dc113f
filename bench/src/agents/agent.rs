//! One agent: it prompts, works on files, and listens meanwhile.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::stream::{Account, MARK, listen};
use super::wire::Line;
use crate::spread::Spread;

/// How long the last events may take to arrive.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long each file is.
const LENGTH: usize = 2048;

pub(super) struct Agent {
    line: Line,
    connection: String,
    session: String,
    number: usize,
    calls: u64,
    times: Spread,
    expected: watch::Sender<Option<usize>>,
    heard: JoinHandle<Result<Account>>,
}

impl Agent {
    /// Connects, begins to listen, and opens a session in a directory of its own.
    pub(super) async fn connect(line: Line, number: usize, cuts: usize) -> Result<Self> {
        let connection = line.greet().await?;
        let (expected, all) = watch::channel(None);
        let heard = tokio::spawn(listen(line.clone(), connection.clone(), (number, cuts), all));
        let session = format!("agent-{number}");
        let (calls, times) = (0, Spread::default());
        let mut agent = Self { line, connection, session, number, calls, times, expected, heard };
        let meta = json!({ "agent": "mock", "requestedSessionId": agent.session });
        let params = json!({
            "cwd": format!("/{}", agent.session),
            "mcpServers": [],
            "_meta": { "sandboxagent.dev": meta },
        });
        let made = agent.call("session/new", "session", params).await?;
        let id = made.get("sessionId").and_then(Value::as_str);
        ensure!(id == Some(&agent.session), "the session has another name: {made}");
        Ok(agent)
    }

    /// Prompts so many times, with work on files between, and checks what was told.
    pub(super) async fn work(mut self, prompts: usize) -> Result<(Spread, Account)> {
        for turn in 0..prompts {
            let text = prompt(self.number, turn);
            let params = json!({
                "sessionId": self.session,
                "prompt": [{ "type": "text", "text": text }],
            });
            let done = self.call("session/prompt", "prompt", params).await?;
            let reason = done.get("stopReason").and_then(Value::as_str);
            ensure!(reason == Some("end_turn"), "a turn ended otherwise: {done}");
            self.work_on_files(turn).await?;
        }
        self.expected.send_replace(Some(prompts));
        let heard = timeout(PATIENCE, self.heard).await;
        let heard = heard.with_context(|| format!("agent {} misses events", self.number))???;
        let told = heard.told.get(&self.session).map(String::as_str).unwrap_or_default();
        let is_in_order = |told: &str| {
            let mut rest = told;
            (0..prompts).all(|turn| match rest.split_once(&prompt(self.number, turn)) {
                Some((_, after)) => {
                    rest = after;
                    true
                }
                None => false,
            })
        };
        let is_whole = told.matches(MARK).count() == prompts && is_in_order(told);
        ensure!(is_whole, "agent {} was told something else: {told}", self.number);
        ensure!(heard.told.len() == 1, "agent {} heard of other sessions", self.number);
        Ok((self.times, heard))
    }

    /// A file is written, looked at, read, moved and removed, by both ways.
    async fn work_on_files(&mut self, turn: usize) -> Result<()> {
        let (first, second) = (format!("f-{turn}"), format!("g-{turn}"));
        let mut content = format!("{} {turn} ", self.session).into_bytes();
        content.resize(LENGTH, b'x');
        let began = Instant::now();
        self.line.put(&first, &self.session, content.clone()).await?;
        self.times.note("write", began.elapsed());
        let session = self.session.clone();
        let stat = json!({ "path": first, "sessionId": session });
        let found = self.call("_sandboxagent/fs/stat", "stat", stat).await?;
        ensure!(found.get("size") == Some(&json!(LENGTH)), "another length: {found}");
        let began = Instant::now();
        let read = self.line.get(&first, &self.session).await?;
        self.times.note("read", began.elapsed());
        ensure!(read == content, "agent {} read something else", self.number);
        let moved = json!({ "from": first, "to": second, "sessionId": session });
        self.call("_sandboxagent/fs/move", "move", moved).await?;
        let list = json!({ "path": ".", "sessionId": session });
        let listed = self.call("_sandboxagent/fs/list_entries", "list", list).await?;
        let names = listed.get("entries").and_then(Value::as_array).map(Vec::len);
        ensure!(names == Some(1), "agent {} sees other files: {listed}", self.number);
        let gone = json!({ "path": second, "sessionId": session });
        self.call("_sandboxagent/fs/delete_entry", "delete", gone).await.map(drop)
    }

    async fn call(&mut self, method: &str, name: &'static str, params: Value) -> Result<Value> {
        self.calls += 1;
        let began = Instant::now();
        let result = self.line.call(&self.connection, self.calls, method, &params).await?;
        self.times.note(name, began.elapsed());
        Ok(result)
    }
}

/// What an agent says in a turn, and hears again.
fn prompt(number: usize, turn: usize) -> String {
    format!("agent {number} turn {turn}{MARK}")
}
