//! Names and paths that a pattern fits.

use std::path::Path;

use globset::{GlobBuilder, GlobMatcher};

use crate::{Error, ErrorKind, Result};

/// A glob for names, or for paths if it has a slash.
#[derive(Debug)]
pub(crate) struct NameGlob {
    glob: GlobMatcher,
    is_of_paths: bool,
}

impl NameGlob {
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let glob = GlobBuilder::new(text.trim_start_matches('/'))
            .literal_separator(true)
            .backslash_escape(true)
            .build();
        let glob = glob.map_err(|err| {
            let message = format!("the glob cannot be read: {}", err.kind());
            Error::new(ErrorKind::InvalidArgument, message).because(err)
        })?;
        Ok(Self { glob: glob.compile_matcher(), is_of_paths: text.contains('/') })
    }

    /// Whether it fits a path, as seen from where the looking begins.
    pub(crate) fn fits(&self, rest: &str) -> bool {
        let path = Path::new(rest);
        let name = path.file_name().map_or(path, Path::new);
        self.glob.is_match(if self.is_of_paths { path } else { name })
    }
}
