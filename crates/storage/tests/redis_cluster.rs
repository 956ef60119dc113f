//! A Redis cluster keeps every promise too.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a promise that is not kept is a panic, which is how a test fails"
)]
#![expect(clippy::print_stdout, reason = "the killed process tells, and the crashes say figures")]

mod promises;

use std::env;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use libtest_mimic::{Arguments, Failed, Trial};
use promises::{Ability, Backend, Home, mortal, trials};
use sandkeep_storage::{
    self as storage, Domain, Expected, ObjectId, ObjectKey, RefKey, Storage, Swap, frame,
};
use servers::{Kind, Server, together};
use tokio::sync::Barrier;

/// Each server has a password of its own; these users are known to all of them.
const USERS: [&str; 2] =
    ["user everywhere on >same ~* &* +@all", "user limited on >same ~{busy:* +@all -info -config"];

fn main() {
    // The crash test starts this program again, as the process that is killed.
    if let [_, mode, url] = &env::args().collect::<Vec<_>>()[..]
        && mode == mortal::MODE
    {
        return mortal::live(url);
    }
    let arguments = Arguments::from_args();
    let trials = vec![
        Trial::test("a_cluster_keeps_every_promise", || together(all())),
        Trial::test("nothing_is_lost_while_keys_move", || commits_go_on(Cluster::move_keys)),
        Trial::test("nothing_is_lost_while_servers_restart", || commits_go_on(Cluster::restart)),
    ];
    libtest_mimic::run(&arguments, trials).exit();
}

/// Every promise, each on a store of its own of one cluster.
fn all() -> Vec<Trial> {
    let (cluster, stores) = (Cluster::start(), AtomicU32::new(0));
    let home = move || {
        let number = stores.fetch_add(1, Ordering::Relaxed);
        Home { url: cluster.url("everywhere", &format!("trial-{number}")), alive: Box::new(()) }
    };
    trials(&Backend::new("redis_cluster", &[Ability::Lasts], home))
}

/// Many commit before, during and after some trouble; whatever was acknowledged is there.
fn commits_go_on(trouble: fn(&mut Cluster)) -> Result<(), Failed> {
    let mut cluster = Cluster::start();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let storage = runtime.block_on(storage::open(&cluster.url("limited", "busy")))?;
    let phase = Arc::new(Phase::new());
    let lanes = (0..LANES)
        .map(|lane| runtime.spawn(commit(Arc::clone(&phase), Arc::clone(&storage), lane)));
    let lanes: Vec<_> = lanes.collect();
    runtime.block_on(phase.trouble_begins.wait());
    trouble(&mut cluster);
    phase.trouble_is_over.store(true, Ordering::Release);
    let mut total = 0;
    for (lane, commits) in (0..LANES).zip(lanes) {
        let commits = runtime.block_on(commits)?;
        total += commits;
        let now = runtime.block_on(storage.load(&root(lane)))?.unwrap();
        assert_eq!(now.value, (commits - 1).to_string());
        for number in 0..commits {
            let object = runtime.block_on(storage.get(&object(lane, number)))?;
            assert!(object.is_some(), "lane {lane} lacks {number}");
        }
    }
    assert!(total > u32::from(LANES) * 2 * CALM, "nothing was under way");
    Ok(())
}

/// How many commit at once, each to a ref and a domain of its own.
const LANES: u8 = 16;
/// How often each commits before the trouble, and after it.
const CALM: u32 = 10;

/// Where in its course the trouble is.
struct Phase {
    trouble_begins: Barrier,
    trouble_is_over: AtomicBool,
}

impl Phase {
    fn new() -> Self {
        let trouble_begins = Barrier::new(usize::from(LANES) + 1);
        Self { trouble_begins, trouble_is_over: AtomicBool::new(false) }
    }
}

/// Commits until some time after the trouble; says how often it did.
async fn commit(phase: Arc<Phase>, storage: Arc<dyn Storage>, lane: u8) -> u32 {
    let (key, mut expected) = (root(lane), Expected::Absent);
    let (mut number, mut calm) = (0_u32, 0);
    while calm < 2 * CALM {
        let objects = vec![(object(lane, number), frame::seal(&number.to_le_bytes()))];
        let value = number.to_string().into();
        match storage.commit(objects, &key, &expected, value).await.unwrap() {
            Swap::Won(token) => expected = Expected::Token(token),
            Swap::Lost(current) => panic!("lost to {current:?}"),
        }
        number += 1;
        if calm < CALM || phase.trouble_is_over.load(Ordering::Acquire) {
            calm += 1;
        }
        if number == CALM {
            phase.trouble_begins.wait().await;
        }
    }
    number
}

fn root(lane: u8) -> RefKey {
    RefKey::new(&format!("lane/{lane}")).unwrap()
}

fn object(lane: u8, number: u32) -> ObjectKey {
    let mut id = [0; 32];
    id[..4].copy_from_slice(&number.to_be_bytes());
    ObjectKey { domain: Domain([lane * 16; 16]), id: ObjectId(id) }
}

/// Three servers that are one store.
struct Cluster {
    servers: [Server; 3],
}

impl Cluster {
    fn start() -> Self {
        let how = ["cluster-enabled yes", "cluster-node-timeout 5000", "appendfsync always"];
        let lines = [&how[..], &USERS].concat();
        let cluster = Self { servers: [0; 3].map(|_| Server::start_with(Kind::Redis, &lines)) };
        redis_cli(&["--cluster", "create", "--cluster-yes"], &cluster.nodes());
        cluster.wait_until_well();
        cluster
    }

    fn nodes(&self) -> Vec<String> {
        self.servers.iter().map(|server| server.address().to_string()).collect()
    }

    fn url(&self, user: &str, prefix: &str) -> String {
        let nodes = self.nodes().join(",");
        format!("redis://{user}:same@{nodes}/?cluster=true&prefix={prefix}")
    }

    /// Waits until each server knows all and finds nothing wrong.
    fn wait_until_well(&self) {
        let begin = Instant::now();
        let is_well = |server: &Server| {
            let state = on(server, &["cluster", "info"]);
            state.contains("cluster_state:ok") && state.contains("cluster_known_nodes:3")
        };
        while !self.servers.iter().all(is_well) {
            assert!(begin.elapsed() < Duration::from_secs(60), "the cluster is not well");
            thread::sleep(Duration::from_millis(100));
        }
    }

    /// Moves half of what the first server has to the second.
    fn move_keys(&mut self) {
        let [from, to, _] = &self.servers;
        let ids = [from, to].map(|server| on(server, &["cluster", "myid"]).trim().to_owned());
        let [from_id, to_id] = &ids;
        let reshard = ["--cluster", "reshard", "--cluster-yes", "--cluster-slots", "2700"];
        let who = ["--cluster-from", from_id, "--cluster-to", to_id];
        redis_cli(&[&reshard[..], &who].concat(), &[from.address().to_string()]);
    }

    /// Kills each server once, and starts it again.
    fn restart(&mut self) {
        for number in 0..self.servers.len() {
            self.servers[number].restart();
            self.wait_until_well();
        }
    }
}

fn on(server: &Server, command: &[&str]) -> String {
    let (host, port) = (server.address().ip().to_string(), server.address().port().to_string());
    redis_cli(&[&["-h", &host, "-p", &port], command].concat(), &[])
}

fn redis_cli(command: &[&str], nodes: &[String]) -> String {
    let mut redis_cli = Command::new("redis-cli");
    redis_cli.env("REDISCLI_AUTH", "same").args(["--user", "everywhere"]);
    let output = redis_cli.args(command).args(nodes).output().unwrap();
    let words = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "redis-cli fails:\n{words}");
    words
}
