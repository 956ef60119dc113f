//! Several servers on one store: what each sees of the others, and through whom changes are made.

use std::sync::Arc;
use std::time::Duration;

use sandkeep_engine::{
    ErrorKind, FileSystem, Files, Limits, Parents, SandboxPath, Store, StoreOptions, VirtualFs,
};

use crate::distant::Distant;
use crate::fixture::{id, refusal};

const NEVER: Duration = Duration::from_secs(3600);

#[tokio::test]
async fn what_another_server_did_is_seen_when_staleness_is_over() {
    let [one, two] = pair(Duration::from_millis(200), [None, None]).await;
    for text in ["1", "2"] {
        one.files.write("a", text).await.unwrap();
        tokio::time::sleep(Duration::from_millis(210)).await;
        assert_eq!(two.files.read("a").await.unwrap(), text);
    }
    assert_eq!(two.tree.usage().await.unwrap().files, 1);
}

#[tokio::test]
async fn until_then_the_store_is_not_asked() {
    let [one, two] = pair(NEVER, [None, None]).await;
    one.files.write("a", "1").await.unwrap();
    two.tree.refresh().await.unwrap();
    assert_eq!(two.files.read("a").await.unwrap(), "1");
    one.files.write("a", "2").await.unwrap();
    let (read, asked) = two.storage.asked(two.files.read("a")).await;
    assert_eq!((read.unwrap().as_ref(), asked.objects), (b"1".as_slice(), 0));
}

#[tokio::test]
async fn a_refresh_shows_everything_that_was_done_before_it() {
    let [one, two] = pair(NEVER, [None, None]).await;
    for number in 0..20 {
        let text = number.to_string();
        one.files.write("a", text.clone()).await.unwrap();
        two.tree.refresh().await.unwrap();
        assert_eq!(two.files.read("a").await.unwrap(), text);
    }
}

#[tokio::test]
async fn ones_own_changes_are_never_hidden_by_a_look_at_the_store() {
    let [one, _] = pair(Duration::ZERO, [None, None]).await;
    let looking = {
        let tree = one.tree.clone();
        tokio::spawn(async move {
            loop {
                tree.refresh().await.unwrap();
            }
        })
    };
    for number in 0..50 {
        let text = number.to_string();
        one.files.write("a", text.clone()).await.unwrap();
        assert_eq!(one.files.read("a").await.unwrap(), text);
    }
    looking.abort();
}

#[tokio::test]
async fn what_the_leader_did_for_us_is_seen_at_once() {
    let [one, two] = pair(NEVER, [Some("http://one"), Some("http://two")]).await;
    one.files.write("a", "1").await.unwrap();
    two.tree.refresh().await.unwrap();
    let leader = two.tree.leader().unwrap();
    one.files.write("a", "2").await.unwrap();
    assert_eq!(two.files.read("a").await.unwrap(), "1");
    leader.is_done();
    assert_eq!(two.files.read("a").await.unwrap(), "2");
    let (read, asked) = two.storage.asked(two.files.read("a")).await;
    assert_eq!((read.unwrap().as_ref(), asked.objects), (b"2".as_slice(), 0));
}

#[tokio::test]
async fn a_change_is_decided_by_what_the_store_has_however_old_the_view() {
    let [one, two] = pair(NEVER, [None, None]).await;
    two.tree.refresh().await.unwrap();
    one.files.create_directory("d").await.unwrap();
    // Two has not seen the directory, and yet it is there for what it does.
    two.files.write("d/a", "x").await.unwrap();
    let again = SandboxPath::clamped("d").unwrap();
    let kind = refusal(two.tree.create_dir(&again, Parents::Require)).await;
    assert_eq!(kind, ErrorKind::AlreadyExists);
    one.tree.refresh().await.unwrap();
    assert_eq!(one.files.read("d/a").await.unwrap(), "x");
}

#[tokio::test]
async fn a_sandbox_that_another_server_removed_is_gone() {
    let [one, two] = pair(NEVER, [None, None]).await;
    one.files.write("a", "x").await.unwrap();
    two.tree.refresh().await.unwrap();
    one.store.remove(&id("shared")).await.unwrap();
    assert_eq!(refusal(two.tree.refresh()).await, ErrorKind::Unavailable);
    assert_eq!(refusal(two.files.read("a")).await, ErrorKind::Unavailable);
    assert_eq!(refusal(two.store.sandbox(&id("shared"))).await, ErrorKind::NotFound);
}

#[tokio::test]
async fn an_open_file_shows_what_another_server_wrote() {
    let [one, two] = pair(Duration::ZERO, [None, None]).await;
    one.files.write("a", "before").await.unwrap();
    let path = SandboxPath::clamped("a").unwrap();
    let open = two.tree.open(&path, sandkeep_engine::OpenOptions::Read).await.unwrap();
    assert_eq!(open.read_at(0, 10).await.unwrap(), "before");
    one.files.write("a", "after").await.unwrap();
    assert_eq!(open.read_at(0, 10).await.unwrap(), "after");
}

#[tokio::test]
async fn whoever_commits_first_leads_and_says_where() {
    let [one, two] = pair(NEVER, [Some("http://one"), Some("http://two")]).await;
    one.files.write("a", "1").await.unwrap();
    assert!(one.tree.leader().is_none(), "a leader sends nothing away");
    two.tree.refresh().await.unwrap();
    assert_eq!(two.tree.leader().unwrap().address(), "http://one");
    // What is done elsewhere all the same changes nothing about that.
    two.files.write("b", "2").await.unwrap();
    one.tree.refresh().await.unwrap();
    assert!(one.tree.leader().is_none());
    assert_eq!(two.tree.leader().unwrap().address(), "http://one");
}

#[tokio::test]
async fn a_leader_that_cannot_be_reached_is_replaced() {
    let [one, two] = pair(NEVER, [Some("http://one"), Some("http://two")]).await;
    one.files.write("a", "1").await.unwrap();
    two.tree.refresh().await.unwrap();
    two.tree.leader().unwrap().distrust();
    assert!(two.tree.leader().is_none());
    two.files.write("b", "2").await.unwrap();
    one.tree.refresh().await.unwrap();
    assert_eq!(one.tree.leader().unwrap().address(), "http://two");
}

#[tokio::test]
async fn a_server_without_an_address_leads_nobody() {
    let [one, two] = pair(NEVER, [None, Some("http://two")]).await;
    one.files.write("a", "1").await.unwrap();
    two.tree.refresh().await.unwrap();
    assert!(two.tree.leader().is_none());
    two.files.write("b", "2").await.unwrap();
    one.tree.refresh().await.unwrap();
    assert_eq!(one.tree.leader().unwrap().address(), "http://two");
}

#[tokio::test]
async fn neither_a_snapshot_nor_a_fork_has_a_leader() {
    use sandkeep_engine::{NewSnapshot, Point};
    let [one, two] = pair(NEVER, [Some("http://one"), None]).await;
    one.files.write("a", "1").await.unwrap();
    let snapshots = one.tree.snapshots().unwrap();
    let kept = snapshots.create(NewSnapshot::default()).await.unwrap();
    snapshots.fork(Point::Snapshot(kept.id), &id("fork"), Limits::default()).await.unwrap();
    let fork = two.store.sandbox(&id("fork")).await.unwrap();
    assert!(fork.leader().is_none());
}

#[tokio::test]
async fn an_address_must_fit_into_a_root() {
    for address in [String::new(), "x".repeat(256)] {
        let options = StoreOptions { address: Some(address), ..StoreOptions::default() };
        let kind = refusal(Store::open_with("memory:", options)).await;
        assert_eq!(kind, ErrorKind::InvalidArgument);
    }
}

/// One server's hold on the sandbox that all share.
struct Server {
    storage: Arc<Distant>,
    store: Store,
    tree: VirtualFs,
    files: Files,
}

async fn pair(staleness: Duration, addresses: [Option<&str>; 2]) -> [Server; 2] {
    let storage = Distant::new();
    let [one, two] = addresses.map(|address| {
        let (address, disk_cache) = (address.map(str::to_owned), None);
        let options = StoreOptions { staleness, address, disk_cache, memory: 32 << 20 };
        Store::over_with(Arc::<Distant>::clone(&storage), options)
    });
    one.create(&id("shared"), Limits::default()).await.unwrap();
    [server(&storage, one).await, server(&storage, two).await]
}

async fn server(storage: &Arc<Distant>, store: Store) -> Server {
    let tree = store.sandbox(&id("shared")).await.unwrap();
    let files = Files::new(Arc::new(tree.clone()));
    Server { storage: Arc::clone(storage), store, tree, files }
}
