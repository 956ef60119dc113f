//! HTTP/1.1 as plainly as it can be spoken, so that little of what is measured is ours.

use std::net::SocketAddr;

use anyhow::{Context as _, Result, bail, ensure};
use memchr::memchr;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// How much is read at once.
const ROOM: usize = 256 << 10;

/// A connection that is kept open.
pub(super) struct Connection {
    stream: TcpStream,
    buffer: Box<[u8]>,
    /// What was read and not yet looked at.
    begin: usize,
    end: usize,
}

/// Whether an answer has a body; that to HEAD has none, whatever its length says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bodied {
    Yes,
    No,
}

/// What came back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) status: u16,
    /// How many bytes the body had, or would have had.
    pub(super) length: u64,
}

/// How the end of a body is known.
#[derive(Clone, Copy)]
enum Extent {
    Length(u64),
    Chunks,
}

impl Connection {
    pub(super) async fn open(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: vec![0; ROOM].into_boxed_slice(), begin: 0, end: 0 })
    }

    pub(super) async fn send(&mut self, bytes: &[u8]) -> Result<()> {
        Ok(self.stream.write_all(bytes).await?)
    }

    /// Reads one answer to its end, and gives its body to `take` in pieces.
    pub(super) async fn receive(
        &mut self,
        bodied: Bodied,
        mut take: impl FnMut(&[u8]),
    ) -> Result<Answer> {
        let (status, extent) = self.head().await?;
        let is_empty = bodied == Bodied::No || matches!(status, 204 | 304);
        let length = match extent {
            Extent::Length(length) if is_empty => length,
            Extent::Chunks if is_empty => 0,
            Extent::Length(length) => {
                self.pass(length, &mut take).await?;
                length
            }
            Extent::Chunks => self.chunks(&mut take).await?,
        };
        Ok(Answer { status, length })
    }

    /// The first line and the fields. Of a stream without an end only these can be read.
    async fn head(&mut self) -> Result<(u16, Extent)> {
        let status = {
            let line = self.line().await?;
            let digits = line.strip_prefix(b"HTTP/1.1 ").and_then(|rest| rest.get(..3));
            let digits = digits.context("an answer that is not HTTP/1.1")?;
            std::str::from_utf8(digits)?.parse()?
        };
        let mut extent = None;
        loop {
            let line = self.line().await?;
            if line.is_empty() {
                return Ok((status, extent.unwrap_or(Extent::Length(0))));
            }
            if let Some(value) = field(line, b"content-length:") {
                extent = Some(Extent::Length(value.parse()?));
            } else if field(line, b"transfer-encoding:") == Some("chunked") {
                extent = Some(Extent::Chunks);
            }
        }
    }

    /// The status of an answer whose body has no end, which [`Connection::more`] reads.
    pub(super) async fn begin_stream(&mut self) -> Result<u16> {
        Ok(self.head().await?.0)
    }

    /// Whatever comes next.
    pub(super) async fn more(&mut self) -> Result<&[u8]> {
        if self.begin == self.end {
            self.fill().await?;
        }
        let held = self.buffer.get(self.begin..self.end).unwrap_or_default();
        self.begin = self.end;
        Ok(held)
    }

    async fn chunks(&mut self, take: &mut impl FnMut(&[u8])) -> Result<u64> {
        let mut length = 0;
        loop {
            let size = u64::from_str_radix(std::str::from_utf8(self.line().await?)?.trim(), 16)?;
            if size == 0 {
                while !self.line().await?.is_empty() {}
                return Ok(length);
            }
            self.pass(size, take).await?;
            ensure!(self.line().await?.is_empty(), "a chunk is longer than it says");
            length += size;
        }
    }

    /// Lets so many bytes go by.
    async fn pass(&mut self, mut length: u64, take: &mut impl FnMut(&[u8])) -> Result<()> {
        while length > 0 {
            if self.begin == self.end {
                self.fill().await?;
            }
            let held = self.buffer.get(self.begin..self.end).unwrap_or_default();
            let most = usize::try_from(length).unwrap_or(usize::MAX).min(held.len());
            take(held.get(..most).unwrap_or_default());
            self.begin += most;
            length -= most as u64;
        }
        Ok(())
    }

    /// The next line, without its end.
    async fn line(&mut self) -> Result<&[u8]> {
        let mut seen = 0;
        let at = loop {
            let held = self.buffer.get(self.begin..self.end).unwrap_or_default();
            match memchr(b'\n', held.get(seen..).unwrap_or_default()) {
                Some(at) => break self.begin + seen + at,
                None => seen = held.len(),
            }
            self.fill().await?;
        };
        let line = self.buffer.get(self.begin..at).unwrap_or_default();
        self.begin = at + 1;
        Ok(line.strip_suffix(b"\r").unwrap_or(line))
    }

    /// Reads more behind what is held.
    async fn fill(&mut self) -> Result<()> {
        if self.begin > 0 {
            self.buffer.copy_within(self.begin..self.end, 0);
            (self.begin, self.end) = (0, self.end - self.begin);
        }
        let room = self.buffer.get_mut(self.end..).unwrap_or_default();
        ensure!(!room.is_empty(), "a line that does not end");
        match self.stream.read(room).await? {
            0 => bail!("the server closed the connection"),
            count => self.end += count,
        }
        Ok(())
    }
}

/// The value of a field, if the line is of that name.
fn field<'a>(line: &'a [u8], name: &[u8]) -> Option<&'a str> {
    let (start, value) = line.split_at_checked(name.len())?;
    if !start.eq_ignore_ascii_case(name) {
        return None;
    }
    std::str::from_utf8(value).ok().map(str::trim)
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    #[tokio::test]
    async fn answers_of_either_extent_are_read_to_their_end() {
        let said = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello\
            HTTP/1.1 206 Partial\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n\
            HTTP/1.1 204 Nothing\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n";
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let speaking = async {
            let (mut stream, _) = listener.accept().await.unwrap();
            stream.write_all(said).await.unwrap();
        };
        let listening = async {
            let mut connection = Connection::open(address).await.unwrap();
            let mut heard = Vec::new();
            let mut answers = Vec::new();
            for bodied in [Bodied::Yes, Bodied::Yes, Bodied::Yes, Bodied::No] {
                let answer = connection.receive(bodied, |piece| heard.extend_from_slice(piece));
                answers.push(answer.await.unwrap());
            }
            (heard, answers)
        };
        let ((), (heard, answers)) = tokio::join!(speaking, listening);
        assert_eq!(heard, b"helloabcdefg");
        let answer = |status, length| Answer { status, length };
        assert_eq!(answers, [answer(200, 5), answer(206, 7), answer(204, 0), answer(200, 9)]);
    }
}
