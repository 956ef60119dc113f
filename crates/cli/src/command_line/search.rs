//! The words of `sandkeep search`.

use std::num::NonZero;

use clap::Args;
use engine::{Letters, Pattern, SearchBudget, SearchQuery, Syntax};

use super::connection::ConnectionFlags;
use super::files::{FilesCommand, FilesFlags, OutputFlags};
use crate::config::{Pause, Size};

/// Flags of `search` as a command of its own.
#[derive(Args, Debug)]
pub(crate) struct SearchAlone {
    #[command(flatten)]
    pub(crate) connection: ConnectionFlags,
    #[command(flatten)]
    pub(crate) output: OutputFlags,
    #[command(flatten)]
    pub(crate) search: SearchFlags,
}

impl From<Box<SearchAlone>> for FilesFlags {
    fn from(flags: Box<SearchAlone>) -> Self {
        let SearchAlone { connection, output, search } = *flags;
        Self { connection, output, command: FilesCommand::Search(search) }
    }
}

/// What is looked for, and where.
#[derive(Args, Debug)]
pub(crate) struct SearchFlags {
    /// A regular expression that lines of files must match
    #[arg(allow_hyphen_values = true)]
    pattern: String,

    /// Where to look: a directory with everything beneath it, or one file
    #[arg(default_value = ".")]
    pub(crate) path: String,

    /// PATTERN is a glob for names, such as '*.rs' or 'src/**/mod.rs'; no file is read
    #[arg(long, conflicts_with_all = ["glob", "literal", "ignore_case", "smart_case", "word"])]
    names: bool,

    /// Look only into files whose names match, such as '*.rs' or 'src/**/mod.rs'
    #[arg(short, long, value_name = "GLOB")]
    glob: Option<String>,

    /// PATTERN is a text in which every character means itself
    #[arg(short = 'F', long)]
    literal: bool,

    /// Take capital letters for small ones
    #[arg(short, long)]
    ignore_case: bool,

    /// The same, unless PATTERN has a capital letter
    #[arg(short = 'S', long, conflicts_with = "ignore_case")]
    smart_case: bool,

    /// PATTERN must stand as a word of its own
    #[arg(short, long)]
    word: bool,

    /// Look at names that begin with a dot as well
    #[arg(long)]
    hidden: bool,

    /// Look also at what .gitignore and .ignore files leave out
    #[arg(long)]
    no_ignore: bool,

    /// Look at so many levels beneath PATH: 1 is its own names [default: all]
    #[arg(long, value_name = "COUNT")]
    max_depth: Option<NonZero<usize>>,

    /// Stop after so many results
    #[arg(long, value_name = "COUNT", default_value_t = SearchBudget::default().results,
        value_parser = results)]
    max_results: usize,

    /// Stop when so much of the files was read, such as 100MiB
    #[arg(long, value_name = "SIZE")]
    max_bytes: Option<Size>,

    /// Stop after so long, such as 5s
    #[arg(long, value_name = "TIME")]
    max_time: Option<Pause>,
}

impl SearchFlags {
    /// What is looked for.
    pub(crate) fn query(&self) -> SearchQuery {
        let usual = SearchBudget::default();
        SearchQuery {
            names: if self.names { Some(self.pattern.clone()) } else { self.glob.clone() },
            content: (!self.names).then(|| self.pattern()),
            hidden: self.hidden,
            heed_ignore_files: !self.no_ignore,
            depth: self.max_depth.map(NonZero::get),
            budget: SearchBudget {
                results: self.max_results,
                bytes: self.max_bytes.map_or(usual.bytes, |size| size.0),
                time: self.max_time.map_or(usual.time, |pause| pause.0),
            },
        }
    }

    fn pattern(&self) -> Pattern {
        Pattern {
            text: self.pattern.clone(),
            syntax: if self.literal { Syntax::Literal } else { Syntax::Regex },
            letters: match (self.ignore_case, self.smart_case) {
                (true, _) => Letters::Alike,
                (false, true) => Letters::Smart,
                (false, false) => Letters::Exact,
            },
            words: self.word,
        }
    }
}

fn results(text: &str) -> Result<usize, String> {
    let most = SearchBudget::MOST_RESULTS;
    let wrong = || format!("a number from 1 to {most}");
    let count = text.parse().map_err(|_| wrong())?;
    if (1..=most).contains(&count) { Ok(count) } else { Err(wrong()) }
}
