//! Changes at random: through the server, and by an agent who works in the directory itself.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use engine::{
    Depth, DotDot, FileSystem, If, Parents, SandboxPath, Target, WriteMode, WriteOptions,
};
use rand::rngs::SmallRng;
use rand::{RngExt as _, SeedableRng as _};
use tokio::runtime::Handle;
use tokio::sync::Semaphore;

/// In how many directories everything happens.
pub(crate) const DIRS: u32 = 6;

/// Makes so many changes through the server, each when there is leave for it.
pub(crate) async fn through_the_server(
    files: Arc<dyn FileSystem>,
    leave: Arc<Semaphore>,
    seed: u64,
    changes: usize,
) {
    let mut dice = SmallRng::seed_from_u64(seed);
    for number in 0..changes {
        leave.acquire().await.unwrap().forget();
        match step(seed, number) {
            Some(step) => assert!(take(&*files, step).await),
            None => while !change(&*files, &mut dice).await {},
        }
    }
}

/// One step in the life of a file that nobody else touches.
enum Step {
    Write(String, &'static str),
    Rename(String, String),
    Remove(String),
}

/// Every fourth change is such a step. Most of what is missed elsewhere is told again when the same
/// few names change once more; who misses the last step of one of these files never learns better.
fn step(writer: u64, number: usize) -> Option<Step> {
    let turn = number / 4;
    let (file, place) = (turn / 4, format!("/kept/{writer}-{}", turn / 4));
    let moved = format!("{place}-moved");
    number.is_multiple_of(4).then(|| match turn % 4 {
        0 => Step::Write(place, "first"),
        1 => Step::Write(place, "second"),
        2 => Step::Rename(place, moved),
        _ if file.is_multiple_of(2) => Step::Remove(moved),
        _ => Step::Write(moved, "third"),
    })
}

async fn take(files: &dyn FileSystem, step: Step) -> bool {
    match step {
        Step::Write(file, content) => put(files, &at(&file), content.to_owned()).await,
        Step::Rename(from, to) => files.rename(&at(&from), &at(&to), Target::New).await.is_ok(),
        Step::Remove(file) => files.remove(&at(&file), Depth::All, If::Always).await.is_ok(),
    }
}

/// One change; whether it was possible.
async fn change(files: &dyn FileSystem, dice: &mut SmallRng) -> bool {
    let (one, other) = (at(&some_path(dice)), at(&some_path(dice)));
    match dice.random_range(0..100) {
        0..50 => put(files, &one, dice.random::<u64>().to_string()).await,
        50..65 => files.remove(&one, Depth::All, If::Always).await.is_ok(),
        65..75 => files.create_dir(&one, Parents::Create).await.is_ok(),
        75..95 => files.rename(&one, &other, Target::Replace).await.is_ok(),
        _ => files.copy(&one, &other, Target::New).await.is_ok(),
    }
}

pub(crate) async fn put(files: &dyn FileSystem, file: &SandboxPath, content: String) -> bool {
    let (mode, parents, expected) = (WriteMode::Replace, Parents::Create, If::Always);
    let options = WriteOptions { mode, parents, expected, length: None };
    let body = Box::pin(futures::stream::iter([Ok(content.into())]));
    files.write(file, body, options).await.is_ok()
}

/// One who changes a directory without asking anybody.
pub(crate) struct Agent {
    pub(crate) root: PathBuf,
    /// A place beside the sandbox, into which things move and from which they come back.
    pub(crate) outside: PathBuf,
}

impl Agent {
    /// Makes so many changes, each when there is leave for it. Blocks.
    pub(crate) fn work(&self, leave: &Semaphore, runtime: &Handle, seed: u64, changes: usize) {
        let mut dice = SmallRng::seed_from_u64(seed);
        for number in 0..changes {
            runtime.block_on(leave.acquire()).unwrap().forget();
            match step(seed, number) {
                Some(step) => self.take(step).unwrap(),
                None => while self.change(&mut dice).is_err() {},
            }
        }
    }

    fn take(&self, step: Step) -> io::Result<()> {
        let place = |path: String| self.root.join(&path[1..]);
        match step {
            Step::Write(file, content) => fs::write(place(file), content),
            Step::Rename(from, to) => fs::rename(place(from), place(to)),
            Step::Remove(file) => fs::remove_file(place(file)),
        }
    }

    /// One change, if it is possible.
    fn change(&self, dice: &mut SmallRng) -> io::Result<()> {
        let mut place = || self.root.join(&some_path(dice)[1..]);
        let (one, other) = (place(), place());
        let content = dice.random::<u64>().to_string();
        let outside = self.outside.join(dice.random_range(0..4).to_string());
        match dice.random_range(0..100) {
            0..25 => fs::write(one, content),
            25..35 => fs::OpenOptions::new().append(true).open(one)?.write_all(content.as_bytes()),
            35..45 => fs::remove_file(one),
            45..52 => fs::remove_dir_all(one),
            52..62 => fs::create_dir(one),
            62..72 => deep(&one, &content, dice),
            72..90 => fs::rename(one, other),
            90..94 => fs::rename(one, outside),
            94..98 => fs::rename(outside, one),
            _ => symlink("n0", one),
        }
    }
}

/// What `mkdir -p` does, with a file at every step, faster than anybody can follow.
fn deep(top: &Path, content: &str, dice: &mut SmallRng) -> io::Result<()> {
    let mut dir = top.to_owned();
    for _ in 0..dice.random_range(1..6) {
        dir.push("deep");
        fs::create_dir_all(&dir)?;
        fs::write(dir.join("f"), content)?;
    }
    Ok(())
}

fn some_path(dice: &mut SmallRng) -> String {
    let mut path = format!("/d{}", dice.random_range(0..DIRS));
    for _ in 0..dice.random_range(1..4) {
        path.push_str(&format!("/n{}", dice.random_range(0..5)));
    }
    path
}

pub(crate) fn at(path: &str) -> SandboxPath {
    SandboxPath::parse(path, DotDot::Refuse).unwrap()
}
