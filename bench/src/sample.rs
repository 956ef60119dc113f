//! One measured figure, as measuring processes write it: a line of JSON.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use serde::{Deserialize, Serialize};

use crate::clock::Spent;

/// An operation that was done so often, and what that took.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Sample {
    pub(crate) op: String,
    pub(crate) count: u64,
    pub(crate) cpu_ns: u64,
    /// Peers measure processor time only.
    #[serde(default)]
    pub(crate) wall_ns: u64,
}

impl Sample {
    pub(crate) fn new(op: impl Into<String>, count: u64, spent: Spent) -> Self {
        let Spent { cpu_ns, wall_ns } = spent;
        Self { op: op.into(), count, cpu_ns, wall_ns }
    }

    /// Writes the figure for whoever started this process.
    pub(crate) fn tell(&self) -> Result<()> {
        println!("{}", serde_json::to_string(self)?);
        Ok(())
    }

    /// Processor time of one operation.
    pub(crate) fn cpu_each(&self) -> f64 {
        self.cpu_ns as f64 / self.count as f64
    }

    /// Time on the wall of one operation.
    pub(crate) fn wall_each(&self) -> f64 {
        self.wall_ns as f64 / self.count as f64
    }
}

/// Runs a measuring process and takes its figures.
pub(crate) fn samples(command: &mut Command) -> Result<Vec<Sample>> {
    let mut child = command.stdout(Stdio::piped()).spawn().context("a process did not start")?;
    let output = child.stdout.take().context("a process has no output")?;
    let lines = BufReader::new(output).lines();
    let samples: Result<Vec<_>> = lines.map(|line| Ok(serde_json::from_str(&line?)?)).collect();
    let status = child.wait()?;
    ensure!(status.success(), "a measuring process failed: {status}");
    samples
}
