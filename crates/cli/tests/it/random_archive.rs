//! Archives at random, most of them hostile: whatever they hold, they do no harm.

use std::fs;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Component, Path};
use std::time::{Duration, Instant};

use tar::EntryType;

use crate::attack_form::short_or_long;
use crate::dice::Dice;
use crate::forged_archive::{Member, long_name, pax, tar};
use crate::hostile_archive::{premises_with_server, send};
use crate::input::unharmed;
use crate::outside::{Premises, files_beneath};
use crate::score::score;

const NAMES: [&str; 16] = [
    "a",
    "a/b",
    "a/b/c",
    "b",
    "way",
    "way/x",
    "way/way",
    "../x",
    "/x",
    "a/../x",
    "./a",
    "a//b",
    ".",
    "a/",
    "é\u{202e}",
    "a\nb",
];
const LINKS: [&str; 12] = [
    "a",
    "b",
    "way",
    ".",
    "..",
    "../..",
    "../outside/canary",
    "/etc/passwd",
    "a/b",
    "../kept",
    "./a/../b",
    "",
];
const KINDS: [u8; 14] = *b"0000555221346S";

#[test]
fn random_hostile_archives_do_no_harm() {
    let archives = short_or_long(300, 20_000);
    let (premises, server) = premises_with_server();
    let mut dice = Dice::new(20);
    let (mut accepted, begin) = (0, Instant::now());
    for number in 0..archives {
        let body = random_archive(&mut dice);
        let asked = Instant::now();
        let answer = send(&server, &body);
        let status = answer.status;
        assert!(asked.elapsed() < Duration::from_secs(5), "archive {number} hangs");
        assert!(
            answer.is_success() || answer.is_clear_refusal(),
            "archive {number}: {status} {}",
            answer.text()
        );
        accepted += u64::from(answer.is_success());
        if number % 25 == 24 {
            holds_nothing_hostile(&premises);
            let target = "/v1/fs/entry?path=new&recursive=true";
            let removed = server.ask("DELETE", target, b"");
            assert!(removed.status < 500, "{}", removed.text());
        }
    }
    let elapsed = begin.elapsed();
    eprintln!("archives: {archives} hostile ones, {accepted} accepted, 0 escaped, in {elapsed:?}");
    unharmed(&premises, &server);
    score("S4", &[("attempts", archives), ("escapes", 0), ("hung", 0), ("5xx", 0)]);
    assert!(accepted * 50 > archives, "the archives are too broken to reach anything");
}

/// Some members, some bytes turned over, some cut off.
fn random_archive(dice: &mut Dice) -> Vec<u8> {
    let members: Vec<_> = (0..=dice.below(4)).flat_map(|_| random_member(dice)).collect();
    let mut bytes = tar(&members);
    let place = |dice: &mut Dice| usize::try_from(dice.below(bytes.len() as u64)).unwrap();
    let (turned, cut) = (place(dice), place(dice));
    if dice.once_in(6) {
        bytes[turned] ^= 1 << dice.below(8);
    }
    if dice.once_in(10) {
        bytes.truncate(cut);
    }
    bytes
}

/// A member whose name, link, rights and size hurt, now and then with an extension before it.
fn random_member(dice: &mut Dice) -> Vec<Member> {
    let content = vec![b'x'; usize::try_from(dice.below(700)).unwrap()];
    let len = u64::try_from(content.len()).unwrap();
    let member = Member {
        kind: EntryType::new(*dice.pick(&KINDS)),
        name: dice.pick(&NAMES).as_bytes().to_vec(),
        link: dice.pick(&LINKS).as_bytes().to_vec(),
        mode: u32::try_from(dice.below(0o10000)).unwrap(),
        size: if dice.once_in(25) { dice.roll() >> dice.below(64) } else { len },
        content,
    };
    match dice.below(20) {
        0 => vec![long_name(dice.pick(&NAMES).as_bytes()), member],
        1 => {
            let key = *dice.pick(&["path", "linkpath", "size", "mtime", "GNU.sparse.major"]);
            let value = *dice.pick(&["../x", "/etc", "1e9", "-1", "a", "0"]);
            pax(key, value, member).into()
        }
        _ => vec![member],
    }
}

/// What archives made is ordinary, and every link stays inside.
fn holds_nothing_hostile(premises: &Premises) {
    premises.assert_outside_is_untouched();
    premises.assert_nothing_was_carried_in();
    let root = premises.root();
    for path in files_beneath(&root) {
        let metadata = fs::symlink_metadata(&path).unwrap();
        let kind = metadata.file_type();
        let special =
            kind.is_fifo() || kind.is_socket() || kind.is_char_device() || kind.is_block_device();
        assert!(!special, "{} is special", path.display());
        if kind.is_symlink() {
            let target = fs::read_link(&path).unwrap();
            assert!(stays_inside(&root, &path, &target), "{path:?} leads to {target:?}");
        } else {
            assert_eq!(metadata.mode() & 0o7000, 0, "{} has rights", path.display());
        }
    }
}

/// Whether a link leads beneath the root, name by name.
fn stays_inside(root: &Path, link: &Path, target: &Path) -> bool {
    let beneath = link.parent().unwrap().strip_prefix(root).unwrap();
    let mut depth = beneath.components().count();
    target.components().all(|component| match component {
        Component::Normal(_) => {
            depth += 1;
            true
        }
        Component::CurDir => true,
        Component::ParentDir => {
            let inside = depth > 0;
            depth = depth.saturating_sub(1);
            inside
        }
        Component::RootDir | Component::Prefix(_) => false,
    })
}
