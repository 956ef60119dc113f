//! What fuzzing reaches and nobody else may: the routes without a socket, and the path that each
//! face takes a text for.

use std::sync::Arc;

use axum::Router;
use engine::{Sandbox, SandboxPath};

use crate::mcp::Served;
use crate::{App, faces, mcp};

/// Every route of a server.
pub fn router(app: &Arc<App>) -> Router {
    app.router()
}

/// The path that a text means to `/v1/fs`, and how it is shown there.
pub fn of_fs(sandbox: &Sandbox, text: &str) -> Option<(SandboxPath, String)> {
    faces::meant(sandbox, text)
}

/// The path that an address of `/v1/sandboxes/ID/WORD/…` names. `strip` takes `workspace/` away.
pub fn of_address(address: &str, strip: bool) -> Option<SandboxPath> {
    faces::of_address(address, strip).ok()
}

/// The path that a text in a body of `/v1/sandboxes` means.
pub fn of_body(text: &str, strip: bool) -> Option<SandboxPath> {
    faces::of_text(text, strip).ok()
}

/// The path that the address of a resource means to MCP.
pub fn of_resource(sandbox: &Sandbox, address: &str) -> Option<SandboxPath> {
    sandbox.locate(&mcp::outward(sandbox, address).ok()?).ok()
}

/// The address of a resource of MCP.
pub fn resource(sandbox: &Sandbox, path: &SandboxPath) -> String {
    mcp::address_of(sandbox, path)
}

/// What a root of a client of MCP leaves of a directory.
pub fn of_root(root: &str, served: &Served) -> Option<SandboxPath> {
    mcp::part_of(root, served)
}
