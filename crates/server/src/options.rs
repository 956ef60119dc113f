//! What an operator decides about the server.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use engine::{ArchiveLimits, AuditSink, SandboxPath};
use tools::Settings;

use crate::quota::PerKey;

/// How the server behaves towards its clients.
#[derive(Clone, Debug)]
pub struct Options {
    /// Who is let in.
    pub access: Access,
    /// Which web pages may ask.
    pub cors: Cors,
    /// How long a silent client is waited for.
    pub timeouts: Timeouts,
    /// How many clients may be connected at once; the next is told to come back later.
    pub most_connections: usize,
    /// Where the relative paths of a new session begin.
    pub working_directory: SandboxPath,
    /// How much one downloaded archive may hold, whatever the request says.
    pub archive_limits: ArchiveLimits,
    /// Whether `workspace/` at the beginning of a path of `/v1/sandboxes` means the root.
    pub strip_workspace_prefix: bool,
    /// How much of the server one key may take.
    pub per_key: PerKey,
    /// How many clients of agents may be connected, and for how long.
    pub agents: AgentRoom,
    /// How many sessions of MCP may be open, and for how long.
    pub mcp: AgentRoom,
    /// How much the tools may do, and where.
    pub tools: ToolOptions,
    /// Who else gets every event of the audit, as it comes.
    pub audit: Option<Arc<dyn AuditSink>>,
    /// Names besides the loopback ones that an open server answers to. With `None` it answers to
    /// every name, which lets a web page reach it by rebinding a name of its own.
    pub host_names: Option<Vec<String>>,
}

impl Options {
    /// The usual behaviour for clients that are let in like this.
    pub fn new(access: Access) -> Self {
        Self {
            access,
            cors: Cors::default(),
            timeouts: Timeouts::default(),
            most_connections: 1024,
            working_directory: SandboxPath::root(),
            archive_limits: ArchiveLimits::default(),
            strip_workspace_prefix: false,
            per_key: PerKey::default(),
            agents: AgentRoom::default(),
            mcp: AgentRoom::of_mcp(),
            tools: ToolOptions::default(),
            audit: None,
            host_names: None,
        }
    }
}

/// How many clients may be connected by `/v2`, or have a session of MCP, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AgentRoom {
    /// Of everybody together.
    pub most: usize,
    /// Of one key.
    pub each: usize,
    /// How long one is kept that neither asks nor listens.
    pub idle: Duration,
}

impl AgentRoom {
    /// As usual for MCP, whose sessions take more than a connection of `/v2`.
    pub fn of_mcp() -> Self {
        Self { most: 2048, each: 512, idle: Duration::from_mins(30) }
    }
}

impl Default for AgentRoom {
    fn default() -> Self {
        Self { most: 8192, each: 2048, idle: Duration::from_mins(30) }
    }
}

/// How much the tools may do, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolOptions {
    /// For programs, which call by `/v1/tools`.
    pub programs: Settings,
    /// For models, which call by MCP.
    pub models: Settings,
}

impl Default for ToolOptions {
    fn default() -> Self {
        let (programs, models) = (Settings::for_programs(), Settings::for_models());
        Self { programs, models }
    }
}

/// Who is let in.
#[derive(Clone, PartialEq, Eq)]
pub enum Access {
    /// Whoever sends this token as `Authorization: Bearer`.
    Token(String),
    /// Everyone who can connect.
    Open,
}

impl fmt::Debug for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Token(_) => "Token(…)",
            Self::Open => "Open",
        })
    }
}

/// Which web pages may ask, and how. Without origins no page may.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cors {
    /// Origins that may read answers, such as `https://example.org`; `*` for all.
    pub origins: Vec<String>,
    /// Methods they may use; all when empty.
    pub methods: Vec<String>,
    /// Headers they may send; all when empty.
    pub headers: Vec<String>,
    /// Whether they may send cookies and the like.
    pub credentials: bool,
}

/// How long a silent client is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// From the first byte of a request, or from connecting, to the end of its headers.
    pub header: Duration,
    /// Between two requests of one connection.
    pub idle: Duration,
    /// From connecting to the first request that is let in, whatever else is asked meanwhile.
    pub stranger: Duration,
    /// Without any byte of a body, in either direction. All pauses of a sent body together may be
    /// four times as long, and for each KiB a second longer.
    pub progress: Duration,
    /// For requests that are under way when the server is told to stop.
    pub drain: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            header: Duration::from_secs(10),
            idle: Duration::from_secs(60),
            stranger: Duration::from_secs(15),
            progress: Duration::from_secs(30),
            // The published client kills a server that has not ended after five seconds.
            drain: Duration::from_secs(4),
        }
    }
}
