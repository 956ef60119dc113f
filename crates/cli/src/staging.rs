//! Where unfinished files may lie when the user names no place.

use std::path::{Path, PathBuf};

use crate::config::surroundings;

/// The user's own directory for unfinished files, if it lies outside `root`, where clients would
/// see it.
pub(crate) fn of_the_user(root: &Path) -> Option<PathBuf> {
    let staging = surroundings::state_dir()?.join("staging");
    (root == Path::new("/") || !staging.starts_with(root)).then_some(staging)
}
