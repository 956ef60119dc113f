//! Clients that write, move, upload and delete without pause and keep a ledger each.

use std::fs;
use std::io::{Cursor, Read as _};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::Sender;

use serde_json::json;

use crate::archive::archive;
use crate::dice::Dice;
use crate::ledger::{Attempt, Ledger, State};
use crate::outside::files_beneath;
use crate::pattern::{pattern, version_of};
use crate::raw_http::{Answer, Connection, JSON, TAR};

/// One client with a directory of its own.
pub(crate) struct Lane {
    name: String,
    /// What it asked for.
    pub(crate) ledger: Mutex<Ledger>,
}

impl Lane {
    pub(crate) fn new(number: usize) -> Self {
        Self { name: format!("lane{number}"), ledger: Mutex::default() }
    }

    /// Works until told to stop or until the connection breaks, and reports each acknowledgement.
    pub(crate) fn drive(
        &self,
        mut connection: Connection,
        mut dice: Dice,
        stop: &AtomicBool,
        acknowledged: &Sender<()>,
    ) {
        while !stop.load(Ordering::Relaxed) {
            let attempt = next_attempt(&self.ledger.lock().unwrap().state(), &mut dice);
            self.ledger.lock().unwrap().begin(attempt.clone());
            match self.send(&mut connection, &attempt) {
                Ok(answer) => {
                    answer.succeeds();
                    self.ledger.lock().unwrap().acknowledge();
                    acknowledged.send(()).ok();
                }
                Err(_) => return,
            }
        }
    }

    /// The files of this client as they lie on a disk. A torn one is an error.
    pub(crate) fn found(&self, root: &Path) -> Result<State, String> {
        let dir = root.join(&self.name);
        let files = files_beneath(&dir).into_iter().filter(|path| path.is_file());
        let file = |path: std::path::PathBuf| {
            let name = path.strip_prefix(&dir).unwrap().to_str().unwrap().to_owned();
            let version = version_of(&fs::read(&path).unwrap());
            let version = version.map_err(|torn| format!("{}/{name} is torn: {torn}", self.name));
            version.map(|version| (name, version))
        };
        files.map(file).collect()
    }

    /// The files of this client as a server shows them. A torn one is an error.
    pub(crate) fn found_on(&self, connection: &mut Connection) -> Result<State, String> {
        let target = format!("/v1/fs/download-batch?path={}", self.name);
        let answer = connection.ask("GET", &target, &[], b"");
        if answer.text().contains("path not found") {
            return Ok(State::new());
        }
        let mut archive = tar::Archive::new(Cursor::new(answer.succeeds().body));
        let files = archive.entries().unwrap().map(Result::unwrap);
        let file = |mut entry: tar::Entry<'_, _>| {
            let name = entry.path().unwrap().to_str().unwrap().trim_start_matches("./").to_owned();
            let mut content = Vec::new();
            entry.read_to_end(&mut content).unwrap();
            let version = version_of(&content);
            let version = version.map_err(|torn| format!("{}/{name} is torn: {torn}", self.name));
            version.map(|version| (name, version))
        };
        files.filter(|entry| entry.header().entry_type().is_file()).map(file).collect()
    }

    fn send(&self, connection: &mut Connection, attempt: &Attempt) -> std::io::Result<Answer> {
        let lane = &self.name;
        match attempt {
            Attempt::Write { name, version, len } => {
                let target = format!("/v1/fs/file?path={lane}/{name}");
                connection.try_ask("PUT", &target, &[], &pattern(*version, *len))
            }
            Attempt::Remove { name } => {
                connection.try_ask("DELETE", &format!("/v1/fs/entry?path={lane}/{name}"), &[], b"")
            }
            Attempt::RemoveTree { dir } => {
                let target = format!("/v1/fs/entry?path={lane}/{dir}&recursive=true");
                connection.try_ask("DELETE", &target, &[], b"")
            }
            Attempt::Move { from, to } | Attempt::MoveTree { from, to } => {
                let (from, to) = (format!("{lane}/{from}"), format!("{lane}/{to}"));
                let body = json!({"from": from, "to": to, "overwrite": true}).to_string();
                connection.try_ask("POST", "/v1/fs/move", &JSON, body.as_bytes())
            }
            Attempt::Upload { dir, members } => {
                let target = format!("/v1/fs/upload-batch?path={lane}/{dir}");
                let contents: Vec<_> =
                    members.iter().map(|(_, version, len)| pattern(*version, *len)).collect();
                let names = members.iter().map(|(name, ..)| name.as_str());
                let members: Vec<_> = names.zip(contents.iter().map(Vec::as_slice)).collect();
                connection.try_ask("POST", &target, &TAR, &archive(&members))
            }
        }
    }
}

/// Something that can be done with the files as they are.
fn next_attempt(state: &State, dice: &mut Dice) -> Attempt {
    const FILES: [&str; 6] = ["a", "b", "c", "new/d", "new/e", "f"];
    const TREES: [&str; 2] = ["tree", "new/tree"];
    let has_tree = |dir: &str| state.keys().any(|name| name.starts_with(&format!("{dir}/")));
    let name = *dice.pick(&FILES);
    let tree = *dice.pick(&TREES);
    let other_tree = if tree == TREES[0] { TREES[1] } else { TREES[0] };
    match dice.below(12) {
        0 if state.contains_key(name) => Attempt::Remove { name: name.to_owned() },
        1..=3 if state.contains_key(name) => {
            let others: Vec<_> = FILES.into_iter().filter(|other| *other != name).collect();
            Attempt::Move { from: name.to_owned(), to: (*dice.pick(&others)).to_owned() }
        }
        4 if has_tree(tree) => Attempt::RemoveTree { dir: tree.to_owned() },
        5 if has_tree(tree) => {
            Attempt::MoveTree { from: tree.to_owned(), to: other_tree.to_owned() }
        }
        6 | 7 if !has_tree(tree) => {
            let member = |number| (format!("{number}/m"), next_version(), size(dice) / 4 + 16);
            Attempt::Upload { dir: tree.to_owned(), members: (0..5).map(member).collect() }
        }
        _ => Attempt::Write { name: name.to_owned(), version: next_version(), len: size(dice) },
    }
}

/// Mostly small, now and then some MiB.
fn size(dice: &mut Dice) -> usize {
    let bits = if dice.once_in(12) { 22 } else { 15 };
    usize::try_from(4096 + dice.below(1 << bits)).unwrap()
}

fn next_version() -> u64 {
    static VERSIONS: AtomicU64 = AtomicU64::new(1);
    VERSIONS.fetch_add(1, Ordering::Relaxed)
}
