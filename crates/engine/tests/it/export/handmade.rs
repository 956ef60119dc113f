//! Streams made by hand, from docs/decisions/0005 alone.

use sandkeep_engine::{ByteStream, UnixTime};

/// A stream that says what it likes; its hashes are always right.
#[derive(Clone)]
pub(crate) struct Handmade {
    pub(crate) clock: u64,
    pub(crate) since: Option<[u8; 32]>,
    /// Names in the root, bytes, files, directories, links, depth, the longest file.
    pub(crate) sums: [u64; 7],
    pub(crate) blocks: Vec<Block>,
}

/// Records and content, and how they are sent.
#[derive(Clone, Default)]
pub(crate) struct Block {
    pub(crate) records: Vec<u8>,
    pub(crate) content: Vec<u8>,
    pub(crate) zstd: bool,
}

impl Handmade {
    /// A whole tree in one block that is sent as it is.
    pub(crate) fn whole(sums: [u64; 7], block: Block) -> Self {
        Self { clock: 7, since: None, sums, blocks: vec![block] }
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut out = b"\x89SKEX\r\n\x1a\x01\x00".to_vec();
        out.extend([u8::from(self.since.is_some()), 0, 0, 0, 0, 0]);
        out.extend(self.clock.to_le_bytes());
        out.extend(self.since.unwrap_or_default());
        out.extend(self.sums.iter().flat_map(|sum| sum.to_le_bytes()));
        out.extend(blake3::hash(&out).as_bytes());
        let mut heads = out.clone();
        for block in &self.blocks {
            let (head, payload) = block.parts();
            heads.extend(&head);
            out.extend(head);
            out.extend(payload);
        }
        let mut trailer = vec![2, 0, 0, 0, 0, 0, 0, 0];
        trailer.extend((self.blocks.len() as u64).to_le_bytes());
        heads.extend(&trailer);
        trailer.extend(blake3::hash(&heads).as_bytes());
        out.extend(trailer);
        out
    }
}

impl Block {
    fn parts(&self) -> (Vec<u8>, Vec<u8>) {
        let plain = [&self.records[..], &self.content].concat();
        let payload = if self.zstd { zstd::bulk::compress(&plain, 1).unwrap() } else { plain };
        let lens = [self.records.len(), self.content.len(), payload.len()];
        (head(u8::from(self.zstd), lens, &payload), payload)
    }

    pub(crate) fn with(mut self, record: impl AsRef<[u8]>) -> Self {
        self.records.extend(record.as_ref());
        self
    }

    pub(crate) fn with_content(mut self, content: &[u8]) -> Self {
        self.content.extend(content);
        self
    }
}

/// The head of a block: codec, lengths of records, content and payload, and the hash of the last.
pub(crate) fn head(codec: u8, lens: [usize; 3], payload: &[u8]) -> Vec<u8> {
    let mut head = vec![1, codec, 0, 0];
    head.extend(lens.iter().flat_map(|len| (*len as u32).to_le_bytes()));
    head.extend(blake3::hash(payload).as_bytes());
    head
}

pub(crate) const LEAVE: [u8; 1] = [4];

/// A root that was made and changed in 1970.
pub(crate) fn root() -> Vec<u8> {
    [vec![1], number(0o755), time(EPOCH), time(EPOCH)].concat()
}

/// An entry of a kind, with times of 1970, and what follows.
pub(crate) fn entry(kind: u8, name: &str, rest: impl AsRef<[u8]>) -> Vec<u8> {
    entry_of(kind, name, 0o644, [EPOCH, EPOCH], rest)
}

pub(crate) fn entry_of(
    kind: u8,
    name: &str,
    mode: u64,
    times: [UnixTime; 2],
    rest: impl AsRef<[u8]>,
) -> Vec<u8> {
    let [created, modified] = times.map(time);
    [vec![kind], text(name), number(mode), created, modified, rest.as_ref().to_vec()].concat()
}

pub(crate) fn directory(name: &str) -> Vec<u8> {
    entry(2, name, [])
}

pub(crate) fn small_file(name: &str, len: u64) -> Vec<u8> {
    entry(5, name, number(len))
}

pub(crate) fn file(name: &str, len: u64) -> Vec<u8> {
    entry(6, name, number(len))
}

pub(crate) fn chunk(len: u64) -> Vec<u8> {
    [vec![16], number(len)].concat()
}

pub(crate) fn repeat(distance: u64) -> Vec<u8> {
    [vec![17], number(distance)].concat()
}

pub(crate) fn hole(len: u64) -> Vec<u8> {
    [vec![18], number(len)].concat()
}

pub(crate) fn same(offset: u64, len: u64) -> Vec<u8> {
    [vec![19], number(offset), number(len)].concat()
}

pub(crate) fn removed(name: &str) -> Vec<u8> {
    [vec![10], text(name)].concat()
}

pub(crate) const EPOCH: UnixTime = UnixTime { seconds: 0, nanoseconds: 0 };

pub(crate) fn number(mut number: u64) -> Vec<u8> {
    let mut out = Vec::new();
    while number > 127 {
        out.push((number % 128) as u8 + 128);
        number /= 128;
    }
    out.push(number as u8);
    out
}

pub(crate) fn text(text: &str) -> Vec<u8> {
    [number(text.len() as u64), text.as_bytes().to_vec()].concat()
}

fn time(time: UnixTime) -> Vec<u8> {
    let UnixTime { seconds, nanoseconds } = time;
    let zigzag = if seconds < 0 { -2 * (seconds + 1) + 1 } else { 2 * seconds };
    [number(zigzag as u64), number(u64::from(nanoseconds))].concat()
}

/// The digest of a state: clock, the root's mode and times, and its sums.
pub(crate) fn digest(clock: u64, mode: u16, times: [UnixTime; 2], sums: [u64; 7]) -> [u8; 32] {
    let mut named = clock.to_le_bytes().to_vec();
    named.extend(mode.to_le_bytes());
    for time in times {
        named.extend(time.seconds.to_le_bytes());
        named.extend(time.nanoseconds.to_le_bytes());
    }
    named.extend(sums.iter().flat_map(|sum| sum.to_le_bytes()));
    blake3::derive_key("sandkeep 1 exported state", &named)
}

/// Bytes as the body of a request, in pieces of an odd size.
pub(crate) fn body(bytes: &[u8]) -> ByteStream {
    use futures::StreamExt as _;
    let pieces: Vec<_> = bytes.chunks(1001).map(|piece| Ok(piece.to_vec().into())).collect();
    futures::stream::iter(pieces).boxed()
}
