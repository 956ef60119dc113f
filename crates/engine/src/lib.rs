//! What a file operation means, whoever asks. Knows no protocol.
//!
//! A face turns a client's words into a [`SandboxPath`] and calls a [`Workspace`]; the workspace
//! checks the role, the deadline and the limits, and hands the call to a [`FileSystem`].

mod archive;
mod blocking;
mod buffers;
mod entry;
mod error;
mod filesystem;
mod host_fs;
mod limits;
mod name;
mod path;
mod sandbox;
mod sessions;
mod workspace;

pub use archive::{ArchiveLimits, Unpacked};
pub use entry::{Entry, EntryKind, UnixTime, Usage, Version};
pub use error::{Error, ErrorKind, Result};
pub use filesystem::{
    ByteStream, Content, Create, Depth, EntryStream, FileSystem, If, Links, MetadataChange,
    OpenFile, OpenOptions, Page, Parents, Part, Span, Target, WriteMode, WriteOptions, Written,
};
pub use host_fs::{Durability, HostFs, HostOptions, Mounts};
pub use limits::Limits;
pub use path::{DotDot, MAX_NAME, MAX_PATH, SandboxPath};
pub use sandbox::{Sandbox, SandboxId};
pub use sessions::Sessions;
pub use workspace::{Role, Workspace};
