//! The accept loop: who gets a connection, and how all of them end.

use std::future::Future;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use rustix::net::sockopt::set_tcp_user_timeout;
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::task::TaskTracker;

use crate::app::App;
use crate::connection;
use crate::places::{Place, Places};

/// How long to wait when the machine cannot give another connection.
const EXHAUSTED_PAUSE: Duration = Duration::from_millis(100);
/// How many clients may be told at once that there are too many.
const MOST_REFUSALS: usize = 32;
/// How long any client may say nothing of what it was sent, and how much longer it may than it may
/// pause.
const LEAST_PAUSE: Duration = Duration::from_secs(30);
const MARGIN: Duration = Duration::from_secs(15);
/// What a client is told when there are too many.
const REFUSAL: &str = "HTTP/1.1 503 Service Unavailable\r\n\
    content-type: application/problem+json\r\n\
    content-length: 219\r\n\
    retry-after: 1\r\n\
    connection: close\r\n\r\n\
    {\"type\":\"urn:sandbox-agent:error:stream_error\",\"title\":\"Stream Error\",\"status\":503,\
    \"detail\":\"stream error: too many connections\",\
    \"details\":{\"message\":\"too many connections\"},\"kind\":\"busy\",\
    \"hint\":\"try again in a second\"}";

/// Serves until `stop` resolves, then lets what is under way end, at most for the drain timeout.
pub async fn run(
    listener: TcpListener,
    app: Arc<App>,
    stop: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    tracing::info!(address = %listener.local_addr()?, "serving");
    let door = Door::new(Arc::clone(&app));
    let mut stop = pin!(stop);
    loop {
        tokio::select! {
            biased;
            () = &mut stop => break,
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => door.admit(stream),
                Err(error) => survive(error).await,
            },
        }
    }
    drop(listener);
    door.close().await;
    app.write_down().await;
    Ok(())
}

// What is not about one client is about the machine: its descriptors or its memory are used up. A
// loop that tried again at once would take the processor too.
async fn survive(error: io::Error) {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
    if [ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted].contains(&error.kind())
    {
        return tracing::debug!(%error, "a client left before it was accepted");
    }
    tracing::warn!(%error, "no room for another connection");
    tokio::time::sleep(EXHAUSTED_PAUSE).await;
}

/// What all connections share.
struct Door {
    app: Arc<App>,
    router: Router,
    places: Arc<Places>,
    refusals: Arc<Semaphore>,
    tasks: TaskTracker,
}

impl Door {
    fn new(app: Arc<App>) -> Self {
        Self {
            router: app.router(),
            places: Places::new(app.most_connections, &app.metrics.evicted),
            refusals: Arc::new(Semaphore::new(MOST_REFUSALS)),
            tasks: TaskTracker::new(),
            app,
        }
    }

    fn admit(&self, stream: TcpStream) {
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "cannot send small answers at once");
        }
        if let Err(error) = expect_news(&stream, self.app.timeouts.progress) {
            tracing::debug!(%error, "cannot say how long a client may be gone");
        }
        match self.places.take() {
            Some(place) => self.serve(stream, place),
            None => self.refuse(stream),
        }
    }

    fn serve(&self, stream: TcpStream, place: Place) {
        let (app, router) = (Arc::clone(&self.app), self.router.clone());
        let (number, pace) = (place.number(), place.pace());
        let serving = connection::serve(stream, router, app.timeouts, pace, app.ending.clone());
        let task = self.tasks.spawn(async move {
            app.metrics.connections.inc();
            let _connected = Connected(&app);
            let _place = place;
            serving.await;
        });
        self.places.served(number, task.abort_handle());
    }

    fn refuse(&self, mut stream: TcpStream) {
        self.app.metrics.refused.inc();
        let Ok(permit) = Arc::clone(&self.refusals).try_acquire_owned() else { return };
        let ending = self.app.ending.clone();
        self.tasks.spawn(ending.run_until_cancelled_owned(async move {
            if stream.write_all(REFUSAL.as_bytes()).await.is_ok() {
                connection::linger(stream).await;
            }
            drop(permit);
        }));
    }

    async fn close(self) {
        self.app.ending.cancel();
        self.places.end();
        self.tasks.close();
        let under_way = self.tasks.len();
        tracing::info!(connections = under_way, "stopping");
        if tokio::time::timeout(self.app.timeouts.drain, self.tasks.wait()).await.is_err() {
            tracing::warn!(connections = self.tasks.len(), "closed what did not end in time");
            self.places.close();
            self.tasks.wait().await;
        }
    }
}

/// Ends a connection whose other side says nothing of what it was sent for somewhat longer than a
/// client may pause. A client that vanished would be written to for a quarter of an hour otherwise,
/// and nobody could take the place of its stream.
fn expect_news(stream: &TcpStream, progress: Duration) -> rustix::io::Result<()> {
    let longest = progress.max(LEAST_PAUSE).saturating_add(MARGIN);
    set_tcp_user_timeout(stream, u32::try_from(longest.as_millis()).unwrap_or(u32::MAX))
}

/// Counts a connection as long as it lasts, also when its task ends by a panic.
struct Connected<'a>(&'a App);

impl Drop for Connected<'_> {
    fn drop(&mut self) {
        self.0.metrics.connections.dec();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_client_may_be_gone_for_somewhat_longer_than_it_may_pause() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        for (progress, expected) in [(1, 45_000), (30, 45_000), (100, 115_000)] {
            expect_news(&stream, Duration::from_secs(progress)).unwrap();
            let told = rustix::net::sockopt::tcp_user_timeout(&stream).unwrap();
            assert_eq!(told, expected);
        }
    }

    #[test]
    fn the_refusal_has_the_length_it_says() {
        let (head, body) = REFUSAL.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(&format!("content-length: {}\r\n", body.len())), "{}", body.len());
        let problem: serde_json::Value = serde_json::from_str(body).unwrap();
        assert_eq!(problem["status"], 503);
    }
}
