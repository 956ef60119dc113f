//! A directory against a sorted map, whatever its history.

use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

#[derive(Clone, Debug)]
enum Edit {
    Put(String, u64),
    Remove(String),
    /// Everything so far goes to the store and is read from there.
    Flush,
}

/// Few enough names that they come back, of all lengths, some of which sort next to each other.
fn a_name() -> impl Strategy<Value = String> {
    prop_oneof![
        (0..400_u32).prop_map(|n| format!("n{n}")),
        (0..40_u32).prop_map(|n| format!("{}{n}", "é".repeat(n as usize))),
        "[ab]{1,6}",
    ]
}

fn an_edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        6 => (a_name(), 0..4_u64).prop_map(|(name, content)| Edit::Put(name, content)),
        3 => a_name().prop_map(Edit::Remove),
        1 => Just(Edit::Flush),
    ]
}

/// A directory and the map that it must be equal to, after these edits.
fn edited(edits: &[Edit], kept: &mut Kept) -> (Directory, BTreeMap<String, u64>) {
    let (mut dir, mut map) = (Directory::default(), BTreeMap::new());
    for edit in edits {
        match edit {
            Edit::Put(name, content) => {
                dir = dir.with(item(name, node(*content)), &HEIGHTS, &*kept).unwrap();
                map.insert(name.clone(), *content);
            }
            Edit::Remove(name) => {
                dir = dir.without(name, &HEIGHTS, &*kept).unwrap();
                map.remove(name);
            }
            Edit::Flush => dir = kept.flushed(&dir),
        }
    }
    (dir, map)
}

fn of(map: &BTreeMap<String, u64>) -> Directory {
    let empty = Directory::default();
    map.iter().fold(empty, |dir, (name, content)| {
        dir.with(item(name, node(*content)), &HEIGHTS, &Kept::default()).unwrap()
    })
}

fn id_of(dir: &Directory) -> Option<ObjectId> {
    match Kept::default().flushed(dir).top? {
        Link::Stored(id) => Some(id),
        Link::Fresh(_) => panic!("a flushed directory has a fresh page"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn equal_directories_have_equal_pages_whatever_their_history(
        edits in vec(an_edit(), 0..200),
    ) {
        let mut kept = Kept::default();
        let (dir, map) = edited(&edits, &mut kept);
        prop_assert_eq!(id_of(&kept.flushed(&dir)), id_of(&of(&map)));
        prop_assert_eq!(dir.sum, of(&map).sum);
    }

    #[test]
    fn a_directory_finds_what_a_map_finds(
        edits in vec(an_edit(), 0..200),
        names in vec(a_name(), 20),
    ) {
        let mut kept = Kept::default();
        let (dir, map) = edited(&edits, &mut kept);
        for name in map.keys().chain(&names) {
            let found = dir.find(name, &kept).unwrap().map(|item| content(&item.node));
            prop_assert_eq!(found, map.get(name).copied());
        }
    }

    #[test]
    fn a_cursor_gives_the_names_behind_any_other_in_order(
        edits in vec(an_edit(), 0..200),
        afters in vec(a_name(), 10),
    ) {
        let mut kept = Kept::default();
        let (dir, map) = edited(&edits, &mut kept);
        let names = |after| -> Vec<String> {
            items(&dir, after, &kept).iter().map(|item| item.name.to_string()).collect()
        };
        prop_assert_eq!(names(None), map.keys().cloned().collect::<Vec<_>>());
        for after in &afters {
            let behind = map.keys().filter(|name| *name > after).cloned().collect::<Vec<_>>();
            prop_assert_eq!(names(Some(after)), behind);
        }
    }

    #[test]
    fn every_link_carries_the_sum_of_what_is_beneath(edits in vec(an_edit(), 0..200)) {
        let mut kept = Kept::default();
        let (dir, map) = edited(&edits, &mut kept);
        for page in pages(&dir, &kept) {
            if let Page::Inner { children, .. } = &*page {
                for child in children.iter() {
                    let beneath = (&kept as &dyn Source).page(&child.link).unwrap();
                    prop_assert_eq!(child.sum, beneath.sum());
                    prop_assert_eq!(&child.first, beneath.first().unwrap());
                    prop_assert_eq!(beneath.level() + 1, page.level());
                }
            }
        }
        prop_assert_eq!(dir.sum.names, map.len() as u64);
        prop_assert_eq!(dir.sum.bytes, 8 * map.len() as u64);
    }

    #[test]
    fn a_page_begins_at_each_name_that_is_higher_and_at_the_first(
        edits in vec(an_edit(), 0..200),
    ) {
        let mut kept = Kept::default();
        let (dir, map) = edited(&edits, &mut kept);
        for page in pages(&dir, &kept) {
            let names: Vec<Name> = match &*page {
                Page::Leaf(items) => items.iter().map(|item| item.name.clone()).collect(),
                Page::Inner { children, .. } => {
                    children.iter().map(|child| child.first.clone()).collect()
                }
            };
            let begins = |name: &str| HEIGHTS.height(name) > page.level();
            let first = &names[0];
            prop_assert!(begins(first) || map.keys().next().unwrap() == &**first);
            prop_assert!(!names[1..].iter().any(|name| begins(name)));
        }
    }

    #[test]
    fn what_was_put_back_leaves_no_trace(
        edits in vec(an_edit(), 1..100),
        others in vec((a_name(), 5..9_u64), 1..30),
    ) {
        let mut kept = Kept::default();
        let (dir, map) = edited(&edits, &mut kept);
        let mut changed = dir.clone();
        for (name, content) in &others {
            changed = changed.with(item(name, node(*content)), &HEIGHTS, &kept).unwrap();
        }
        for (name, _) in others.iter().rev() {
            changed = match map.get(name) {
                Some(content) => changed.with(item(name, node(*content)), &HEIGHTS, &kept),
                None => changed.without(name, &HEIGHTS, &kept),
            }
            .unwrap();
        }
        prop_assert_eq!(id_of(&changed), id_of(&dir));
    }
}
