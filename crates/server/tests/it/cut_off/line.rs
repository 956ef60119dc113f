//! A line to a server that is cut where the test wants it: between any two bytes.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::time::timeout;

/// A line to a server. Whoever comes again gets a new connection.
#[derive(Clone)]
pub(crate) struct Line {
    pub(crate) address: SocketAddr,
    /// How many bytes more the server may say before the line is cut; none while it holds.
    left: Arc<watch::Sender<Option<usize>>>,
    /// How often somebody came, and how often he was cut off.
    connections: Arc<watch::Sender<usize>>,
    cuts: Arc<watch::Sender<usize>>,
}

impl Line {
    pub(crate) async fn to(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let left = Arc::new(watch::Sender::new(None));
        let line = Self { address, left, connections: Arc::default(), cuts: Arc::default() };
        let carrier = line.clone();
        let _carrying = tokio::spawn(async move {
            while let Ok((near, _)) = listener.accept().await {
                let far = TcpStream::connect(server).await.unwrap();
                let carrier = carrier.clone();
                let _carrying = tokio::spawn(async move { carrier.carry(near, far).await });
            }
        });
        line
    }

    /// Cuts the line once, after so many bytes; or when they do not come soon after somebody came.
    pub(crate) async fn cut(&self, after: usize, patience: Duration) {
        let mut cuts = self.cuts.subscribe();
        let mut connections = self.connections.subscribe();
        let back = connections.wait_for(|connections| *connections > self.cuts());
        let back = timeout(Duration::from_secs(60), back).await;
        drop(back.expect("whoever was cut off comes back").unwrap());
        self.left.send_replace(Some(after));
        if timeout(patience, cuts.changed()).await.is_err() {
            self.left.send_replace(Some(0));
            cuts.changed().await.unwrap();
        }
    }

    pub(crate) fn cuts(&self) -> usize {
        *self.cuts.borrow()
    }

    async fn carry(&self, mut near: TcpStream, mut far: TcpStream) {
        self.connections.send_modify(|connections| *connections += 1);
        let (mut asks, mut hears) = near.split();
        let (mut says, mut is_asked) = far.split();
        let said = tokio::select! {
            said = self.say(&mut says, &mut hears) => said,
            _asked = tokio::io::copy(&mut asks, &mut is_asked) => Said::Enough,
        };
        if said == Said::NoMore {
            // Every other time what is still on its way is lost, too.
            if self.cuts().is_multiple_of(2) {
                near.set_zero_linger().unwrap();
            }
            drop((near, far));
            self.cuts.send_modify(|cuts| *cuts += 1);
        }
    }

    async fn say(
        &self,
        says: &mut (impl AsyncRead + Unpin),
        hears: &mut (impl AsyncWrite + Unpin),
    ) -> Said {
        let (mut left, mut piece) = (self.left.subscribe(), vec![0; 16 << 10]);
        loop {
            let length = tokio::select! {
                biased;
                _ordered = left.wait_for(|left| *left == Some(0)) => 0,
                length = says.read(&mut piece) => match length {
                    Ok(length) if length > 0 => length,
                    Ok(_) | Err(_) => return Said::Enough,
                },
            };
            let passing = self.pass(length);
            if hears.write_all(&piece[..passing]).await.is_err() {
                return Said::Enough;
            }
            // Whoever cuts it clears the order.
            if self.left.send_if_modified(|left| left.take_if(|left| *left == 0).is_some()) {
                return Said::NoMore;
            }
        }
    }

    /// How many of so many bytes pass.
    fn pass(&self, length: usize) -> usize {
        let mut passing = length;
        self.left.send_if_modified(|left| {
            if let Some(left) = left {
                passing = length.min(*left);
                *left -= passing;
            }
            false
        });
        passing
    }
}

#[derive(PartialEq, Eq)]
enum Said {
    /// One of the ends had enough.
    Enough,
    /// The line is to be cut.
    NoMore,
}
