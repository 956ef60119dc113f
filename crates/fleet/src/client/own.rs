//! Files that only one client uses: it knows what they hold.

use std::collections::BTreeMap;

use bytes::Bytes;
use engine::{
    ByteStream, Depth, FileSystem, If, Parents, Result, Target, VirtualFs, WriteMode, WriteOptions,
};
use futures::{StreamExt as _, stream};
use rand::RngExt as _;

use super::Client;
use crate::history::{Act, Outcome};
use crate::outfit::{HOT, at, own, own_dir};
use crate::piece::{Piece, content};
use crate::tree;

/// How many files a client keeps in one sandbox.
const FILES: usize = 4;
/// How many pieces a file has at most.
const PIECES: usize = 4;

/// What a client keeps in a sandbox, as far as it knows.
#[derive(Debug, Default)]
pub(super) struct Own {
    files: BTreeMap<u32, Vec<Piece>>,
    /// How many names were used; what is in doubt is never used again.
    names: u32,
}

impl Own {
    fn new_name(&mut self) -> u32 {
        self.names += 1;
        self.names
    }
}

impl Client {
    pub(super) async fn keep_own(&mut self, sandbox: u32, files: &VirtualFs) -> Result<()> {
        if self.dice.random_bool(0.2) {
            self.check_own(sandbox, files).await?;
        }
        let kept = self.own.entry(sandbox).or_default();
        let names: Vec<u32> = kept.files.keys().copied().collect();
        let chosen = self.dice.random_range(0..FILES);
        let Some(&name) = names.get(chosen) else {
            let name = kept.new_name();
            return self.write(sandbox, files, name, WriteMode::CreateNew).await;
        };
        let has_room = kept.files[&name].len() < PIECES;
        match self.dice.random_range(0..10) {
            0..3 => self.write(sandbox, files, name, WriteMode::Replace).await,
            3..6 if has_room => self.write(sandbox, files, name, WriteMode::Append).await,
            3..8 => self.rename(sandbox, files, name).await,
            _ => self.remove(sandbox, files, name).await,
        }
    }

    async fn write(
        &mut self,
        sandbox: u32,
        files: &VirtualFs,
        name: u32,
        mode: WriteMode,
    ) -> Result<()> {
        let piece = self.piece();
        let act = match mode {
            WriteMode::Append => Act::Append { name, piece },
            WriteMode::CreateNew | WriteMode::Replace | WriteMode::Part(_) => {
                Act::Write { name, piece }
            }
        };
        let path = at(&own(self.id, name));
        let options =
            WriteOptions { mode, parents: Parents::Create, expected: If::Always, length: None };
        let outcome = self.act(sandbox, act, files.write(&path, body(piece), options)).await;
        let kept = self.own.entry(sandbox).or_default();
        match outcome {
            Outcome::Done if mode == WriteMode::Append => {
                kept.files.entry(name).or_default().push(piece);
            }
            Outcome::Done => drop(kept.files.insert(name, vec![piece])),
            Outcome::InDoubt(..) => drop(kept.files.remove(&name)),
            Outcome::Refused(..) => {}
        }
        Ok(())
    }

    async fn rename(&mut self, sandbox: u32, files: &VirtualFs, from: u32) -> Result<()> {
        let to = self.own.entry(sandbox).or_default().new_name();
        let [source, target] = [from, to].map(|name| at(&own(self.id, name)));
        let work = files.rename(&source, &target, Target::New);
        let outcome = self.act(sandbox, Act::Move { from, to }, work).await;
        let kept = self.own.entry(sandbox).or_default();
        if !matches!(outcome, Outcome::Refused(..)) {
            let pieces = kept.files.remove(&from);
            kept.files
                .extend(pieces.filter(|_| outcome == Outcome::Done).map(|pieces| (to, pieces)));
        }
        Ok(())
    }

    async fn remove(&mut self, sandbox: u32, files: &VirtualFs, name: u32) -> Result<()> {
        let path = at(&own(self.id, name));
        let work = files.remove(&path, Depth::One, If::Always);
        let outcome = self.act(sandbox, Act::Remove { name }, work).await;
        if !matches!(outcome, Outcome::Refused(..)) {
            self.own.entry(sandbox).or_default().files.remove(&name);
        }
        Ok(())
    }

    /// Whether a tree has exactly what is known to be in the own files.
    pub(super) async fn check_own(&self, sandbox: u32, files: &dyn FileSystem) -> Result<()> {
        let Some(kept) = self.own.get(&sandbox) else { return Ok(()) };
        for (name, pieces) in &kept.files {
            let path = own(self.id, *name);
            let is_right = match tree::read(files, &at(&path)).await {
                Ok(found) => found == content(pieces),
                Err(err) if crate::history::is_doubtful(&err) => return Err(err),
                Err(_) => false,
            };
            if !is_right {
                self.complain(sandbox, format!("{path} is not {pieces:?}, which was acknowledged"));
            }
        }
        Ok(())
    }

    /// Removes what a client left whose process is dead.
    pub(super) async fn sweep(&mut self, client: u32) -> Result<()> {
        let files = self.files(HOT).await?;
        let dir = at(&own_dir(client));
        let work = files.remove(&dir, Depth::All, If::Always);
        self.act(HOT, Act::Sweep { client }, work).await;
        Ok(())
    }

    /// Small for the most part, and now and then of more than one chunk.
    fn piece(&mut self) -> Piece {
        let len = match self.dice.random_range(0..20) {
            0..10 => self.dice.random_range(0..300),
            10..19 => self.dice.random_range(300..8_000),
            _ => self.dice.random_range(20_000..60_000),
        };
        Piece { seed: u64::from(self.id) << 32 | self.next(), len }
    }
}

fn body(piece: Piece) -> ByteStream {
    stream::iter([Ok(Bytes::from(piece.bytes()))]).boxed()
}
