//! Whole contents, as text and as lines.

use super::{Files, at};
use crate::text::{decode, encode, lines, of_lines};
use crate::{Encoding, Misfit, Result, SandboxPath, Written};

impl Files {
    /// The content of a file as text in UTF-8. Bytes that are none are an error that says where
    /// they are. A byte order mark is not part of the text.
    ///
    /// ```
    /// # use sandkeep_engine::{Files, Limits, Result};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// # let files = Files::in_memory(Limits::default()).await?;
    /// files.write("a.txt", "\u{feff}grüezi").await?;
    /// assert_eq!(files.read_text("a.txt").await?, "grüezi");
    /// # Ok(()) }
    /// ```
    pub async fn read_text(&self, path: &str) -> Result<String> {
        self.read_text_in(path, Encoding::UTF_8, Misfit::Refuse).await
    }

    /// The content of a file as text in an encoding. Only a byte order mark of that encoding is
    /// left out; none makes it another encoding.
    ///
    /// ```
    /// # use sandkeep_engine::{Encoding, Files, Limits, Misfit, Result};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// # let files = Files::in_memory(Limits::default()).await?;
    /// files.write("old.txt", &b"caf\xe9"[..]).await?;
    /// let text = files.read_text_in("old.txt", Encoding::WINDOWS_1252, Misfit::Refuse).await?;
    /// assert_eq!(text, "café");
    /// # Ok(()) }
    /// ```
    pub async fn read_text_in(
        &self,
        path: &str,
        encoding: Encoding,
        misfit: Misfit,
    ) -> Result<String> {
        let bytes = self.read(path).await?;
        at(&SandboxPath::clamped(path)?, decode(&bytes, encoding, misfit))
    }

    /// The lines of a file in UTF-8, without their ends: `\n` or `\r\n`. An end at the end of the
    /// file begins no further line, and an empty file has none.
    ///
    /// ```
    /// # use sandkeep_engine::{Files, Limits, Result};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// # let files = Files::in_memory(Limits::default()).await?;
    /// files.write("a.txt", "one\r\ntwo\n\n").await?;
    /// assert_eq!(files.read_lines("a.txt").await?, ["one", "two", ""]);
    /// # Ok(()) }
    /// ```
    pub async fn read_lines(&self, path: &str) -> Result<Vec<String>> {
        self.read_lines_in(path, Encoding::UTF_8, Misfit::Refuse).await
    }

    /// The lines of a file in an encoding.
    ///
    /// ```
    /// # use sandkeep_engine::{Encoding, Files, Limits, Misfit, Result};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// # let files = Files::in_memory(Limits::default()).await?;
    /// files.write_text_in("a.txt", "one\r\ntwo", Encoding::UTF_16LE, Misfit::Refuse).await?;
    /// let lines = files.read_lines_in("a.txt", Encoding::UTF_16LE, Misfit::Refuse).await?;
    /// assert_eq!(lines, ["one", "two"]);
    /// # Ok(()) }
    /// ```
    pub async fn read_lines_in(
        &self,
        path: &str,
        encoding: Encoding,
        misfit: Misfit,
    ) -> Result<Vec<String>> {
        Ok(lines(&self.read_text_in(path, encoding, misfit).await?))
    }

    /// Makes a text the whole content of a file, in UTF-8, without adding a byte order mark.
    ///
    /// ```
    /// # use sandkeep_engine::{Files, Limits, Result};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// # let files = Files::in_memory(Limits::default()).await?;
    /// assert_eq!(files.write_text("a.txt", "né").await?.bytes, 3);
    /// # Ok(()) }
    /// ```
    pub async fn write_text(&self, path: &str, text: &str) -> Result<Written> {
        self.write_text_in(path, text, Encoding::UTF_8, Misfit::Refuse).await
    }

    /// Makes a text the whole content of a file, in an encoding, without adding a byte order mark.
    ///
    /// ```
    /// # use sandkeep_engine::{Encoding, Files, Limits, Misfit, Result};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// # let files = Files::in_memory(Limits::default()).await?;
    /// let latin = Encoding::named("latin1")?;
    /// assert!(files.write_text_in("a", "10 ₪", latin, Misfit::Refuse).await.is_err());
    /// files.write_text_in("a", "10 ₪", latin, Misfit::Replace).await?;
    /// assert_eq!(files.read("a").await?, "10 ?");
    /// # Ok(()) }
    /// ```
    pub async fn write_text_in(
        &self,
        path: &str,
        text: &str,
        encoding: Encoding,
        misfit: Misfit,
    ) -> Result<Written> {
        let bytes = at(&SandboxPath::clamped(path)?, encode(text, encoding, misfit))?;
        self.write(path, bytes).await
    }

    /// Makes lines the whole content of a file, in UTF-8, each with a `\n` at its end. Reading
    /// them gives them back; a line that itself holds an end of a line is therefore refused.
    ///
    /// ```
    /// # use sandkeep_engine::{Files, Limits, Result};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// # let files = Files::in_memory(Limits::default()).await?;
    /// files.write_lines("a.txt", ["one", "two"]).await?;
    /// assert_eq!(files.read("a.txt").await?, "one\ntwo\n");
    /// # Ok(()) }
    /// ```
    pub async fn write_lines<L: AsRef<str>>(
        &self,
        path: &str,
        lines: impl IntoIterator<Item = L>,
    ) -> Result<Written> {
        self.write_lines_in(path, lines, Encoding::UTF_8, Misfit::Refuse).await
    }

    /// Makes lines the whole content of a file, in an encoding.
    ///
    /// ```
    /// # use sandkeep_engine::{Encoding, Files, Limits, Misfit, Result};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// # let files = Files::in_memory(Limits::default()).await?;
    /// files.write_lines_in("a", ["é"], Encoding::WINDOWS_1252, Misfit::Refuse).await?;
    /// assert_eq!(&files.read("a").await?[..], b"\xe9\n");
    /// # Ok(()) }
    /// ```
    pub async fn write_lines_in<L: AsRef<str>>(
        &self,
        path: &str,
        lines: impl IntoIterator<Item = L>,
        encoding: Encoding,
        misfit: Misfit,
    ) -> Result<Written> {
        let text = at(&SandboxPath::clamped(path)?, of_lines(lines))?;
        self.write_text_in(path, &text, encoding, misfit).await
    }

    /// Adds a text to the end of a file, in UTF-8. A missing file is made.
    ///
    /// ```
    /// # use sandkeep_engine::{Files, Limits, Result};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// # let files = Files::in_memory(Limits::default()).await?;
    /// files.append_text("log.txt", "café ").await?;
    /// files.append_text("log.txt", "crème").await?;
    /// assert_eq!(files.read_text("log.txt").await?, "café crème");
    /// # Ok(()) }
    /// ```
    pub async fn append_text(&self, path: &str, text: &str) -> Result<Written> {
        self.append_text_in(path, text, Encoding::UTF_8, Misfit::Refuse).await
    }

    /// Adds a text to the end of a file, in an encoding. A missing file is made.
    ///
    /// ```
    /// # use sandkeep_engine::{Encoding, Files, Limits, Misfit, Result};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// # let files = Files::in_memory(Limits::default()).await?;
    /// files.append_text_in("a", "né", Encoding::UTF_16BE, Misfit::Refuse).await?;
    /// assert_eq!(&files.read("a").await?[..], b"\x00n\x00\xe9");
    /// # Ok(()) }
    /// ```
    pub async fn append_text_in(
        &self,
        path: &str,
        text: &str,
        encoding: Encoding,
        misfit: Misfit,
    ) -> Result<Written> {
        let bytes = at(&SandboxPath::clamped(path)?, encode(text, encoding, misfit))?;
        self.append(path, bytes).await
    }
}
