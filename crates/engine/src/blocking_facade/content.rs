//! Files, for programs that do not know async: whole contents.

use bytes::Bytes;

use super::BlockingFiles;
use crate::{Encoding, Misfit, Result, Written};

impl BlockingFiles {
    /// The content of a file.
    ///
    /// ```
    /// # let files = sandkeep_engine::BlockingFiles::in_memory(Default::default())?;
    /// files.write("a", vec![1, 2])?;
    /// assert_eq!(&files.read("a")?[..], [1, 2]);
    /// # Ok::<(), sandkeep_engine::Error>(())
    /// ```
    pub fn read(&self, path: &str) -> Result<Bytes> {
        self.runtime.wait(self.files.read(path))
    }

    /// Makes these bytes the whole content of a file.
    ///
    /// ```
    /// # let files = sandkeep_engine::BlockingFiles::in_memory(Default::default())?;
    /// assert!(files.write("a", "1")?.created);
    /// # Ok::<(), sandkeep_engine::Error>(())
    /// ```
    pub fn write(&self, path: &str, content: impl Into<Bytes>) -> Result<Written> {
        self.runtime.wait(self.files.write(path, content))
    }

    /// Adds bytes to the end of a file.
    ///
    /// ```
    /// # let files = sandkeep_engine::BlockingFiles::in_memory(Default::default())?;
    /// files.append("a", "1")?;
    /// files.append("a", "2")?;
    /// assert_eq!(files.read("a")?, "12");
    /// # Ok::<(), sandkeep_engine::Error>(())
    /// ```
    pub fn append(&self, path: &str, content: impl Into<Bytes>) -> Result<Written> {
        self.runtime.wait(self.files.append(path, content))
    }

    /// The content of a file as text in UTF-8.
    ///
    /// ```
    /// # let files = sandkeep_engine::BlockingFiles::in_memory(Default::default())?;
    /// files.write("a", "né")?;
    /// assert_eq!(files.read_text("a")?, "né");
    /// # Ok::<(), sandkeep_engine::Error>(())
    /// ```
    pub fn read_text(&self, path: &str) -> Result<String> {
        self.runtime.wait(self.files.read_text(path))
    }

    /// The content of a file as text in an encoding.
    ///
    /// ```
    /// # use sandkeep_engine::{BlockingFiles, Encoding, Misfit};
    /// # let files = BlockingFiles::in_memory(Default::default())?;
    /// files.write("a", &b"n\xe9"[..])?;
    /// assert_eq!(files.read_text_in("a", Encoding::WINDOWS_1252, Misfit::Refuse)?, "né");
    /// # Ok::<(), sandkeep_engine::Error>(())
    /// ```
    pub fn read_text_in(&self, path: &str, encoding: Encoding, misfit: Misfit) -> Result<String> {
        self.runtime.wait(self.files.read_text_in(path, encoding, misfit))
    }

    /// The lines of a file in UTF-8.
    ///
    /// ```
    /// # let files = sandkeep_engine::BlockingFiles::in_memory(Default::default())?;
    /// files.write("a", "one\ntwo\n")?;
    /// assert_eq!(files.read_lines("a")?, ["one", "two"]);
    /// # Ok::<(), sandkeep_engine::Error>(())
    /// ```
    pub fn read_lines(&self, path: &str) -> Result<Vec<String>> {
        self.runtime.wait(self.files.read_lines(path))
    }

    /// The lines of a file in an encoding.
    ///
    /// ```
    /// # use sandkeep_engine::{BlockingFiles, Encoding, Misfit};
    /// # let files = BlockingFiles::in_memory(Default::default())?;
    /// files.write("a", &b"\xe9\n"[..])?;
    /// assert_eq!(files.read_lines_in("a", Encoding::WINDOWS_1252, Misfit::Refuse)?, ["é"]);
    /// # Ok::<(), sandkeep_engine::Error>(())
    /// ```
    pub fn read_lines_in(
        &self,
        path: &str,
        encoding: Encoding,
        misfit: Misfit,
    ) -> Result<Vec<String>> {
        self.runtime.wait(self.files.read_lines_in(path, encoding, misfit))
    }

    /// Makes a text the whole content of a file, in UTF-8.
    ///
    /// ```
    /// # let files = sandkeep_engine::BlockingFiles::in_memory(Default::default())?;
    /// assert_eq!(files.write_text("a", "né")?.bytes, 3);
    /// # Ok::<(), sandkeep_engine::Error>(())
    /// ```
    pub fn write_text(&self, path: &str, text: &str) -> Result<Written> {
        self.runtime.wait(self.files.write_text(path, text))
    }

    /// Makes a text the whole content of a file, in an encoding.
    ///
    /// ```
    /// # use sandkeep_engine::{BlockingFiles, Encoding, Misfit};
    /// # let files = BlockingFiles::in_memory(Default::default())?;
    /// let written = files.write_text_in("a", "né", Encoding::UTF_16LE, Misfit::Refuse)?;
    /// assert_eq!(written.bytes, 4);
    /// # Ok::<(), sandkeep_engine::Error>(())
    /// ```
    pub fn write_text_in(
        &self,
        path: &str,
        text: &str,
        encoding: Encoding,
        misfit: Misfit,
    ) -> Result<Written> {
        self.runtime.wait(self.files.write_text_in(path, text, encoding, misfit))
    }

    /// Makes lines the whole content of a file, in UTF-8.
    ///
    /// ```
    /// # let files = sandkeep_engine::BlockingFiles::in_memory(Default::default())?;
    /// files.write_lines("a", ["one", "two"])?;
    /// assert_eq!(files.read("a")?, "one\ntwo\n");
    /// # Ok::<(), sandkeep_engine::Error>(())
    /// ```
    pub fn write_lines<L: AsRef<str>>(
        &self,
        path: &str,
        lines: impl IntoIterator<Item = L>,
    ) -> Result<Written> {
        self.runtime.wait(self.files.write_lines(path, lines))
    }

    /// Makes lines the whole content of a file, in an encoding.
    ///
    /// ```
    /// # use sandkeep_engine::{BlockingFiles, Encoding, Misfit};
    /// # let files = BlockingFiles::in_memory(Default::default())?;
    /// files.write_lines_in("a", ["é"], Encoding::WINDOWS_1252, Misfit::Refuse)?;
    /// assert_eq!(&files.read("a")?[..], b"\xe9\n");
    /// # Ok::<(), sandkeep_engine::Error>(())
    /// ```
    pub fn write_lines_in<L: AsRef<str>>(
        &self,
        path: &str,
        lines: impl IntoIterator<Item = L>,
        encoding: Encoding,
        misfit: Misfit,
    ) -> Result<Written> {
        self.runtime.wait(self.files.write_lines_in(path, lines, encoding, misfit))
    }

    /// Adds a text to the end of a file, in UTF-8.
    ///
    /// ```
    /// # let files = sandkeep_engine::BlockingFiles::in_memory(Default::default())?;
    /// files.append_text("a", "né")?;
    /// assert_eq!(files.read_text("a")?, "né");
    /// # Ok::<(), sandkeep_engine::Error>(())
    /// ```
    pub fn append_text(&self, path: &str, text: &str) -> Result<Written> {
        self.runtime.wait(self.files.append_text(path, text))
    }

    /// Adds a text to the end of a file, in an encoding.
    ///
    /// ```
    /// # use sandkeep_engine::{BlockingFiles, Encoding, Misfit};
    /// # let files = BlockingFiles::in_memory(Default::default())?;
    /// files.append_text_in("a", "é", Encoding::WINDOWS_1252, Misfit::Refuse)?;
    /// assert_eq!(&files.read("a")?[..], b"\xe9");
    /// # Ok::<(), sandkeep_engine::Error>(())
    /// ```
    pub fn append_text_in(
        &self,
        path: &str,
        text: &str,
        encoding: Encoding,
        misfit: Misfit,
    ) -> Result<Written> {
        self.runtime.wait(self.files.append_text_in(path, text, encoding, misfit))
    }

    /// The whole tree as it is at this moment, as bytes.
    ///
    /// ```
    /// # let files = sandkeep_engine::BlockingFiles::in_memory(Default::default())?;
    /// files.write("a", "1")?;
    /// let saved = files.create_snapshot()?;
    /// # assert!(!saved.is_empty());
    /// # Ok::<(), sandkeep_engine::Error>(())
    /// ```
    pub fn create_snapshot(&self) -> Result<Bytes> {
        self.runtime.wait(self.files.create_snapshot())
    }

    /// Makes the tree what it was when [`BlockingFiles::create_snapshot`] gave these bytes.
    ///
    /// ```
    /// # let files = sandkeep_engine::BlockingFiles::in_memory(Default::default())?;
    /// let empty = files.create_snapshot()?;
    /// files.write("a", "1")?;
    /// files.restore_snapshot(empty)?;
    /// assert!(!files.exists("a")?);
    /// # Ok::<(), sandkeep_engine::Error>(())
    /// ```
    pub fn restore_snapshot(&self, bytes: impl Into<Bytes>) -> Result<()> {
        self.runtime.wait(self.files.restore_snapshot(bytes))
    }
}
