//! Settings of a server with many sandboxes.

use std::num::NonZero;
use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::BoolishValueParser;
use serde::{Deserialize, Serialize};

use super::Pause;

/// One source's settings of many sandboxes; what is absent is left to the next source.
#[derive(Args, Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[command(next_help_heading = "Many sandboxes")]
pub(crate) struct Many {
    /// Directory of this machine beneath which /v1/sandboxes may make sandboxes of kind host; it is
    /// made when missing. Repeat it, or separate with commas [default: none, so that all are virtual]
    #[arg(long, env = "SANDKEEP_HOST_ROOTS", value_name = "DIR", value_delimiter = ',')]
    pub(crate) host_roots: Option<Vec<PathBuf>>,

    /// Let `workspace/` at the beginning of a path of /v1/sandboxes mean the sandbox's root, for
    /// clients that write absolute paths of a container
    #[arg(
        long, env = "SANDKEEP_STRIP_WORKSPACE_PREFIX", value_name = "BOOL", num_args = 0..=1,
        require_equals = true, default_missing_value = "true", value_parser = BoolishValueParser::new()
    )]
    pub(crate) strip_workspace_prefix: Option<bool>,

    /// File that gets every change and every refusal as a line of JSON, or - for standard output;
    /// the store keeps them in any case
    #[arg(long, env = "SANDKEEP_AUDIT", value_name = "FILE")]
    pub(crate) audit: Option<PathBuf>,

    /// Close a sandbox of /v1/sandboxes that nobody used for so long; it opens again when it is asked
    /// for [default: 10m]
    #[arg(long, env = "SANDKEEP_SANDBOX_IDLE", value_name = "TIME")]
    pub(crate) sandbox_idle: Option<Pause>,

    /// Requests a second that one key may send [default: any number]
    #[arg(long, env = "SANDKEEP_RATE_LIMIT", value_name = "COUNT")]
    pub(crate) rate_limit: Option<NonZero<u32>>,

    /// Files and archives that one key may send or fetch at a time [default: any number]
    #[arg(long, env = "SANDKEEP_MAX_TRANSFERS", value_name = "COUNT")]
    pub(crate) max_transfers: Option<NonZero<usize>>,
}

impl Many {
    /// These settings, and those of `lower` where these say nothing.
    pub(crate) fn over(self, lower: Self) -> Self {
        Self {
            host_roots: self.host_roots.or(lower.host_roots),
            strip_workspace_prefix: self.strip_workspace_prefix.or(lower.strip_workspace_prefix),
            audit: self.audit.or(lower.audit),
            sandbox_idle: self.sandbox_idle.or(lower.sandbox_idle),
            rate_limit: self.rate_limit.or(lower.rate_limit),
            max_transfers: self.max_transfers.or(lower.max_transfers),
        }
    }

    /// The same settings, with relative paths beginning at `base`.
    pub(crate) fn relative_to(mut self, base: &Path) -> Self {
        for root in self.host_roots.iter_mut().flatten() {
            *root = base.join(&*root);
        }
        if let Some(file) = self.audit.as_mut().filter(|file| **file != Path::new("-")) {
            *file = base.join(&*file);
        }
        self
    }

    /// What holds when nobody says anything.
    pub(crate) fn usual() -> Self {
        Self { strip_workspace_prefix: Some(false), ..Self::default() }
    }
}
