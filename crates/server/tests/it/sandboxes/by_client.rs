//! The Rust client beside the engine that it stands for.

use std::collections::BTreeMap;
use std::time::Duration;

use engine::{
    Difference, DifferenceKind, ErrorKind, FileSystem as _, If, Limits, Links, NewKind, NewSandbox,
    NewSnapshot, Parents, Point, RegisteredChange, SandboxId, SandboxKind, SandboxPath, SnapshotId,
    Span, WriteMode, WriteOptions,
};
use futures::{StreamExt as _, TryStreamExt as _, stream};

use crate::http::Server;

fn id(text: &str) -> SandboxId {
    SandboxId::parse(text).unwrap()
}

fn at(text: &str) -> SandboxPath {
    SandboxPath::clamped(text).unwrap()
}

fn kept(text: &str) -> Point {
    Point::Snapshot(SnapshotId::parse(text).unwrap())
}

fn new(id_text: &str) -> NewSandbox {
    NewSandbox {
        id: Some(id(id_text)),
        kind: NewKind::Virtual,
        prefix: SandboxPath::root(),
        limits: None,
        labels: BTreeMap::new(),
        ttl: None,
    }
}

fn connected(server: &Server) -> client::Server {
    client::Server::connect(&format!("http://{}", server.address), None).unwrap()
}

async fn put(files: &client::SandboxFs, path: &str, content: &'static str) {
    let body = stream::iter([Ok(content.into())]).boxed();
    let (mode, parents) = (WriteMode::Replace, Parents::Create);
    let options = WriteOptions { mode, parents, expected: If::Always, length: None };
    files.write(&at(path), body, options).await.unwrap();
}

async fn text(files: &dyn engine::FileSystem, path: &str) -> String {
    let content = files.read(&at(path), Span::Whole).await.unwrap();
    let pieces: Vec<_> = content.body.try_collect().await.unwrap();
    String::from_utf8(pieces.concat()).unwrap()
}

/// A server with a tree that was kept as `one` and then changed.
async fn kept_and_changed() -> (Server, client::Server, client::SandboxFs) {
    let server = Server::start().await;
    let client = connected(&server);
    client.create(new("tree")).await.unwrap();
    let files = client.sandbox(&id("tree"));
    put(&files, "a b/你.txt", "old").await;
    put(&files, "moves", "stays the same wherever it is").await;
    let one = NewSnapshot { id: Some(SnapshotId::parse("one").unwrap()), ..NewSnapshot::default() };
    files.snapshots().unwrap().create(one).await.unwrap();
    put(&files, "a b/你.txt", "newer").await;
    files.rename(&at("moves"), &at("moved"), engine::Target::New).await.unwrap();
    (server, client, files)
}

#[tokio::test]
async fn a_sandbox_is_made_shown_changed_and_removed() {
    let server = Server::start().await;
    let client = connected(&server);
    client.health().await.unwrap();
    let labels = BTreeMap::from([("team".to_owned(), "a=b c".to_owned())]);
    let limits = Some(Limits { total_size: Some(10), ..Limits::default() });
    let ttl = Some(Duration::from_millis(3_600_500));
    let made = client.create(NewSandbox { labels, limits, ttl, ..new("alice") }).await.unwrap();
    assert_eq!((&made.id, &made.kind), (&id("alice"), &SandboxKind::Virtual));
    assert_eq!(made.expires.unwrap().seconds - made.created.seconds, 3601);
    assert_eq!(client.stat(&id("alice")).await.unwrap(), made);
    let label = BTreeMap::from([("team".to_owned(), Some("a=b c".to_owned()))]);
    assert_eq!(client.list(None, 10, &label).await.unwrap().sandboxes, [made]);
    let change = RegisteredChange {
        limits: Some(Limits::default()),
        labels: BTreeMap::from([("team".to_owned(), None)]),
        ttl: Some(None),
    };
    let changed = client.change(&id("alice"), change).await.unwrap();
    assert_eq!((changed.limits, changed.expires), (Limits::default(), None));
    assert!(changed.labels.is_empty());
    client.remove(&id("alice")).await.unwrap();
    let gone = client.stat(&id("alice")).await.unwrap_err();
    assert_eq!(gone.kind(), ErrorKind::SandboxNotFound);
}

#[tokio::test]
async fn a_change_of_nothing_leaves_the_end_of_a_sandbox() {
    let server = Server::start().await;
    let client = connected(&server);
    let ttl = Some(Duration::from_hours(1));
    let made = client.create(NewSandbox { ttl, ..new("alice") }).await.unwrap();
    let nothing = RegisteredChange { limits: None, labels: BTreeMap::new(), ttl: None };
    assert_eq!(client.change(&id("alice"), nothing).await.unwrap(), made);
}

#[tokio::test]
async fn sandboxes_are_listed_page_by_page() {
    let server = Server::start().await;
    let client = connected(&server);
    for name in ["a", "b", "c"] {
        client.create(new(name)).await.unwrap();
    }
    let first = client.list(None, 2, &BTreeMap::new()).await.unwrap();
    assert_eq!(first.next, Some(id("b")));
    let rest = client.list(first.next.as_ref(), 2, &BTreeMap::new()).await.unwrap();
    let ids: Vec<_> = rest.sandboxes.into_iter().map(|it| it.id).collect();
    assert_eq!((ids, rest.next), (vec![id("c"), id("test")], None));
}

#[tokio::test]
async fn a_refusal_is_the_error_it_was() {
    let server = Server::start().await;
    let client = connected(&server);
    client.create(new("alice")).await.unwrap();
    let taken = client.create(new("alice")).await.unwrap_err();
    assert_eq!(taken.kind(), ErrorKind::AlreadyExists);
    let files = client.sandbox(&id("alice"));
    let missing = files.stat(&at("a: b/c"), Links::Follow).await.unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::NotFound);
    assert_eq!(missing.path(), Some(&at("a: b/c")));
    assert!(!missing.message().contains("a: b"), "{missing:?}");
    assert!(client::hint(&missing).is_some());
}

#[tokio::test]
async fn a_difference_is_told_both_ways() {
    let (_server, _client, files) = kept_and_changed().await;
    let snapshots = files.snapshots().unwrap();
    let since: Vec<Difference> =
        snapshots.diff(kept("one"), Point::Live).await.unwrap().try_collect().await.unwrap();
    let told: Vec<_> = since.iter().map(|it| (it.path.as_str(), &it.kind)).collect();
    let renamed = DifferenceKind::Renamed { from: at("moves") };
    assert_eq!(told, [("/a b/你.txt", &DifferenceKind::Modified), ("/moved", &renamed)]);
    assert_eq!(since[0].before.as_ref().unwrap().size, 3);
    let now = files.stat(&at("a b/你.txt"), Links::Keep).await.unwrap();
    assert_eq!(since[0].after, Some(now));
    let back = snapshots.diff(Point::Live, kept("one")).await.unwrap();
    let back: Vec<Difference> = back.try_collect().await.unwrap();
    assert!(back.contains(&Difference {
        path: at("moves"),
        kind: DifferenceKind::Renamed { from: at("moved") },
        before: since[1].after.clone(),
        after: since[1].before.clone(),
    }));
    assert!(snapshots.diff(Point::Live, Point::Live).await.unwrap().next().await.is_none());
}

#[tokio::test]
async fn a_fork_begins_as_it_was_within_its_limits() {
    let (_server, client, files) = kept_and_changed().await;
    let limits = Limits { nodes: Some(50), ..Limits::default() };
    files.snapshots().unwrap().fork(kept("one"), &id("fork"), limits).await.unwrap();
    assert_eq!(text(&client.sandbox(&id("fork")), "a b/你.txt").await, "old");
    assert_eq!(client.stat(&id("fork")).await.unwrap().limits, limits);
    let kind = NewKind::Fork { of: id("tree"), from: Point::Live };
    client.create(NewSandbox { kind, ..new("other") }).await.unwrap();
    assert_eq!(text(&client.sandbox(&id("other")), "a b/你.txt").await, "newer");
}

#[tokio::test]
async fn a_state_is_carried_to_another_sandbox() {
    let (_server, client, files) = kept_and_changed().await;
    client.create(new("elsewhere")).await.unwrap();
    let elsewhere = client.sandbox(&id("elsewhere"));
    for (from, expected) in [(kept("one"), "old"), (Point::Live, "newer")] {
        let bytes = files.snapshots().unwrap().export(from, None).await.unwrap();
        let labels = BTreeMap::from([("k".to_owned(), "v=1&2".to_owned())]);
        let wish = NewSnapshot { id: None, message: "größer & 50%".into(), labels };
        let taken = elsewhere.snapshots().unwrap().import(bytes, wish.clone()).await.unwrap();
        assert_eq!((&taken.message, &taken.labels), (&wish.message, &wish.labels));
        let open = elsewhere.snapshots().unwrap().open(&taken.id).await.unwrap();
        assert_eq!(text(&*open, "a b/你.txt").await, expected);
        assert_eq!(open.usage().await.unwrap(), taken.usage);
    }
}
