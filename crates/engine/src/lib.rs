//! What a file operation means, whoever asks. Knows no protocol.
//!
//! A face turns a client's words into a [`SandboxPath`] and calls a [`Workspace`]; the workspace
//! checks the role, the deadline and the limits, and hands the call to a [`FileSystem`].

mod archive;
mod attached_fs;
mod audit;
mod batch;
mod blocking;
mod blocking_facade;
mod buffers;
mod edit;
mod entry;
mod entry_store;
mod error;
mod files;
mod filesystem;
#[cfg(fuzzing)]
pub mod fuzzing;
mod garbage;
mod glob;
mod host_fs;
mod keys;
mod limits;
mod listing;
mod name;
mod path;
mod registry;
mod sandbox;
mod search;
mod sessions;
mod snapshot;
mod text;
mod tree;
mod virtual_fs;
mod walk;
mod watch;
mod within;
mod without;
mod workspace;

pub use archive::{ArchiveFormat, ArchiveLimits, Unpacked};
pub use attached_fs::{
    AttachTarget, AttachedFs, AttachedOptions, ContainerName, ContainerState, Containers,
};
pub use audit::{
    Audit, AuditCursor, AuditEvent, AuditLog, AuditPage, AuditSink, LostEvents, Outcome, Pending,
    Recorder, Retention, Told,
};
pub use batch::Step;
pub use blocking_facade::{
    BlockingEntryStore, BlockingFiles, BlockingIter, BlockingReader, BlockingStore, BlockingWriter,
};
pub use edit::{Edit, EditLimits, Edited, ExpectedCount, Replacement, edit};
pub use entry::{Entry, EntryKind, UnixTime, Usage, Version};
pub use entry_store::{CancellationToken, EntryStore, PathStream, StoredEntry, StoredEntryStream};
pub use error::{Error, ErrorKind, Result};
pub use files::{FileReader, FileWriter, Files};
pub use filesystem::{
    ByteStream, Content, Create, Depth, EntryStream, FileSystem, If, Links, Made, MetadataChange,
    OpenFile, OpenOptions, Page, Parents, Part, Span, Target, WriteMode, WriteOptions, Written,
};
pub use host_fs::{Durability, HostFs, HostOptions, Mounts};
pub use keys::{
    Access, Actor, Claim, Grant, KeyId, KeyRecord, KeyText, Keys, NewKey, Scope, SecretHash,
    Signed, Signer,
};
pub use limits::Limits;
pub use listing::{ListQuery, list_tree};
pub use path::{DotDot, MAX_NAME, MAX_PATH, SandboxPath};
pub use registry::{
    MainKind, NewKind, NewSandbox, Registered, RegisteredChange, RegisteredPage, Registry,
    RegistryOptions, SandboxKind,
};
pub use sandbox::{Sandbox, SandboxId};
pub use search::{
    Finding, FindingStream, FoundLine, Letters, Pattern, SearchBudget, SearchEnd, SearchQuery,
    SearchSummary, Syntax, search,
};
pub use sessions::{Session, SessionOwner, SessionPage, SessionRoom, Sessions};
pub use snapshot::{
    Difference, DifferenceKind, DifferenceStream, NewSnapshot, Point, Snapshot, SnapshotId,
    Snapshots,
};
pub use text::{Encoding, Misfit};
pub use virtual_fs::{
    CollectOptions, Collected, DiskCache, Leader, Problem, Store, StoreOptions, Verified, VirtualFs,
};
pub use watch::{Cursor, Loss, Notice, NoticeKind, NoticeStream, Watch};
pub use workspace::{Role, Workspace};
