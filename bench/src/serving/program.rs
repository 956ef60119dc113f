//! Programs that do the same as a server, without one.

use std::io::Read as _;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

use super::case::Turn;
use super::cores::Room;
use super::{Bench, burden};

/// Runs a program to its end and takes all that it writes. How long that took, its start included.
pub(super) fn run(
    bench: &Bench<'_>,
    command: &mut Command,
    room: Room,
    mut take: impl FnMut(&[u8]),
) -> Result<Turn> {
    let name = command.get_program().display().to_string();
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    let began = Instant::now();
    let mut child = bench.cores.spawn(command, room)?;
    let mut output = child.stdout.take().context("a program has no output")?;
    let mut buffer = vec![0; 256 << 10];
    loop {
        match output.read(&mut buffer)? {
            0 => break,
            count => take(buffer.get(..count).unwrap_or_default()),
        }
    }
    // It has ended, and its times are there until it is waited for.
    let id = WaitId::Pid(Pid::from_child(&child));
    waitid(id, WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)?;
    let wall = began.elapsed();
    let cpu = burden::processor_time(child.id())?;
    let status = child.wait()?;
    ensure!(status.success(), "{name} failed: {status}");
    Ok(Turn { wall, cpu })
}
