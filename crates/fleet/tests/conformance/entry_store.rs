//! The entry store on every kind of store: what it promises where it is implemented must not depend
//! on where the entries lie.

use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use engine::{
    CancellationToken, Depth, EntryKind, EntryStore, ErrorKind, Limits, PathStream, Result,
    SandboxId, Store, StoreOptions, StoredEntry, VirtualFs,
};
use futures::future::BoxFuture;
use futures::{StreamExt as _, TryStreamExt as _};
use libtest_mimic::Trial;
use sandkeep_fleet::{Backend, Home};
use tokio::runtime::Builder;

/// A sandbox, and how to come to it anew.
struct Place {
    url: String,
    id: SandboxId,
    tree: VirtualFs,
    backend: Backend,
}

impl Place {
    async fn new(home: &Home, id: &str) -> Self {
        let (url, id) = (home.url(), SandboxId::parse(id).unwrap());
        let tree = open(&url).await.create(&id, Limits::default()).await.unwrap();
        Self { url, id, tree, backend: home.backend() }
    }

    fn entries(&self) -> EntryStore {
        EntryStore::new(self.tree.clone())
    }

    /// The same entries as another server sees them, where there can be another one.
    async fn of_another_server(&self) -> EntryStore {
        if !self.backend.is_shared() {
            return self.entries();
        }
        EntryStore::new(open(&self.url).await.sandbox(&self.id).await.unwrap())
    }
}

/// A store that shows at once what other servers do.
async fn open(url: &str) -> Store {
    let options = StoreOptions { staleness: Duration::ZERO, ..StoreOptions::default() };
    Store::open_with(url, options).await.unwrap()
}

/// Every promise, each in a sandbox of its own.
pub(crate) fn promises(backend: Backend) -> Vec<Trial> {
    type Check = fn(Place) -> BoxFuture<'static, ()>;
    macro_rules! checks {
        ($($name:ident,)+) => {
            [$((stringify!($name), (|place| Box::pin($name(place))) as Check)),+]
        };
    }
    let checks = checks![
        an_entry_is_set_got_found_and_deleted,
        a_file_and_a_directory_never_take_each_others_place,
        all_paths_come_parents_first_and_in_the_order_of_bytes,
        a_prefix_ends_within_a_name,
        children_are_what_a_directory_holds_itself,
        clearing_leaves_the_root,
        all_entries_come_with_their_contents_in_one_state,
        many_entries_are_set_together_or_not_at_all,
        nobody_sees_some_of_many_entries,
        what_is_cancelled_before_it_begins_has_no_effect,
        what_is_cancelled_while_it_happens_happens_whole_or_not_at_all,
        a_list_ends_with_an_error_when_it_is_cancelled,
        entries_are_there_when_the_store_is_opened_again,
    ];
    let (home, sandboxes) = (Arc::new(Home::of(backend)), Arc::new(AtomicU32::new(0)));
    let trial = |(name, check): (&str, Check)| {
        let (home, sandboxes) = (Arc::clone(&home), Arc::clone(&sandboxes));
        Trial::test(format!("{}::{name}", backend.name()), move || {
            let id = format!("entries-{}", sandboxes.fetch_add(1, Ordering::Relaxed));
            let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
            runtime.block_on(async { check(Place::new(&home, &id).await).await });
            Ok(())
        })
    };
    checks.into_iter().map(trial).collect()
}

fn never() -> CancellationToken {
    CancellationToken::new()
}

fn cancelled() -> CancellationToken {
    let token = CancellationToken::new();
    token.cancel();
    token
}

fn file(path: &str, content: &str) -> StoredEntry {
    StoredEntry::file(path, content.to_owned()).unwrap()
}

async fn texts(paths: Result<PathStream>) -> Vec<String> {
    paths.unwrap().map_ok(|path| path.to_string()).try_collect().await.unwrap()
}

async fn all_paths(entries: &EntryStore) -> Vec<String> {
    texts(entries.paths(&never()).await).await
}

async fn content(entries: &EntryStore, path: &str) -> Option<String> {
    let entry = entries.get(path, &never()).await.unwrap()?;
    Some(String::from_utf8(entry.content.to_vec()).unwrap())
}

/// Sets files of the same content under many names.
async fn fill(entries: &EntryStore, paths: &[&str]) {
    let many = paths.iter().map(|path| file(path, path)).collect();
    entries.set_many(many, &never()).await.unwrap();
}

fn refusal<T: Debug>(outcome: Result<T>) -> ErrorKind {
    outcome.unwrap_err().kind()
}

async fn an_entry_is_set_got_found_and_deleted(place: Place) {
    let entries = place.entries();
    assert_eq!(content(&entries, "a/b").await, None);
    entries.set(file("a/b", "one"), &never()).await.unwrap();
    entries.set(file(r"a\b", "two"), &never()).await.unwrap();
    assert_eq!(content(&entries, "a/b").await.as_deref(), Some("two"));
    assert!(entries.get("a", &never()).await.unwrap().unwrap().is_directory());
    assert!(entries.exists("a/b", &never()).await.unwrap());
    assert_eq!(content(&place.of_another_server().await, "a/b").await.as_deref(), Some("two"));
    assert_eq!(
        refusal(entries.delete("a", Depth::One, &never()).await),
        ErrorKind::DirectoryNotEmpty
    );
    assert!(entries.delete("a/b", Depth::One, &never()).await.unwrap());
    assert!(!entries.delete("a/b", Depth::One, &never()).await.unwrap());
    assert!(!entries.exists("a/b", &never()).await.unwrap());
    assert!(entries.delete("a", Depth::All, &never()).await.unwrap());
    assert_eq!(entries.count(&never()).await.unwrap(), 1);
}

async fn a_file_and_a_directory_never_take_each_others_place(place: Place) {
    let entries = place.entries();
    entries.set(file("d/x", "kept"), &never()).await.unwrap();
    assert_eq!(refusal(entries.set(file("d", ""), &never()).await), ErrorKind::IsADirectory);
    let directory = StoredEntry::directory("d/x").unwrap();
    assert_eq!(refusal(entries.set(directory, &never()).await), ErrorKind::AlreadyExists);
    assert_eq!(content(&entries, "d/x").await.as_deref(), Some("kept"));
}

async fn all_paths_come_parents_first_and_in_the_order_of_bytes(place: Place) {
    let entries = place.entries();
    fill(&entries, &["b", "a/x", "a-b", "a/é", "a/Z", "B"]).await;
    let expected = ["/", "/B", "/a", "/a/Z", "/a/x", "/a/é", "/a-b", "/b"];
    assert_eq!(all_paths(&entries).await, expected);
    assert_eq!(all_paths(&place.of_another_server().await).await, expected);
}

async fn a_prefix_ends_within_a_name(place: Place) {
    let entries = place.entries();
    fill(&entries, &["src/main.rs", "src/mod/x", "src/mod2", "src2/main.rs", "sr"]).await;
    let of = async |prefix| texts(entries.paths_beginning_with(prefix, &never()).await).await;
    assert_eq!(of("src/mo").await, ["/src/mod", "/src/mod/x", "/src/mod2"]);
    let both =
        ["/src", "/src/main.rs", "/src/mod", "/src/mod/x", "/src/mod2", "/src2", "/src2/main.rs"];
    assert_eq!(of("src").await, both);
    assert_eq!(of("src/").await, both[1..5]);
    assert_eq!(of("nothing/").await, [""; 0]);
}

async fn children_are_what_a_directory_holds_itself(place: Place) {
    let entries = place.entries();
    fill(&entries, &["d/sub/deep", "d/x", "e"]).await;
    assert_eq!(texts(entries.children("d", &never()).await).await, ["/d/sub", "/d/x"]);
    let missing = entries.children("missing", &never()).await.err().unwrap();
    assert_eq!(missing.kind(), ErrorKind::NotFound);
}

async fn clearing_leaves_the_root(place: Place) {
    let entries = place.entries();
    fill(&entries, &["a/b", "c"]).await;
    entries.clear(&never()).await.unwrap();
    assert_eq!(all_paths(&entries).await, ["/"]);
    assert_eq!(all_paths(&place.of_another_server().await).await, ["/"]);
}

async fn all_entries_come_with_their_contents_in_one_state(place: Place) {
    let entries = place.entries();
    // More than one chunk, so that contents are fetched while the listing goes on.
    let large = "large ".repeat(100_000);
    let link = StoredEntry { kind: EntryKind::Symlink, ..file("link", "small") };
    let many = vec![file("deep/large", &large), link, file("small", "1")];
    entries.set_many(many, &never()).await.unwrap();
    let seen = place.of_another_server().await;
    let mut listing = seen.entries(&never()).await.unwrap();
    let root = listing.try_next().await.unwrap().unwrap();
    entries.clear(&never()).await.unwrap();
    let rest: Vec<_> = listing.try_collect().await.unwrap();
    let found: Vec<_> = rest.iter().map(|entry| (entry.path.as_str(), entry.size())).collect();
    let expected = [("/deep", 0), ("/deep/large", 600_000), ("/link", 5), ("/small", 1)];
    assert_eq!((root.name(), &found[..]), ("/", &expected[..]));
    assert!(rest.iter().any(|entry| entry.content == large));
}

async fn many_entries_are_set_together_or_not_at_all(place: Place) {
    let entries = place.entries();
    fill(&entries, &["a/1", "b/2"]).await;
    let bad = vec![file("a/1", "changed"), file("new", ""), file("a/1/beneath", "")];
    assert_eq!(refusal(entries.set_many(bad, &never()).await), ErrorKind::NotADirectory);
    for entries in [entries, place.of_another_server().await] {
        assert_eq!(content(&entries, "a/1").await.as_deref(), Some("a/1"));
        assert!(!entries.exists("new", &never()).await.unwrap());
    }
}

async fn nobody_sees_some_of_many_entries(place: Place) {
    let (entries, reader) = (place.entries(), place.of_another_server().await);
    let writer = tokio::spawn(async move {
        for round in 0..20 {
            let text = round.to_string();
            let many = (0..20).map(|at| file(&format!("f{at}"), &text)).collect();
            entries.set_many(many, &never()).await.unwrap();
        }
    });
    let mut looks = 0;
    while !writer.is_finished() || looks == 0 {
        let seen: Vec<_> = reader.entries(&never()).await.unwrap().try_collect().await.unwrap();
        let files: Vec<_> = seen.iter().filter(|entry| !entry.is_directory()).collect();
        assert!(files.is_empty() || files.len() == 20, "{} of 20", files.len());
        assert!(files.is_sorted_by(|one, next| one.content == next.content));
        looks += 1;
    }
    writer.await.unwrap();
    assert_eq!(content(&reader, "f7").await.as_deref(), Some("19"));
}

async fn what_is_cancelled_before_it_begins_has_no_effect(place: Place) {
    let entries = place.entries();
    entries.set(file("kept", "1"), &never()).await.unwrap();
    let timeout = ErrorKind::Timeout;
    assert_eq!(refusal(entries.set(file("kept", "2"), &cancelled()).await), timeout);
    assert_eq!(refusal(entries.set_many(vec![file("new", "")], &cancelled()).await), timeout);
    assert_eq!(refusal(entries.delete("kept", Depth::One, &cancelled()).await), timeout);
    assert_eq!(refusal(entries.clear(&cancelled()).await), timeout);
    assert_eq!(refusal(entries.get("kept", &cancelled()).await), timeout);
    assert_eq!(refusal(entries.exists("kept", &cancelled()).await), timeout);
    assert!(entries.paths(&cancelled()).await.is_err());
    assert!(entries.paths_beginning_with("k", &cancelled()).await.is_err());
    assert!(entries.children("/", &cancelled()).await.is_err());
    assert!(entries.entries(&cancelled()).await.is_err());
    let entries = place.of_another_server().await;
    assert_eq!(all_paths(&entries).await, ["/", "/kept"]);
    assert_eq!(content(&entries, "kept").await.as_deref(), Some("1"));
}

async fn what_is_cancelled_while_it_happens_happens_whole_or_not_at_all(place: Place) {
    let (entries, reader) = (place.entries(), place.of_another_server().await);
    let mut done = 0;
    for round in 0..20_u64 {
        let token = CancellationToken::new();
        let many = (0..5).map(|at| file(&format!("r{round}/f{at}"), "x")).collect();
        let set = entries.set_many(many, &token);
        let cancel = async {
            tokio::time::sleep(Duration::from_micros(round * round * 100)).await;
            token.cancel();
        };
        let (outcome, ()) = tokio::join!(set, cancel);
        // What was on its way when it was cancelled comes before what is set later.
        entries.set(file("last", "x"), &never()).await.unwrap();
        let found = texts(reader.paths_beginning_with(&format!("r{round}/"), &never()).await).await;
        match outcome {
            Ok(()) => assert_eq!(found.len(), 5, "it was acknowledged"),
            Err(err) => {
                assert_eq!(err.kind(), ErrorKind::Timeout, "{err}");
                assert!(found.is_empty() || found.len() == 5, "{found:?}");
            }
        }
        done += found.len();
    }
    assert!(done > 0, "nothing was set although there was time");
}

async fn a_list_ends_with_an_error_when_it_is_cancelled(place: Place) {
    let entries = place.entries();
    fill(&entries, &["a/b", "c"]).await;
    let token = CancellationToken::new();
    let mut paths = place.of_another_server().await.paths(&token).await.unwrap();
    assert_eq!(paths.try_next().await.unwrap().unwrap().as_str(), "/");
    token.cancel();
    assert_eq!(refusal(paths.try_next().await), ErrorKind::Timeout);
    assert!(paths.next().await.is_none());
}

async fn entries_are_there_when_the_store_is_opened_again(place: Place) {
    place.entries().set(file("a/b", "kept"), &never()).await.unwrap();
    let Place { url, id, tree, backend } = place;
    // A store in memory is gone when it is closed, which is no promise that it breaks.
    let tree = if backend == Backend::Memory {
        tree
    } else {
        drop(tree);
        open(&url).await.sandbox(&id).await.unwrap()
    };
    assert_eq!(content(&EntryStore::new(tree), "a/b").await.as_deref(), Some("kept"));
}
