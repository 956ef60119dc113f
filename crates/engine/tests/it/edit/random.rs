//! Random texts in random encodings, replaced at random: a model that works letter by letter makes
//! the same of them.

use proptest::prelude::*;
use sandkeep_engine::{ErrorKind, ExpectedCount};
use tokio::runtime::Runtime;

use super::diffs::git_applied;
use super::{Edit, all_of, edited, in_encoding};

/// What a file is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Piece {
    Letter(char),
    Lf,
    CrLf,
    /// What is no text in the encoding.
    Junk,
}

/// An encoding that is named or known by its mark, and letters that it has.
#[derive(Clone, Copy, Debug)]
struct Script {
    label: &'static str,
    mark: &'static [u8],
    is_named: bool,
    letters: &'static [char],
    junk: &'static [u8],
}

const SCRIPTS: [Script; 7] = [
    Script {
        label: "utf-8",
        mark: b"",
        is_named: false,
        letters: &['a', 'é', '😀'],
        junk: b"\xff",
    },
    Script {
        label: "utf-8",
        mark: b"\xef\xbb\xbf",
        is_named: false,
        letters: &['a', 'b'],
        junk: b"\xe2\x82",
    },
    Script {
        label: "utf-16le",
        mark: b"\xff\xfe",
        is_named: false,
        letters: &['a', '😀', '愀'],
        junk: b"\x00\xdc",
    },
    Script {
        label: "utf-16be",
        mark: b"\xfe\xff",
        is_named: false,
        letters: &['a', '😀', '愀'],
        junk: b"\xdc\x00",
    },
    Script { label: "latin1", mark: b"", is_named: true, letters: &['a', 'é'], junk: b"\xe8" },
    Script {
        label: "shift_jis",
        mark: b"",
        is_named: true,
        letters: &['a', '\\', '表', 'ソ'],
        junk: b"\xff",
    },
    Script {
        label: "gb18030",
        mark: b"",
        is_named: true,
        letters: &['0', '你', '\u{80}'],
        junk: b"\xff",
    },
];

impl Script {
    fn bytes(&self, pieces: &[Piece]) -> Vec<u8> {
        let mut bytes = self.mark.to_vec();
        for piece in pieces {
            match piece {
                Piece::Letter(letter) => bytes.extend(self.encoded(&letter.to_string())),
                Piece::Lf => bytes.extend(self.encoded("\n")),
                Piece::CrLf => bytes.extend(self.encoded("\r\n")),
                Piece::Junk => bytes.extend(self.junk),
            }
        }
        bytes
    }

    fn encoded(&self, text: &str) -> Vec<u8> {
        match self.label {
            "utf-16le" => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
            "utf-16be" => text.encode_utf16().flat_map(u16::to_be_bytes).collect(),
            label => {
                encoding_rs::Encoding::for_label(label.as_bytes()).unwrap().encode(text).0.into()
            }
        }
    }

    fn wish(&self, wish: Edit) -> Edit {
        if self.is_named { in_encoding(self.label, wish) } else { wish }
    }
}

/// What the promise says, letter by letter; none if the text is not there.
fn model(content: &[Piece], old: &[Piece], new: &[Piece]) -> Option<(Vec<Piece>, u64)> {
    let is_end = |piece: &&Piece| matches!(piece, Piece::Lf | Piece::CrLf);
    let alike = |(a, b): (&Piece, &Piece)| a == b || (is_end(&a) && is_end(&b));
    let (mut outcome, mut at, mut count) = (Vec::new(), 0, 0);
    while at < content.len() {
        let rest = &content[at..];
        if rest.len() < old.len() || !rest.iter().zip(old).all(alike) {
            outcome.push(rest[0]);
            at += 1;
            continue;
        }
        let behind = rest.iter().find(is_end);
        let end = *behind.or(content.iter().rfind(is_end)).unwrap_or(&Piece::Lf);
        outcome.extend(new.iter().map(|piece| if *piece == Piece::Lf { end } else { *piece }));
        at += old.len();
        count += 1;
    }
    (count > 0).then_some((outcome, count))
}

fn words(pieces: &[Piece]) -> String {
    let letter = |piece: &Piece| match piece {
        Piece::Letter(letter) => *letter,
        Piece::Lf => '\n',
        Piece::CrLf | Piece::Junk => panic!("a wish holds neither"),
    };
    pieces.iter().map(letter).collect()
}

/// A script, a content, and pairs of texts.
fn trial() -> impl Strategy<Value = (Script, Vec<Piece>, Vec<(Vec<Piece>, Vec<Piece>)>)> {
    prop::sample::select(&SCRIPTS).prop_flat_map(|script| {
        let letter = || prop::sample::select(script.letters).prop_map(Piece::Letter);
        let any = prop_oneof![8 => letter(), 2 => Just(Piece::Lf), 2 => Just(Piece::CrLf), 1 => Just(Piece::Junk)];
        let said = || prop_oneof![4 => letter(), 1 => Just(Piece::Lf)];
        let old = prop::collection::vec(said(), 1..4);
        let new = prop::collection::vec(said(), 0..5);
        let content = prop::collection::vec(any, 0..60);
        (Just(script), content, prop::collection::vec((old, new), 1..4))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn an_edit_does_what_the_model_does((script, content, pairs) in trial()) {
        let mut expected = Some((content.clone(), Vec::new()));
        for (old, new) in &pairs {
            expected = expected.and_then(|(content, mut counts)| {
                let (content, count) = model(&content, old, new)?;
                counts.push(count);
                Some((content, counts))
            });
        }
        let texts: Vec<_> = pairs.iter().map(|(old, new)| (words(old), words(new))).collect();
        let all = ExpectedCount::All;
        let wish = script.wish(all_of(texts.iter().map(|(old, new)| (&**old, &**new, all))));
        let bytes = script.bytes(&content);
        let outcome = Runtime::new().unwrap().block_on(edited(bytes.clone(), wish));
        match (outcome, expected) {
            (Ok((outcome, edited)), Some((pieces, counts))) => {
                prop_assert_eq!(&outcome[..], &script.bytes(&pieces)[..], "{}", edited.diff);
                prop_assert_eq!(edited.replaced, counts);
                prop_assert_eq!(edited.diff.is_empty(), outcome == bytes);
                let is_readable = script.label == "utf-8" && !content.contains(&Piece::Junk);
                if is_readable && !edited.diff.is_empty() {
                    prop_assert_eq!(git_applied(&bytes, &edited.diff), outcome);
                }
            }
            (Err(err), None) => prop_assert_eq!(err.kind(), ErrorKind::PreconditionFailed),
            (outcome, expected) => prop_assert!(false, "{:?} {:?}", outcome, expected),
        }
    }
}
