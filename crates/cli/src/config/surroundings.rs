//! What the process finds around it: environment variables and the current directory.
//!
//! Only this file asks for them, besides the `env` names of flags, which the parser of the command
//! line reads.

use std::path::PathBuf;

use anyhow::{Context as _, Result};

/// The current directory.
pub(crate) fn current_dir() -> Result<PathBuf> {
    #[expect(clippy::disallowed_methods, reason = "config is the one that asks")]
    std::env::current_dir().context("the current directory cannot be found")
}

/// The user's home directory, where one is set.
pub(crate) fn home() -> Option<PathBuf> {
    path("HOME")
}

/// Where the program's own configuration lies: `$XDG_CONFIG_HOME/sandkeep`.
pub(crate) fn config_dir() -> Option<PathBuf> {
    beneath_xdg("XDG_CONFIG_HOME", ".config")
}

/// Where the program may keep what outlives it: `$XDG_STATE_HOME/sandkeep`.
pub(crate) fn state_dir() -> Option<PathBuf> {
    beneath_xdg("XDG_STATE_HOME", ".local/state")
}

/// Whether a variable holds exactly this value.
pub(crate) fn variable_is(name: &str, value: &str) -> bool {
    #[expect(clippy::disallowed_methods, reason = "config is the one that asks")]
    std::env::var_os(name).is_some_and(|held| held == value)
}

fn beneath_xdg(variable: &str, fallback: &str) -> Option<PathBuf> {
    // The XDG specification says that a relative path there is to be ignored.
    let base = path(variable).filter(|base| base.is_absolute());
    Some(base.or_else(|| home().map(|home| home.join(fallback)))?.join("sandkeep"))
}

/// The path that a variable holds.
pub(crate) fn path(variable: &str) -> Option<PathBuf> {
    #[expect(clippy::disallowed_methods, reason = "config is the one that asks")]
    std::env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from)
}
