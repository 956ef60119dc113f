//! A connection that gives up on a peer which neither speaks nor listens.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};

use futures::task::AtomicWaker;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::Notify;

use crate::deadline::Deadline;
use crate::options::Timeouts;

/// A stranger may pause between two requests for this part of its time.
const STRANGER_PAUSE: u32 = 3;

/// What the requests of a connection tell its stream.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    /// A request is being answered, so that silence of the client means nothing.
    answering: AtomicBool,
    /// The headers of a request were complete, so that their deadline is over.
    arrived: AtomicBool,
    /// A body was not read to its end, so that the client may still be sending.
    unread: AtomicBool,
    /// A request was let in, so that the client is not a stranger.
    let_in: AtomicBool,
    /// Bytes of an answer wait for the client to take them.
    writing: AtomicBool,
    /// Somebody wants to know when the client leaves.
    watched: AtomicBool,
    /// It left.
    left: Notify,
    /// The connection should end after what it is doing, and who has to know.
    ending: AtomicBool,
    driver: AtomicWaker,
}

impl Pace {
    pub(crate) fn begin_answer(&self) {
        self.answering.store(true, Ordering::Relaxed);
        self.arrived.store(true, Ordering::Relaxed);
    }

    pub(crate) fn end_answer(&self) {
        self.answering.store(false, Ordering::Relaxed);
        self.watched.store(false, Ordering::Relaxed);
    }

    /// Waits until the client closes its side while it is answered. Elsewhere that means nothing: a
    /// client may do so and wait. Whoever asks this takes it for leaving.
    pub(crate) async fn departure(&self) {
        self.watched.store(true, Ordering::Relaxed);
        self.left.notified().await;
    }

    /// Asks the connection to end after what it is doing.
    pub(crate) fn end(&self) {
        self.ending.store(true, Ordering::SeqCst);
        self.driver.wake();
    }

    /// Whether it was asked to; the one who drives it is woken when it is.
    pub(crate) fn is_ending(&self, driver: &Waker) -> bool {
        self.driver.register(driver);
        self.ending.load(Ordering::SeqCst)
    }

    /// The same, of a driver who is woken already.
    pub(crate) fn is_ending_by_now(&self) -> bool {
        self.ending.load(Ordering::SeqCst)
    }

    pub(crate) fn set_unread(&self) {
        self.unread.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_unread(&self) -> bool {
        self.unread.load(Ordering::Relaxed)
    }

    pub(crate) fn let_in(&self) {
        self.let_in.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_let_in(&self) -> bool {
        self.let_in.load(Ordering::Relaxed)
    }

    /// Whether a client would miss something if the connection ended here. What hyper has buffered
    /// outlives the answer's body.
    pub(crate) fn is_busy(&self) -> bool {
        self.answering.load(Ordering::Relaxed) || self.writing.load(Ordering::Relaxed)
    }
}

/// A TCP stream with a deadline for the headers of a request, for the pause before the next, for a
/// reader that takes nothing, and for a stranger.
///
/// The pace of a request's body is the body's to watch (`intake.rs`): only it knows that somebody waits.
#[derive(Debug)]
pub(crate) struct PacedStream {
    stream: TcpStream,
    pace: Arc<Pace>,
    timeouts: Timeouts,
    /// Whether the headers of a request are due: some of them came, or it is the first.
    in_headers: bool,
    headers: Deadline,
    idle: Deadline,
    writes: Deadline,
    /// For a client that was not let in yet: all of its time, and one pause.
    stranger: Deadline,
    pause: Deadline,
}

impl PacedStream {
    /// The first request is due from now on.
    pub(crate) fn new(stream: TcpStream, pace: Arc<Pace>, timeouts: Timeouts) -> Self {
        let [mut headers, idle, writes, mut stranger, pause] = <[Deadline; 5]>::default();
        headers.start(timeouts.header);
        stranger.start(timeouts.stranger);
        Self { stream, pace, timeouts, in_headers: true, headers, idle, writes, stranger, pause }
    }

    pub(crate) fn into_inner(self) -> TcpStream {
        self.stream
    }

    fn paced_write(
        &mut self,
        cx: &mut Context<'_>,
        written: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        self.pace.writing.store(written.is_pending(), Ordering::Relaxed);
        if written.is_ready() {
            self.writes.stop();
            return written;
        }
        let passed = self.writes.poll_within(self.timeouts.progress, cx).is_ready();
        give_up(passed || self.poll_stranger(cx).is_ready())
    }

    /// Looks whether the client is still there, if somebody wants to know. hyper does not read while
    /// it waits for an answer, but it flushes whenever it is woken, and this wakes it.
    fn look_for_departure(&self, cx: &mut Context<'_>) {
        if !self.pace.watched.load(Ordering::Relaxed) {
            return;
        }
        let mut scrap = [0; 1];
        if let Poll::Ready(Ok(0) | Err(_)) =
            self.stream.poll_peek(cx, &mut ReadBuf::new(&mut scrap))
        {
            self.pace.watched.store(false, Ordering::Relaxed);
            self.pace.left.notify_one();
        }
    }

    /// Ready when a client that was not let in has been here for too long.
    fn poll_stranger(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.pace.is_let_in() {
            return Poll::Pending;
        }
        self.stranger.poll_passed(cx)
    }

    /// Ready when a client pauses for too long before, between or within the headers of requests.
    fn poll_silence(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Timeouts { header, idle, stranger, .. } = self.timeouts;
        if self.in_headers {
            return self.headers.poll_within(header, cx);
        }
        if self.pace.is_let_in() {
            return self.idle.poll_within(idle, cx);
        }
        self.pause.poll_within(idle.min(stranger / STRANGER_PAUSE), cx)
    }
}

fn give_up<T>(passed: bool) -> Poll<io::Result<T>> {
    if passed { Poll::Ready(Err(io::ErrorKind::TimedOut.into())) } else { Poll::Pending }
}

impl AsyncRead for PacedStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(cx, buf);
        if self.pace.arrived.swap(false, Ordering::Relaxed) {
            self.in_headers = false;
            self.headers.stop();
        }
        if self.pace.answering.load(Ordering::Relaxed) {
            return read;
        }
        // Asked also when there is something to read: not to pause at all gains nothing.
        if self.poll_stranger(cx).is_ready() {
            return give_up(true);
        }
        if buf.filled().len() > before {
            // Their time runs from when there is nothing more to read, which is nearly never.
            self.in_headers = true;
            self.idle.stop();
            self.pause.stop();
        }
        if read.is_ready() {
            return read;
        }
        let silent = self.poll_silence(cx).is_ready();
        give_up(silent)
    }
}

impl AsyncWrite for PacedStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, buf);
        self.paced_write(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, bufs);
        self.paced_write(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.look_for_departure(cx);
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    use super::*;

    #[tokio::test]
    async fn a_connection_is_busy_while_bytes_wait_for_the_client() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (client, accepted) = tokio::join!(TcpStream::connect(address), listener.accept());
        let (mut client, pace) = (client.unwrap(), Arc::<Pace>::default());
        let mut stream =
            PacedStream::new(accepted.unwrap().0, Arc::clone(&pace), Timeouts::default());
        let piece = vec![0; 1024 * 1024];
        while futures::poll!(Box::pin(stream.write(&piece))).is_ready() {
            assert!(!pace.is_busy());
        }
        assert!(pace.is_busy());
        let mut taken = vec![0; 16 * 1024 * 1024];
        let reading = async { while client.read(&mut taken).await.unwrap() > 0 {} };
        tokio::select! {
            () = reading => {}
            written = stream.write(&piece) => assert!(written.unwrap() > 0),
        }
        assert!(!pace.is_busy());
    }
}
