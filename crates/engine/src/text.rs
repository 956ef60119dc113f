//! Text in files: encodings and lines.

use bytes::Bytes;
use encoding_rs::{DecoderResult, EncoderResult};

use crate::{Error, ErrorKind, Result};

/// How bytes stand for text.
///
/// ```
/// # use sandkeep_engine::Encoding;
/// assert_eq!(Encoding::default(), Encoding::UTF_8);
/// assert_eq!(Encoding::named("Shift_JIS")?.name(), "Shift_JIS");
/// # Ok::<(), sandkeep_engine::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Encoding(&'static encoding_rs::Encoding);

/// What becomes of bytes that are no text in an encoding, and of letters that it cannot write.
///
/// ```
/// # use sandkeep_engine::{Encoding, Files, Limits, Misfit, Result};
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
/// # let files = Files::in_memory(Limits::default()).await?;
/// files.write("log", &b"caf\xe9"[..]).await?;
/// let refused = files.read_text_in("log", Encoding::UTF_8, Misfit::Refuse).await.unwrap_err();
/// assert_eq!(refused.message(), "the bytes at offset 3 are no text in UTF-8");
/// assert_eq!(files.read_text_in("log", Encoding::UTF_8, Misfit::Replace).await?, "caf\u{fffd}");
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misfit {
    /// They are an error that says where they are.
    Refuse,
    /// A mark takes their place: U+FFFD for bytes, a question mark for letters.
    Replace,
}

impl Encoding {
    /// UTF-8.
    pub const UTF_8: Self = Self(&encoding_rs::UTF_8_INIT);
    /// UTF-16, the lower byte first.
    pub const UTF_16LE: Self = Self(&encoding_rs::UTF_16LE_INIT);
    /// UTF-16, the higher byte first.
    pub const UTF_16BE: Self = Self(&encoding_rs::UTF_16BE_INIT);
    /// The superset of ISO 8859-1 that the web means by `latin1`.
    pub const WINDOWS_1252: Self = Self(&encoding_rs::WINDOWS_1252_INIT);

    /// The encoding that a label of the WHATWG's Encoding Standard names, such as `utf-8`,
    /// `latin1` or `gb18030`, in any case.
    ///
    /// ```
    /// # use sandkeep_engine::Encoding;
    /// assert_eq!(Encoding::named("latin1")?, Encoding::WINDOWS_1252);
    /// assert!(Encoding::named("klingon").is_err());
    /// # Ok::<(), sandkeep_engine::Error>(())
    /// ```
    pub fn named(label: &str) -> Result<Self> {
        // The standard maps labels of encodings that are dangerous to one that decodes to nothing.
        let known = encoding_rs::Encoding::for_label_no_replacement(label.as_bytes());
        known.map(Self).ok_or_else(|| {
            let message = format!("there is no encoding `{}`", label.escape_debug());
            Error::new(ErrorKind::InvalidArgument, message)
        })
    }

    /// What it is called.
    ///
    /// ```
    /// assert_eq!(sandkeep_engine::Encoding::UTF_16LE.name(), "UTF-16LE");
    /// ```
    pub fn name(self) -> &'static str {
        self.0.name()
    }

    /// The text that bytes stand for, with a byte order mark if they begin with one: what is encoded
    /// again gives the same bytes.
    ///
    /// ```
    /// # use sandkeep_engine::{Encoding, Misfit};
    /// assert_eq!(Encoding::UTF_8.decode(b"\xef\xbb\xbfhi", Misfit::Refuse)?, "\u{feff}hi");
    /// assert!(Encoding::UTF_8.decode(b"caf\xe9", Misfit::Refuse).is_err());
    /// # Ok::<(), sandkeep_engine::Error>(())
    /// ```
    pub fn decode(self, bytes: &[u8], misfit: Misfit) -> Result<String> {
        if misfit == Misfit::Replace {
            return Ok(self.0.decode_without_bom_handling(bytes).0.into_owned());
        }
        decode_with(self.0.new_decoder_without_bom_handling(), bytes, self)
    }

    /// The bytes that stand for a text, without a byte order mark unless the text begins with one.
    ///
    /// ```
    /// # use sandkeep_engine::{Encoding, Misfit};
    /// assert_eq!(&Encoding::UTF_16BE.encode("hi", Misfit::Refuse)?[..], b"\0h\0i");
    /// # Ok::<(), sandkeep_engine::Error>(())
    /// ```
    pub fn encode(self, text: &str, misfit: Misfit) -> Result<Bytes> {
        encode(text, self, misfit)
    }

    /// Whether every byte is a letter of its own.
    pub(crate) fn is_single_byte(self) -> bool {
        self.0.is_single_byte()
    }

    /// Whether it is one of both UTF-16.
    pub(crate) fn is_utf_16(self) -> bool {
        self == Self::UTF_16LE || self == Self::UTF_16BE
    }

    /// Whether what a byte means hangs on what came long before it, so that no part of a text can be
    /// read alone.
    ///
    /// ```
    /// # use sandkeep_engine::Encoding;
    /// assert!(Encoding::named("iso-2022-jp")?.has_states());
    /// assert!(!Encoding::named("shift_jis")?.has_states());
    /// # Ok::<(), sandkeep_engine::Error>(())
    /// ```
    pub fn has_states(self) -> bool {
        !self.0.is_ascii_compatible() && !self.is_utf_16()
    }

    /// Reads text piece by piece.
    pub(crate) fn decoder(self) -> encoding_rs::Decoder {
        self.0.new_decoder_without_bom_handling()
    }
}

impl Default for Encoding {
    fn default() -> Self {
        Self::UTF_8
    }
}

/// The text that bytes stand for. A byte order mark of that encoding is not part of it.
pub(crate) fn decode(bytes: &[u8], encoding: Encoding, misfit: Misfit) -> Result<String> {
    if misfit == Misfit::Replace {
        return Ok(encoding.0.decode_with_bom_removal(bytes).0.into_owned());
    }
    decode_with(encoding.0.new_decoder_with_bom_removal(), bytes, encoding)
}

/// The text that bytes stand for, all of them.
fn decode_with(
    mut decoder: encoding_rs::Decoder,
    bytes: &[u8],
    encoding: Encoding,
) -> Result<String> {
    let (mut text, mut read) = (String::with_capacity(bytes.len()), 0);
    loop {
        let rest = bytes.get(read..).unwrap_or_default();
        let (outcome, more) = decoder.decode_to_string_without_replacement(rest, &mut text, true);
        read += more;
        match outcome {
            DecoderResult::InputEmpty => return Ok(text),
            DecoderResult::OutputFull => text.reserve(rest.len() + 16),
            // So many bytes are wrong, and so many behind them were looked at already.
            DecoderResult::Malformed(wrong, behind) => {
                let offset = read.saturating_sub(usize::from(wrong) + usize::from(behind));
                let name = encoding.name();
                let message = format!("the bytes at offset {offset} are no text in {name}");
                return Err(Error::new(ErrorKind::InvalidArgument, message));
            }
        }
    }
}

/// The bytes that stand for a text, without a byte order mark.
pub(crate) fn encode(text: &str, encoding: Encoding, misfit: Misfit) -> Result<Bytes> {
    if encoding == Encoding::UTF_8 {
        return Ok(Bytes::copy_from_slice(text.as_bytes()));
    }
    // The web never writes UTF-16, so encoding_rs does not either.
    if encoding == Encoding::UTF_16LE {
        return Ok(text.encode_utf16().flat_map(u16::to_le_bytes).collect());
    }
    if encoding == Encoding::UTF_16BE {
        return Ok(text.encode_utf16().flat_map(u16::to_be_bytes).collect());
    }
    encode_legacy(text, encoding, misfit)
}

fn encode_legacy(text: &str, encoding: Encoding, misfit: Misfit) -> Result<Bytes> {
    let mut encoder = encoding.0.new_encoder();
    let (mut bytes, mut read) = (Vec::with_capacity(text.len() + 16), 0);
    loop {
        let rest = text.get(read..).unwrap_or_default();
        let (outcome, more) =
            encoder.encode_from_utf8_to_vec_without_replacement(rest, &mut bytes, true);
        read += more;
        match outcome {
            EncoderResult::InputEmpty => return Ok(bytes.into()),
            EncoderResult::OutputFull => bytes.reserve(rest.len() + 16),
            EncoderResult::Unmappable(_) if misfit == Misfit::Replace => {
                bytes.reserve(16);
                // Through the encoder, which may have to leave another state first.
                let _ = encoder.encode_from_utf8_to_vec_without_replacement("?", &mut bytes, false);
            }
            EncoderResult::Unmappable(letter) => {
                let offset = read.saturating_sub(letter.len_utf8());
                let (letter, name) = (letter.escape_debug(), encoding.name());
                let message =
                    format!("the letter `{letter}` at offset {offset} cannot be written in {name}");
                return Err(Error::new(ErrorKind::InvalidArgument, message));
            }
        }
    }
}

/// The lines of a text, without their ends: `\n` or `\r\n`. An end at the end begins no new line.
pub(crate) fn lines(text: &str) -> Vec<String> {
    text.lines().map(str::to_owned).collect()
}

/// The text that has these lines, each with a `\n` at its end, so that reading gives them back.
pub(crate) fn of_lines<L: AsRef<str>>(lines: impl IntoIterator<Item = L>) -> Result<String> {
    let mut text = String::new();
    for (number, line) in lines.into_iter().enumerate() {
        let line = line.as_ref();
        if line.contains('\n') || line.ends_with('\r') {
            let message = format!("line {} holds the end of a line", number + 1);
            return Err(Error::new(ErrorKind::InvalidArgument, message));
        }
        text.push_str(line);
        text.push('\n');
    }
    Ok(text)
}
