//! A connection that gives up on a peer which neither speaks nor listens.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep};

use crate::options::Timeouts;

/// What the requests of a connection tell its stream.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    /// A request is being answered, so that silence of the client means nothing.
    answering: AtomicBool,
    /// The headers of a request were complete, so that their deadline is over.
    arrived: AtomicBool,
    /// A body was not read to its end, so that the client may still be sending.
    unread: AtomicBool,
}

impl Pace {
    pub(crate) fn begin_answer(&self) {
        self.answering.store(true, Ordering::Relaxed);
        self.arrived.store(true, Ordering::Relaxed);
    }

    pub(crate) fn end_answer(&self) {
        self.answering.store(false, Ordering::Relaxed);
    }

    pub(crate) fn set_unread(&self) {
        self.unread.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_unread(&self) -> bool {
        self.unread.load(Ordering::Relaxed)
    }
}

/// A TCP stream with a deadline for the headers of a request and for a reader that takes nothing.
///
/// The pause between two requests is hyper's to watch, the pace of a request's body is the
/// body's (`intake.rs`): only they know that somebody waits.
#[derive(Debug)]
pub(crate) struct PacedStream {
    stream: TcpStream,
    pace: Arc<Pace>,
    timeouts: Timeouts,
    headers: Deadline,
    writes: Deadline,
}

impl PacedStream {
    /// The first request is due from now on.
    pub(crate) fn new(stream: TcpStream, pace: Arc<Pace>, timeouts: Timeouts) -> Self {
        let mut headers = Deadline::default();
        headers.start(timeouts.header);
        Self { stream, pace, timeouts, headers, writes: Deadline::default() }
    }

    pub(crate) fn into_inner(self) -> TcpStream {
        self.stream
    }

    fn paced_write(
        &mut self,
        cx: &mut Context<'_>,
        written: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        if written.is_ready() {
            self.writes.stop();
            return written;
        }
        self.writes.start(self.timeouts.progress);
        self.writes.poll_passed(cx).map(|()| Err(io::ErrorKind::TimedOut.into()))
    }
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
            self.headers.stop();
        }
        if self.pace.answering.load(Ordering::Relaxed) {
            return read;
        }
        if buf.filled().len() > before {
            let header = self.timeouts.header;
            self.headers.start(header);
        }
        if read.is_ready() {
            return read;
        }
        self.headers.poll_passed(cx).map(|()| Err(io::ErrorKind::TimedOut.into()))
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
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

/// A timer that runs or does not. It is kept for the next start, which then allocates nothing.
#[derive(Debug, Default)]
struct Deadline {
    sleep: Option<Pin<Box<Sleep>>>,
    running: bool,
}

impl Deadline {
    /// Starts the timer unless it runs already.
    fn start(&mut self, after: Duration) {
        if self.running {
            return;
        }
        self.running = true;
        match &mut self.sleep {
            Some(sleep) => sleep.as_mut().reset(Instant::now() + after),
            None => self.sleep = Some(Box::pin(tokio::time::sleep(after))),
        }
    }

    fn stop(&mut self) {
        self.running = false;
    }

    fn poll_passed(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        match &mut self.sleep {
            Some(sleep) if self.running => sleep.as_mut().poll(cx),
            _ => Poll::Pending,
        }
    }
}
