//! Archives on their way out.

use engine::{ArchiveLimits, ByteStream, Result};
use futures::{StreamExt as _, TryStreamExt as _, stream};

/// What both the request and the operator allow.
pub(crate) fn lower(asked: ArchiveLimits, most: ArchiveLimits) -> ArchiveLimits {
    let lower = |asked: Option<u64>, most: Option<u64>| match (asked, most) {
        (Some(asked), Some(most)) => Some(asked.min(most)),
        (asked, most) => asked.or(most),
    };
    ArchiveLimits {
        bytes: lower(asked.bytes, most.bytes),
        entries: lower(asked.entries, most.entries),
        depth: lower(asked.depth, most.depth),
    }
}

/// An archive whose first bytes are there, so that what fails at once can still be told.
pub(crate) async fn begun(mut archive: ByteStream) -> Result<ByteStream> {
    let first = archive.try_next().await?;
    Ok(stream::iter(first).map(Ok).chain(archive).boxed())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lower_of_two_limits_counts() {
        let asked = ArchiveLimits { bytes: Some(10), entries: Some(10), depth: None };
        let most = ArchiveLimits { bytes: Some(5), entries: Some(20), depth: Some(3) };
        let expected = ArchiveLimits { bytes: Some(5), entries: Some(10), depth: Some(3) };
        assert_eq!(lower(asked, most), expected);
    }
}
