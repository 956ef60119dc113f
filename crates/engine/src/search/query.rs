//! What is looked for, and how much of it.

use std::time::Duration;

/// What is looked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchQuery {
    /// A glob that names must match: `*.rs` matches at any depth, `src/**/*.rs` from where the
    /// search begins. Without it every name does.
    pub names: Option<String>,
    /// What lines of files must match. Without it, names alone are looked for.
    pub content: Option<Pattern>,
    /// Whether names that begin with a dot are looked at.
    pub hidden: bool,
    /// Whether what `.gitignore` and `.ignore` files name, and `.git` itself, is left out.
    pub heed_ignore_files: bool,
    /// How many levels: one is the names of the directory where it begins. Without it, all of them.
    pub depth: Option<usize>,
    /// How much may be found and read.
    pub budget: SearchBudget,
}

/// What a line must match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// The text or the regular expression.
    pub text: String,
    /// Which of both it is.
    pub syntax: Syntax,
    /// Whether capital letters matter.
    pub letters: Letters,
    /// Whether it must stand as a word of its own.
    pub words: bool,
}

/// How a pattern is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// Every character means itself.
    Literal,
    /// It is a regular expression of the crate `regex`, within one line.
    Regex,
}

/// Whether capital letters matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Letters {
    /// They do.
    Exact,
    /// They do not.
    Alike,
    /// They do if the pattern has one.
    Smart,
}

/// How much a search may find and read before it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchBudget {
    /// How many names or lines; at most [`SearchBudget::MOST_RESULTS`].
    pub results: usize,
    /// How many bytes of files.
    pub bytes: u64,
    /// How long it may take.
    pub time: Duration,
}

impl SearchBudget {
    /// The most that one search finds: what is found in a file is held until it was read.
    pub const MOST_RESULTS: usize = 10_000;
}

impl Default for SearchBudget {
    fn default() -> Self {
        Self { results: 1000, bytes: 1 << 30, time: Duration::from_secs(30) }
    }
}
