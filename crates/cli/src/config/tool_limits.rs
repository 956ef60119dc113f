//! Settings of the tools: how much one call may do, and where.

use std::num::NonZero;

use ::tools::{Settings, TextEncoding};
use anyhow::{Context as _, Result, ensure};
use clap::Args;
use engine::{DotDot, SandboxPath};
use serde::{Deserialize, Serialize};

use super::{Pause, Size};

/// The longest file that a tool may be allowed: it is one text of JSON, in memory.
const LONGEST: u64 = 1 << 30;

/// One source's settings of the tools; what is absent is left to the next source. In a file they are
/// the table `[tools]`.
#[derive(Args, Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[command(next_help_heading = "Tools")]
pub(crate) struct ToolLimits {
    /// How tools read and write text where a call does not say: utf-8, shift_jis, base64, auto and
    /// so on [default: utf-8 for programs, auto for models]
    #[arg(
        id = "tools_default_encoding",
        long = "tools-default-encoding",
        env = "SANDKEEP_TOOLS_DEFAULT_ENCODING",
        value_name = "NAME"
    )]
    pub(crate) default_encoding: Option<String>,

    /// The longest file that a tool reads whole or writes [default: 16MiB]
    #[arg(
        id = "tools_max_file_size",
        long = "tools-max-file-size",
        env = "SANDKEEP_TOOLS_MAX_FILE_SIZE",
        value_name = "SIZE"
    )]
    pub(crate) max_file_size: Option<Size>,

    /// How much content one answer of a tool holds [default: 16MiB for programs, 64KiB for models]
    #[arg(
        id = "tools_max_result_bytes",
        long = "tools-max-result-bytes",
        env = "SANDKEEP_TOOLS_MAX_RESULT_BYTES",
        value_name = "SIZE"
    )]
    pub(crate) max_result_bytes: Option<Size>,

    /// File or directory, from the root of each sandbox on, that tools may look at and change with
    /// what is beneath it. Repeat it, or separate with commas [default: everything]
    #[arg(
        id = "tools_allowed_path",
        long = "tools-allowed-path",
        env = "SANDKEEP_TOOLS_ALLOWED_PATH",
        value_name = "PATH",
        value_delimiter = ','
    )]
    pub(crate) allowed_path: Option<Vec<String>>,

    /// One that they may not, even if it is allowed
    #[arg(
        id = "tools_blocked_path",
        long = "tools-blocked-path",
        env = "SANDKEEP_TOOLS_BLOCKED_PATH",
        value_name = "PATH",
        value_delimiter = ','
    )]
    pub(crate) blocked_path: Option<Vec<String>>,

    /// How long a call of a tool may take [default: 30s]
    #[arg(
        id = "tools_timeout",
        long = "tools-timeout",
        env = "SANDKEEP_TOOLS_TIMEOUT",
        value_name = "TIME"
    )]
    pub(crate) timeout: Option<Pause>,

    /// How many levels tools look at beneath a directory [default: 64 for programs, 16 for models]
    #[arg(
        id = "tools_max_depth",
        long = "tools-max-depth",
        env = "SANDKEEP_TOOLS_MAX_DEPTH",
        value_name = "COUNT"
    )]
    pub(crate) max_depth: Option<NonZero<usize>>,

    /// How many entries one answer of a tool holds [default: 10000 for programs, 1000 for models]
    #[arg(
        id = "tools_max_entries",
        long = "tools-max-entries",
        env = "SANDKEEP_TOOLS_MAX_ENTRIES",
        value_name = "COUNT"
    )]
    pub(crate) max_entries: Option<NonZero<usize>>,
}

impl ToolLimits {
    /// These settings, and those of `lower` where these say nothing.
    pub(crate) fn over(self, lower: Self) -> Self {
        Self {
            default_encoding: self.default_encoding.or(lower.default_encoding),
            max_file_size: self.max_file_size.or(lower.max_file_size),
            max_result_bytes: self.max_result_bytes.or(lower.max_result_bytes),
            allowed_path: self.allowed_path.or(lower.allowed_path),
            blocked_path: self.blocked_path.or(lower.blocked_path),
            timeout: self.timeout.or(lower.timeout),
            max_depth: self.max_depth.or(lower.max_depth),
            max_entries: self.max_entries.or(lower.max_entries),
        }
    }

    /// What the server is told: the same for programs and for models where they say anything.
    pub(crate) fn options(&self) -> Result<server::ToolOptions> {
        Ok(server::ToolOptions {
            programs: self.applied_to(&Settings::for_programs())?,
            models: self.applied_to(&Settings::for_models())?,
        })
    }

    fn applied_to(&self, usual: &Settings) -> Result<Settings> {
        let encoding = self.default_encoding.as_deref().map(TextEncoding::named).transpose();
        let encoding = encoding.context("--tools-default-encoding names no encoding")?;
        let timeout = self.timeout.map_or(usual.timeout, |Pause(time)| time);
        ensure!(!timeout.is_zero(), "--tools-timeout leaves no time");
        Ok(Settings {
            default_encoding: encoding.unwrap_or(usual.default_encoding),
            max_file_size: size("max-file-size", self.max_file_size, usual.max_file_size)?,
            max_result_bytes: size(
                "max-result-bytes",
                self.max_result_bytes,
                usual.max_result_bytes,
            )?,
            allowed_paths: paths("allowed-path", self.allowed_path.as_deref())?,
            blocked_paths: paths("blocked-path", self.blocked_path.as_deref())?,
            timeout,
            max_depth: self.max_depth.map_or(usual.max_depth, NonZero::get),
            max_entries: self.max_entries.map_or(usual.max_entries, NonZero::get),
            read_only: usual.read_only,
            beginning: usual.beginning,
        })
    }
}

fn size(name: &str, wish: Option<Size>, usual: u64) -> Result<u64> {
    let Some(Size(bytes)) = wish else { return Ok(usual) };
    let most = Size(LONGEST);
    ensure!((1..=LONGEST).contains(&bytes), "--tools-{name} is at least 1 and at most {most}");
    Ok(bytes)
}

fn paths(name: &str, wish: Option<&[String]>) -> Result<Vec<SandboxPath>> {
    let parsed = wish.unwrap_or_default().iter().map(|text| {
        let path = SandboxPath::parse(text, DotDot::Refuse);
        path.with_context(|| format!("--tools-{name} {text:?} is no path of a sandbox"))
    });
    parsed.collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn refusal(limits: &ToolLimits) -> String {
        format!("{:#}", limits.options().unwrap_err())
    }

    #[test]
    fn what_nobody_says_is_as_the_tools_have_it() {
        let options = ToolLimits::default().options().unwrap();
        assert_eq!(options, server::ToolOptions::default());
    }

    #[test]
    fn what_is_said_holds_for_programs_and_for_models() {
        let limits = ToolLimits {
            default_encoding: Some("shift_jis".into()),
            max_file_size: Some(Size(1000)),
            allowed_path: Some(vec!["src".into(), "/docs".into()]),
            timeout: Some(Pause(Duration::from_secs(2))),
            ..ToolLimits::default()
        };
        let options = limits.options().unwrap();
        for settings in [options.programs, options.models] {
            assert_eq!(settings.default_encoding.name(), "shift_jis");
            assert_eq!(settings.max_file_size, 1000);
            assert_eq!(settings.timeout, Duration::from_secs(2));
            let paths: Vec<_> = settings.allowed_paths.iter().map(SandboxPath::as_str).collect();
            assert_eq!(paths, ["/src", "/docs"]);
        }
    }

    #[test]
    fn what_cannot_be_meant_is_refused_with_the_flag() {
        let of = |limits: ToolLimits| refusal(&limits);
        let none = ToolLimits::default;
        let encoding = ToolLimits { default_encoding: Some("klingon".into()), ..none() };
        assert!(of(encoding).contains("--tools-default-encoding"));
        let nothing = ToolLimits { max_file_size: Some(Size(0)), ..none() };
        assert!(of(nothing).contains("--tools-max-file-size"));
        let huge = ToolLimits { max_result_bytes: Some(Size(LONGEST + 1)), ..none() };
        assert!(of(huge).contains("at most 1GiB"));
        let outside = ToolLimits { blocked_path: Some(vec!["../x".into()]), ..none() };
        assert!(of(outside).contains("--tools-blocked-path"));
        let hurried = ToolLimits { timeout: Some(Pause(Duration::ZERO)), ..none() };
        assert!(of(hurried).contains("--tools-timeout"));
    }
}
