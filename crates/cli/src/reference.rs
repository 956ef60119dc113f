//! What the program says of itself: completions, manual pages, the reference in Markdown.

use std::io::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result};
use clap_complete::Shell;
use clap_mangen::Man;

use crate::command_line::Cli;
use crate::failure::Style;
use crate::local;
use crate::render::Output;

/// Prints the completions for a shell.
pub(crate) fn completions(shell: Shell) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::definition(), "sandkeep", &mut script);
    print(&script)
}

/// Prints the description of the HTTP interface.
pub(crate) fn openapi() -> Result<()> {
    let mut text = server::openapi_json();
    if !text.ends_with('\n') {
        text.push('\n');
    }
    print(text.as_bytes())
}

/// Prints the manual page, or writes the pages of all commands into a directory.
pub(crate) fn manual(dir: Option<&Path>) -> Result<()> {
    let Some(dir) = dir else {
        let mut page = Vec::new();
        Man::new(Cli::definition()).render(&mut page)?;
        return print(&page);
    };
    local::make_dir(dir)?;
    pages(&named(Cli::definition(), "sandkeep"), dir)
}

/// Prints the reference of the command line as Markdown.
pub(crate) fn markdown() -> Result<()> {
    let mut text = Vec::new();
    writeln!(text, "# The command line\n")?;
    writeln!(text, "<!-- Made by `cargo run -- reference > docs/cli.md`; a test compares. -->\n")?;
    writeln!(text, "{}", include_str!("reference.md"))?;
    section(&named(Cli::definition(), "sandkeep"), &mut text)?;
    print(&text)
}

fn section(command: &clap::Command, text: &mut Vec<u8>) -> Result<()> {
    let title = command.get_bin_name().unwrap_or(command.get_name());
    let help = command.clone().term_width(100).render_long_help();
    writeln!(text, "\n## {title}\n\n```text")?;
    for line in help.to_string().trim_end().lines() {
        writeln!(text, "{}", line.trim_end())?;
    }
    writeln!(text, "```")?;
    command
        .get_subcommands()
        .filter(|inner| is_shown(inner))
        .try_for_each(|inner| section(inner, text))
}

fn pages(command: &clap::Command, dir: &Path) -> Result<()> {
    let mut page = Vec::new();
    Man::new(command.clone()).render(&mut page).context("the page cannot be made")?;
    let file = command.get_bin_name().unwrap_or(command.get_name()).replace(' ', "-");
    local::write(&dir.join(format!("{file}.1")), &page)?;
    command
        .get_subcommands()
        .filter(|inner| is_shown(inner))
        .try_for_each(|inner| pages(inner, dir))
}

fn is_shown(command: &clap::Command) -> bool {
    !command.is_hide_set() && command.get_name() != "help"
}

/// The command as a user sees it: global flags and whole names in every subcommand.
fn named(mut command: clap::Command, name: &str) -> clap::Command {
    command = command.bin_name(name);
    command.build();
    command
}

pub(crate) fn print(bytes: &[u8]) -> Result<()> {
    let mut out = Output::new(Style::Words);
    out.bytes(bytes)?;
    out.flush()
}
