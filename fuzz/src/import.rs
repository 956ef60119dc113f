//! Exported snapshots that are taken in: refused without a trace, or a tree that is sound.
//!
//! The first byte says how the stream is made. Of most inputs only the records and the content are
//! used, as docs/decisions/0005 has them; the hashes around them are made to be right, and so are the
//! sums, or nothing would come further than to them.

mod records;
mod stream;

use engine::{
    ErrorKind, FileSystem as _, Limits, NewSnapshot, Point, Result, SandboxId, Snapshot,
    SnapshotId, Store, VirtualFs,
};
use futures::TryStreamExt as _;

use self::stream::{base, made};
use crate::runtime::run;
use crate::trees::{body, flushing, id, seen};

/// A larger tree is not looked at name by name.
const MOST_NODES: u64 = 500;
const LIMITS: Limits = Limits { file_size: None, total_size: Some(1 << 50), nodes: Some(1 << 40) };

/// Holds that a stream is refused, or becomes a tree that is sound and can be sent on.
pub fn check(data: &[u8]) {
    let Some((flags, rest)) = data.split_first() else { return };
    let bytes = made(*flags, rest);
    run(async {
        let in_memory = try_import(&Store::in_memory(), &bytes).await;
        let as_objects = try_import(&flushing(), &bytes).await;
        assert_eq!(in_memory.is_ok(), as_objects.is_ok(), "{in_memory:?} {as_objects:?}");
        if let (Err(one), Err(other)) = (in_memory, as_objects) {
            assert_eq!((one.kind(), one.message()), (other.kind(), other.message()));
        }
    });
}

async fn try_import(store: &Store, bytes: &[u8]) -> Result<()> {
    let sandbox = id("trial");
    let files = store.create(&sandbox, LIMITS).await.expect("it is new");
    import(&files, "base", &base()).await.expect("what others are relative to is right");
    let before = seen(&files, MOST_NODES).await;
    match import(&files, "new", bytes).await {
        Err(err) => {
            check_refusal(&err);
            let there = files.snapshots().expect("it has some").list(None, 10).await;
            assert_eq!(there.expect("they can be listed").len(), 1, "a refused one is there");
            assert_eq!(seen(&files, MOST_NODES).await, before);
            Err(err)
        }
        Ok(snapshot) => {
            check_taken(store, &sandbox, &files, &snapshot).await;
            Ok(())
        }
    }
}

fn check_refusal(err: &engine::Error) {
    let known = [
        ErrorKind::BadArchive,
        ErrorKind::PreconditionFailed,
        ErrorKind::StorageFull,
        ErrorKind::TooManyNodes,
        ErrorKind::FileTooLarge,
    ];
    assert!(known.contains(&err.kind()), "{err:?}");
}

/// Holds that a tree is sound, and the same when it is sent on.
async fn check_taken(store: &Store, sandbox: &SandboxId, files: &VirtualFs, snapshot: &Snapshot) {
    let verified = store.verify(sandbox).await.expect("it can be verified");
    assert_eq!(verified.problems, [], "what was taken in is not sound");
    let snapshots = files.snapshots().expect("it has some");
    let tree = snapshots.open(&snapshot.id).await.expect("it can be opened");
    assert_eq!(tree.usage().await.expect("it can be counted"), snapshot.usage);
    let shown = seen(&*tree, MOST_NODES).await;
    let point = Point::Snapshot(snapshot.id.clone());
    let sent = snapshots.export(point, None).await.expect("it can be sent on");
    let sent: Vec<_> = sent.try_collect().await.expect("to its end");
    let sent = sent.concat();
    let there = Store::in_memory().create(sandbox, LIMITS).await.expect("it is new");
    let taken = import(&there, "again", &sent).await.expect("what we send can be taken in");
    assert_eq!(taken.usage, snapshot.usage);
    let again = there.snapshots().expect("it has some").open(&taken.id).await.expect("it is there");
    let of = |entries: Option<std::collections::BTreeMap<_, (engine::Entry, _)>>| {
        entries.map(|entries| {
            let times = |(path, (entry, seen)): (_, (engine::Entry, _))| {
                (path, entry.created, entry.modified, seen)
            };
            entries.into_iter().map(times).collect::<Vec<_>>()
        })
    };
    assert_eq!(of(seen(&*again, MOST_NODES).await), of(shown));
}

async fn import(files: &VirtualFs, id: &str, bytes: &[u8]) -> Result<Snapshot> {
    let id = Some(SnapshotId::parse(id).expect("it is an id"));
    let new = NewSnapshot { id, ..NewSnapshot::default() };
    files.snapshots().expect("it has some").import(body(bytes), new).await
}
