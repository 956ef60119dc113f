//! Watching over a bad line: nobody who is cut off misses a change, or else he is told.
//!
//! Two watch at a time, each over a line of his own that is cut between any two bytes: our client,
//! and what a browser does. Both believe what they are told, and must know everything in the end.

#![expect(clippy::print_stdout, reason = "how often it had to begin anew is a figure to look at")]

mod believer;
mod browser;
mod line;
mod storm;

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use engine::{
    Durability, FileSystem, HostFs, HostOptions, Limits, Mounts, NoticeKind, Parents, Sandbox,
    SandboxId, SandboxPath, Store, Watch,
};
use futures::StreamExt as _;
use rand::rngs::SmallRng;
use rand::{RngExt as _, SeedableRng as _};
use server::{Access, App, Options};
use tokio::net::TcpListener;
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinHandle;

use self::believer::{Believer, picture};
use self::browser::Browser;
use self::line::Line;
use self::storm::{Agent, DIRS, at, put, through_the_server};

/// How often each of those who watch is cut off, and how many changes are made for every cut.
const CUTS: usize = 100;
const CHANGES: usize = 100;
/// How often where another form holds the same promise, unless the long form is asked for.
const FEWER: usize = 25;
/// How many change things at a time.
const WRITERS: usize = 4;
/// How many notices may wait for those who look.
const SEVERAL: usize = 32;
/// How long a line that is to be cut may be quiet before.
const SOON: Duration = Duration::from_millis(100);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_is_cut_off_misses_nothing_of_a_tree_in_memory() {
    let served = Served::store("memory:").await;
    assert_eq!(served.hold_through(CUTS, 1, None).await, [0, 0]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_is_cut_off_misses_nothing_of_a_tree_in_files() {
    let dir = tempfile::tempdir().unwrap();
    let served = Served::store(&format!("file:{}", dir.path().join("store").display())).await;
    assert_eq!(served.hold_through(FEWER, 2, None).await, [0, 0]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_is_cut_off_misses_nothing_of_a_host_directory() {
    let dir = tempfile::tempdir().unwrap();
    let served = Served::directory(dir.path(), vec![dir.path().join("staging")]).await;
    served.hold_through(FEWER, 3, None).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_is_cut_off_misses_nothing_that_an_agent_does_in_a_host_directory() {
    let dir = tempfile::tempdir().unwrap();
    let served = Served::directory(dir.path(), vec![dir.path().join("staging")]).await;
    served.hold_through(CUTS, 4, Some(dir.path())).await;
}

/// A tree behind a real server.
struct Served {
    server: SocketAddr,
    /// The tree as its clients reach it.
    files: Arc<dyn FileSystem>,
    /// The tree itself: whoever is told of something looks at it there, which costs less.
    tree: Arc<dyn FileSystem>,
}

impl Served {
    async fn store(url: &str) -> Self {
        let store = Store::open(url).await.unwrap();
        Self::new(Arc::new(store.create(&id(), Limits::default()).await.unwrap())).await
    }

    async fn directory(outer: &Path, staging: Vec<std::path::PathBuf>) -> Self {
        for name in ["root", "outside"] {
            std::fs::create_dir(outer.join(name)).unwrap();
        }
        let (limits, durability) = (Limits::default(), Durability::Relaxed);
        let options = HostOptions { limits, durability, mounts: Mounts::Stay, staging };
        Self::new(Arc::new(HostFs::open(&outer.join("root"), options).unwrap())).await
    }

    async fn new(tree: Arc<dyn FileSystem>) -> Self {
        let files = Arc::clone(&tree);
        let (prefix, home) = (SandboxPath::root(), SandboxPath::root());
        let sandbox = Sandbox { id: id(), files, prefix, home, is_system: false };
        let app = App::new(sandbox, Options::new(Access::Open)).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = listener.local_addr().unwrap();
        let _serving = tokio::spawn(server::run(listener, app, std::future::pending()));
        Self { server, files: Arc::new(client_of(server)), tree }
    }

    /// Changes the tree while two who watch are cut off so many times each, and holds that both then
    /// know exactly what is there. Gives how often each had to list everything anew.
    async fn hold_through(&self, cuts: usize, seed: u64, agent_in: Option<&Path>) -> [usize; 2] {
        let cuts = if is_long() { CUTS * 10 } else { cuts };
        let dirs = (0..DIRS).map(|dir| format!("/d{dir}"));
        for dir in dirs.chain(["/kept".to_owned()]) {
            self.files.create_dir(&at(&dir), Parents::Create).await.unwrap();
        }
        let lines = [Line::to(self.server).await, Line::to(self.server).await];
        let watches = [by_client(lines[0].address), by_browser(lines[1].address)];
        let last = at("/last");
        let mut believers = Vec::new();
        for notices in watches {
            let believer = Believer::new(Arc::clone(&self.tree), notices).await;
            believers.push(tokio::spawn(believer.hear_out(last.clone())));
        }
        let leave = Arc::new(Semaphore::new(0));
        let writers = self.writers(cuts * CHANGES / WRITERS, seed, agent_in, &leave);
        let cutters = [0, 1].map(|who| {
            let (line, leave) = (lines[who].clone(), Arc::clone(&leave));
            tokio::spawn(cut_again_and_again(line, cuts, leave, seed * 10 + who as u64))
        });
        for work in writers.into_iter().chain(cutters) {
            work.await.unwrap();
        }
        // What was done before this file was made is told before it, but for what is still moving.
        assert!(put(&*self.files, &last, "1".to_owned()).await);
        let mut resyncs = [0; 2];
        let truth = picture(&*self.files).await;
        for (who, believer) in believers.into_iter().enumerate() {
            let believer = believer.await.unwrap();
            believer.knows(["client", "browser"][who], &truth);
            let (told, cut) = (believer.told, lines[who].cuts());
            println!("{cut} cuts, {told} notices, {} resyncs", believer.resyncs);
            assert_eq!(cut, cuts);
            resyncs[who] = believer.resyncs;
        }
        resyncs
    }

    fn writers(
        &self,
        each: usize,
        seed: u64,
        agent_in: Option<&Path>,
        leave: &Arc<Semaphore>,
    ) -> Vec<JoinHandle<()>> {
        let writer = |number: usize| {
            let (leave, seed) = (Arc::clone(leave), seed * 100 + number as u64);
            // Half of them ask nobody, where that is possible.
            if let Some(outer) = agent_in.filter(|_| number.is_multiple_of(2)) {
                let agent = Agent { root: outer.join("root"), outside: outer.join("outside") };
                let runtime = Handle::current();
                return tokio::task::spawn_blocking(move || {
                    agent.work(&leave, &runtime, seed, each);
                });
            }
            tokio::spawn(through_the_server(Arc::clone(&self.files), leave, seed, each))
        };
        (0..WRITERS).map(writer).collect()
    }
}

/// Cuts a line, and gives leave for some changes every time: they are spread over all cuts.
async fn cut_again_and_again(line: Line, cuts: usize, leave: Arc<Semaphore>, seed: u64) {
    let mut dice = SmallRng::seed_from_u64(seed);
    for _ in 0..cuts {
        leave.add_permits(CHANGES / 2);
        // Some are cut off before they hear the first word.
        let bytes = if dice.random_ratio(1, 5) { 700 } else { 20_000 };
        line.cut(dice.random_range(0..bytes), SOON).await;
    }
}

/// What our client is told, which comes back by itself.
fn by_client(server: SocketAddr) -> mpsc::Receiver<NoticeKind> {
    let (tell, told) = mpsc::channel(SEVERAL);
    let _watching = tokio::spawn(async move {
        let wish = Watch { recursive: true, after: None };
        let mut stream = client_of(server).watch(&SandboxPath::root(), wish).await.unwrap();
        while let Some(notice) = stream.next().await {
            if tell.send(notice.unwrap().kind).await.is_err() {
                return;
            }
        }
    });
    told
}

/// What a browser is told.
fn by_browser(server: SocketAddr) -> mpsc::Receiver<NoticeKind> {
    let (tell, told) = mpsc::channel(SEVERAL);
    let _watching = tokio::spawn(async move {
        let mut browser = Browser::new(server, "/v1/sandboxes/trial/fs-watch");
        while tell.send(browser.next().await).await.is_ok() {}
    });
    told
}

fn client_of(server: SocketAddr) -> client::SandboxFs {
    client::Server::connect(&format!("http://{server}"), None).unwrap().sandbox(&id())
}

fn id() -> SandboxId {
    SandboxId::parse("trial").unwrap()
}

/// Whether the long form is asked for.
fn is_long() -> bool {
    std::env::var_os("SANDKEEP_LONG").is_some()
}
