//! Standard output, which carries results and nothing else.

use std::io::{self, BufWriter, Stdout, Write as _};

use anyhow::{Error, Result};
use serde::Serialize;

use crate::failure::{NobodyReads, Style};

/// Standard output.
pub(crate) struct Output {
    /// How results look.
    pub(crate) style: Style,
    /// Whether colours are welcome.
    pub(crate) coloured: bool,
    stdout: BufWriter<Stdout>,
}

impl Output {
    /// Standard output in a style. Colours are for terminals, unless `NO_COLOR` is set.
    pub(crate) fn new(style: Style) -> Self {
        let choice = anstream::AutoStream::choice(&io::stdout());
        let coloured = choice != anstream::ColorChoice::Never;
        Self { style, coloured, stdout: BufWriter::with_capacity(64 << 10, io::stdout()) }
    }

    /// Whether results are JSON.
    pub(crate) fn json(&self) -> bool {
        self.style == Style::Json
    }

    /// Writes bytes as they are.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> Result<()> {
        self.stdout.write_all(bytes).map_err(closed)
    }

    /// Writes a line.
    pub(crate) fn line(&mut self, line: &str) -> Result<()> {
        self.bytes(line.as_bytes())?;
        self.bytes(b"\n")
    }

    /// Writes a value as one line of JSON.
    pub(crate) fn value(&mut self, value: &impl Serialize) -> Result<()> {
        let line = serde_json::to_string(value)?;
        self.line(&line)
    }

    /// Hands on what was written.
    pub(crate) fn flush(&mut self) -> Result<()> {
        self.stdout.flush().map_err(closed)
    }

    /// In JSON the value on stdout; in words a remark on stderr, since it is no data.
    #[expect(clippy::print_stderr, reason = "a remark for people goes beside the data")]
    pub(crate) fn done(&mut self, remark: &str, value: &impl Serialize) -> Result<()> {
        if self.json() {
            return self.value(value);
        }
        eprintln!("{remark}");
        Ok(())
    }
}

fn closed(err: io::Error) -> Error {
    if err.kind() == io::ErrorKind::BrokenPipe { NobodyReads.into() } else { err.into() }
}
