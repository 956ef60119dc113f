//! A listing of `/v1/fs` as it arrives.

use engine::{ByteStream, Entry, EntryStream, Result, SandboxPath};

use crate::arriving;
use crate::elements::Elements;
use crate::transport::not_understood;
use crate::wire::Child;

/// The entries of a JSON array that lists `dir`.
pub(crate) fn entries(body: ByteStream, dir: &SandboxPath) -> EntryStream {
    let dir = dir.clone();
    arriving::values(body, Elements::default(), move |element| read(element, &dir))
}

fn read(element: &[u8], dir: &SandboxPath) -> Result<Entry> {
    let child: Child = serde_json::from_slice(element).map_err(not_understood)?;
    child.entry(dir)
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use bytes::Bytes;
    use engine::{EntryKind, Error, ErrorKind};
    use futures::{StreamExt as _, TryStreamExt as _, stream};

    use super::*;
    use crate::arriving::Arriving;

    fn listed(pieces: Vec<Result<Bytes>>) -> EntryStream {
        entries(stream::iter(pieces).boxed(), &SandboxPath::root())
    }

    #[tokio::test]
    async fn a_listing_is_read_entry_by_entry() {
        let text = br#"[{"name":"a\n","path":"/a\n","entryType":"directory","size":0},
            {"name":"b","path":"/b","entryType":"file","size":7,"modified":"bad"}]"#;
        let pieces = text.chunks(10).map(|piece| Ok(Bytes::copy_from_slice(piece))).collect();
        let found: Vec<Entry> = listed(pieces).try_collect().await.unwrap();
        assert_eq!((found[0].path.as_str(), found[0].kind), ("/a\n", EntryKind::Directory));
        assert_eq!((found[1].path.as_str(), found[1].size), ("/b", 7));
    }

    #[tokio::test]
    async fn a_listing_that_ends_early_is_a_failure() {
        let text = r#"[{"name":"a","path":"/a","entryType":"file","size":0},"#;
        let outcome = listed(vec![Ok(text.into())]).try_collect::<Vec<_>>().await;
        assert_eq!(outcome.unwrap_err().kind(), ErrorKind::Io);
    }

    #[tokio::test]
    async fn a_name_that_climbs_is_refused() {
        let text = r#"[{"name":"..","path":"/","entryType":"directory","size":0}]"#;
        assert!(listed(vec![Ok(text.into())]).try_collect::<Vec<_>>().await.is_err());
    }

    #[tokio::test]
    async fn a_million_entries_pass_without_being_held() {
        let piece =
            Bytes::from(r#"{"name":"n","path":"/n","entryType":"file","size":1},"#.repeat(100));
        let last = Bytes::from_static(br#"{"name":"n","path":"/n","entryType":"file","size":1}]"#);
        let middle = std::iter::repeat_with(move || Ok::<_, Error>(piece.clone())).take(10_000);
        let pieces = std::iter::once(Ok(Bytes::from_static(b"["))).chain(middle).chain([Ok(last)]);
        let mut listing = Arriving {
            body: stream::iter(pieces).boxed(),
            split: Elements::default(),
            read: |element: &[u8]| read(element, &SandboxPath::root()),
            found: VecDeque::new(),
        };
        let (mut count, mut held) = (0_u32, 0);
        while listing.next().await.unwrap().is_some() {
            count += 1;
            held = held.max(listing.found.len());
        }
        assert_eq!(count, 1_000_001);
        assert!(held <= 101, "{held} entries were held");
    }
}
