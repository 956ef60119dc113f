//! How pages come out in large directories.

use super::*;

const MANY: u64 = 100_000;

/// Inserts names one by one.
fn filled(name: impl Fn(u64) -> String) -> Directory {
    (0..MANY).fold(Directory::default(), |dir, n| {
        dir.with(item(&name(n), node(n)), &HEIGHTS, &Kept::default()).unwrap()
    })
}

/// A page has 32 names or pages on average, and the longest of a few thousand not many times more:
/// the chance that 400 in a row begin no page is one in 300,000.
fn is_well_cut(dir: &Directory) {
    let pages = pages(dir, &Kept::default());
    let of_level = |level| pages.iter().filter(move |page| page.level() == level);
    assert_eq!(of_level(0).map(|page| page.len() as u64).sum::<u64>(), MANY);
    let leaves = of_level(0).count() as u64;
    assert!((MANY / 36..MANY / 28).contains(&leaves), "{leaves} leaves");
    let longest = pages.iter().map(|page| page.len()).max().unwrap();
    assert!((64..400).contains(&longest), "{longest} in one page");
    let top = pages.iter().map(|page| page.level()).max().unwrap();
    assert!((2..=4).contains(&top), "{top} levels above the names");
}

/// The longest object that one more name makes a store write.
fn assert_an_insert_writes_little(dir: &Directory, name: &str) {
    let mut kept = Kept::default();
    let stored = kept.flushed(dir);
    let more = stored.with(item(name, node(1)), &HEIGHTS, &kept).unwrap();
    let mut objects = Objects::default();
    flush(&more, &IDS, &mut objects).unwrap();
    let bytes: usize = objects.new.iter().map(|(_, bytes)| bytes.len()).sum();
    assert!(objects.new.len() <= 5, "{} pages", objects.new.len());
    assert!(bytes < 40_000, "{bytes} bytes");
}

#[test]
fn names_in_order_are_cut_well() {
    let dir = filled(|n| format!("file-{n:08}"));
    is_well_cut(&dir);
    assert_an_insert_writes_little(&dir, "file-00050000x");
}

#[test]
fn names_out_of_order_are_cut_well() {
    // An odd factor makes every number below 2^20 come once, in no order.
    let dir = filled(|n| format!("{:x}", n.wrapping_mul(0x9E37_79B9_7F4A_7C15)));
    is_well_cut(&dir);
    assert_an_insert_writes_little(&dir, "8");
}

#[test]
fn whoever_does_not_know_the_key_cannot_guess_where_pages_begin() {
    let other = Heights::new([8; 32]);
    let both = (0..MANY).filter(|n| {
        let name = n.to_string();
        HEIGHTS.height(&name) > 0 && other.height(&name) > 0
    });
    // One in 32 times one in 32 of 100,000 is about 98.
    assert!((50..150).contains(&both.count()));
}
