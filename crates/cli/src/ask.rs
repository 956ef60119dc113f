//! Questions to whoever sits at the terminal.

use std::io::{self, BufRead as _, IsTerminal as _};

use anyhow::{Result, bail};

/// Whether somebody is there to be asked.
pub(crate) fn somebody_is_there() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Goes on if the answer is yes.
#[expect(clippy::print_stderr, reason = "a question for people goes beside the data")]
pub(crate) fn insist(question: &str) -> Result<()> {
    eprint!("{question} [y/N] ");
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    if !matches!(answer.trim().to_lowercase().as_str(), "y" | "yes") {
        bail!("nothing was changed");
    }
    Ok(())
}
