//! Sizes as people write them: `512`, `10MiB`, `2G`.

use std::fmt;
use std::str::FromStr;

use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::{Serialize, Serializer};

/// A number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size(pub(crate) u64);

/// Units of 1,024 and of 1,000; a bare letter means 1,024, as `dd` and `truncate` read it.
const UNITS: [(&str, u64); 17] = [
    ("", 1),
    ("b", 1),
    ("k", 1 << 10),
    ("kib", 1 << 10),
    ("kb", 1_000),
    ("m", 1 << 20),
    ("mib", 1 << 20),
    ("mb", 1_000_000),
    ("g", 1 << 30),
    ("gib", 1 << 30),
    ("gb", 1_000_000_000),
    ("t", 1 << 40),
    ("tib", 1 << 40),
    ("tb", 1_000_000_000_000),
    ("p", 1 << 50),
    ("pib", 1 << 50),
    ("pb", 1_000_000_000_000_000),
];

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let digits = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
        let (number, unit) = text.split_at(digits);
        let unit = unit.trim().to_ascii_lowercase();
        let factor = UNITS.iter().find(|(name, _)| *name == unit).map(|(_, factor)| *factor);
        let (Ok(number), Some(factor)) = (number.parse::<u64>(), factor) else {
            return Err("a size is a whole number and a unit, such as 512, 10MiB or 2G".into());
        };
        number.checked_mul(factor).map(Self).ok_or_else(|| "that is too large a size".into())
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = |factor: u64| self.0 > 0 && self.0.is_multiple_of(factor);
        let unit = [("PiB", 50), ("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)]
            .into_iter()
            .find(|(_, shift)| whole(1 << shift));
        match unit {
            Some((unit, shift)) => write!(f, "{}{unit}", self.0 >> shift),
            None => write!(f, "{}", self.0),
        }
    }
}

impl Serialize for Size {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SizeVisitor)
    }
}

struct SizeVisitor;

impl Visitor<'_> for SizeVisitor {
    type Value = Size;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a size such as 512, \"10MiB\" or \"2G\"")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Size, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_u64<E: de::Error>(self, bytes: u64) -> Result<Size, E> {
        Ok(Size(bytes))
    }

    fn visit_i64<E: de::Error>(self, bytes: i64) -> Result<Size, E> {
        u64::try_from(bytes).map(Size).map_err(|_| E::custom("a size is not negative"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(text: &str) -> Result<u64, String> {
        text.parse::<Size>().map(|size| size.0)
    }

    #[test]
    fn a_bare_number_is_bytes() {
        assert_eq!(bytes("512"), Ok(512));
    }

    #[test]
    fn binary_units_and_bare_letters_are_powers_of_1024() {
        assert_eq!(bytes("10MiB"), Ok(10 << 20));
        assert_eq!(bytes("2G"), Ok(2 << 30));
        assert_eq!(bytes("1 kib"), Ok(1024));
    }

    #[test]
    fn decimal_units_are_powers_of_1000() {
        assert_eq!(bytes("3MB"), Ok(3_000_000));
    }

    #[test]
    fn what_is_no_size_is_refused() {
        assert!(bytes("").is_err());
        assert!(bytes("ten").is_err());
        assert!(bytes("-1").is_err());
        assert!(bytes("1.5G").is_err());
        assert!(bytes("7 bananas").is_err());
    }

    #[test]
    fn a_size_beyond_64_bits_is_refused() {
        assert!(bytes("99999999P").is_err());
    }

    #[test]
    fn a_size_is_shown_so_that_it_reads_back() {
        for size in [0, 1, 1000, 1024, 10 << 20, (1 << 30) + 1] {
            assert_eq!(bytes(&Size(size).to_string()), Ok(size));
        }
    }
}
