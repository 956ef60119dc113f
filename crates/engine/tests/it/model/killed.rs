//! Sequences of operations in the middle of which the process is killed. Every operation that it
//! acknowledged is there, the one that it was at is there or is not, and the sequence goes on.

#![expect(clippy::print_stderr, reason = "how often it was killed, and which sequence went wrong")]

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};

use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use sandkeep_engine::SandboxId;

use super::compare::{Kept, Pair};
use super::home::Home;
use super::one_thread;
use super::operation::{Operation, a_sequence};
use crate::contents::sandbox;
use crate::fixture::memory_dir;
use crate::long;

/// Where the process that will be killed keeps its store, and which sequences it shall try.
const PLAN: &str = "SANDKEEP_KILLED_MODEL";
/// What it says when it goes on to the next operation.
const NEXT: &str = "next";
const SEQUENCES: u64 = 3_000;
const LONGEST: usize = 8;

/// What the process that is killed shall do, and whoever looks after it does again.
#[derive(Clone, Debug)]
struct Plan {
    url: String,
    /// All sequences follow from it and their numbers.
    seed: u64,
    first: u64,
}

impl Plan {
    fn parse(text: &str) -> Self {
        let words: Vec<&str> = text.splitn(3, ' ').collect();
        let (seed, first) = (words[0].parse().unwrap(), words[1].parse().unwrap());
        Self { url: words[2].to_owned(), seed, first }
    }

    fn text(&self) -> String {
        format!("{} {} {}", self.seed, self.first, self.url)
    }

    fn sequence(&self, number: u64) -> Vec<Operation> {
        let mut seed = [0; 16];
        seed[..8].copy_from_slice(&self.seed.to_be_bytes());
        seed[8..].copy_from_slice(&number.to_be_bytes());
        let dice = TestRng::from_seed(RngAlgorithm::XorShift, &seed);
        let mut runner = TestRunner::new_with_rng(Config::default(), dice);
        a_sequence(LONGEST).new_tree(&mut runner).unwrap().current()
    }
}

fn id(number: u64) -> SandboxId {
    sandbox(&format!("sequence-{number}"))
}

/// How many operations of a sequence come before the process is killed.
fn cut(number: u64, operations: &[Operation]) -> usize {
    (number.wrapping_mul(0x9E37_79B9) >> 7) as usize % (operations.len() + 1)
}

/// Not a test: the process that is killed. It begins one sequence after the other.
#[test]
#[ignore = "it runs until it is killed"]
#[expect(clippy::disallowed_methods, reason = "whoever starts it says what in the environment")]
fn begins_sequences_until_it_is_killed() {
    let plan = Plan::parse(&std::env::var(PLAN).unwrap());
    one_thread().block_on(async {
        let mut home = Home::in_files(&plan.url, &format!("begun-{}-", plan.first)).await;
        for number in plan.first.. {
            let operations = plan.sequence(number);
            let mut pair = Pair::named(&mut home, id(number)).await;
            say(&format!("{number} 0"));
            for (at, operation) in operations[..cut(number, &operations)].iter().enumerate() {
                pair.apply(operation).await;
                say(&format!("{number} {}", at + 1));
                pair.check().await;
                say(NEXT);
            }
        }
    });
}

/// One line in one write, so that what is read of it is whole.
fn say(line: &str) {
    std::io::stdout().lock().write_all(format!("\n{line}\n").as_bytes()).unwrap();
}

/// Starts a process, kills it when it has done so many operations and is at the next, and gives how
/// many it acknowledged of each sequence, to the last.
fn killed(plan: &Plan, operations: usize) -> BTreeMap<u64, usize> {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "model::killed::begins_sequences_until_it_is_killed", "--ignored"])
        .args(["--nocapture", "--quiet"])
        .env(PLAN, plan.text())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let (mut told, mut done) = (Vec::new(), 0);
    while done < operations {
        let Some(line) = lines.next() else { break };
        done += usize::from(line == NEXT);
        told.push(line);
    }
    // This is SIGKILL. It strikes wherever the process is by now.
    child.kill().unwrap();
    let status = child.wait().unwrap();
    told.extend(lines);
    let pair = |line: &String| {
        let (number, acknowledged) = line.split_once(' ')?;
        Some((number.parse().ok()?, acknowledged.parse().ok()?))
    };
    let told: BTreeMap<u64, usize> = told.iter().filter_map(pair).collect();
    if status.code().is_some() {
        let (number, at) = told.last_key_value().unwrap_or((&plan.first, &0));
        panic!("{plan:?}: wrong at {at} or next to it in {:#?}", plan.sequence(*number));
    }
    told
}

/// What a tree that was killed may be: all that was acknowledged, and perhaps one operation more.
/// The same on a tree in memory says what that is.
async fn expected(memory: &mut Home, operations: &[Operation], acknowledged: usize) -> [Kept; 2] {
    let mut pair = Pair::new(memory).await;
    for operation in &operations[..acknowledged] {
        pair.apply(operation).await;
        pair.check().await;
    }
    let least = pair.kept();
    if let Some(operation) = operations.get(acknowledged) {
        pair.apply(operation).await;
    }
    let most = pair.kept();
    pair.end().await;
    [least, most]
}

/// A sequence that a process had begun when it was killed.
struct Begun {
    number: u64,
    acknowledged: usize,
    /// Whether the process was at this one.
    is_last: bool,
}

impl Begun {
    /// Goes on with the sequence; tells whether there was more than was acknowledged.
    async fn finish(&self, home: &mut Home, memory: &mut Home, operations: &[Operation]) -> bool {
        let [least, most] = expected(memory, operations, self.acknowledged).await;
        let files = home.sandbox(&id(self.number)).await;
        let is_more = self.is_last && !least.is_in(&files).await;
        drop(files);
        let kept = if is_more { most } else { least };
        let mut pair = Pair::found(home, id(self.number), kept).await;
        for operation in &operations[self.acknowledged + usize::from(is_more)..] {
            pair.apply(operation).await;
            pair.check().await;
        }
        pair.check_all().await;
        pair.end().await;
        is_more
    }
}

/// Says which sequence it was that something is wrong with.
struct Culprit<'a>(&'a Plan, &'a Begun, &'a [Operation]);

impl Drop for Culprit<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let Self(plan, begun, operations) = self;
            eprintln!("{plan:?}: killed after {} of {operations:#?}", begun.acknowledged);
        }
    }
}

/// Finishes all sequences that a killed process had begun; tells as [`Begun::finish`] does.
async fn finish_all(plan: &Plan, told: &BTreeMap<u64, usize>, memory: &mut Home) -> bool {
    let mut home = Home::in_files(&plan.url, &format!("finished-{}-", plan.first)).await;
    // Half of a commit is garbage, and nothing that was acknowledged is.
    home.collect().await;
    let (last, mut is_more) = (told.last_key_value().map(|(number, _)| *number), false);
    for (&number, &acknowledged) in told {
        let operations = plan.sequence(number);
        let begun = Begun { number, acknowledged, is_last: Some(number) == last };
        let _culprit = Culprit(plan, &begun, &operations);
        is_more |= begun.finish(&mut home, memory, &operations).await;
    }
    // What is left was being made when the process was killed.
    home.forget_all().await;
    is_more
}

#[test]
fn a_tree_in_files_does_what_a_map_of_paths_does_though_its_process_is_killed() {
    let (runtime, mut dir) = (one_thread(), memory_dir());
    let mut plan = Plan { url: String::new(), seed: rand::random(), first: 0 };
    let (mut memory, mut kills, mut more) = (Home::in_memory(), 0_u32, 0);
    while plan.first < SEQUENCES * u64::from(long::factor()) {
        // A store is killed several times, but the longer its journal, the slower it opens.
        if kills.is_multiple_of(3) {
            dir = memory_dir();
            plan.url = format!("file:{}", dir.path().join("store").display());
        }
        let told = killed(&plan, rand::random_range(1..500));
        more += u32::from(runtime.block_on(finish_all(&plan, &told, &mut memory)));
        plan.first += told.len() as u64;
        kills += 1;
    }
    drop(dir);
    eprintln!(
        "model: {} sequences on files, {kills} kills, {more} of them between a commit and its \
         acknowledgement",
        plan.first
    );
}
