//! How long tests take: as long as everybody can wait, or as long as it takes.

/// How many times more is tried when `SANDKEEP_LONG` is set.
#[expect(clippy::disallowed_methods, reason = "whoever runs tests says so in the environment")]
pub(crate) fn factor() -> u32 {
    if std::env::var_os("SANDKEEP_LONG").is_some() { 10 } else { 1 }
}
