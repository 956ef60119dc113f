//! What may happen in a sequence, and how likely it is.

use std::collections::BTreeMap;

use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use sandkeep_engine::{
    Create, Depth, Limits, MetadataChange, Parents, Part, Span, Target, UnixTime, WriteMode,
};

/// How many names a crowded directory may have; one in 32 begins a page.
const CROWD: usize = 100;

/// Bytes that are easy to print.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Bytes {
    seed: u8,
    len: u32,
}

impl Bytes {
    pub(super) fn len(self) -> u64 {
        u64::from(self.len)
    }

    pub(super) fn bytes(self) -> Vec<u8> {
        let word = |n: u32| n.wrapping_mul(0x9E37_79B1).wrapping_add(u32::from(self.seed)) >> 11;
        (0..self.len).map(|n| word(n) as u8).collect()
    }
}

impl std::fmt::Debug for Bytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}x{}", self.seed, self.len)
    }
}

/// What a caller believes, in words that mean something whenever they are said.
#[derive(Clone, Copy, Debug)]
pub(super) enum Guess {
    Nothing,
    Exists,
    Missing,
    /// It is as it is.
    Current,
    /// It is as nothing ever was.
    Wrong,
    NotCurrent,
}

/// One change that a batch may hold, too.
#[derive(Clone, Debug)]
pub(super) enum Change {
    Write { path: String, content: Bytes, mode: WriteMode, parents: Parents, guess: Guess },
    CreateDir { path: String, parents: Parents },
    Symlink { path: String, target: String },
    Remove { path: String, depth: Depth, guess: Guess },
    Rename { from: String, to: String, target: Target },
    Copy { from: String, to: String, target: Target },
    SetMetadata { path: String, change: MetadataChange },
    Check { path: String, guess: Guess },
}

#[derive(Clone, Debug)]
pub(super) enum Operation {
    Change(Change),
    Batch(Vec<Change>),
    Stat {
        path: String,
        follow: bool,
    },
    List {
        path: String,
        after: Option<String>,
        limit: Option<usize>,
    },
    Read {
        path: String,
        span: Span,
    },
    ReadLink {
        path: String,
    },
    Open {
        handle: usize,
        path: String,
        create: Option<Create>,
    },
    ReadAt {
        handle: usize,
        offset: u64,
        len: usize,
    },
    WriteAt {
        handle: usize,
        offset: u64,
        content: Bytes,
    },
    SetLen {
        handle: usize,
        len: u64,
    },
    Close {
        handle: usize,
    },
    Unpack {
        path: String,
        files: BTreeMap<String, Bytes>,
    },
    Pack {
        path: String,
    },
    Snapshot {
        snapshot: usize,
    },
    Restore {
        snapshot: usize,
        path: String,
    },
    Forget {
        snapshot: usize,
    },
    Fork {
        snapshot: Option<usize>,
        limits: Limits,
    },
    SetLimits(Limits),
    /// The store is closed, and opened again.
    Reopen,
}

fn a_path() -> impl Strategy<Value = String> {
    let name = prop_oneof![12 => "[abc]", 3 => Just("d".to_owned()), 1 => crowded_name()];
    prop_oneof![
        20 => vec(name, 1..4).prop_map(|names| format!("/{}", names.join("/"))),
        1 => Just("/".to_owned()),
    ]
}

/// A name among so many that a directory of them has several pages.
fn crowded_name() -> impl Strategy<Value = String> {
    (0..CROWD).prop_map(|number| format!("n{number:02}"))
}

fn a_target() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => "[abcd]",
        3 => "[abc]/[abc]",
        3 => r"\.\./[abc]",
        1 => r"\.\./[abc]/\.\./[abc]",
        1 => prop::sample::select(vec![".", "..", "/a", "a//b", "./c"]).prop_map(str::to_owned),
        1 => Just("x".repeat(300)),
    ]
}

fn content() -> impl Strategy<Value = Bytes> {
    let len = prop_oneof![10 => 0..30_u32, 4 => 500..530_u32, 2 => 600..3000_u32, 1 => 60_000..200_000_u32];
    (any::<u8>(), len).prop_map(|(seed, len)| Bytes { seed, len })
}

fn a_guess() -> impl Strategy<Value = Guess> {
    prop_oneof![
        12 => Just(Guess::Nothing),
        1 => Just(Guess::Exists),
        1 => Just(Guess::Missing),
        2 => Just(Guess::Current),
        1 => Just(Guess::Wrong),
        1 => Just(Guess::NotCurrent),
    ]
}

fn a_mode() -> impl Strategy<Value = WriteMode> {
    let offset = prop_oneof![0..40_u64, 490..540_u64, 0..5000_u64];
    let total = option::weighted(0.2, prop_oneof![0..40_u64, Just(512)]);
    prop_oneof![
        4 => Just(WriteMode::Replace),
        2 => Just(WriteMode::CreateNew),
        3 => Just(WriteMode::Append),
        2 => (offset, total).prop_map(|(offset, total)| WriteMode::Part(Part { offset, total })),
    ]
}

fn parents() -> impl Strategy<Value = Parents> {
    prop_oneof![3 => Just(Parents::Create), 1 => Just(Parents::Require)]
}

fn a_target_rule() -> impl Strategy<Value = Target> {
    prop_oneof![Just(Target::New), Just(Target::Replace), Just(Target::Merge)]
}

fn metadata() -> impl Strategy<Value = MetadataChange> {
    let time = (-5..5_i64, prop_oneof![0..5_u32, Just(1_000_000_000)])
        .prop_map(|(seconds, nanoseconds)| UnixTime { seconds, nanoseconds });
    (option::of(0..0o7777_u32), option::of(time))
        .prop_map(|(mode, modified)| MetadataChange { mode, modified })
}

fn limits() -> impl Strategy<Value = Limits> {
    let one_of = |values: Vec<u64>| option::weighted(0.5, prop::sample::select(values));
    (one_of(vec![10, 600, 100_000]), one_of(vec![60, 2000]), one_of(vec![3, 6, 12]))
        .prop_map(|(file_size, total_size, nodes)| Limits { file_size, total_size, nodes })
}

fn a_span() -> impl Strategy<Value = Span> {
    prop_oneof![
        2 => Just(Span::Whole),
        1 => (0..600_u64).prop_map(Span::From),
        1 => (0..600_u64, 0..600_u64).prop_map(|(from, to)| Span::Between(from..to)),
        1 => (0..600_u64).prop_map(Span::Last),
    ]
}

fn a_change() -> impl Strategy<Value = Change> {
    prop_oneof![
        8 => (a_path(), content(), a_mode(), parents(), a_guess()).prop_map(
            |(path, content, mode, parents, guess)| Change::Write { path, content, mode, parents, guess }
        ),
        4 => (a_path(), parents()).prop_map(|(path, parents)| Change::CreateDir { path, parents }),
        3 => (a_path(), a_target()).prop_map(|(path, target)| Change::Symlink { path, target }),
        3 => (a_path(), prop_oneof![Just(Depth::One), Just(Depth::All)], a_guess())
            .prop_map(|(path, depth, guess)| Change::Remove { path, depth, guess }),
        5 => (a_path(), a_path(), a_target_rule())
            .prop_map(|(from, to, target)| Change::Rename { from, to, target }),
        4 => (a_path(), a_path(), a_target_rule())
            .prop_map(|(from, to, target)| Change::Copy { from, to, target }),
        1 => (a_path(), metadata()).prop_map(|(path, change)| Change::SetMetadata { path, change }),
        1 => (a_path(), a_guess()).prop_map(|(path, guess)| Change::Check { path, guess }),
    ]
}

fn a_handle_operation() -> impl Strategy<Value = Operation> {
    let create =
        option::of(prop_oneof![Just(Create::Never), Just(Create::IfMissing), Just(Create::New)]);
    let handle = || 0..2_usize;
    prop_oneof![
        4 => (handle(), a_path(), create)
            .prop_map(|(handle, path, create)| Operation::Open { handle, path, create }),
        2 => (handle(), 0..600_u64, 0..600_usize)
            .prop_map(|(handle, offset, len)| Operation::ReadAt { handle, offset, len }),
        5 => (handle(), 0..600_u64, content())
            .prop_map(|(handle, offset, content)| Operation::WriteAt { handle, offset, content }),
        2 => (handle(), 0..1200_u64).prop_map(|(handle, len)| Operation::SetLen { handle, len }),
        1 => handle().prop_map(|handle| Operation::Close { handle }),
    ]
}

fn a_snapshot_operation() -> impl Strategy<Value = Operation> {
    let snapshot = || 0..2_usize;
    prop_oneof![
        4 => snapshot().prop_map(|snapshot| Operation::Snapshot { snapshot }),
        4 => (snapshot(), prop_oneof![Just("/".to_owned()), a_path()])
            .prop_map(|(snapshot, path)| Operation::Restore { snapshot, path }),
        1 => snapshot().prop_map(|snapshot| Operation::Forget { snapshot }),
        1 => (option::of(snapshot()), limits())
            .prop_map(|(snapshot, limits)| Operation::Fork { snapshot, limits }),
    ]
}

fn a_look() -> impl Strategy<Value = Operation> {
    prop_oneof![
        (a_path(), any::<bool>()).prop_map(|(path, follow)| Operation::Stat { path, follow }),
        (a_path(), option::of("[abc]"), option::of(0..3_usize))
            .prop_map(|(path, after, limit)| Operation::List { path, after, limit }),
        (a_path(), a_span()).prop_map(|(path, span)| Operation::Read { path, span }),
        a_path().prop_map(|path| Operation::ReadLink { path }),
        a_path().prop_map(|path| Operation::Pack { path }),
    ]
}

/// Many names of one directory come, or go, at once.
fn a_crowd() -> impl Strategy<Value = Operation> {
    let numbers = (0..CROWD, 1..=CROWD).prop_map(|(start, len)| start..CROWD.min(start + len));
    let dir = prop::sample::select(vec!["/a", "/b", "/a/b"]);
    (dir, numbers, any::<bool>()).prop_map(|(dir, numbers, comes)| {
        let one = |number: usize| {
            let path = format!("{dir}/n{number:02}");
            let (content, guess) = (Bytes { seed: 0, len: number as u32 }, Guess::Nothing);
            let (mode, parents) = (WriteMode::Replace, Parents::Create);
            if comes {
                Change::Write { path, content, mode, parents, guess }
            } else {
                Change::Remove { path, depth: Depth::All, guess }
            }
        };
        Operation::Batch(numbers.map(one).collect())
    })
}

/// A log that grows by many small pieces, so many that they are made into one.
fn a_log() -> impl Strategy<Value = Operation> {
    let piece = (any::<u8>(), 1..200_u32).prop_map(|(seed, len)| Bytes { seed, len });
    (a_path(), vec(piece, 10..30)).prop_map(|(path, pieces)| {
        let (mode, parents, guess) = (WriteMode::Append, Parents::Create, Guess::Nothing);
        let append = |content| Change::Write { path: path.clone(), content, mode, parents, guess };
        Operation::Batch(pieces.into_iter().map(append).collect())
    })
}

/// One operation. Most change the tree.
fn an_operation() -> impl Strategy<Value = Operation> {
    let files =
        btree_map("[abc](/[abc])?", content(), 1..4).prop_filter("contradicts itself", |files| {
            !files.keys().any(|path| {
                files.contains_key(path.split('/').next().unwrap()) && path.contains('/')
            })
        });
    prop_oneof![
        24 => a_change().prop_map(Operation::Change),
        5 => vec(a_change(), 0..5).prop_map(Operation::Batch),
        1 => a_crowd(),
        1 => a_log(),
        6 => a_look(),
        10 => a_handle_operation(),
        6 => a_snapshot_operation(),
        1 => (a_path(), files).prop_map(|(path, files)| Operation::Unpack { path, files }),
        2 => limits().prop_map(Operation::SetLimits),
        1 => Just(Operation::Reopen),
    ]
}

/// A sequence of operations.
pub(super) fn a_sequence(longest: usize) -> impl Strategy<Value = Vec<Operation>> {
    vec(an_operation(), 1..=longest)
}
