//! Why a text was not found, and where others were: lines by their numbers, never their content,
//! which does not belong into a log.

use std::cmp::Reverse;
use std::collections::HashMap;

use memchr::{memchr_iter, memmem};

use super::letters::Text;

/// So many lines are named.
const TOLD: usize = 3;
/// So much of a file is compared letter by letter.
const COMPARED: usize = 1 << 20;
/// A line is like another when so many of their pairs of letters are the same, of a hundred.
const ALIKE: usize = 60;

/// What stands for a byte when texts are compared, if anything.
type Fold = fn(u8) -> Option<u8>;

/// The numbers of the first lines at some offsets, in order.
pub(super) fn lines(body: &[u8], offsets: impl Iterator<Item = usize>) -> String {
    let (mut seen, mut line) = (0, 1);
    let mut numbers: Vec<usize> = Vec::with_capacity(TOLD + 1);
    for offset in offsets {
        line += memchr_iter(b'\n', body.get(seen..offset).unwrap_or_default()).count();
        seen = offset;
        if numbers.last() != Some(&line) {
            numbers.push(line);
        }
        if numbers.len() > TOLD {
            break;
        }
    }
    let told: Vec<String> = numbers.iter().take(TOLD).map(ToString::to_string).collect();
    let more = if numbers.len() > TOLD { " and further" } else { "" };
    let word = if numbers.len() == 1 { "in line" } else { "in lines" };
    format!("{word} {}{more}", told.join(", "))
}

/// Where something is that differs little from what was looked for.
pub(super) fn nearest(text: &Text, old: &str) -> Option<String> {
    let old = text.letters(old).ok()?;
    let folds: [(&str, Fold); 3] = [
        ("other ends of lines", without_returns),
        ("other white space", without_space),
        ("other capital letters or white space", without_capitals),
    ];
    for (what, fold) in folds {
        if let Some(line) = line_of(&text.body, &old, fold) {
            return Some(format!("it is in line {line} with {what}"));
        }
    }
    let line =
        most_alike(&text.told(text.body.get(..COMPARED).unwrap_or(&text.body)), &text.told(&old))?;
    Some(format!("the line most like its beginning is line {line}"))
}

fn without_returns(byte: u8) -> Option<u8> {
    (byte != b'\r').then_some(byte)
}

fn without_space(byte: u8) -> Option<u8> {
    (byte == b'\n' || !byte.is_ascii_whitespace()).then_some(byte)
}

fn without_capitals(byte: u8) -> Option<u8> {
    without_space(byte).map(|byte| byte.to_ascii_lowercase())
}

/// The line where `old` is in `body` when both are folded alike.
fn line_of(body: &[u8], old: &[u8], fold: Fold) -> Option<usize> {
    let folded = |bytes: &[u8]| bytes.iter().copied().filter_map(fold).collect::<Vec<u8>>();
    let (old, body) = (folded(old), folded(body));
    if old.iter().all(|byte| *byte == b'\n') {
        return None;
    }
    let at = memmem::find(&body, &old)?;
    // The first line that is really like it, if the text begins with the end of another.
    let skipped = old.iter().take_while(|byte| **byte == b'\n').count();
    Some(memchr_iter(b'\n', body.get(..at + skipped)?).count() + 1)
}

/// The line that has most pairs of letters in common with the first line of `old` that is not
/// empty. The time it takes grows with the length of the text alone.
fn most_alike(body: &str, old: &str) -> Option<usize> {
    let old = old.lines().map(str::trim).find(|line| !line.is_empty())?;
    let wanted = Pairs::of(old);
    let scores = body.lines().zip(1..).map(|(line, number)| (wanted.share(line.trim()), number));
    // Of lines that are equally alike the first.
    let (share, number) = scores.max_by_key(|(share, number)| (*share, Reverse(*number)))?;
    (share >= ALIKE).then_some(number)
}

/// The pairs of letters of a line, and how many of each.
struct Pairs {
    counts: HashMap<(char, char), usize>,
    all: usize,
}

impl Pairs {
    fn of(line: &str) -> Self {
        let mut counts = HashMap::new();
        let pairs = line.chars().zip(line.chars().skip(1));
        let all = pairs.map(|pair| *counts.entry(pair).or_default() += 1).count();
        Self { counts, all }
    }

    /// How many of a hundred are in another line too (the coefficient of Dice).
    fn share(&self, line: &str) -> usize {
        let other = Self::of(line);
        let common = other
            .counts
            .iter()
            .map(|(pair, count)| self.counts.get(pair).map_or(0, |wanted| *wanted.min(count)));
        200 * common.sum::<usize>() / (self.all + other.all).max(1)
    }
}
