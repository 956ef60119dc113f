//! What comes in order makes the same pages as what comes in any order.

use super::*;

/// Where pages go that become objects.
fn stored() -> Pages {
    Pages::Stored { key: IDS, objects: Objects::default() }
}

fn made(count: u64, pages: &mut Pages) -> Directory {
    let mut names = NamesInOrder::default();
    for n in 0..count {
        let item = Item { name: format!("{n:06}").into(), node: node(n) };
        names.push(item, &HEIGHTS, pages).unwrap();
    }
    names.finish(pages).unwrap()
}

fn assert_same_directory(count: u64) {
    // An odd factor makes every number below 2^17 come once, in no order.
    let shuffled = (0..1_u64 << 17).map(|n| (n * 0x5DEECE67) % (1 << 17)).filter(|n| *n < count);
    let one_by_one = shuffled.fold(Directory::default(), |dir, n| {
        dir.with(item(&format!("{n:06}"), node(n)), &HEIGHTS, &Kept::default()).unwrap()
    });
    let mut pages = stored();
    let at_once = made(count, &mut pages);
    let in_memory = made(count, &mut Pages::Fresh);
    let mut objects = Objects::default();
    let [one_by_one, in_memory] =
        [one_by_one, in_memory].map(|dir| flush(&dir, &IDS, &mut objects).unwrap());
    let id = |dir: &Directory| match &dir.top {
        Some(Link::Stored(id)) => Some(*id),
        Some(Link::Fresh(_)) => panic!("it was stored"),
        None => None,
    };
    assert_eq!([id(&at_once), id(&in_memory)], [id(&one_by_one); 2], "{count} names");
    assert_eq!([at_once.sum, in_memory.sum], [one_by_one.sum; 2], "{count} names");
}

#[test]
fn names_in_order_make_the_pages_that_names_in_any_order_make() {
    for count in [0, 1, 2, 3, 31, 32, 33, 100, 1000, 1023, 40_000] {
        assert_same_directory(count);
    }
}

/// Pieces of chunks that a store has, none like the other.
fn pieces(count: usize) -> Vec<Extent> {
    let piece = |n: usize| {
        let mut id = [0; 32];
        id[..8].copy_from_slice(&n.to_le_bytes());
        Extent::stored(ObjectId(id), 1000 + n as u64 % 7)
    };
    (0..count).map(piece).collect()
}

#[test]
fn pieces_in_order_make_the_pages_that_all_at_once_make() {
    for count in [1, FEW, FEW + 1, FULL, FULL + 1, FULL * FULL, FULL * FULL + 1, FULL * FULL * 3] {
        let mut pages = stored();
        let mut in_order = PiecesInOrder::default();
        for piece in pieces(count) {
            in_order.push(piece, &mut pages).unwrap();
        }
        let at_once = File::of(pieces(count), &Kept::default()).unwrap();
        let mut objects = Objects::default();
        let at_once = stored_file(&at_once, &IDS, &mut objects).unwrap().unwrap_or(at_once);
        let bytes = [at_once, in_order.finish(&mut pages).unwrap()].map(|file| {
            let mut bytes = Vec::new();
            encode_node(&mut bytes, &Node { body: Body::File(file), ..node(0) }).unwrap();
            bytes
        });
        assert_eq!(bytes[0], bytes[1], "{count} pieces");
    }
}
