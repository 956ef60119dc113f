//! Pages as bytes. The format is permanent: docs/decisions/0004 has it byte by byte.

use std::ops::RangeInclusive;
use std::sync::Arc;

use bytes::{BufMut as _, Bytes};

use super::extents::{ExtentChild, ExtentPage, FULL};
use super::file::{Extent, FEW, File, INLINE, LARGEST_FILE, Piece, Top};
use super::page::{Child, Link, Page};
use super::{Body, Directory, Input, Item, Node, Stamp, Sum};
use crate::{MAX_NAME, MAX_PATH, UnixTime, name};

const FORMAT: u8 = 1;
const INLINE_FILE: u8 = 1;
const FEW_EXTENTS: u8 = 2;
const MANY_EXTENTS: u8 = 3;
const DIRECTORY: u8 = 4;
const SYMLINK: u8 = 5;
/// No page is above more others: a name's height is drawn from 64 bits, five at a time.
const HIGHEST: u8 = 12;
/// How many bytes of a record tell whether the others are right.
pub(super) const CHECK: usize = 16;

/// Bytes that are not what they must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a stored page is damaged: {0}")]
pub(crate) struct Damaged(pub(crate) &'static str);

pub(super) type Decoded<T> = Result<T, Damaged>;

/// The bytes of a page whose links are all stored; a fresh one is a mistake of ours.
pub(crate) fn encode_page(page: &Page) -> Decoded<Vec<u8>> {
    let mut out = Vec::with_capacity(64 * page.len());
    out.extend([FORMAT, page.level()]);
    put_number(&mut out, page.len() as u64);
    match page {
        Page::Leaf(items) => items.iter().try_for_each(|item| {
            put_name(&mut out, &item.name)?;
            encode_node(&mut out, &item.node)
        })?,
        Page::Inner { children, .. } => children.iter().try_for_each(|child| {
            put_name(&mut out, &child.first)?;
            put_link(&mut out, &child.link)?;
            put_sum(&mut out, &child.sum);
            Ok(())
        })?,
    }
    Ok(out)
}

/// The page that bytes stand for.
pub(crate) fn decode_page(bytes: &Bytes) -> Decoded<Page> {
    let mut input = Input(bytes.clone());
    let level = level(&mut input)?;
    let count = input.count(1..=usize::MAX)?;
    let page = if level == 0 {
        let items = (0..count).map(|_| {
            let name = input.name()?;
            Ok(Arc::new(Item { name, node: decode_node(&mut input)? }))
        });
        Page::Leaf(items.collect::<Decoded<Vec<_>>>()?.into())
    } else {
        let children = (0..count).map(|_| {
            let (first, link) = (input.name()?, Link::Stored(input.id()?));
            Ok(Child { first, link, sum: input.sum()? })
        });
        Page::Inner { level, children: children.collect::<Decoded<Vec<_>>>()?.into() }
    };
    input.ends()?;
    let sorted = match &page {
        Page::Leaf(items) => items.is_sorted_by(|one, next| one.name < next.name),
        Page::Inner { children, .. } => children.is_sorted_by(|one, next| one.first < next.first),
    };
    if !sorted {
        return Err(Damaged("its names are not in order"));
    }
    Ok(page)
}

/// The bytes of a page of extents.
pub(crate) fn encode_extents(page: &ExtentPage) -> Decoded<Vec<u8>> {
    let mut out = vec![FORMAT];
    match page {
        ExtentPage::Leaf(extents) => {
            out.push(0);
            put_extents(&mut out, extents)?;
        }
        ExtentPage::Inner { level, children } => {
            out.push(*level);
            put_number(&mut out, children.len() as u64);
            for child in children {
                put_link(&mut out, &child.link)?;
                put_number(&mut out, child.len);
            }
        }
    }
    Ok(out)
}

/// The page of extents that bytes stand for.
pub(crate) fn decode_extents(bytes: &Bytes) -> Decoded<ExtentPage> {
    let mut input = Input(bytes.clone());
    let page = match level(&mut input)? {
        0 => ExtentPage::Leaf(input.extents(FULL)?.0),
        level => {
            let count = input.count(1..=FULL)?;
            let children = (0..count).map(|_| {
                let link = Link::Stored(input.id()?);
                Ok(ExtentChild { link, len: input.len(1..=LARGEST_FILE)? })
            });
            ExtentPage::Inner { level, children: children.collect::<Decoded<_>>()? }
        }
    };
    input.ends()?;
    if page.len() > LARGEST_FILE { Err(TOO_LONG) } else { Ok(page) }
}

/// The format and the level that a page begins with.
fn level(input: &mut Input) -> Decoded<u8> {
    if input.byte()? != FORMAT {
        return Err(LATER);
    }
    let level = input.byte()?;
    if level > HIGHEST { Err(Damaged("its level cannot be")) } else { Ok(level) }
}

/// The bytes of a node, without its name.
pub(crate) fn encode_node(out: &mut Vec<u8>, node: &Node) -> Decoded<()> {
    out.push(match &node.body {
        Body::File(File::Inline(_)) => INLINE_FILE,
        Body::File(File::Pieces { top: Top::Few(_), .. }) => FEW_EXTENTS,
        Body::File(File::Pieces { top: Top::Many(_), .. }) => MANY_EXTENTS,
        Body::Directory(_) => DIRECTORY,
        Body::Symlink(_) => SYMLINK,
    });
    put_number(out, u64::from(node.mode));
    put_time(out, node.created);
    put_time(out, node.modified);
    out.put_u64_le(node.stamp.time);
    out.put_u32_le(node.stamp.salt);
    // Room for what comes later; this version writes nothing here and refuses what it finds.
    put_number(out, 0);
    match &node.body {
        Body::File(File::Inline(bytes)) => put_bytes(out, bytes),
        Body::File(File::Pieces { top: Top::Few(extents), .. }) => put_extents(out, extents)?,
        Body::File(File::Pieces { top: Top::Many(link), len }) => {
            put_link(out, link)?;
            put_number(out, *len);
        }
        Body::Directory(dir) => {
            out.push(u8::from(dir.top.is_some()));
            if let Some(top) = &dir.top {
                put_link(out, top)?;
                put_sum(out, &dir.sum);
            }
        }
        Body::Symlink(target) if is_target(target) => put_text(out, target),
        Body::Symlink(_) => return Err(NO_TARGET),
    }
    Ok(())
}

/// The node that bytes stand for.
pub(crate) fn decode_node(input: &mut Input) -> Decoded<Node> {
    let kind = input.byte()?;
    let mode = u16::try_from(input.number()?).ok().filter(|mode| *mode <= 0o777);
    let mode = mode.ok_or(Damaged("a mode cannot be"))?;
    let (created, modified) = (input.time()?, input.time()?);
    let stamp = Stamp { time: input.fixed_u64()?, salt: input.fixed_u32()? };
    if input.number()? != 0 {
        return Err(LATER);
    }
    let body = match kind {
        INLINE_FILE => {
            let bytes = input.bytes(INLINE)?;
            // A copy, so that a small file does not keep its page alive.
            Body::File(File::Inline(Bytes::copy_from_slice(&bytes)))
        }
        FEW_EXTENTS => {
            let (extents, len) = input.extents(FEW)?;
            if !PIECES.contains(&len) {
                return Err(TOO_LONG);
            }
            Body::File(File::Pieces { len, top: Top::Few(extents.into()) })
        }
        MANY_EXTENTS => {
            let top = Top::Many(Link::Stored(input.id()?));
            Body::File(File::Pieces { len: input.len(PIECES)?, top })
        }
        DIRECTORY => Body::Directory(Box::new(match input.byte()? {
            0 => Directory::default(),
            1 => Directory { top: Some(Link::Stored(input.id()?)), sum: input.sum()? },
            _ => return Err(Damaged("a directory cannot be")),
        })),
        SYMLINK => {
            let target = input.text(4 * MAX_PATH as u64)?;
            Body::Symlink(if is_target(&target) { target } else { return Err(NO_TARGET) })
        }
        _ => return Err(LATER),
    };
    Ok(Node { mode, created, modified, stamp, body })
}

pub(crate) fn put_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_number(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

pub(crate) fn put_text(out: &mut Vec<u8>, text: &str) {
    put_bytes(out, text.as_bytes());
}

/// A name, which must be one that can be read again: a page that cannot is lost.
fn put_name(out: &mut Vec<u8>, name: &str) -> Decoded<()> {
    if !is_name(name) {
        return Err(Damaged("a name cannot be"));
    }
    put_text(out, name);
    Ok(())
}

/// Whether a directory can hold a name. There is one spelling of each.
pub(super) fn is_name(name: &str) -> bool {
    let fits = name.len() <= MAX_NAME || name::to_bytes(name).len() <= MAX_NAME;
    let plain = !matches!(name, "" | "." | "..") && !name.contains(['/', '\0']);
    fits && plain && *name::canonical(name) == *name
}

/// Whether a link can hold a target: as much as a path can, and in one spelling.
pub(crate) fn is_target(target: &str) -> bool {
    let fits = (1..MAX_PATH).contains(&name::to_bytes(target).len());
    fits && !target.contains('\0') && *name::canonical(target) == *target
}

pub(crate) fn put_time(out: &mut Vec<u8>, time: UnixTime) {
    // Small numbers for times near 1970 on either side.
    put_number(out, ((time.seconds << 1) ^ (time.seconds >> 63)) as u64);
    put_number(out, u64::from(time.nanoseconds));
}

fn put_link<P>(out: &mut Vec<u8>, link: &Link<P>) -> Decoded<()> {
    match link {
        Link::Stored(id) => out.extend_from_slice(&id.0),
        Link::Fresh(_) => return Err(Damaged("a page beneath it has no id")),
    }
    Ok(())
}

fn put_sum(out: &mut Vec<u8>, sum: &Sum) {
    let Sum { names, bytes, files, directories, links, depth, largest } = *sum;
    for number in [names, bytes, files, directories, links, depth, largest] {
        put_number(out, number);
    }
}

fn put_extents(out: &mut Vec<u8>, extents: &[Extent]) -> Decoded<()> {
    put_number(out, extents.len() as u64);
    for extent in extents {
        match &extent.piece {
            Piece::Hole => out.push(0),
            Piece::Stored(id) => {
                out.push(1);
                out.extend_from_slice(&id.0);
                put_number(out, u64::from(extent.start));
            }
            Piece::Fresh(_) => return Err(Damaged("a piece has no id")),
        }
        put_number(out, extent.len);
    }
    Ok(())
}

/// Ends a record, so that damage to any of its bytes is seen.
pub(crate) fn put_check(out: &mut Vec<u8>) {
    let check = check_of(out);
    out.extend_from_slice(&check);
}

pub(super) fn check_of(content: &[u8]) -> [u8; CHECK] {
    let mut check = [0; CHECK];
    blake3::Hasher::new().update(content).finalize_xof().fill(&mut check);
    check
}

/// How long a file is whose content does not lie in the directory page.
const PIECES: RangeInclusive<u64> = INLINE + 1..=LARGEST_FILE;
const LATER: Damaged = Damaged("it was written by a later version");
const TOO_LONG: Damaged = Damaged("its lengths cannot be");
const NO_TARGET: Damaged = Damaged("a link's target cannot be");
