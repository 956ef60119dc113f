//! Trees that are deeper or wider than the stack is.

use std::thread;

use super::*;
use crate::{DotDot, ErrorKind, Links, SandboxPath};

/// Runs on a stack on which nothing can recurse over a tree.
fn on_a_small_stack(work: impl FnOnce() + Send + 'static) {
    thread::Builder::new().stack_size(192 << 10).spawn(work).unwrap().join().unwrap();
}

fn draft(source: &dyn Source) -> Draft<'_> {
    let root = directory(Directory::default());
    Draft {
        root,
        heights: HEIGHTS,
        source,
        now: EARLY,
        stamp: Stamp::default(),
        floor: SandboxPath::root(),
    }
}

/// So many directories in each other.
fn nested(depth: usize) -> SandboxPath {
    SandboxPath::parse(&"/d".repeat(depth), DotDot::Refuse).unwrap()
}

fn put(draft: &mut Draft<'_>, path: &SandboxPath, node: Node) -> Result<(), Stop> {
    let way = draft.resolve(path, Links::Keep).unwrap();
    draft.put(&way, node, Touch::Names)
}

fn refusal(outcome: Result<(), Stop>) -> ErrorKind {
    match outcome.unwrap_err() {
        Stop::Failed(err) => err.kind(),
        Stop::Need(need) => panic!("{need:?} is needed"),
    }
}

#[test]
fn the_deepest_tree_is_made_flushed_read_and_dropped_on_a_small_stack() {
    on_a_small_stack(|| {
        let mut kept = Kept::default();
        let mut deep = draft(&kept);
        put(&mut deep, &nested(2048), node(1)).unwrap();
        assert_eq!(deep.sum().depth, 2048);
        let Draft { root, .. } = deep;
        let stored = kept.flushed(root.directory().unwrap());
        let root = directory(stored);
        let way = resolve(&root, &nested(2048), Links::Keep, &kept).unwrap();
        assert_eq!(content(&way.item().unwrap().node), 1);
    });
}

#[test]
fn a_level_more_is_refused() {
    let kept = Kept::default();
    let mut deep = draft(&kept);
    put(&mut deep, &nested(2047), directory(Directory::default())).unwrap();
    let mut above = draft(&kept);
    put(&mut above, &nested(1), deep.root.clone()).unwrap();
    let outcome = put(&mut above, &nested(2), deep.root);
    assert_eq!(refusal(outcome), ErrorKind::InvalidPath);
}

#[test]
fn a_tree_that_doubles_without_end_is_refused_before_its_sums_are_wrong() {
    let kept = Kept::default();
    let path = |text: &str| SandboxPath::parse(text, DotDot::Refuse).unwrap();
    let mut tree = draft(&kept);
    put(&mut tree, &path("/one"), node(1)).unwrap();
    let mut nodes = 2_u64;
    let refusal = loop {
        let whole = tree.root.clone();
        let mut next = draft(&kept);
        put(&mut next, &path("/a"), whole.clone()).unwrap();
        match put(&mut next, &path("/b"), whole) {
            Ok(()) => nodes = 2 * nodes + 1,
            outcome => break refusal(outcome),
        }
        assert_eq!(next.sum().nodes() + 1, nodes);
        tree = next;
    };
    assert!(matches!(refusal, ErrorKind::StorageFull | ErrorKind::TooManyNodes), "{refusal:?}");
    assert!(nodes > 1 << 58);
}

#[test]
fn a_wide_tree_is_dropped_on_a_small_stack() {
    on_a_small_stack(|| {
        let wide = (0..1000_u64).fold(Directory::default(), |dir, n| {
            let name = format!("{n}");
            let inner = (0..100).fold(Directory::default(), |dir, n| {
                dir.with(item(&n.to_string(), node(n)), &HEIGHTS, &Kept::default()).unwrap()
            });
            dir.with(item(&name, directory(inner)), &HEIGHTS, &Kept::default()).unwrap()
        });
        assert_eq!(wide.sum.nodes(), 101_000);
        drop(wide);
    });
}
