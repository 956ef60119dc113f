//! A checker that overlooks something is worse than none: each fault that it must find is planted.

use engine::Usage;

use super::*;
use crate::history::{Line, Ride};
use crate::outfit::{counter, own, pair, token};
use crate::piece::Piece;

const SANDBOX: u32 = 1;
const PIECE: Piece = Piece { seed: 7, len: 40 };

/// What one client tells, act by act.
#[derive(Default)]
struct Story {
    lines: Vec<Line>,
    clock: u64,
}

impl Story {
    fn begin(&mut self, client: u32, act: Act) -> u64 {
        self.clock += 10;
        let (number, at) = (self.clock, self.clock);
        self.lines.push(Line::Begun { client, number, at, sandbox: SANDBOX, act });
        number
    }

    fn end(&mut self, client: u32, number: u64, outcome: Outcome) {
        self.clock += 10;
        self.lines.push(Line::Ended { client, number, at: self.clock, outcome });
    }

    fn done(&mut self, client: u32, act: Act) -> String {
        let number = self.begin(client, act);
        self.end(client, number, Outcome::Done);
        crate::history::mark(client, number)
    }

    fn doubtful(&mut self, client: u32, act: Act) -> String {
        let number = self.begin(client, act);
        self.end(client, number, Outcome::InDoubt("unavailable".into(), String::new()));
        crate::history::mark(client, number)
    }

    fn refused(&mut self, client: u32, act: Act, kind: ErrorKind) {
        let number = self.begin(client, act);
        self.end(client, number, Outcome::Refused(kind.word().into(), String::new()));
    }

    fn history(self) -> History {
        let mut history = History::default();
        history.add(self.lines);
        history
    }

    /// What the checker says of a tree after this story.
    fn complaints(self, tree: &Tree) -> String {
        complaints(SANDBOX, &self.history(), &counted(tree)).join("\n")
    }
}

/// The tree of a sandbox in which nothing happened yet.
fn fresh() -> Tree {
    let mut tree = Tree { directories: 6, ..Tree::default() };
    put(&mut tree, &counter(0), "0 start");
    pair(0).iter().for_each(|side| put(&mut tree, side, "start"));
    (0..2).for_each(|name| put(&mut tree, &token(name, 0), &format!("token {name}")));
    tree
}

fn put(tree: &mut Tree, path: &str, text: &str) {
    tree.files.insert(path.to_owned(), text.to_owned().into());
}

fn put_piece(tree: &mut Tree, client: u32, name: u32, pieces: &[Piece]) {
    tree.files.insert(own(client, name), crate::piece::content(pieces).into());
}

/// The same tree with the right usage.
fn counted(tree: &Tree) -> Tree {
    let bytes = tree.files.values().map(|content| content.len() as u64).sum();
    let told = Usage { bytes, files: tree.files.len() as u64, directories: tree.directories };
    Tree { told, ..tree.clone() }
}

fn count(to: u64) -> Act {
    Act::Count { counter: 0, to }
}

fn write(name: u32) -> Act {
    Act::Write { name, piece: PIECE }
}

#[test]
fn a_sandbox_in_which_nothing_happened_is_right() {
    assert_eq!(Story::default().complaints(&fresh()), "");
}

#[test]
fn a_counter_that_everybody_set_on_is_right() {
    let (mut story, mut tree) = (Story::default(), fresh());
    story.done(1, count(1));
    story.refused(2, count(1), ErrorKind::PreconditionFailed);
    story.doubtful(3, count(2));
    let last = story.done(2, count(3));
    put(&mut tree, &counter(0), &format!("3 {last}"));
    assert_eq!(story.complaints(&tree), "");
}

#[test]
fn a_count_that_two_clients_were_told_is_a_lost_update() {
    let (mut story, mut tree) = (Story::default(), fresh());
    story.done(1, count(1));
    let last = story.done(2, count(1));
    put(&mut tree, &counter(0), &format!("1 {last}"));
    assert!(story.complaints(&tree).contains("/counters/0 lost an update: it became 1 2 times"));
}

#[test]
fn a_counter_behind_what_was_acknowledged_is_a_lost_update() {
    let (mut story, mut tree) = (Story::default(), fresh());
    let first = story.done(1, count(1));
    story.done(1, count(2));
    put(&mut tree, &counter(0), &format!("1 {first}"));
    assert!(
        story.complaints(&tree).contains("/counters/0 lost an update: it is 1, 2 was acknowledged")
    );
}

#[test]
fn a_count_that_was_refused_and_happened_is_found() {
    let (mut story, mut tree) = (Story::default(), fresh());
    story.refused(1, count(1), ErrorKind::PreconditionFailed);
    let last = story.done(2, count(2));
    put(&mut tree, &counter(0), &format!("2 {last}"));
    assert!(story.complaints(&tree).contains("became 1 by nobody's doing"));
}

#[test]
fn a_counter_that_names_another_author_is_found() {
    let (mut story, mut tree) = (Story::default(), fresh());
    story.done(1, count(1));
    put(&mut tree, &counter(0), "1 9-9");
    assert!(story.complaints(&tree).contains("which that client was not told"));
}

#[test]
fn a_torn_pair_is_found() {
    let (mut story, mut tree) = (Story::default(), fresh());
    let mark = story.done(1, Act::Pair { pair: 0 });
    put(&mut tree, "/pairs/0/left", &mark);
    assert!(story.complaints(&tree).contains("a torn batch"));
}

#[test]
fn a_pair_that_a_later_write_should_have_changed_is_a_lost_update() {
    let (mut story, mut tree) = (Story::default(), fresh());
    let first = story.done(1, Act::Pair { pair: 0 });
    story.done(2, Act::Pair { pair: 0 });
    pair(0).iter().for_each(|side| put(&mut tree, side, &first));
    assert!(story.complaints(&tree).contains("although others wrote later"));
}

#[test]
fn a_pair_that_stayed_as_it_was_is_a_lost_update() {
    let mut story = Story::default();
    story.done(1, Act::Pair { pair: 0 });
    assert!(story.complaints(&fresh()).contains("although others wrote later"));
}

#[test]
fn either_of_two_writes_at_the_same_time_may_be_the_last() {
    let (mut story, mut tree) = (Story::default(), fresh());
    let number = story.begin(1, Act::Pair { pair: 0 });
    story.done(2, Act::Pair { pair: 0 });
    story.end(1, number, Outcome::Done);
    pair(0).iter().for_each(|side| put(&mut tree, side, &crate::history::mark(1, number)));
    assert_eq!(story.complaints(&tree), "");
}

#[test]
fn a_pair_that_nobody_wrote_is_found() {
    let (mut story, mut tree) = (Story::default(), fresh());
    story.refused(1, Act::Pair { pair: 0 }, ErrorKind::StorageFull);
    pair(0).iter().for_each(|side| put(&mut tree, side, "1-10"));
    assert!(story.complaints(&tree).contains("which nobody wrote"));
}

#[test]
fn a_token_that_is_gone_or_there_twice_is_found() {
    let mut tree = fresh();
    put(&mut tree, &token(1, 3), "token 1");
    assert!(Story::default().complaints(&tree).contains("token 1 is at"));
    let mut tree = fresh();
    tree.files.remove(&token(0, 0));
    assert!(Story::default().complaints(&tree).contains("token 0 is at []"));
}

#[test]
fn a_file_that_is_missing_is_found() {
    let mut story = Story::default();
    story.done(1, write(1));
    assert!(story.complaints(&fresh()).contains("client 1 has files []"));
}

#[test]
fn a_file_that_should_be_gone_is_found() {
    let (mut story, mut tree) = (Story::default(), fresh());
    story.done(1, write(1));
    story.done(1, Act::Remove { name: 1 });
    put_piece(&mut tree, 1, 1, &[PIECE]);
    assert!(story.complaints(&tree).contains("client 1 has files [(1, 40)]"));
}

#[test]
fn a_piece_that_was_added_twice_is_found() {
    let (mut story, mut tree) = (Story::default(), fresh());
    story.done(1, write(1));
    story.done(1, Act::Append { name: 1, piece: PIECE });
    put_piece(&mut tree, 1, 1, &[PIECE; 3]);
    assert!(story.complaints(&tree).contains("client 1 has files [(1, 120)]"));
    let (mut story, mut tree) = (Story::default(), fresh());
    story.done(1, write(1));
    story.done(1, Act::Append { name: 1, piece: PIECE });
    put_piece(&mut tree, 1, 1, &[PIECE; 2]);
    assert_eq!(story.complaints(&tree), "");
}

#[test]
fn a_refused_write_that_happened_is_found() {
    let (mut story, mut tree) = (Story::default(), fresh());
    story.refused(1, write(1), ErrorKind::StorageFull);
    put_piece(&mut tree, 1, 1, &[PIECE]);
    assert!(story.complaints(&tree).contains("client 1 has files"));
}

#[test]
fn a_move_in_doubt_happened_or_did_not_but_never_by_half() {
    let story = || {
        let mut story = Story::default();
        story.done(1, write(1));
        story.doubtful(1, Act::Move { from: 1, to: 2 });
        story.done(1, write(3));
        story
    };
    let with = |names: &[u32]| {
        let mut tree = fresh();
        names.iter().for_each(|name| put_piece(&mut tree, 1, *name, &[PIECE]));
        tree
    };
    assert_eq!(story().complaints(&with(&[1, 3])), "");
    assert_eq!(story().complaints(&with(&[2, 3])), "");
    assert!(story().complaints(&with(&[1, 2, 3])).contains("client 1 has files"));
    assert!(story().complaints(&with(&[3])).contains("client 1 has files"));
    assert!(story().complaints(&with(&[1])).contains("client 1 has files"));
}

#[test]
fn a_removal_in_doubt_happened_or_did_not() {
    let story = || {
        let mut story = Story::default();
        story.done(1, write(1));
        story.done(1, write(2));
        story.doubtful(1, Act::Remove { name: 2 });
        story
    };
    let mut tree = fresh();
    put_piece(&mut tree, 1, 1, &[PIECE]);
    assert_eq!(story().complaints(&tree), "");
    put_piece(&mut tree, 1, 2, &[PIECE]);
    assert_eq!(story().complaints(&tree), "");
}

#[test]
fn an_act_that_was_cut_short_by_a_kill_is_in_doubt() {
    let story = || {
        let mut story = Story::default();
        story.begin(1, write(1));
        story
    };
    let mut tree = fresh();
    assert_eq!(story().complaints(&tree), "");
    put_piece(&mut tree, 1, 1, &[PIECE]);
    assert_eq!(story().complaints(&tree), "");
    put_piece(&mut tree, 1, 1, &[PIECE; 2]);
    assert!(story().complaints(&tree).contains("client 1 has files"));
}

#[test]
fn what_was_swept_is_gone() {
    let story = || {
        let mut story = Story::default();
        story.done(1, write(1));
        story.done(9, Act::Sweep { client: 1 });
        story
    };
    let mut tree = fresh();
    assert_eq!(story().complaints(&tree), "");
    put_piece(&mut tree, 1, 1, &[PIECE]);
    assert!(story().complaints(&tree).contains("client 1 has files"));
}

#[test]
fn a_file_of_a_client_that_never_was_is_found() {
    let mut tree = fresh();
    put_piece(&mut tree, 77, 1, &[PIECE]);
    assert!(Story::default().complaints(&tree).contains("client 77 has files"));
}

#[test]
fn a_usage_that_is_told_wrong_is_found() {
    let mut tree = counted(&fresh());
    tree.told.bytes += 1;
    let found = complaints(SANDBOX, &History::default(), &tree).join("\n");
    assert!(found.contains("usage is told as"), "{found}");
}

#[test]
fn a_limit_that_is_exceeded_is_found() {
    let mut tree = fresh();
    let number = outfit(HOT).limits.nodes.unwrap();
    (0..number).for_each(|name| put(&mut tree, &format!("/own/1/{name}"), ""));
    let found = complaints(HOT, &History::default(), &counted(&tree)).join("\n");
    assert!(found.contains("a limit is exceeded"), "{found}");
}

#[test]
fn a_refusal_without_a_reason_is_found() {
    let mut story = Story::default();
    let rides = vec![Ride { token: 0, from: 0, to: 1 }];
    story.refused(1, Act::Carry { tokens: rides }, ErrorKind::NotFound);
    story.refused(1, write(1), ErrorKind::StorageFull);
    story.refused(1, Act::Remove { name: 5 }, ErrorKind::NotFound);
    let found = refusals(&story.history());
    assert_eq!(found.len(), 1);
    assert!(found[0].contains("refused without a reason: client 1 act"), "{found:?}");
}
