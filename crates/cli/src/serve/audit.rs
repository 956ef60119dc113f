//! The audit as lines of JSON, in a file or on standard output.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use anyhow::Result;
use async_trait::async_trait;
use engine::{AuditEvent, AuditSink};
use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use tokio::sync::Mutex;

use crate::local;

/// Where lines go.
pub(super) struct Lines {
    out: Mutex<Box<dyn AsyncWrite + Send + Unpin>>,
}

impl fmt::Debug for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Lines")
    }
}

/// What the operator wants of the audit besides what the store keeps. The file is opened here, because
/// behind the wall it cannot be.
pub(super) fn file(wished: Option<&Path>) -> Result<Option<Target>> {
    match wished {
        None => Ok(None),
        Some(path) if path == Path::new("-") => Ok(Some(Target::Output)),
        Some(path) => local::append_to(path).map(Target::File).map(Some),
    }
}

/// Where the audit goes.
#[derive(Debug)]
pub(super) enum Target {
    /// Standard output.
    Output,
    /// The end of a file.
    File(std::fs::File),
}

impl Target {
    /// Whoever writes there. Needs a tokio runtime.
    pub(super) fn sink(self) -> Arc<dyn AuditSink> {
        let out: Box<dyn AsyncWrite + Send + Unpin> = match self {
            Self::Output => Box::new(tokio::io::stdout()),
            Self::File(file) => Box::new(tokio::fs::File::from_std(file)),
        };
        Arc::new(Lines { out: Mutex::new(out) })
    }
}

#[async_trait]
impl AuditSink for Lines {
    async fn write(&self, events: &[&AuditEvent]) {
        let mut lines = Vec::new();
        for event in events {
            // Its types have no maps with odd keys, so that this cannot fail.
            serde_json::to_writer(&mut lines, &server::EventBody::from(*event)).ok();
            lines.push(b'\n');
        }
        let mut out = self.out.lock().await;
        let written = async {
            out.write_all(&lines).await?;
            out.flush().await
        };
        if let Err(err) = written.await {
            let (error, events) = (&err as &dyn std::error::Error, events.len());
            tracing::error!(error, events, "the audit cannot be written");
        }
    }
}
