//! `sandkeep sandbox`: the sandboxes of a server or of a store.

mod in_store;
mod on_server;

use anyhow::Result;
use engine::SandboxId;
use serde_json::json;

use crate::command_line::{Holder, SandboxFlags};
use crate::remote;
use crate::render::Output;

/// Runs one sandbox command.
pub(crate) fn run(flags: &SandboxFlags) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut out = Output::new(flags.output.style());
        let done = match flags.holder() {
            Holder::Store(url) => in_store::carry_out(&flags.command, url, &mut out).await,
            Holder::Server(server) => {
                let done = on_server::carry_out(&flags.command, server, &mut out).await;
                remote::advised(done, &server.endpoint, Some("--store URL"))
            }
        };
        // What was done before a failure is still worth knowing.
        out.flush()?;
        done
    })
}

/// What whoever is about to delete a sandbox is asked.
fn warning(id: &SandboxId, files: &str) -> String {
    format!("The sandbox {id}, its {files} and all its snapshots are lost. Delete it?")
}

/// Says that a sandbox is gone.
fn gone(id: &SandboxId, out: &mut Output) -> Result<()> {
    out.done(&format!("deleted the sandbox {id}"), &json!({ "sandbox": id.as_str() }))
}
