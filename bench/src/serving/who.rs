//! Who is compared.

/// Whoever answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Who {
    /// Ours over a directory, as it is started without a wish: every change is synced.
    Host,
    /// The same with `--durability relaxed`.
    Relaxed,
    /// Ours over a virtual tree in memory.
    Memory,
    /// Ours over a virtual tree in the embedded store, where every change is synced.
    Store,
    Nginx,
    Dufs,
    SandboxAgent,
    /// Nobody: the calls on sockets that every server makes, and nothing else.
    Sockets,
    /// A program that does the same without a server.
    Program(&'static str),
}

/// Everybody who serves, ours over a directory as it comes.
pub(super) const READERS: [Who; 6] =
    [Who::Host, Who::Memory, Who::Store, Who::Nginx, Who::Dufs, Who::SandboxAgent];
/// Everybody who serves, ours over a directory in the way that the others write: without a sync.
pub(super) const WRITERS: [Who; 6] =
    [Who::Relaxed, Who::Memory, Who::Store, Who::Nginx, Who::Dufs, Who::SandboxAgent];

impl Who {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Host => "sandkeep DIR",
            Self::Relaxed => "sandkeep DIR, relaxed",
            Self::Memory => "sandkeep memory:",
            Self::Store => "sandkeep file:",
            Self::Nginx => "nginx",
            Self::Dufs => "dufs",
            Self::SandboxAgent => "sandbox-agent",
            Self::Sockets => "bare sockets",
            Self::Program(name) => name,
        }
    }

    pub(super) fn is_ours(self) -> bool {
        matches!(self, Self::Host | Self::Relaxed) || self.is_virtual()
    }

    /// Whether its tree is none of this machine.
    pub(super) fn is_virtual(self) -> bool {
        matches!(self, Self::Memory | Self::Store)
    }
}
