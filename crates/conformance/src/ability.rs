//! What not every way to a tree can express.

/// Something that some promises need and not every way to a tree can express.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ability {
    /// Symbolic links can be made, read, and looked at themselves.
    Links,
    /// Modes and times can be changed, and modes are told.
    Metadata,
    /// Moves and copies can merge directories.
    Merge,
    /// The tree tells how much it holds.
    Usage,
    /// A caller can insist that parents exist.
    RequiredParents,
    /// An open file can be cut and lengthened.
    SetLen,
    /// A listing tells links from files and carries versions.
    DetailedListings,
    /// An open file stays the same file when its name moves or goes.
    LastingHandles,
    /// The caller sets limits for the archive that is unpacked.
    UnpackLimits,
    /// An archive that breaks off says which limit it met.
    PackErrors,
    /// Archives may be compressed, or zip.
    ArchiveFormats,
    /// Many changes can be made as one.
    Batches,
    /// States can be kept and brought back.
    Snapshots,
    /// What happens is told.
    Watches,
    /// The fixture can plant a FIFO.
    Fifos,
}

impl Ability {
    /// Every ability.
    pub const ALL: &[Self] = &[
        Self::Links,
        Self::Metadata,
        Self::Merge,
        Self::Usage,
        Self::RequiredParents,
        Self::SetLen,
        Self::DetailedListings,
        Self::LastingHandles,
        Self::UnpackLimits,
        Self::PackErrors,
        Self::ArchiveFormats,
        Self::Batches,
        Self::Snapshots,
        Self::Watches,
        Self::Fifos,
    ];
}
