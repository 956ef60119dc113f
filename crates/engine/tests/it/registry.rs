//! Many sandboxes: made, found, listed, changed, ended.
#![expect(clippy::disallowed_methods, reason = "the test looks at what others made")]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use sandkeep_engine::{
    Error, ErrorKind, Limits, MainKind, NewKind, NewSandbox, Point, Registered, RegisteredChange,
    Registry, RegistryOptions, Sandbox, SandboxKind, SandboxPath, SnapshotId, Store,
};
use storage::{MemoryStorage, RefKey, Refs as _};
use tempfile::TempDir;

use crate::contents::{at, read, snapshot, write};
use crate::fixture::id;

/// Every way in which a store keeps its trees.
async fn stores() -> Vec<(Store, Option<TempDir>)> {
    let dir = tempfile::tempdir().unwrap();
    let file = Store::open(&format!("file:{}", dir.path().display())).await.unwrap();
    let flushing = Store::flushing(Arc::new(MemoryStorage::default()));
    vec![(Store::in_memory(), None), (flushing, None), (file, Some(dir))]
}

async fn registry(store: Store, host_roots: &[&Path]) -> Registry {
    let files = Arc::new(store.sandbox_or_new(&id("main"), Limits::default()).await.unwrap());
    let root = SandboxPath::root();
    let main =
        Sandbox { id: id("main"), files, prefix: root.clone(), home: root, is_system: false };
    let host_roots = host_roots.iter().map(|path| path.to_path_buf()).collect();
    let options = RegistryOptions { host_roots, ..RegistryOptions::default() };
    Registry::new(store, (main, MainKind::Stored), &options).unwrap()
}

fn new(name: &str) -> NewSandbox {
    NewSandbox {
        id: Some(id(name)),
        kind: NewKind::Virtual,
        prefix: SandboxPath::root(),
        limits: None,
        labels: BTreeMap::new(),
        ttl: None,
    }
}

fn on_host(name: &str, root: Option<&str>) -> NewSandbox {
    NewSandbox { kind: NewKind::Host { root: root.map(Into::into) }, ..new(name) }
}

fn labels(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect()
}

fn kind<T: std::fmt::Debug>(outcome: Result<T, Error>) -> ErrorKind {
    outcome.unwrap_err().kind()
}

async fn names(registry: &Registry) -> Vec<String> {
    let page = registry.list(None, 1000, &BTreeMap::new()).await.unwrap();
    assert_eq!(page.next, None);
    page.sandboxes.iter().map(|known| known.id.to_string()).collect()
}

#[tokio::test]
async fn a_sandbox_is_made_found_listed_and_removed() {
    for (store, _dir) in stores().await {
        let registry = registry(store, &[]).await;
        let limits = Some(Limits { nodes: Some(9), ..Limits::default() });
        let labels = labels(&[("team", "blue")]);
        let wish = NewSandbox { labels: labels.clone(), limits, ..new("alice") };
        let made = registry.create(wish).await.unwrap();
        assert_eq!((&made.labels, made.limits.nodes), (&labels, Some(9)));
        assert_eq!(registry.stat(&id("alice")).await.unwrap(), made);
        write(&*registry.open(&id("alice")).await.unwrap().files, "/f", "1").await;
        assert_eq!(names(&registry).await, ["alice", "main"]);
        registry.remove(&id("alice")).await.unwrap();
        assert_eq!(names(&registry).await, ["main"]);
        assert_eq!(kind(registry.open(&id("alice")).await), ErrorKind::SandboxNotFound);
        assert_eq!(kind(registry.stat(&id("alice")).await), ErrorKind::SandboxNotFound);
        assert_eq!(kind(registry.remove(&id("alice")).await), ErrorKind::SandboxNotFound);
    }
}

#[tokio::test]
async fn an_id_that_is_taken_is_refused_and_what_has_it_stays() {
    for (store, _dir) in stores().await {
        let dir = tempfile::tempdir().unwrap();
        let registry = registry(store, &[dir.path()]).await;
        let first = registry.create(new("alice")).await.unwrap();
        write(&*registry.open(&id("alice")).await.unwrap().files, "/f", "1").await;
        let fork = NewKind::Fork { of: id("main"), from: Point::Live };
        let rivals =
            [new("alice"), on_host("alice", None), NewSandbox { kind: fork, ..new("alice") }];
        for rival in rivals {
            assert_eq!(kind(registry.create(rival).await), ErrorKind::AlreadyExists);
        }
        assert_eq!(registry.stat(&id("alice")).await.unwrap(), first);
        let files = &registry.open(&id("alice")).await.unwrap().files;
        assert_eq!(read(&**files, &at("/f")).await, "1");
        assert!(!dir.path().join("alice").exists());
        for taken in [new("main"), on_host("main", None)] {
            assert_eq!(kind(registry.create(taken).await), ErrorKind::AlreadyExists);
        }
        registry.create(on_host("bob", None)).await.unwrap();
        for rival in [new("bob"), on_host("bob", Some("elsewhere"))] {
            assert_eq!(kind(registry.create(rival).await), ErrorKind::AlreadyExists);
        }
        assert!(matches!(registry.stat(&id("bob")).await.unwrap().kind, SandboxKind::Host { .. }));
        assert!(!dir.path().join("elsewhere").exists());
    }
}

#[tokio::test]
async fn a_made_up_id_is_a_new_one_each_time() {
    let registry = registry(Store::in_memory(), &[]).await;
    let unnamed = NewSandbox { id: None, ..new("x") };
    let one = registry.create(unnamed.clone()).await.unwrap();
    let other = registry.create(unnamed).await.unwrap();
    assert_ne!(one.id, other.id);
    assert!(one.id.as_str().starts_with("sbx-"));
}

#[tokio::test]
async fn pages_hold_each_sandbox_once_whatever_lies_between() {
    for (store, _dir) in stores().await {
        let dir = tempfile::tempdir().unwrap();
        let registry = registry(store, &[dir.path()]).await;
        let mut expected = vec!["main".to_owned()];
        for n in 0..40 {
            let name = format!("s{}{}", n % 7, ["", "-", "-x"][n % 3].to_owned() + &n.to_string());
            let wish = if n % 4 == 0 { on_host(&name, None) } else { new(&name) };
            registry.create(wish).await.unwrap();
            expected.push(name);
        }
        let busy = registry.open(&id(&expected[2])).await.unwrap();
        for n in 0..600 {
            snapshot(&*busy.files, &format!("snap-{n}")).await;
        }
        expected.sort_by_key(|name| format!("{name}/"));
        for limit in [1, 7, 1000] {
            let (mut found, mut after) = (Vec::new(), None);
            loop {
                let page = registry.list(after.as_ref(), limit, &BTreeMap::new()).await.unwrap();
                assert!(page.sandboxes.len() <= limit);
                found.extend(page.sandboxes.iter().map(|known| known.id.to_string()));
                after = page.next;
                if after.is_none() {
                    break;
                }
            }
            assert_eq!(found, expected, "{limit} at a time");
        }
    }
}

#[tokio::test]
async fn labels_choose_and_are_changed_one_by_one() {
    let registry = registry(Store::in_memory(), &[]).await;
    for (name, team) in [("a", "red"), ("b", "blue"), ("c", "red")] {
        let wish = NewSandbox { labels: labels(&[("team", team), ("n", name)]), ..new(name) };
        registry.create(wish).await.unwrap();
    }
    let chosen = async |wish: &[(&str, Option<&str>)]| {
        let wish = wish.iter().map(|(key, value)| ((*key).into(), value.map(Into::into))).collect();
        let page = registry.list(None, 10, &wish).await.unwrap();
        page.sandboxes.iter().map(|known| known.id.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(chosen(&[("team", Some("red"))]).await, ["a", "c"]);
    assert_eq!(chosen(&[("team", None)]).await, ["a", "b", "c"]);
    assert_eq!(chosen(&[("team", Some("red")), ("n", Some("c"))]).await, ["c"]);
    let changes = [("team".into(), None), ("new".into(), Some("1".into()))];
    let change = RegisteredChange { labels: changes.into(), ..RegisteredChange::default() };
    let changed = registry.change(&id("a"), change).await.unwrap();
    assert_eq!(changed.labels, labels(&[("n", "a"), ("new", "1")]));
    assert_eq!(chosen(&[("team", Some("red"))]).await, ["c"]);
    let many = (0..65).map(|n| (n.to_string(), String::new())).collect();
    let refused = registry.create(NewSandbox { labels: many, ..new("d") }).await;
    assert_eq!(kind(refused), ErrorKind::InvalidArgument);
}

#[tokio::test]
async fn a_fork_begins_as_the_other_was_and_keeps_its_limits() {
    for (store, _dir) in stores().await {
        let registry = registry(store, &[]).await;
        let limits = Some(Limits { nodes: Some(50), ..Limits::default() });
        registry.create(NewSandbox { limits, ..new("origin") }).await.unwrap();
        let origin = registry.open(&id("origin")).await.unwrap();
        write(&*origin.files, "/f", "then").await;
        snapshot(&*origin.files, "then").await;
        write(&*origin.files, "/f", "now").await;
        let points = [
            ("live", Point::Live, "now"),
            ("old", Point::Snapshot(SnapshotId::parse("then").unwrap()), "then"),
        ];
        for (name, from, content) in points {
            let fork = NewKind::Fork { of: id("origin"), from };
            let made = registry.create(NewSandbox { kind: fork, ..new(name) }).await.unwrap();
            assert_eq!(made.limits.nodes, Some(50));
            let files = &registry.open(&id(name)).await.unwrap().files;
            assert_eq!(read(&**files, &at("/f")).await, content);
        }
        let of = id("nobody");
        let lost = NewSandbox { kind: NewKind::Fork { of, from: Point::Live }, ..new("lost") };
        assert_eq!(kind(registry.create(lost).await), ErrorKind::SandboxNotFound);
        assert_eq!(kind(registry.open(&id("lost")).await), ErrorKind::SandboxNotFound);
    }
}

#[tokio::test]
async fn everything_is_there_after_a_restart() {
    let (dir, hosts) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let url = format!("file:{}", dir.path().display());
    let before: Vec<Registered> = {
        let registry = registry(Store::open(&url).await.unwrap(), &[hosts.path()]).await;
        let ttl = Some(Duration::from_secs(100));
        let wish = NewSandbox { ttl, labels: labels(&[("a", "1")]), ..new("one") };
        registry.create(wish).await.unwrap();
        let prefix = at("/workspace");
        registry.create(NewSandbox { prefix, ..on_host("two", None) }).await.unwrap();
        write(&*registry.open(&id("two")).await.unwrap().files, "/f", "kept").await;
        registry.list(None, 10, &BTreeMap::new()).await.unwrap().sandboxes
    };
    let registry = registry(Store::open(&url).await.unwrap(), &[hosts.path()]).await;
    let after = registry.list(None, 10, &BTreeMap::new()).await.unwrap().sandboxes;
    assert_eq!(before, after);
    let two = registry.open(&id("two")).await.unwrap();
    assert_eq!(read(&*two.files, &at("/f")).await, "kept");
    assert_eq!(two.prefix, at("/workspace"));
}

#[tokio::test]
async fn a_directory_goes_with_its_sandbox_only_if_it_was_made_for_it() {
    for (store, _dir) in stores().await {
        let hosts = tempfile::tempdir().unwrap();
        let registry = registry(store, &[hosts.path()]).await;
        let theirs = hosts.path().join("theirs");
        std::fs::create_dir(&theirs).unwrap();
        std::fs::write(theirs.join("f"), "1").unwrap();
        let whole = theirs.to_str().unwrap();
        let found = registry.create(on_host("theirs", Some(whole))).await.unwrap();
        assert_eq!(found.kind, SandboxKind::Host { root: whole.into(), made: false });
        let made = registry.create(on_host("ours", Some("deep/ours"))).await.unwrap();
        let ours = hosts.path().join("deep/ours");
        assert_eq!(
            made.kind,
            SandboxKind::Host { root: ours.to_str().unwrap().into(), made: true }
        );
        write(&*registry.open(&id("ours")).await.unwrap().files, "/a/b", "1").await;
        assert!(ours.join("a/b").exists());
        registry.remove(&id("theirs")).await.unwrap();
        registry.remove(&id("ours")).await.unwrap();
        assert_eq!(std::fs::read(theirs.join("f")).unwrap(), b"1");
        assert!(!ours.exists());
        assert_eq!(names(&registry).await, ["main"]);
    }
}

#[tokio::test]
async fn a_directory_elsewhere_is_refused_however_it_is_spelled() {
    let (hosts, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let registry = registry(Store::in_memory(), &[hosts.path()]).await;
    std::os::unix::fs::symlink(outside.path(), hosts.path().join("link")).unwrap();
    std::fs::create_dir(outside.path().join("inner")).unwrap();
    let (inside, outside) = (hosts.path().display(), outside.path().display());
    let tricks = [
        format!("{outside}"),
        "/".into(),
        format!("{inside}"),
        format!("{inside}/"),
        format!("{inside}/../x"),
        format!("{inside}x"),
        "..".into(),
        "a/../../b".into(),
        String::new(),
        ".".into(),
        "link".into(),
        "link/inner".into(),
        format!("{inside}/link/inner"),
        ".sandkeep-staging".into(),
        ".sandkeep-staging/x".into(),
    ];
    for trick in tricks {
        let refused = registry.create(on_host("trick", Some(&trick))).await;
        assert!(refused.is_err(), "{trick} became {refused:?}");
        assert_eq!(names(&registry).await, ["main"], "{trick}");
    }
    let nowhere = self::registry(Store::in_memory(), &[]).await;
    assert_eq!(kind(nowhere.create(on_host("a", None)).await), ErrorKind::Forbidden);
}

#[tokio::test]
async fn a_directory_that_is_another_one_now_is_not_opened() {
    let (dir, hosts) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let url = format!("file:{}", dir.path().display());
    {
        let registry = registry(Store::open(&url).await.unwrap(), &[hosts.path()]).await;
        registry.create(on_host("one", None)).await.unwrap();
    }
    let path = hosts.path().join("one");
    // Another directory, whose number the old one cannot have given up.
    std::fs::rename(&path, hosts.path().join("moved")).unwrap();
    std::fs::create_dir(&path).unwrap();
    std::fs::write(path.join("precious"), "1").unwrap();
    let registry = registry(Store::open(&url).await.unwrap(), &[hosts.path()]).await;
    assert_eq!(kind(registry.open(&id("one")).await), ErrorKind::Unavailable);
    // Nor is it removed with the sandbox.
    registry.remove(&id("one")).await.unwrap();
    assert!(path.join("precious").exists());
}

#[tokio::test]
async fn a_sandbox_whose_time_is_over_is_gone_at_once_and_swept_later() {
    for (store, _dir) in stores().await {
        let hosts = tempfile::tempdir().unwrap();
        let registry = registry(store, &[hosts.path()]).await;
        let ttl = Some(Duration::from_secs(1));
        registry.create(NewSandbox { ttl, ..new("brief") }).await.unwrap();
        registry.create(NewSandbox { ttl, ..on_host("host", None) }).await.unwrap();
        registry.create(NewSandbox { ttl, ..new("saved") }).await.unwrap();
        let saved = RegisteredChange { ttl: Some(None), ..RegisteredChange::default() };
        registry.change(&id("saved"), saved).await.unwrap();
        let held = registry.open(&id("brief")).await.unwrap();
        write(&*held.files, "/f", "1").await;
        tokio::time::sleep(Duration::from_millis(2100)).await;
        for name in ["brief", "host"] {
            assert_eq!(kind(registry.open(&id(name)).await), ErrorKind::SandboxNotFound);
            assert_eq!(kind(registry.stat(&id(name)).await), ErrorKind::SandboxNotFound);
        }
        assert_eq!(names(&registry).await, ["main", "saved"]);
        assert!(hosts.path().join("host").exists());
        // Its id is free, swept or not.
        registry.create(new("brief")).await.unwrap();
        assert_eq!(registry.sweep().await.unwrap(), 1);
        assert!(!hosts.path().join("host").exists());
        assert_eq!(names(&registry).await, ["brief", "main", "saved"]);
        assert_eq!(registry.sweep().await.unwrap(), 0);
    }
}

#[tokio::test]
async fn limits_of_both_kinds_can_be_changed_and_hold_at_once() {
    for (store, _dir) in stores().await {
        let hosts = tempfile::tempdir().unwrap();
        let registry = registry(store, &[hosts.path()]).await;
        registry.create(new("virtual")).await.unwrap();
        registry.create(on_host("host", None)).await.unwrap();
        for name in ["virtual", "host"] {
            write(&*registry.open(&id(name)).await.unwrap().files, "/a", "1").await;
            let limits = Some(Limits { nodes: Some(2), ..Limits::default() });
            let change = RegisteredChange { limits, ..RegisteredChange::default() };
            let changed = registry.change(&id(name), change).await.unwrap();
            assert_eq!(changed.limits.nodes, Some(2));
            let files = &registry.open(&id(name)).await.unwrap().files;
            let refused = files.create_dir(&at("/b"), sandkeep_engine::Parents::Require).await;
            assert_eq!(kind(refused), ErrorKind::TooManyNodes, "{name}");
        }
    }
}

#[tokio::test]
async fn the_sandbox_of_the_server_itself_stays() {
    let registry = registry(Store::in_memory(), &[]).await;
    assert!(registry.stat(&id("main")).await.unwrap().is_main);
    assert_eq!(kind(registry.remove(&id("main")).await), ErrorKind::InvalidArgument);
    let change = RegisteredChange::default();
    assert_eq!(kind(registry.change(&id("main"), change).await), ErrorKind::InvalidArgument);
}

#[tokio::test]
async fn another_server_over_the_store_sees_what_was_made_and_what_ended() {
    let storage: Arc<dyn storage::Storage> = crate::distant::Distant::new();
    let one = registry(Store::over(Arc::clone(&storage)), &[]).await;
    let other = registry(Store::over(storage), &[]).await;
    one.create(NewSandbox { labels: labels(&[("a", "1")]), ..new("x") }).await.unwrap();
    write(&*other.open(&id("x")).await.unwrap().files, "/f", "1").await;
    let files = one.open(&id("x")).await.unwrap();
    files.files.refresh().await.unwrap();
    assert_eq!(read(&*files.files, &at("/f")).await, "1");
    one.remove(&id("x")).await.unwrap();
    tokio::time::sleep(Duration::from_millis(2100)).await;
    assert_eq!(kind(other.open(&id("x")).await), ErrorKind::SandboxNotFound);
    assert_eq!(names(&other).await, ["main"]);
}

#[tokio::test]
async fn of_many_who_make_one_id_exactly_one_does() {
    for (store, _dir) in stores().await {
        let hosts = tempfile::tempdir().unwrap();
        let registry = registry(store, &[hosts.path()]).await;
        let wishes = (0..16).map(|_| registry.create(new("x")));
        let outcomes = futures::future::join_all(wishes).await;
        assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1);
        // Of both kinds at once there may be none, but never two.
        let wishes = (0..16)
            .map(|n| registry.create(if n % 2 == 0 { on_host("y", Some("y")) } else { new("y") }));
        let outcomes = futures::future::join_all(wishes).await;
        let made: Vec<_> = outcomes.into_iter().flatten().collect();
        assert!(made.len() <= 1, "{made:?}");
        match made.first() {
            Some(made) => assert_eq!(registry.stat(&id("y")).await.unwrap().kind, made.kind),
            None => assert_eq!(kind(registry.stat(&id("y")).await), ErrorKind::SandboxNotFound),
        }
    }
}

#[tokio::test]
async fn whoever_comes_too_late_takes_no_directory_away() {
    let hosts = tempfile::tempdir().unwrap();
    let registry = registry(Store::in_memory(), &[hosts.path()]).await;
    for n in 0..8 {
        let name = format!("h{n}");
        let wishes = (0..8).map(|_| registry.create(on_host(&name, None)));
        let outcomes = futures::future::join_all(wishes).await;
        assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1);
        let files = &registry.open(&id(&name)).await.unwrap().files;
        write(&**files, "/f", "1").await;
        assert!(hosts.path().join(&name).join("f").exists());
    }
    // Of two who wish for one directory, at most one has it, and the other leaves it alone.
    let wishes = ["one", "two"].map(|name| registry.create(on_host(name, Some("shared"))));
    let made: Vec<_> = futures::future::join_all(wishes).await.into_iter().flatten().collect();
    assert!(made.len() <= 1, "{made:?}");
    assert!(hosts.path().join("shared").exists());
    if let Some(made) = made.first() {
        write(&*registry.open(&made.id).await.unwrap().files, "/f", "1").await;
    }
}

#[tokio::test]
async fn no_sandbox_lies_within_another() {
    for (store, _dir) in stores().await {
        let hosts = tempfile::tempdir().unwrap();
        let registry = registry(store, &[hosts.path()]).await;
        registry.create(on_host("a", Some("team/a"))).await.unwrap();
        for wished in ["team/a", "team/a/inner", "team/a/x/y", "team"] {
            let refused = registry.create(on_host("b", Some(wished))).await;
            assert_eq!(kind(refused), ErrorKind::AlreadyExists, "{wished}");
        }
        assert_eq!(std::fs::read_dir(hosts.path().join("team/a")).unwrap().count(), 0);
        assert_eq!(names(&registry).await, ["a", "main"]);
        // A name that begins alike is another one.
        registry.create(on_host("b", Some("team/ab"))).await.unwrap();
        registry.remove(&id("a")).await.unwrap();
        registry.create(on_host("a", Some("team/a/inner"))).await.unwrap();
        registry.remove(&id("a")).await.unwrap();
        registry.remove(&id("b")).await.unwrap();
        registry.create(on_host("whole", Some("team"))).await.unwrap();
    }
}

#[tokio::test]
async fn of_many_who_come_at_once_none_lies_within_another() {
    let hosts = tempfile::tempdir().unwrap();
    let registry = registry(Store::in_memory(), &[hosts.path()]).await;
    for n in 0..16 {
        let wishes = ["x", "x/y", "x/y/z", "x/y"].into_iter().enumerate().map(|(i, wished)| {
            let registry = registry.clone();
            let new = on_host(&format!("s{n}-{i}"), Some(&format!("{n}/{wished}")));
            tokio::spawn(async move { registry.create(new).await })
        });
        let outcomes = futures::future::join_all(wishes).await;
        let made = outcomes.into_iter().flat_map(Result::unwrap).count();
        assert!(made <= 1, "{made} lie within each other");
    }
}

#[tokio::test]
async fn what_a_crash_left_of_a_directory_keeps_nobody_out() {
    let (storage, hosts) = (Arc::new(MemoryStorage::default()), tempfile::tempdir().unwrap());
    let store = Store::flushing(Arc::clone(&storage) as Arc<dyn storage::Storage>);
    let registry = registry(store, &[hosts.path()]).await;
    registry.create(on_host("a", Some("x"))).await.unwrap();
    let record = RefKey::new("sandboxes/a/record").unwrap();
    let token = storage.load(&record).await.unwrap().unwrap().token;
    storage.delete_ref(&record, &token).await.unwrap();
    registry.create(on_host("b", Some("x"))).await.unwrap();
}

#[tokio::test]
async fn an_open_directory_takes_one_descriptor() {
    const COUNT: usize = 40;
    let hosts = tempfile::tempdir().unwrap();
    let registry = registry(Store::in_memory(), &[hosts.path()]).await;
    let held = || {
        let all = std::fs::read_dir("/proc/self/fd").unwrap().flatten();
        let places = all.filter_map(|fd| std::fs::read_link(fd.path()).ok());
        places.filter(|place| place.starts_with(hosts.path())).count()
    };
    let before = held();
    let mut open = Vec::new();
    for n in 0..COUNT {
        let name = format!("s{n}");
        registry.create(on_host(&name, None)).await.unwrap();
        let sandbox = registry.open(&id(&name)).await.unwrap();
        write(&*sandbox.files, "/f", "1").await;
        open.push(sandbox);
    }
    assert_eq!(held() - before, COUNT);
}

#[tokio::test]
async fn of_many_who_take_an_id_that_is_over_one_has_it() {
    for (store, _dir) in stores().await {
        let registry = registry(store, &[]).await;
        let ttl = Some(Duration::from_secs(1));
        registry.create(NewSandbox { ttl, ..new("x") }).await.unwrap();
        tokio::time::sleep(Duration::from_millis(2100)).await;
        let wishes = (0..16).map(|_| registry.create(new("x")));
        let outcomes = futures::future::join_all(wishes).await;
        assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1, "{outcomes:?}");
        registry.sweep().await.unwrap();
        write(&*registry.open(&id("x")).await.unwrap().files, "/f", "1").await;
        assert_eq!(registry.stat(&id("x")).await.unwrap().expires, None);
    }
}

#[tokio::test]
async fn a_link_on_the_way_leads_no_new_sandbox_elsewhere() {
    let hosts = tempfile::tempdir().unwrap();
    let registry = registry(Store::in_memory(), &[hosts.path()]).await;
    registry.create(on_host("victim", None)).await.unwrap();
    std::fs::create_dir(hosts.path().join("a")).unwrap();
    std::os::unix::fs::symlink("../victim", hosts.path().join("a/x")).unwrap();
    assert!(registry.create(on_host("inner", Some("a/x/b"))).await.is_err());
    assert!(!hosts.path().join("victim/b").exists());
}
