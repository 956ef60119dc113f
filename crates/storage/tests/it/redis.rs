//! What only a store in Redis goes through, on real servers.

#![expect(clippy::panic, reason = "what goes wrong in a test is a failed test")]

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use rand::Rng as _;
use sandkeep_storage::{
    self as storage, Domain, ErrorKind, Expected, ObjectId, ObjectKey, RefKey, Storage, Swap,
    Token, frame,
};
use servers::{Kind, Proxy, Server, Trouble};
use tokio::task::block_in_place;
use tokio::time::timeout;

#[tokio::test]
async fn a_commit_is_one_round_trip() {
    let server = Server::start(Kind::Redis);
    let proxy = Proxy::to(server.address());
    let storage = storage::open(&server.url_via(proxy.address(), "counted")).await.unwrap();
    assert!(storage.capabilities().one_step_commit);
    let mut expected = commit(&storage, 0, Expected::Absent).await;
    proxy.reset_traffic();
    for number in 1..=10 {
        expected = commit(&storage, number, expected).await;
    }
    let traffic = proxy.traffic();
    assert_eq!(traffic.round_trips, 10, "{traffic:?}");
    assert!(traffic.sent < 10 * 1000, "{traffic:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_synced_outlives_redis() {
    let mut server = Server::start_with(Kind::Redis, &["appendfsync always"]);
    let url = format!("{}&durability=fsync", server.url("killed"));
    let storage = storage::open(&url).await.unwrap();
    let acknowledged = Arc::new(AtomicU32::new(0));
    let committing = tokio::spawn(commit_for_ever(Arc::clone(&storage), Arc::clone(&acknowledged)));
    for _ in 0..4 {
        let before = acknowledged.load(Ordering::Acquire);
        while acknowledged.load(Ordering::Acquire) < before + 50 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        block_in_place(|| server.kill());
        // One may be under way, but none is acknowledged by a server that is dead.
        let last = acknowledged.load(Ordering::Acquire);
        block_in_place(|| server.restart());
        let now = storage::open(&url).await.unwrap().load(&root()).await.unwrap().unwrap();
        assert!(number(&now.value) >= last, "{last} was acknowledged, {:?} is there", now.value);
    }
    committing.abort();
    for number in 0..=acknowledged.load(Ordering::Acquire) {
        assert!(storage.get(&object(number)).await.unwrap().is_some(), "{number} is missing");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_that_break_are_made_anew() {
    let server = Server::start(Kind::Redis);
    let proxy = Proxy::to(server.address());
    let storage = storage::open(&server.url_via(proxy.address(), "cut")).await.unwrap();
    let mut expected = commit(&storage, 0, Expected::Absent).await;
    for number in 1..20 {
        proxy.cut_all();
        expected = commit(&storage, number, expected).await;
    }
    proxy.set(Trouble { cut: 0.2, refuse: 0.2, ..Trouble::default() });
    for number in 20..60 {
        expected = commit(&storage, number, expected).await;
    }
    let now = storage.load(&root()).await.unwrap().unwrap();
    assert_eq!(number(&now.value), 59);
}

#[tokio::test]
async fn who_gave_up_on_a_silent_connection_leaves_it_to_nobody() {
    let server = Server::start(Kind::Redis);
    let proxy = Proxy::to(server.address());
    let storage = storage::open(&server.url_via(proxy.address(), "silent")).await.unwrap();
    let expected = commit(&storage, 0, Expected::Absent).await;
    let long = Duration::from_secs(1_000_000);
    proxy.set(Trouble { stall: 1.0, stall_time: long, ..Trouble::default() });
    timeout(Duration::from_millis(1500), storage.load(&root())).await.unwrap_err();
    proxy.set(Trouble::default());
    let begin = Instant::now();
    commit(&storage, 1, expected).await;
    assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
}

#[tokio::test]
async fn scripts_that_the_server_forgot_are_told_again() {
    let server = Server::start(Kind::Redis);
    let storage = storage::open(&server.url("flushed")).await.unwrap();
    let forget = || redis_cli(&server, &["script", "flush", "sync"]);
    forget();
    let mut expected = Expected::Absent;
    for number in 0..5 {
        expected = commit(&storage, number, expected).await;
        forget();
    }
    let listed = storage.list(Some(DOMAIN), None, 10).await.unwrap();
    let listed: Vec<_> = listed.into_iter().map(|object| (object.key, object.token)).collect();
    assert_eq!(storage.delete_exact(&listed).await.unwrap(), 5);
    forget();
    let Expected::Token(token) = expected else { panic!("nothing was committed") };
    assert!(storage.delete_ref(&root(), &token).await.unwrap());
}

#[tokio::test]
async fn a_wrong_password_is_refused_at_once_and_not_told() {
    let server = Server::start(Kind::Redis);
    let address = server.address();
    for url in [format!("redis://:hunter2@{address}"), format!("redis://me:hunter2@{address}")] {
        let begin = Instant::now();
        let err = storage::open(&url).await.unwrap_err();
        assert_eq!(err.kind(), ErrorKind::InvalidUrl);
        assert!(err.to_string().contains("REDIS_PASSWORD"), "{err}");
        assert!(!format!("{err:?}").contains("hunter2"), "{err:?}");
        assert!(begin.elapsed() < Duration::from_secs(3), "{:?}", begin.elapsed());
    }
    let err = storage::open(&format!("redis://{address}")).await.unwrap_err();
    assert_eq!(err.kind(), ErrorKind::InvalidUrl);
}

#[tokio::test]
async fn an_encrypted_connection_works() {
    let server = Server::start_tls(Kind::Redis);
    let storage = storage::open(&server.url("encrypted")).await.unwrap();
    commit(&storage, 0, Expected::Absent).await;
    assert!(storage.get(&object(0)).await.unwrap().is_some());
}

#[tokio::test]
async fn a_server_whose_certificate_nobody_vouches_for_is_refused() {
    let server = Server::start_tls(Kind::Redis);
    let other = Server::start_tls(Kind::Redis);
    let url = server.url("distrusted");
    let stranger = parameter(&other.url("x"), "cacert");
    let url = url.replace(&parameter(&url, "cacert"), &stranger);
    let err = storage::open(&url).await.unwrap_err();
    assert_eq!(err.kind(), ErrorKind::InvalidUrl);
    assert!(err.to_string().contains("cacert"), "{err}");
}

#[tokio::test]
async fn a_server_that_evicts_is_refused() {
    let limit = "maxmemory 100mb";
    let server = Server::start_with(Kind::Redis, &[limit, "maxmemory-policy allkeys-lru"]);
    let err = storage::open(&server.url("evicting")).await.unwrap_err();
    assert_eq!(err.kind(), ErrorKind::Unsafe);
    assert!(err.to_string().contains("maxmemory-policy noeviction"), "{err}");
    redis_cli(&server, &["config", "set", "maxmemory-policy", "noeviction"]);
    storage::open(&server.url("keeping")).await.unwrap();
}

#[tokio::test]
async fn a_server_without_a_journal_is_refused_unless_that_is_wanted() {
    let server = Server::start_with(Kind::Redis, &["appendonly no"]);
    let url = server.url("forgetful");
    let err = storage::open(&url).await.unwrap_err();
    assert_eq!(err.kind(), ErrorKind::Unsafe);
    assert!(err.to_string().contains("appendonly yes"), "{err}");
    storage::open(&format!("{url}&durability=none")).await.unwrap();
}

#[tokio::test]
async fn a_server_that_may_not_be_asked_is_trusted() {
    let user = "user limited on >secret ~{quiet:* +@all -info -config";
    let server = Server::start_with(Kind::Redis, &["appendonly no", user]);
    let url = format!("redis://limited:secret@{}/?prefix=quiet", server.address());
    let storage = storage::open(&url).await.unwrap();
    commit(&storage, 0, Expected::Absent).await;
    let err = storage::open(&url.replace("quiet", "other")).await.unwrap_err();
    assert_eq!(err.kind(), ErrorKind::InvalidUrl);
    assert!(err.to_string().contains("must be allowed"), "{err}");
}

#[tokio::test]
async fn a_cluster_is_called_one_and_nothing_else_is() {
    let part = Server::start_with(Kind::Redis, &["cluster-enabled yes"]);
    let err = storage::open(&part.url("part")).await.unwrap_err();
    assert_eq!(err.kind(), ErrorKind::InvalidUrl);
    assert!(err.to_string().contains("add cluster=true"), "{err}");
    let server = Server::start(Kind::Redis);
    let err = storage::open(&format!("{}&cluster=true", server.url("whole"))).await.unwrap_err();
    assert_eq!(err.kind(), ErrorKind::InvalidUrl, "{err:?}");
    assert!(err.to_string().contains("leave out cluster=true"), "{err}");
}

#[tokio::test]
async fn a_sync_after_every_change_needs_a_server_that_can() {
    let server = Server::start(Kind::Redis);
    let can_wait = redis_cli(&server, &["command", "info", "waitaof"]).contains("waitaof");
    let opened = storage::open(&format!("{}&durability=fsync", server.url("synced"))).await;
    assert_eq!(opened.is_ok(), can_wait);
    match opened {
        Ok(storage) => drop(commit(&storage, 0, Expected::Absent).await),
        Err(err) => assert_eq!(err.kind(), ErrorKind::Unsafe),
    }
}

#[tokio::test]
async fn a_server_that_syncs_no_longer_is_found_out_by_the_next_commit() {
    let server = Server::start_with(Kind::Redis, &["appendfsync always"]);
    let can_wait = redis_cli(&server, &["command", "info", "waitaof"]).contains("waitaof");
    let url = format!("{}&durability=fsync", server.url("relaxed"));
    let storage = storage::open(&url).await.unwrap();
    let expected = commit(&storage, 0, Expected::Absent).await;
    redis_cli(&server, &["config", "set", "appendfsync", "everysec"]);
    let swap = storage.commit(Vec::new(), &root(), &expected, "1".into()).await;
    assert_eq!(swap.is_ok(), can_wait, "{swap:?}");
    if let Err(err) = swap {
        assert_eq!(err.kind(), ErrorKind::Unsafe);
        assert!(err.to_string().contains("appendfsync always"), "{err}");
    }
}

#[tokio::test]
async fn a_sync_with_every_commit_takes_no_round_trip_more() {
    let server = Server::start_with(Kind::Redis, &["appendfsync always"]);
    let proxy = Proxy::to(server.address());
    let url = format!("{}&durability=fsync", server.url_via(proxy.address(), "counted"));
    let storage = storage::open(&url).await.unwrap();
    let mut expected = commit(&storage, 0, Expected::Absent).await;
    proxy.reset_traffic();
    for number in 1..=10 {
        expected = commit(&storage, number, expected).await;
    }
    let traffic = proxy.traffic();
    assert_eq!(traffic.round_trips, 10, "{traffic:?}");
}

#[tokio::test]
async fn a_server_that_keeps_less_than_the_one_before_is_refused() {
    let server = Server::start_with(Kind::Redis, &["maxmemory 100mb"]);
    let storage = storage::open(&server.url("failed-over")).await.unwrap();
    let mut expected = commit(&storage, 0, Expected::Absent).await;
    for (setting, less, enough) in
        [("appendonly", "no", "yes"), ("maxmemory-policy", "allkeys-lru", "noeviction")]
    {
        let fail_over = |value| {
            redis_cli(&server, &["config", "set", setting, value]);
            redis_cli(&server, &["client", "kill", "type", "normal"]);
        };
        fail_over(less);
        let swap = storage.commit(Vec::new(), &root(), &expected, "1".into()).await;
        // Of a first try over the old connection nobody would know what became.
        let err = swap.unwrap_err();
        assert!(matches!(err.kind(), ErrorKind::Unsafe | ErrorKind::Unavailable), "{err}");
        assert!(err.to_string().contains(setting), "{setting} {less}: {err}");
        let read = storage.load(&root()).await.unwrap_err();
        assert_eq!(read.kind(), ErrorKind::Unsafe);
        assert!(read.to_string().contains(setting), "{read}");
        fail_over(enough);
        expected = commit(&storage, 1, expected).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_that_too_few_replicas_have_is_not_acknowledged() {
    let server = Server::start(Kind::Redis);
    let follow = format!("replicaof {} {}", server.address().ip(), server.address().port());
    let secret = format!("masterauth {}", password(&server));
    let mut replica = Server::start_with(Kind::Redis, &[&follow, &secret]);
    let url = server.url("replicated");
    let storage = storage::open(&format!("{url}&replicas=1")).await.unwrap();
    let expected = commit(&storage, 0, Expected::Absent).await;
    block_in_place(|| replica.kill());
    let impatient = storage::open(&format!("{url}&replicas=1&patience=1")).await.unwrap_err();
    assert_eq!(impatient.kind(), ErrorKind::Unavailable);
    let late = tokio::spawn(async move { commit(&storage, 1, expected).await });
    block_in_place(|| replica.restart());
    late.await.unwrap();
}

#[tokio::test]
async fn a_full_memory_is_told_and_can_be_freed() {
    let server = Server::start_with(Kind::Redis, &["maxmemory 20mb"]);
    let storage = storage::open(&server.url("full")).await.unwrap();
    let mut expected = commit(&storage, 0, Expected::Absent).await;
    let (refused, err) = loop {
        let next = number(&storage.load(&root()).await.unwrap().unwrap().value) + 1;
        let objects = vec![(object(next), frame::seal(&noise(1 << 20)))];
        match storage.commit(objects, &root(), &expected, next.to_string().into()).await {
            Ok(swap) => expected = Expected::Token(won(swap)),
            Err(err) => break (next, err),
        }
        assert!(next < 40, "20 MiB hold {next}");
    };
    assert_eq!(err.kind(), ErrorKind::Full);
    assert_eq!(storage.get(&object(refused)).await.unwrap(), None);
    let listed = storage.list(Some(DOMAIN), None, 100).await.unwrap();
    let listed: Vec<_> = listed.into_iter().map(|object| (object.key, object.token)).collect();
    assert_eq!(storage.delete_exact(&listed).await.unwrap(), u64::from(refused));
    commit(&storage, refused, expected).await;
}

#[tokio::test]
async fn the_largest_objects_are_kept() {
    let server = Server::start(Kind::Redis);
    let storage = storage::open(&server.url("large")).await.unwrap();
    let content = noise(frame::MAX_PLAIN);
    let objects = (0..3).map(|number| (object(number), frame::seal(&content)));
    let objects = objects.collect();
    won(storage.commit(objects, &root(), &Expected::Absent, "x".into()).await.unwrap());
    let stored = storage.get(&object(2)).await.unwrap().unwrap();
    assert!(frame::open(&stored).unwrap() == content);
    assert_eq!(storage.list(None, None, 10).await.unwrap()[1].size, stored.len() as u64);
}

#[tokio::test]
async fn stores_of_one_server_do_not_see_each_other() {
    let server = Server::start(Kind::Redis);
    let one = storage::open(&server.url("one")).await.unwrap();
    let two = storage::open(&server.url("two")).await.unwrap();
    commit(&one, 0, Expected::Absent).await;
    assert_eq!(two.list(None, None, 10).await.unwrap(), []);
    assert_eq!(two.list_refs("", None, 10).await.unwrap(), []);
}

#[tokio::test]
async fn an_empty_store_leaves_no_key_behind() {
    let server = Server::start(Kind::Redis);
    let storage = storage::open(&server.url("tidy")).await.unwrap();
    let Expected::Token(token) = commit(&storage, 0, Expected::Absent).await else { panic!() };
    let listed = storage.list(None, None, 10).await.unwrap();
    let listed: Vec<_> = listed.into_iter().map(|object| (object.key, object.token)).collect();
    storage.delete_exact(&listed).await.unwrap();
    storage.delete_ref(&root(), &token).await.unwrap();
    assert_eq!(redis_cli(&server, &["dbsize"]).trim(), "0");
}

const DOMAIN: Domain = Domain([0xd0; 16]);

/// Commits one after the other, and says of which it knows that it happened.
async fn commit_for_ever(storage: Arc<dyn Storage>, acknowledged: Arc<AtomicU32>) {
    let mut expected = commit(&storage, 0, Expected::Absent).await;
    for number in 1.. {
        expected = commit(&storage, number, expected).await;
        acknowledged.store(number, Ordering::Release);
    }
}

/// Commits one small object under a number, and goes on from what it became.
async fn commit(storage: &Arc<dyn Storage>, number: u32, expected: Expected) -> Expected {
    let objects = vec![(object(number), frame::seal(&noise(100)))];
    let (root, value) = (root(), number.to_string().into());
    Expected::Token(won(storage.commit(objects, &root, &expected, value).await.unwrap()))
}

fn won(swap: Swap) -> Token {
    match swap {
        Swap::Won(token) => token,
        Swap::Lost(current) => panic!("lost to {current:?}"),
    }
}

fn root() -> RefKey {
    RefKey::new("s/demo/root").unwrap()
}

fn object(number: u32) -> ObjectKey {
    let mut id = [0; 32];
    id[..4].copy_from_slice(&number.to_be_bytes());
    ObjectKey { domain: DOMAIN, id: ObjectId(id) }
}

fn number(value: &Bytes) -> u32 {
    str::from_utf8(value).unwrap().parse().unwrap()
}

fn noise(len: usize) -> Vec<u8> {
    let mut bytes = vec![0; len];
    rand::rng().fill_bytes(&mut bytes);
    bytes
}

/// The value of a parameter of a URL.
fn parameter(url: &str, name: &str) -> String {
    let (_, parameters) = url.split_once('?').unwrap();
    let value = parameters.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
    value.unwrap().to_owned()
}

fn password(server: &Server) -> String {
    let credentials = std::fs::read_to_string(parameter(&server.url("x"), "credentials-file"));
    credentials.unwrap().trim().strip_prefix("REDIS_PASSWORD=").unwrap().to_owned()
}

/// What the server answers to a command.
fn redis_cli(server: &Server, command: &[&str]) -> String {
    let mut redis_cli = Command::new("redis-cli");
    redis_cli
        .env("REDISCLI_AUTH", password(server))
        .args(["-p", &server.address().port().to_string()]);
    let output = redis_cli.args(command).output().unwrap();
    assert!(output.status.success(), "{command:?}");
    String::from_utf8(output.stdout).unwrap()
}
