//! A process that is killed at any moment.

use std::collections::BTreeMap;
use std::env;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use rand::RngExt as _;
use sandkeep_storage::{ErrorKind, frame};

use super::mortal::{self, LANES, PARTS, content, count, part, root};
use super::promises;
use super::store::{Store, is_server};

promises! {
    a_store_that_another_process_has_open_is_refused needs Lasts, Exclusive;
    what_a_killed_process_acknowledged_is_there_and_nothing_is_torn needs Lasts;
}

async fn a_store_that_another_process_has_open_is_refused(store: Store) {
    let url = store.url.clone();
    drop(store);
    let process = Mortal::start(&url);
    let err = Store::try_open(&url).await.map(drop).unwrap_err();
    assert_eq!(err.kind(), ErrorKind::InUse);
    process.kill();
    Store::open(&url).await;
}

async fn what_a_killed_process_acknowledged_is_there_and_nothing_is_torn(store: Store) {
    let url = store.url.clone();
    drop(store);
    let mut seen = [0; LANES as usize];
    let (mut acknowledged, mut slowest) = (0, Duration::ZERO);
    let rounds = rounds(&url);
    // A server that keeps other promises at the same time takes its time.
    let longest = if is_server(&url) { 3000 } else { 200 };
    for round in 0..rounds {
        let process = Mortal::start(&url);
        thread::sleep(Duration::from_millis(rand::rng().random_range(0..longest)));
        let told = process.kill();
        let begin = Instant::now();
        let store = Store::for_trial(&url).await;
        slowest = slowest.max(begin.elapsed());
        for (lane, seen) in (0..LANES).zip(&mut seen) {
            let told = told.get(&lane).copied().unwrap_or(*seen);
            acknowledged += told - *seen;
            *seen = check(&store, lane, *seen, told, round).await;
        }
    }
    println!("{rounds} kills, {acknowledged} commits acknowledged, slowest open {slowest:?}");
    assert!(acknowledged > rounds, "too little was under way");
    let store = Store::for_trial(&url).await;
    for (lane, seen) in (0..LANES).zip(seen) {
        check(&store, lane, 0, seen, rounds).await;
    }
}

/// A lane has what was acknowledged and all that its ref points at; says what the ref tells.
async fn check(store: &Store, lane: u8, from: u32, told: u32, round: u32) -> u32 {
    let last = store.load(&root(lane)).await.unwrap().map_or(0, |root| count(&root.value));
    assert!(last >= told, "round {round}, lane {lane}: {told} was acknowledged, {last} is there");
    assert!(last <= told + 1, "round {round}, lane {lane}: {last} was never begun");
    for number in from + 1..=last {
        let keys: Vec<_> = (0..PARTS).map(|at| part(lane, number, at)).collect();
        for (at, stored) in (0..PARTS).zip(store.get_many(&keys).await.unwrap()) {
            let stored = stored.unwrap_or_else(|| panic!("lane {lane}: {number} lacks {at}"));
            assert!(frame::open(&stored).unwrap() == content(number, at), "{number} is torn");
        }
    }
    if store.capabilities().one_step_commit {
        let listed = store.listed(part(lane, 0, 0).domain).await;
        assert_eq!(listed.len(), (last * PARTS) as usize, "round {round}, lane {lane}: half");
    }
    last
}

/// How often the process is killed. The long form is for a run by hand.
#[expect(clippy::disallowed_methods, reason = "the long form is asked for from outside")]
fn rounds(url: &str) -> u32 {
    // Opening a store that is a server takes longer, and leaves nothing to repair.
    match (is_server(url), env::var_os("SANDKEEP_LONG").is_some()) {
        (false, true) => 200,
        (true, true) => 50,
        (false, false) => 20,
        (true, false) => 5,
    }
}

/// A process that commits until it is killed.
struct Mortal {
    process: Child,
    told: mpsc::Receiver<(u8, u32)>,
}

impl Mortal {
    /// Starts it, and waits until it has the store open.
    fn start(url: &str) -> Self {
        let mut process = Command::new(env::current_exe().unwrap())
            .args([mortal::MODE, url])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        assert_eq!(lines.next().unwrap().unwrap(), "open");
        let (tell, told) = mpsc::channel();
        thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                let (lane, number) = line.split_once(' ').unwrap();
                tell.send((lane.parse().unwrap(), number.parse().unwrap())).unwrap();
            }
        });
        Self { process, told }
    }

    /// Kills it, and says which commit of each lane was the last that it acknowledged.
    fn kill(mut self) -> BTreeMap<u8, u32> {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
        self.told.iter().collect()
    }
}
