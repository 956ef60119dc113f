//! `edit_file`.

use engine::{Edit, EditLimits, Edited, Encoding, Error, ErrorKind, ExpectedCount, Replacement};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::write_file::expected;
use crate::call::Call;
use crate::encoding::TextEncoding;
use crate::failure::Failure;
use crate::outcome::{Done, Metadata};
use crate::reach::Manner;
use crate::tool::{Effect, Tool};

/// Replace exact pieces of text in a file, and leave every other byte as it is. All edits are made,
/// in order, or none is. The differences are told.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct EditFile {
    /// The file.
    path: String,
    /// What is replaced, in order: each in the outcome of the ones before.
    #[schemars(length(min = 1, max = 1000))]
    edits: Vec<OneEdit>,
    /// `true` to see the differences without changing the file.
    dry_run: Option<bool>,
    /// How the bytes stand for text. By default as the server was told, or else as the byte order
    /// mark says, or else UTF-8.
    encoding: Option<String>,
    /// Edit only if the file still has this version, as `read_file` or `file_info` told it.
    if_version: Option<String>,
}

/// One replacement.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct OneEdit {
    /// The text that is there, exactly, with enough around it to be there only once.
    old_text: String,
    /// The text that takes its place.
    new_text: String,
    /// `true` to replace it wherever it is.
    replace_all: Option<bool>,
    /// How often it must be there, if that is not once.
    expected_count: Option<u64>,
}

/// What an edit did, or would do.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EditOutput {
    /// The file.
    path: String,
    /// How often each edit was made.
    replaced: Vec<u64>,
    /// The differences as a unified diff.
    diff: String,
    /// Whether more differs than `diff` tells.
    diff_is_cut: bool,
    /// Whether the file was left as it is, as `dryRun` asked.
    dry_run: bool,
    /// How long the file is now.
    size: u64,
    /// A token of the file's state now.
    version: Option<String>,
}

impl Tool for EditFile {
    const NAME: &'static str = "edit_file";
    const TITLE: &'static str = "Edit a file";
    const EFFECT: Effect = Effect::Replaces { idempotent: false };
    type Output = EditOutput;

    async fn run(self, call: &Call) -> Result<Done<EditOutput>, Failure> {
        let file = call.path(&self.path)?;
        let dry_run = self.dry_run.unwrap_or_default();
        let wish = Edit {
            replacements: self.edits.into_iter().map(Replacement::from).collect(),
            dry_run,
            expected: expected(self.if_version.as_deref()),
            encoding: match self.encoding.as_deref() {
                Some(label) => Some(encoding(label)?),
                None => default_encoding(call),
            },
            limits: EditLimits {
                file: call.settings.max_file_size.min(EditLimits::MOST_BYTES),
                diff: usize::try_from(call.settings.max_result_bytes).unwrap_or(usize::MAX),
            },
        };
        let is_short = wish.replacements.len() <= EditLimits::MOST_REPLACEMENTS;
        let edited = call.at(&file, Manner::Follow)?.edit(&file, wish).await;
        let edited = edited.map_err(|err| {
            if !is_short || err.kind() != ErrorKind::LimitExceeded {
                return err;
            }
            // What else an edit may take is the longest file, before and after.
            Error::new(ErrorKind::FileTooLarge, err.message().to_owned()).on(&file)
        })?;
        let Edited { entry, replaced, diff, is_cut } = edited;
        let count: u64 = replaced.iter().sum();
        let output = EditOutput {
            path: call.shown(&file),
            replaced,
            diff_is_cut: is_cut,
            dry_run,
            size: entry.size,
            version: entry.version.as_ref().map(ToString::to_string),
            diff,
        };
        let text = in_words(&output);
        Ok(Done::new(output, text).with(Metadata { items: Some(count), ..Metadata::default() }))
    }
}

impl From<OneEdit> for Replacement {
    fn from(edit: OneEdit) -> Self {
        let OneEdit { old_text, new_text, replace_all, expected_count } = edit;
        let count = match expected_count {
            None if replace_all == Some(true) => ExpectedCount::All,
            count => ExpectedCount::Exactly(count.unwrap_or(1)),
        };
        Self { old: old_text, new: new_text, count }
    }
}

/// The encoding that a server was told, unless it is the one that is meant in any case.
fn default_encoding(call: &Call) -> Option<Encoding> {
    match call.settings.default_encoding {
        TextEncoding::Text(encoding) => Some(encoding).filter(|one| *one != Encoding::UTF_8),
        TextEncoding::Base64 | TextEncoding::Auto => None,
    }
}

fn in_words(output: &EditOutput) -> String {
    let mut text = match output.diff.as_str() {
        "" => format!("nothing differs: {}", output.path),
        diff => diff.to_owned(),
    };
    if output.diff_is_cut {
        text.push_str("\n[truncated: more differs than one answer holds]");
    }
    if output.dry_run {
        text.push_str("\n[dry run: the file is as it was]");
    }
    text
}

fn encoding(label: &str) -> engine::Result<Encoding> {
    match TextEncoding::named(label)? {
        TextEncoding::Text(encoding) => Ok(encoding),
        TextEncoding::Base64 | TextEncoding::Auto => {
            let message = format!("text cannot be edited as `{label}`");
            Err(Error::new(ErrorKind::InvalidArgument, message))
        }
    }
}
