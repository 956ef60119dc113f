//! One client, from its first byte to its last.

use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures::future::BoxFuture;
use http::HeaderValue;
use http::header::CONNECTION;
use http_body::{Body as HttpBody, Frame, SizeHint};
use hyper::body::Incoming;
use hyper::server::conn::http1::{Builder, Connection};
use hyper::service::Service as HyperService;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;
use tower::Service as _;

use crate::options::Timeouts;
use crate::pace::{Pace, PacedStream};
use crate::remains;

/// The most that a stalled reader or a long header can make the server hold.
const MOST_BUFFERED: usize = 64 * 1024;
/// How long a client that is still sending may take to see the answer.
const LINGER: Duration = Duration::from_secs(5);

/// Answers the requests of one client until it leaves, falls silent, or its pace asks for the end; then
/// `stop` is asked for as well.
pub(crate) async fn serve(
    stream: TcpStream,
    router: Router,
    timeouts: Timeouts,
    pace: Arc<Pace>,
    stop: CancellationToken,
) {
    let io = TokioIo::new(PacedStream::new(stream, Arc::clone(&pace), timeouts));
    let routes = Routes { router, pace: Arc::clone(&pace) };
    let mut connection = builder().serve_connection(io, routes);
    if let Err(error) = drive(&mut connection, &pace).await {
        tracing::debug!(%error, "connection broke off");
        return;
    }
    if pace.is_unread() {
        let stream = connection.into_parts().io.into_inner().into_inner();
        // A server that stops waits for its answers, not for what it will never read.
        let _lingered: Option<()> = stop.run_until_cancelled(linger(stream)).await;
    }
}

/// Tells a client that the server has ended its side, and takes what it still sends for a while.
///
/// Closing a socket with unread bytes resets it, and a reset destroys an answer that the client
/// has not yet read.
pub(crate) async fn linger(mut stream: TcpStream) {
    let discard = async {
        stream.shutdown().await?;
        let mut scrap = [0; 16 * 1024];
        while stream.read(&mut scrap).await? > 0 {}
        std::io::Result::Ok(())
    };
    if let Ok(Err(error)) = tokio::time::timeout(LINGER, Box::pin(discard)).await {
        tracing::debug!(%error, "client left while it was told to");
    }
}

fn builder() -> Builder {
    let mut builder = Builder::new();
    // Of headers hyper takes a hundred, for which it has room on its stack as long as it is not told a number.
    builder
        // The stream's, which is told of them without a timer for every request.
        .header_read_timeout(None)
        .max_header_size(MOST_BUFFERED)
        .max_buf_size(MOST_BUFFERED)
        // A client may close its side after the request and wait for the answer.
        .half_close(true);
    builder
}

/// Answers until the client leaves, or until the connection was asked to end and has nothing left to do.
async fn drive(
    connection: &mut Connection<TokioIo<PacedStream>, Routes>,
    pace: &Pace,
) -> hyper::Result<()> {
    let mut driver = None;
    let mut is_ending = false;
    poll_fn(|cx| {
        if !is_ending {
            is_ending = match &driver {
                Some(known) if cx.waker().will_wake(known) => pace.is_ending_by_now(),
                _ => pace.is_ending(driver.insert(cx.waker().clone())),
            };
            if is_ending {
                // hyper would wait for the rest of headers that began.
                if !pace.is_busy() {
                    return Poll::Ready(Ok(()));
                }
                Pin::new(&mut *connection).graceful_shutdown();
            }
        }
        connection.poll_without_shutdown(cx)
    })
    .await
}

/// The routes as hyper calls them, with the stream told what goes on.
struct Routes {
    router: Router,
    pace: Arc<Pace>,
}

impl HyperService<http::Request<Incoming>> for Routes {
    type Response = http::Response<Answer>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Infallible>>;

    fn call(&self, request: http::Request<Incoming>) -> Self::Future {
        self.pace.begin_answer();
        let answering = Answering(Arc::clone(&self.pace));
        let mut router = self.router.clone();
        let (mut request, remains) = remains::watch(request);
        request.extensions_mut().insert(Arc::clone(&self.pace));
        Box::pin(async move {
            let mut response: Response = router.call(request).await?;
            if !remains.take_in().await {
                answering.0.set_unread();
                response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            }
            Ok(response.map(|body| Answer { body, _answering: answering }))
        })
    }
}

/// Lasts as long as a request is being answered.
struct Answering(Arc<Pace>);

impl Drop for Answering {
    fn drop(&mut self) {
        self.0.end_answer();
    }
}

/// An answer's body; with its end the connection waits for the next request.
struct Answer {
    body: Body,
    _answering: Answering,
}

impl HttpBody for Answer {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
