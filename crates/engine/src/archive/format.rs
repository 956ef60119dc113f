//! Which formats there are.

/// A format of archives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ArchiveFormat {
    /// Tar as it is.
    Tar,
    /// Tar, compressed with gzip.
    TarGz,
    /// Tar, compressed with Zstandard.
    TarZst,
    /// Zip, whose members are compressed with deflate one by one.
    Zip,
}

impl ArchiveFormat {
    /// Every format.
    pub const ALL: &[Self] = &[Self::Tar, Self::TarGz, Self::TarZst, Self::Zip];

    /// The format that a file's name tells, whatever the case of its letters.
    ///
    /// ```
    /// use sandkeep_engine::ArchiveFormat;
    ///
    /// assert_eq!(ArchiveFormat::of_file_name("src.TGZ"), Some(ArchiveFormat::TarGz));
    /// assert_eq!(ArchiveFormat::of_file_name("notes.txt"), None);
    /// ```
    pub fn of_file_name(name: &str) -> Option<Self> {
        let endings = [
            (".tar", Self::Tar),
            (".tar.gz", Self::TarGz),
            (".tgz", Self::TarGz),
            (".tar.zst", Self::TarZst),
            (".tzst", Self::TarZst),
            (".zip", Self::Zip),
        ];
        let name = name.to_ascii_lowercase();
        endings.into_iter().find(|(ending, _)| name.ends_with(ending)).map(|(_, format)| format)
    }
}
