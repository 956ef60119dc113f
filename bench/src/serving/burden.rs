//! What a process and its children take of the machine, as the kernel counts it.

use std::time::Duration;

use anyhow::{Context as _, Result};

/// The kernel tells processor time to programs in hundredths of a second, on every machine.
const TICK: Duration = Duration::from_millis(10);
/// What makes the kernel forget the most memory that a process ever had.
const FORGET_PEAK: &str = "5";

/// Processor time of the process, its threads and its children, in user and kernel mode.
pub(super) fn processor_time(pid: u32) -> Result<Duration> {
    family(pid).into_iter().map(time_of).sum()
}

/// Memory that is resident now, of all of them. What they share counts for each.
pub(super) fn resident(pid: u32) -> Result<u64> {
    family(pid).into_iter().map(|member| status(member, "VmRSS:")).sum()
}

/// The most memory that was resident since it was forgotten.
pub(super) fn peak(pid: u32) -> Result<u64> {
    family(pid).into_iter().map(|member| status(member, "VmHWM:")).sum()
}

pub(super) fn forget_peak(pid: u32) -> Result<()> {
    for member in family(pid) {
        std::fs::write(format!("/proc/{member}/clear_refs"), FORGET_PEAK)?;
    }
    Ok(())
}

/// A process, and whatever it started.
pub(super) fn family(pid: u32) -> Vec<u32> {
    let mut members = vec![pid];
    let mut next = 0;
    while let Some(member) = members.get(next).copied() {
        next += 1;
        // One without children, or one that is gone, has nothing to tell.
        let threads = std::fs::read_dir(format!("/proc/{member}/task")).into_iter().flatten();
        let lists = threads.flatten().map(|thread| thread.path().join("children"));
        let lists = lists.filter_map(|list| std::fs::read_to_string(list).ok());
        members.extend(lists.flat_map(|list| numbers(&list)));
    }
    members
}

fn numbers(list: &str) -> Vec<u32> {
    list.split_whitespace().filter_map(|number| number.parse().ok()).collect()
}

fn time_of(pid: u32) -> Result<Duration> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"))?;
    // The name before the bracket may hold anything; the times are the 12th and 13th field after it.
    let (_, fields) = stat.rsplit_once(')').context("a process has no name")?;
    let ticks: Result<Vec<u32>, _> =
        fields.split_whitespace().skip(11).take(2).map(str::parse).collect();
    Ok(TICK * ticks?.iter().sum())
}

fn status(pid: u32, field: &str) -> Result<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix(field));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB"));
    Ok(kib.with_context(|| format!("no {field}"))?.trim().parse::<u64>()? << 10)
}
