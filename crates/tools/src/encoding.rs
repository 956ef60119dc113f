//! Bytes as text, or as base64.

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use bytes::Bytes;
use engine::{Encoding, Error, ErrorKind, Misfit, Result};

/// How bytes stand in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextEncoding {
    /// As text in an encoding.
    Text(Encoding),
    /// As base64.
    Base64,
    /// As text if they are text, and as base64 if not; text is written as UTF-8.
    Auto,
}

const LENIENT: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
const STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, LENIENT);
const FOR_URLS: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, LENIENT);

impl TextEncoding {
    /// What a label names: `base64`, `auto`, or an encoding of the WHATWG's standard.
    pub fn named(label: &str) -> Result<Self> {
        match label.trim() {
            label if label.eq_ignore_ascii_case("auto") => Ok(Self::Auto),
            label if label.eq_ignore_ascii_case("base64") => Ok(Self::Base64),
            label => Encoding::named(label).map(Self::Text),
        }
    }

    /// What it is called, in lower case.
    pub fn name(self) -> String {
        match self {
            Self::Auto => "auto".to_owned(),
            Self::Base64 => "base64".to_owned(),
            Self::Text(encoding) => encoding.name().to_ascii_lowercase(),
        }
    }

    /// The bytes that a text in JSON stands for.
    pub(crate) fn bytes_of(self, content: String) -> Result<Bytes> {
        match self {
            Self::Text(encoding) if encoding != Encoding::UTF_8 => {
                encoding.encode(&content, Misfit::Refuse)
            }
            Self::Text(_) | Self::Auto => Ok(content.into()),
            Self::Base64 => from_base64(&content),
        }
    }
}

impl Default for TextEncoding {
    fn default() -> Self {
        Self::Text(Encoding::UTF_8)
    }
}

/// Base64 as it is written.
pub(crate) fn to_base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// The bytes of base64 in either alphabet, padded or not, on one line or on several. Anything else
/// is refused: bytes that were guessed are worse than none.
fn from_base64(text: &str) -> Result<Bytes> {
    let is_space = |byte: &u8| matches!(byte, b'\n' | b'\r' | b' ' | b'\t');
    let packed: Vec<u8> = text.bytes().filter(|byte| !is_space(byte)).collect();
    let for_urls = packed.iter().any(|byte| matches!(byte, b'-' | b'_'));
    let decoded = if for_urls { FOR_URLS.decode(packed) } else { STANDARD.decode(packed) };
    decoded.map(Bytes::from).map_err(|err| {
        let message = format!("`content` is not base64: {}", err.to_string().to_lowercase());
        Error::new(ErrorKind::InvalidArgument, message)
    })
}
