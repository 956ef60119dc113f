//! Servers beside each other over the same files.

use std::fs::File;
use std::io::Write as _;
use std::ops::Range;
use std::path::PathBuf;

use anyhow::{Context as _, Result};

use super::ask::Ask;
use super::case::{Case, Miss};
use super::content::Pieces;
use super::cores::Room;
use super::load::press;
use super::script::{Expected, Script};
use super::server::{Server, Setting};
use super::trees::Tree;
use super::who::Who;
use super::{Bench, Effort, disk};

/// How many files go into one archive on their way into a virtual tree.
const AT_ONCE: usize = 20_000;

/// A place with a tree, and servers over it. All is gone when this is dropped.
pub(super) struct Arena<'a> {
    bench: &'a Bench<'a>,
    home: PathBuf,
    /// The tree of those who serve what lies on the disk.
    pub(super) tree: PathBuf,
    pub(super) room: Room,
    /// More flags for ours.
    pub(super) flags: Vec<String>,
    servers: Vec<Server>,
}

impl<'a> Arena<'a> {
    pub(super) fn new(bench: &'a Bench<'a>, name: &str) -> Result<Self> {
        let home = bench.scratch.join(name);
        let tree = home.join("tree");
        std::fs::create_dir_all(&tree)?;
        let (room, flags) = (Room::One, Vec::new());
        Ok(Self { bench, home, tree, room, flags, servers: Vec::new() })
    }

    /// Starts everybody who is a server. Whoever does not start has no figures.
    pub(super) async fn start(&mut self, everybody: &[Who]) -> Result<()> {
        for who in everybody.iter().filter(|who| !matches!(who, Who::Program(_))) {
            match Server::start(self.bench, *who, &self.setting(*who)).await {
                Ok(server) => self.servers.push(server),
                Err(err) if who.is_ours() => return Err(err),
                Err(err) => println!("  FAILED: {err:#}"),
            }
        }
        Ok(())
    }

    /// Ends a server, forgets what it kept, and starts it anew.
    pub(super) async fn renew(&mut self, who: Who) -> Result<()> {
        self.servers.retain(|server| server.who != who);
        let setting = self.setting(who);
        std::fs::remove_dir_all(&setting.home)?;
        self.servers.push(Server::start(self.bench, who, &setting).await?);
        Ok(())
    }

    fn setting(&self, who: Who) -> Setting {
        let home = self.home.join(who.name().replace([' ', ':', ','], "-"));
        let (tree, flags) = (self.tree.clone(), self.flags.clone());
        Setting { home, tree, room: self.room, flags, first: None }
    }

    pub(super) fn server(&self, who: Who) -> Result<&Server> {
        let found = self.servers.iter().find(|server| server.who == who);
        found.with_context(|| format!("{} does not run", who.name()))
    }

    /// Everybody who runs.
    pub(super) fn servers(&self) -> impl Iterator<Item = &Server> {
        self.servers.iter()
    }

    fn virtual_ones(&self) -> impl Iterator<Item = &Server> {
        self.servers().filter(|server| server.who.is_virtual())
    }

    /// A file for everybody who looks at the disk.
    pub(super) fn write_on_disk(&self, path: &str, length: u64) -> Result<()> {
        let mut file = File::create(self.tree.join(path))?;
        let mut pieces = Pieces::new(length);
        while let Some(piece) = pieces.next() {
            file.write_all(piece)?;
        }
        self.settle()
    }

    /// A file for everybody.
    pub(super) async fn write(&self, path: &str, length: u64) -> Result<()> {
        self.write_on_disk(path, length)?;
        for server in self.virtual_ones() {
            server.upload(path, length).await?;
        }
        Ok(())
    }

    /// Some files of a tree for everybody, in a directory.
    pub(super) async fn plant(&self, tree: &Tree, dir: &str, some: Range<usize>) -> Result<()> {
        tree.plant(&self.tree.join(dir), some.clone())?;
        for server in self.virtual_ones() {
            plant_in(server, tree, dir, some.clone()).await?;
        }
        Ok(())
    }

    /// The same for one of them alone.
    pub(super) async fn plant_for(&self, who: Who, tree: &Tree, dir: &str) -> Result<()> {
        if who.is_virtual() {
            return plant_in(self.server(who)?, tree, dir, 0..tree.files).await;
        }
        tree.plant(&self.tree.join(dir), 0..tree.files)
    }

    /// Takes away what somebody wrote into a directory, and waits until the disk is quiet.
    pub(super) async fn clear(&self, who: Who, dir: &str) -> Result<()> {
        if who.is_virtual() {
            let server = self.server(who)?;
            let request = server.say(Ask::Remove(dir))?;
            server.fetch(&request, &[]).await?;
        } else if let Err(err) = std::fs::remove_dir_all(self.tree.join(dir)) {
            // Whoever could do nothing left nothing behind.
            anyhow::ensure!(err.kind() == std::io::ErrorKind::NotFound, err);
        }
        self.settle()
    }

    /// Waits until everything is on the disk, so that nobody pays for what another left to be written.
    pub(super) fn settle(&self) -> Result<()> {
        rustix::fs::syncfs(File::open(&self.tree)?)?;
        disk::rest(&self.tree)
    }

    /// Measures how fast everybody answers, in turns. Every server gets the scripts that its connections
    /// follow, and must always answer as expected.
    pub(super) async fn pace(
        &self,
        case: &mut Case,
        expected: Expected,
        effort: Effort,
        scripts: impl Fn(&Server) -> Result<Vec<Script>, Miss>,
    ) -> Result<()> {
        self.forget_peaks()?;
        case.in_turns(effort.rounds, async |who| {
            let server = self.server(who)?;
            Ok(press(server, scripts(server)?, expected, effort.period).await?)
        })
        .await;
        self.note_peaks(case)
    }

    /// Forgets how much memory was ever taken.
    pub(super) fn forget_peaks(&self) -> Result<()> {
        self.servers.iter().try_for_each(Server::forget_peak)
    }

    /// Notes how much memory each took at most.
    pub(super) fn note_peaks(&self, case: &mut Case) -> Result<()> {
        for entry in &mut case.entries {
            let server = self.servers.iter().find(|server| server.who == entry.who);
            entry.memory = server.map(Server::peak).transpose()?;
        }
        Ok(())
    }
}

impl Drop for Arena<'_> {
    fn drop(&mut self) {
        self.servers.clear();
        // The next run clears away what this one could not.
        let _cleared = std::fs::remove_dir_all(&self.home);
    }
}

async fn plant_in(server: &Server, tree: &Tree, dir: &str, some: Range<usize>) -> Result<()> {
    for begin in some.clone().step_by(AT_ONCE) {
        let archive = tree.archive(begin..some.end.min(begin + AT_ONCE))?;
        let ask = Ask::Unpack(dir, archive.len() as u64);
        let request = server.say(ask)?;
        server.fetch(&request, &archive).await?;
    }
    Ok(())
}
