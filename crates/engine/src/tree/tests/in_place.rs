//! Names put into pages that nobody else holds, beside names put into copies of them.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::{DotDot, SandboxPath};

const LATE: UnixTime = UnixTime { seconds: 3, nanoseconds: 4 };
const STAMP: Stamp = Stamp { time: 5, salt: 6 };

fn path(text: &str) -> SandboxPath {
    SandboxPath::parse(text, DotDot::Refuse).unwrap()
}

/// Puts a file in place; false if that cannot be.
fn put_in_place(root: &mut Node, path: &SandboxPath, new: Node) -> bool {
    let placing = Placing { sum: new.sum(), heights: &HEIGHTS, now: LATE, stamp: STAMP };
    placing.put(root, path, || Some(new)).is_some()
}

/// Puts a file into copies of the pages on the way.
fn put_copying(root: &mut Node, path: &SandboxPath, new: Node) {
    let (heights, source) = (HEIGHTS, &Kept::default());
    let (tree, floor) = (root.clone(), SandboxPath::root());
    let mut draft = Draft { root: tree, heights, source, now: LATE, stamp: STAMP, floor };
    let way = draft.resolve(path, crate::Links::Keep).unwrap();
    draft.put(&way, new, Touch::Names).unwrap();
    *root = draft.root;
}

/// What a store would call the tree: equal for equal pages with equal sums, times and stamps.
fn id(root: &Node) -> Vec<u8> {
    let stored = Kept::default().flushed(root.directory().unwrap());
    let mut bytes = Vec::new();
    encode_node(&mut bytes, &Node { body: Body::Directory(Box::new(stored)), ..root.clone() })
        .unwrap();
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn a_tree_that_was_changed_in_place_is_the_one_that_copies_make(
        names in vec((0..4_u8, 0..5000_u32), 1..2500),
        // Now and then somebody holds the tree for a while.
        holds in vec(0..2500_usize, 0..8),
    ) {
        let mut in_place = directory(Directory::default());
        let mut copied = in_place.clone();
        let (mut put, mut held) = (0, Vec::new());
        for (index, (dir, name)) in names.iter().enumerate() {
            if holds.contains(&index) {
                held.push((in_place.clone(), id(&in_place)));
            } else if index % 97 == 0 {
                for (tree, before) in held.drain(..) {
                    prop_assert_eq!(id(&tree), before, "a tree changed that somebody held");
                }
            }
            let path = path(&format!("/dir-{dir}/deeper/{name}"));
            let new = node(index as u64);
            if put_in_place(&mut in_place, &path, new.clone()) {
                put += 1;
            } else {
                put_copying(&mut in_place, &path, new.clone());
            }
            put_copying(&mut copied, &path, new);
        }
        for (tree, before) in held {
            prop_assert_eq!(id(&tree), before, "a tree changed that somebody held");
        }
        prop_assert_eq!(id(&in_place), id(&copied));
        let sum = |root: &Node| root.directory().map(|dir| dir.sum);
        prop_assert_eq!(sum(&in_place), sum(&copied));
        if holds.is_empty() && names.len() > 500 {
            prop_assert!(put > names.len() / 2, "{} of {} were put in place", put, names.len());
        }
    }
}

#[test]
fn a_page_with_more_names_than_marks_is_changed_in_place() {
    // No name of these has a height, so that all of them share one page.
    let names = (0..4000).map(|number| format!("{number:04}"));
    let low: Vec<_> = names.filter(|name| HEIGHTS.height(name) == 0).take(400).collect();
    let mut root = directory(Directory::default());
    for (index, name) in low.iter().enumerate() {
        assert!(put_in_place(&mut root, &path(name), node(index as u64)), "{name}");
    }
    let dir = root.directory().unwrap();
    assert_eq!(pages(dir, &Kept::default()).len(), 1);
    for (index, name) in low.iter().enumerate() {
        let found = dir.find(name, &Kept::default()).unwrap().unwrap();
        assert_eq!(content(&found.node), index as u64);
    }
}

#[test]
fn what_stands_in_the_way_is_left_as_it_is() {
    let mut root = directory(Directory::default());
    for name in ["/dir/b", "/file", "/link"] {
        put_copying(&mut root, &path(name), node(1));
    }
    let link = Node { body: Body::Symlink("dir".into()), ..node(0) };
    put_copying(&mut root, &path("/link"), link);
    let before = id(&root);
    let refused = ["/", "/dir/b", "/dir", "/file/x", "/link/x", "/missing/x", "/dir/a"];
    for name in refused {
        assert!(!put_in_place(&mut root, &path(name), node(2)), "{name}");
        assert_eq!(id(&root), before, "{name}");
    }
    let deep = path(&"/d".repeat(70));
    put_copying(&mut root, &deep, node(1));
    let beside = path(&format!("{}/x", deep.parent().unwrap()));
    assert!(!put_in_place(&mut root, &beside, node(2)));
}
