//! Where a setting comes from.

use std::fmt;

use clap::ArgMatches;
use clap::parser::ValueSource;

/// Where a setting comes from, the strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Source {
    /// The command line.
    Flag,
    /// A variable.
    Environment,
    /// `sandkeep.toml`.
    File,
    /// Nobody.
    Default,
}

/// What was really given, and where.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sources<'a> {
    /// Flags and variables.
    pub(crate) matches: &'a ArgMatches,
    /// The keys of the configuration file.
    pub(crate) in_file: &'a [String],
}

impl Sources<'_> {
    /// Where the setting of a key comes from.
    pub(crate) fn of(&self, key: &str) -> Source {
        match self.matches.value_source(&key.replace('-', "_")) {
            Some(ValueSource::CommandLine) => Source::Flag,
            Some(ValueSource::EnvVariable) => Source::Environment,
            Some(_) | None if self.in_file.iter().any(|held| held == key) => Source::File,
            Some(_) | None => Source::Default,
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Flag => "flag",
            Self::Environment => "environment",
            Self::File => "file",
            Self::Default => "default",
        })
    }
}
