//! The words of `sandkeep fs`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use engine::Span;

use super::connection::ConnectionFlags;
use super::search::SearchFlags;
use crate::failure::Style;

pub(super) const AFTER_HELP: &str = "\
Paths:
  On a server, relative paths begin at the session's working directory or the sandbox's home, and
  absolute paths are those that the sandbox sees. With --sandbox, --dir and --store, both begin at
  the root of the tree.

Which tree:
  Without more, the files of the server's own sandbox are meant. --sandbox NAME means one of its
  sandboxes; `sandkeep sandbox list` shows which there are, and --token may be a key for it.
  Without a server, --dir DIR works in a directory, and --store URL [--sandbox NAME] in a sandbox of
  a store, which must not be open in a server at that time. --at SNAPSHOT looks into a snapshot of
  any of these three.

Exit codes:
  0  done
  1  failed
  2  wrong usage, or a path that cannot be
  3  not found
  4  refused: permission, role, token, or a path that leads out of the sandbox
  5  conflict: something exists, is not empty, is locked or open elsewhere, or is not in the
     expected version
  6  the server cannot be reached, or is too busy: try again

Examples:
  sandkeep fs list
  echo hello | sandkeep fs write notes/hello.txt
  sandkeep fs read notes/hello.txt
  sandkeep fs --dir ./demo tree
  sandkeep fs --sandbox alice list
  sandkeep fs --store file:./store --at before-upgrade read notes/hello.txt
  sandkeep fs --endpoint http://10.0.0.7:2468 --token secret upload ./src /workspace";

/// Flags of every file command.
#[derive(Args, Debug)]
pub(crate) struct FilesFlags {
    #[command(flatten)]
    pub(crate) connection: ConnectionFlags,
    #[command(flatten)]
    pub(crate) output: OutputFlags,
    #[command(subcommand)]
    pub(crate) command: FilesCommand,
}

/// How results are shown.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct OutputFlags {
    /// Answer in JSON
    #[arg(long, global = true)]
    json: bool,
}

impl OutputFlags {
    /// How results and failures are shown.
    pub(crate) fn style(self) -> Style {
        if self.json { Style::Json } else { Style::Words }
    }
}

/// What can be done with files.
#[derive(Subcommand, Debug)]
pub(crate) enum FilesCommand {
    /// List a directory
    #[command(
        visible_alias = "ls",
        after_help = "Examples:\n  \
        sandkeep fs list\n  \
        sandkeep fs list -l src\n  \
        sandkeep fs list --limit 100 --after m.txt --json big"
    )]
    List(ListFlags),

    /// Write a file's bytes to stdout
    #[command(
        visible_alias = "cat",
        after_help = "Examples:\n  \
        sandkeep fs read notes.txt\n  \
        sandkeep fs read --range 0-99 big.bin | xxd\n  \
        sandkeep fs read --range -512 app.log"
    )]
    Read(ReadFlags),

    /// Write a file from stdin, a local file or a text
    ///
    /// The file is replaced whole or not at all; missing directories are made.
    #[command(
        visible_alias = "put",
        after_help = "Examples:\n  \
        echo hello | sandkeep fs write notes.txt\n  \
        sandkeep fs write app.bin ./build/app.bin\n  \
        sandkeep fs write --append --content 'one more line' log.txt\n  \
        sandkeep fs write --if-match \"$version\" notes.txt ./notes.txt"
    )]
    Write(WriteFlags),

    /// Delete a file, a link itself, or a directory
    #[command(
        visible_alias = "rm",
        after_help = "Examples:\n  \
        sandkeep fs delete notes.txt\n  \
        sandkeep fs delete -r build"
    )]
    Delete(RemoveFlags),

    /// Make a directory and the directories above it
    #[command(after_help = "Examples:\n  sandkeep fs mkdir src/app/views")]
    Mkdir {
        /// The directory
        path: String,
    },

    /// Move or rename a file, link or directory
    #[command(
        visible_alias = "mv",
        after_help = "Examples:\n  \
        sandkeep fs move draft.txt final.txt\n  \
        sandkeep fs move --overwrite build dist"
    )]
    Move(MoveFlags),

    /// Copy a file, link or directory tree
    #[command(
        visible_alias = "cp",
        after_help = "Examples:\n  \
        sandkeep fs copy notes.txt notes.bak\n  \
        sandkeep fs copy --overwrite templates/app src"
    )]
    Copy(MoveFlags),

    /// Show what is known of a file or directory
    #[command(after_help = "Examples:\n  \
        sandkeep fs stat notes.txt\n  \
        sandkeep fs stat --json notes.txt")]
    Stat {
        /// The path; links are followed
        path: String,
    },

    /// Send local files and directories into a directory
    ///
    /// Each arrives under its own name, with its permissions. All travel as one stream and appear
    /// only when it arrived whole.
    #[command(after_help = "Examples:\n  \
        sandkeep fs upload ./report.pdf /workspace\n  \
        sandkeep fs upload ./src ./Cargo.toml .")]
    Upload(TransferFlags),

    /// Fetch a file or directory
    ///
    /// A LOCAL that is a directory receives it under its own name; otherwise LOCAL is its new name.
    /// Files that are there already are replaced. Symbolic links that lead out of the directory are
    /// left out, and named on stderr.
    #[command(after_help = "Examples:\n  \
        sandkeep fs download report.pdf\n  \
        sandkeep fs download build ./out\n  \
        sandkeep fs download app.log - | tail")]
    Download(DownloadFlags),

    /// Show a directory and everything beneath it
    #[command(after_help = "Examples:\n  \
        sandkeep fs tree\n  \
        sandkeep fs tree --depth 2 src")]
    Tree(TreeFlags),

    /// Look for lines in files, or for names
    ///
    /// Hidden files, and what .gitignore and .ignore files name, are left out unless you ask for
    /// them. Links are not followed, and files that hold no text are not shown.
    #[command(after_help = "Examples:\n  \
        sandkeep fs search 'fn main'\n  \
        sandkeep fs search -i todo src --glob '*.rs'\n  \
        sandkeep fs search --names '*.md'")]
    Search(SearchFlags),
}

/// Flags of `list`.
#[derive(Args, Debug)]
pub(crate) struct ListFlags {
    /// The directory
    #[arg(default_value = ".")]
    pub(crate) path: String,
    /// Stop after so many entries
    #[arg(long, value_name = "COUNT")]
    pub(crate) limit: Option<usize>,
    /// Begin behind this name
    #[arg(long, value_name = "NAME")]
    pub(crate) after: Option<String>,
    /// Show mode, exact size and version as well
    #[arg(short, long)]
    pub(crate) long: bool,
}

/// Flags of `read`.
#[derive(Args, Debug)]
pub(crate) struct ReadFlags {
    /// The file
    pub(crate) path: String,
    /// Only these bytes: FIRST-LAST, FIRST- or -COUNT
    #[arg(long, value_parser = span, allow_hyphen_values = true)]
    pub(crate) range: Option<Span>,
}

/// Flags of `write`.
#[derive(Args, Debug)]
pub(crate) struct WriteFlags {
    /// The file
    pub(crate) path: String,
    /// Local file with the content; `-` is stdin
    #[arg(default_value = "-")]
    pub(crate) local: PathBuf,
    /// The content itself
    #[arg(long, value_name = "TEXT", conflicts_with = "local", allow_hyphen_values = true)]
    pub(crate) content: Option<String>,
    /// Add to the end of the file
    #[arg(long)]
    pub(crate) append: bool,
    /// Fail when the file exists
    #[arg(long, conflicts_with_all = ["append", "if_match"])]
    pub(crate) create_new: bool,
    /// Fail unless the file has this version, as `stat` shows it
    #[arg(long, value_name = "VERSION")]
    pub(crate) if_match: Option<String>,
}

/// Flags of `delete`.
#[derive(Args, Debug)]
pub(crate) struct RemoveFlags {
    /// What to delete
    #[arg(required = true)]
    pub(crate) paths: Vec<String>,
    /// Delete directories with everything in them
    #[arg(short, long)]
    pub(crate) recursive: bool,
}

/// Flags of `move` and `copy`.
#[derive(Args, Debug)]
pub(crate) struct MoveFlags {
    /// What there is
    pub(crate) from: String,
    /// Its new path; missing directories are made
    pub(crate) to: String,
    /// Replace what is at the new path
    #[arg(long)]
    pub(crate) overwrite: bool,
}

/// Flags of `upload`.
#[derive(Args, Debug)]
pub(crate) struct TransferFlags {
    /// Local files and directories
    #[arg(required = true, value_name = "LOCAL")]
    pub(crate) locals: Vec<PathBuf>,
    /// Directory that receives them; it is made when missing
    #[arg(required = true, value_name = "REMOTE_DIR")]
    pub(crate) remote: String,
}

/// Flags of `download`.
#[derive(Args, Debug)]
pub(crate) struct DownloadFlags {
    /// The file or directory
    pub(crate) path: String,
    /// Where to put it; `-` writes a file to stdout [default: its own name, here]
    pub(crate) local: Option<PathBuf>,
    /// Fetch nothing when a symbolic link leads out of the directory
    #[arg(long)]
    pub(crate) strict: bool,
}

/// Flags of `tree`.
#[derive(Args, Debug)]
pub(crate) struct TreeFlags {
    /// The directory
    #[arg(default_value = ".")]
    pub(crate) path: String,
    /// How many levels to show
    #[arg(short, long, value_name = "LEVELS", default_value_t = 32)]
    pub(crate) depth: usize,
}

fn span(text: &str) -> Result<Span, String> {
    let wrong = || "a range is FIRST-LAST, FIRST- or -COUNT, such as 0-99, 100- or -512".to_owned();
    let number = |digits: &str| digits.parse::<u64>().map_err(|_| wrong());
    match text.split_once('-').ok_or_else(wrong)? {
        ("", count) => number(count).map(Span::Last),
        (first, "") => number(first).map(Span::From),
        (first, last) => match (number(first)?, number(last)?) {
            (first, last) if last < first => Err("the range ends before it begins".into()),
            (first, last) => Ok(Span::Between(first..last.saturating_add(1))),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_counts_its_last_byte_in() {
        assert_eq!(span("0-99"), Ok(Span::Between(0..100)));
    }

    #[test]
    fn a_range_may_be_open_on_either_side() {
        assert_eq!(span("7-"), Ok(Span::From(7)));
        assert_eq!(span("-512"), Ok(Span::Last(512)));
    }

    #[test]
    fn what_is_no_range_is_refused() {
        for text in ["", "-", "x-y", "5", "9-3", "1-2-3"] {
            assert!(span(text).is_err(), "{text}");
        }
    }
}
