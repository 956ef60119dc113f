//! A store in PostgreSQL: what a commit costs, who may open it, and what a restart does.

use std::fs;
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

use futures::future::join_all;
use sandkeep_storage::{
    self as storage, Domain, Error, ErrorKind, Expected, ObjectId, ObjectKey, RefKey, Storage,
    Swap, Token, frame,
};
use servers::{Kind, Proxy, Server};
use tokio_postgres::{Client, NoTls, Transaction};

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_is_one_round_trip() {
    let server = server();
    let proxy = Proxy::to(server.address());
    let storage = open(&server.url_via(proxy.address(), "round-trips")).await;
    let expected = commits(&storage, 0..40, Expected::Absent).await;
    proxy.reset_traffic();
    commits(&storage, 40..60, expected).await;
    let traffic = proxy.traffic();
    assert_eq!((traffic.round_trips, traffic.connections), (20, 0));
    assert!(traffic.sent / 20 < 400, "{} bytes sent for a commit", traffic.sent / 20);
    assert!(traffic.received / 20 < 150, "{} bytes received", traffic.received / 20);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_is_one_round_trip_where_nothing_can_be_prepared() {
    let server = server();
    let proxy = Proxy::to(server.address());
    let url = format!("{}&prepared=false", server.url_via(proxy.address(), "unprepared"));
    let storage = open(&url).await;
    let expected = commits(&storage, 0..40, Expected::Absent).await;
    proxy.reset_traffic();
    commits(&storage, 40..60, expected).await;
    assert_eq!((proxy.traffic().round_trips, proxy.traffic().connections), (20, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn many_who_open_an_empty_database_at_once_make_its_tables_once() {
    let server = server();
    let url = server.url("crowd");
    let opening = (0..8).map(|_| {
        let url = url.clone();
        tokio::spawn(async move { storage::open(&url).await.unwrap() })
    });
    let opened = join_all(opening.collect::<Vec<_>>()).await;
    let opened: Vec<_> = opened.into_iter().map(|storage| storage.unwrap()).collect();
    commits(&opened[0], 0..1, Expected::Absent).await;
    for storage in &opened {
        assert_eq!(value(storage).await, "0");
    }
    let client = client(&server, "crowd").await;
    let made = client.query("SELECT version FROM migrations", &[]).await.unwrap();
    assert_eq!(made.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn tables_of_a_later_version_are_refused() {
    let server = server();
    let url = server.url("later");
    drop(open(&url).await);
    let client = client(&server, "later").await;
    client.batch_execute("INSERT INTO migrations (version) VALUES (2)").await.unwrap();
    let err = refused(&url).await;
    assert_eq!(err.kind(), ErrorKind::Corrupt);
    assert!(err.to_string().contains("a version that is not known"), "{err}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restart_in_the_middle_of_commits_loses_none() {
    let mut server = Server::start(Kind::Postgres);
    let storage = open(&server.url("restarted")).await;
    let committing = tokio::spawn({
        let storage = Arc::clone(&storage);
        async move { commits(&storage, 0..300, Expected::Absent).await }
    });
    for _ in 0..2 {
        tokio::time::sleep(Duration::from_millis(300)).await;
        tokio::task::block_in_place(|| server.restart());
    }
    tokio::task::block_in_place(|| server.restart_politely());
    let expected = committing.await.unwrap();
    assert_eq!(value(&storage).await, "299");
    commits(&storage, 300..301, expected).await;
    let listed = storage.list(None, None, usize::MAX).await.unwrap();
    assert_eq!(listed.len(), 301);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_takes_no_writes_for_a_moment_is_waited_for() {
    let server = Server::start(Kind::Postgres);
    let storage = open(&server.url("read-only")).await;
    let expected = commits(&storage, 0..1, Expected::Absent).await;
    let operator = client(&server, "read_only").await;
    let reload = "SELECT pg_reload_conf()";
    operator.batch_execute("ALTER SYSTEM SET default_transaction_read_only = on").await.unwrap();
    operator.batch_execute(reload).await.unwrap();
    let committing = tokio::spawn({
        let storage = Arc::clone(&storage);
        async move { commits(&storage, 1..40, expected).await }
    });
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert!(!committing.is_finished());
    operator.batch_execute("SET default_transaction_read_only = off").await.unwrap();
    operator.batch_execute("ALTER SYSTEM RESET default_transaction_read_only").await.unwrap();
    operator.batch_execute(reload).await.unwrap();
    committing.await.unwrap();
    assert_eq!(value(&storage).await, "39");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_acknowledged_survives_a_crash_even_if_the_default_is_lax() {
    let lines = ["synchronous_commit = off", "wal_writer_delay = 10s"];
    let mut server = Server::start_with(Kind::Postgres, &lines);
    let storage = open(&server.url("lax")).await;
    commits(&storage, 0..10, Expected::Absent).await;
    tokio::task::block_in_place(|| server.restart());
    assert_eq!(value(&storage).await, "9");
    let err = refused(&format!("{}&prepared=false", server.url("lax"))).await;
    assert_eq!(err.kind(), ErrorKind::Unsafe);
    assert!(err.to_string().contains("synchronous_commit"), "{err}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_does_not_wait_for_its_disk_is_refused() {
    let server = Server::start_with(Kind::Postgres, &["fsync = off"]);
    for more in ["", "&prepared=false"] {
        let err = refused(&format!("{}{more}", server.url("volatile"))).await;
        assert_eq!(err.kind(), ErrorKind::Unsafe);
        assert!(err.to_string().contains("set fsync = on"), "{err}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_statement_whose_caller_left_ends_even_if_it_waits_for_a_lock() {
    let server = server();
    for (schema, more) in [("abandoned", ""), ("abandoned_too", "&prepared=false")] {
        let url = format!("{}&application_name={schema}{more}", server.url(schema));
        let storage = open(&url).await;
        let mut holder = client(&server, schema).await;
        let lock = holder.transaction().await.unwrap();
        lock.batch_execute("LOCK TABLE refs IN ACCESS EXCLUSIVE MODE").await.unwrap();
        let swap = commits(&storage, 0..1, Expected::Absent);
        tokio::time::timeout(Duration::from_millis(500), swap).await.unwrap_err();
        assert_eq!(waiting(&lock, schema).await, 1);
        let begin = Instant::now();
        while waiting(&lock, schema).await > 0 {
            assert!(begin.elapsed() < Duration::from_secs(15), "it waits for ever");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        lock.commit().await.unwrap();
        commits(&storage, 0..1, Expected::Absent).await;
    }
}

/// How many statements of a store wait for a lock.
async fn waiting(observer: &Transaction<'_>, name: &str) -> i64 {
    let waiting = "SELECT count(*) FROM pg_stat_activity
                   WHERE application_name = $1 AND wait_event_type = 'Lock'";
    observer.query_one(waiting, &[&name]).await.unwrap().get(0)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_password_is_refused_at_once_and_not_told() {
    let server = server();
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("credentials");
    fs::write(&file, "PGPASSWORD=hunter2\n").unwrap();
    let place = format!("postgres://sandkeep@{}/postgres", server.address());
    let begin = Instant::now();
    let err = refused(&format!("{place}?credentials-file={}", file.display())).await;
    assert!(begin.elapsed() < Duration::from_secs(10));
    assert_eq!(err.kind(), ErrorKind::InvalidUrl);
    assert!(err.to_string().contains("refuses the user or the password"), "{err}");
    assert!(!told(&err).contains("hunter2"), "{}", told(&err));
    fs::write(&file, "").unwrap();
    let err = refused(&format!("{place}?credentials-file={}", file.display())).await;
    assert!(err.to_string().contains("wants a password"), "{err}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_password_is_read_from_a_password_file() {
    let server = server();
    let home = tempfile::tempdir().unwrap();
    let [file, passwords] = ["credentials", "pgpass"].map(|name| home.path().join(name));
    let line = format!("127.0.0.1:*:postgres:sandkeep:{}\n", password(&server));
    fs::write(&passwords, line).unwrap();
    fs::write(&file, format!("PGPASSFILE={}\n", passwords.display())).unwrap();
    let place = format!("postgres://sandkeep@{}/postgres", server.address());
    open(&format!("{place}?schema=passfile&credentials-file={}", file.display())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_sees_a_password_that_stands_in_the_url() {
    let server = server();
    let (address, password) = (server.address(), password(&server));
    let storage = open(&format!("postgres://sandkeep:{password}@{address}/postgres")).await;
    assert!(!format!("{storage:?}").contains(&password));
    for wrong in [
        format!("postgres://sandkeep:{password}@{address}/missing"),
        format!("postgres://nobody:{password}@{address}/postgres"),
        format!("postgres://sandkeep:{password}@{address}/postgres?colour=red"),
        format!("postgres://sandkeep:{password}@{address}/postgres?pool=0"),
        format!("postgres://sandkeep:{password}@{address}/postgres?schema={password}'"),
        format!("postgres://sandkeep:?{password}&{password}=x@{address}/postgres"),
        format!("postgres://sandkeep:{password}@{address}:x/postgres"),
        format!("postgres://:{password}@{address}/postgres"),
    ] {
        let err = refused(&wrong).await;
        assert_eq!(err.kind(), ErrorKind::InvalidUrl, "{err:?}");
        assert!(!told(&err).contains(&password), "{}", told(&err));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_is_not_there_is_told() {
    let server = server();
    let url = server.url("x").replace("/postgres?", "/missing?");
    let err = refused(&url).await;
    assert_eq!(err.to_string(), "postgres has no such database; make it first");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_is_believed_as_far_as_sslmode_says() {
    let server = Server::start_tls(Kind::Postgres);
    let url = server.url("tls");
    assert!(url.contains("sslmode=verify-full"), "{url}");
    commits(&open(&url).await, 0..1, Expected::Absent).await;
    let stranger = Server::start_tls(Kind::Postgres);
    let foreign = |mode: &str| {
        let (_, root) = url.split_once("&sslrootcert=").unwrap();
        let theirs = stranger.url("tls");
        let (theirs, _) = theirs.split_once("&sslmode=").unwrap();
        format!("{theirs}&sslmode={mode}&sslrootcert={root}")
    };
    for mode in ["verify-full", "verify-ca", "require"] {
        let err = refused(&foreign(mode)).await;
        assert_eq!(err.kind(), ErrorKind::InvalidUrl);
        assert_eq!(err.to_string(), "the certificate of postgres is not trusted", "{mode}");
    }
    open(&foreign("prefer")).await;
    let err = refused(&foreign("disable")).await;
    assert_eq!(err.kind(), ErrorKind::InvalidUrl, "{err:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_for_another_host_is_enough_for_verify_ca_alone() {
    let server = Server::start_tls(Kind::Postgres);
    let proxy = Proxy::to(server.address());
    // The loopback has more addresses than the one that the certificate names.
    let url = server.url_via(proxy.address(), "named").replace("@127.0.0.1", "@0.0.0.0");
    open(&url.replace("verify-full", "verify-ca")).await;
    let err = refused(&url).await;
    assert_eq!(err.to_string(), "the certificate of postgres is not trusted");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_without_tls_is_refused_where_tls_is_required() {
    let server = server();
    let url = server.url("plain");
    open(&url).await;
    for mode in ["require", "verify-ca", "verify-full"] {
        let err = refused(&format!("{url}&sslmode={mode}")).await;
        assert_eq!(err.to_string(), "postgres offers no TLS", "{mode}");
    }
    let err = refused(&format!("{url}&sslmode=allow")).await;
    assert!(err.to_string().contains("sslmode is disable, prefer"), "{err}");
}

#[tokio::test(flavor = "multi_thread")]
async fn authorities_of_the_system_vouch_for_nothing_less_than_the_host() {
    let server = Server::start_tls(Kind::Postgres);
    let url = server.url("system");
    let (url, _) = url.split_once("&sslmode=").unwrap();
    let url = format!("{url}&sslrootcert=system");
    for strict in [url.clone(), format!("{url}&sslmode=verify-full")] {
        let err = refused(&strict).await;
        assert_eq!(err.to_string(), "the certificate of postgres is not trusted");
    }
    for mode in ["disable", "prefer", "require", "verify-ca"] {
        let err = refused(&format!("{url}&sslmode={mode}")).await;
        assert_eq!(err.kind(), ErrorKind::InvalidUrl, "{mode}: {err}");
        assert!(err.to_string().contains("needs sslmode=verify-full"), "{mode}: {err}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_several_hosts_the_one_that_answers_is_used() {
    let server = server();
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let url = server.url("hosts").replace('@', &format!("@{nobody},"));
    commits(&open(&url).await, 0..1, Expected::Absent).await;
}

/// A server that the tests of this process share.
fn server() -> Arc<Server> {
    static SHARED: Mutex<Weak<Server>> = Mutex::new(Weak::new());
    let mut shared = SHARED.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    shared.upgrade().unwrap_or_else(|| {
        let server = Arc::new(Server::start(Kind::Postgres));
        *shared = Arc::downgrade(&server);
        server
    })
}

/// A client of the database itself, who looks at the tables of a store.
async fn client(server: &Server, schema: &str) -> Client {
    let (address, password) = (server.address(), password(server));
    let url = format!("postgres://sandkeep:{password}@{address}/postgres");
    let (client, connection) = tokio_postgres::connect(&url, NoTls).await.unwrap();
    tokio::spawn(connection);
    client.batch_execute(&format!("SET search_path = '{schema}'")).await.unwrap();
    client
}

fn password(server: &Server) -> String {
    let url = server.url("x");
    let (_, path) = url.split_once("credentials-file=").unwrap();
    let path = path.split('&').next().unwrap();
    let credentials = fs::read_to_string(path).unwrap();
    credentials.trim().strip_prefix("PGPASSWORD=").unwrap().to_owned()
}

/// Commits one small object after the other, and says what is expected next.
async fn commits(
    storage: &Arc<dyn Storage>,
    numbers: std::ops::Range<u32>,
    mut expected: Expected,
) -> Expected {
    for number in numbers {
        let mut id = [0; 32];
        id[..4].copy_from_slice(&number.to_be_bytes());
        let object = ObjectKey { domain: Domain([1; 16]), id: ObjectId(id) };
        let objects = vec![(object, frame::seal(b"small"))];
        let value = number.to_string().into();
        let swap = storage.commit(objects, &root(), &expected, value).await.unwrap();
        expected = Expected::Token(won(swap).unwrap());
    }
    expected
}

fn won(swap: Swap) -> Option<Token> {
    match swap {
        Swap::Won(token) => Some(token),
        Swap::Lost(_) => None,
    }
}

async fn value(storage: &Arc<dyn Storage>) -> bytes::Bytes {
    storage.load(&root()).await.unwrap().unwrap().value
}

fn root() -> RefKey {
    RefKey::new("root").unwrap()
}

async fn open(url: &str) -> Arc<dyn Storage> {
    storage::open(url).await.unwrap()
}

async fn refused(url: &str) -> Error {
    storage::open(url).await.unwrap_err()
}

/// Everything that an error says, to users and to the log.
fn told(err: &Error) -> String {
    let mut told = format!("{err} {err:?}");
    let mut cause = std::error::Error::source(err);
    while let Some(err) = cause {
        told = format!("{told} {err} {err:?}");
        cause = err.source();
    }
    told
}
