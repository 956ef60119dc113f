//! `sandkeep stats`: how much a tree holds, and how much it may.

use anyhow::Result;
use clap::ArgMatches;
use engine::{Limits, Usage};
use serde::Serialize;

use crate::command_line::StatsFlags;
use crate::render::{LimitsJson, Output, UsageJson, show_rows, size};
use crate::trees::{LocalTree, Missing};

const NO_LIMIT: &str = "no limit";

/// What there is to know, as a program reads it.
#[derive(Serialize)]
struct StatsJson {
    #[serde(flatten)]
    usage: UsageJson,
    limits: Option<LimitsJson>,
}

/// Shows how much a tree holds.
pub(crate) fn run(flags: &StatsFlags, given: &ArgMatches) -> Result<()> {
    let place = flags.place(given)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut out = Output::new(flags.output.style());
        let tree = LocalTree::open(&place, Missing::Refused).await?;
        let limits = tree.limits();
        let usage = tree.files().usage().await?;
        if out.json() {
            let limits = limits.map(LimitsJson::new);
            out.value(&StatsJson { usage: UsageJson::new(usage), limits })?;
        } else {
            show_rows(rows(usage, limits), &mut out)?;
        }
        out.flush()
    })
}

/// How much a tree holds, and how much of what it may, as people read it.
pub(crate) fn rows(usage: Usage, limits: Option<Limits>) -> Vec<(&'static str, String)> {
    let of = |limit: fn(Limits) -> Option<u64>, used: u64, unit: fn(u64) -> String| {
        limits.map_or_else(String::new, |limits| format!(", {}", share(used, limit(limits), unit)))
    };
    let bytes = of(|limits| limits.total_size, usage.bytes, size);
    let nodes = of(|limits| limits.nodes, usage.nodes(), |count| count.to_string());
    let mut rows = vec![
        ("size", format!("{} ({} bytes){bytes}", size(usage.bytes), usage.bytes)),
        ("files", usage.files.to_string()),
        ("directories", usage.directories.to_string()),
        ("nodes", format!("{}{nodes}", usage.nodes())),
    ];
    if let Some(limits) = limits {
        let most = limits.file_size.map(|most| format!("at most {}", size(most)));
        rows.push(("longest file", most.unwrap_or_else(|| NO_LIMIT.into())));
    }
    rows
}

/// How much of its limit something is.
fn share(used: u64, limit: Option<u64>, unit: fn(u64) -> String) -> String {
    match limit {
        None => NO_LIMIT.into(),
        Some(most) => {
            let percent = (u128::from(used) * 100).checked_div(u128::from(most)).unwrap_or(100);
            format!("{percent}% of {}", unit(most))
        }
    }
}
