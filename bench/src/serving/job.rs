//! Jobs: one request that takes its time.

use std::time::Instant;

use anyhow::{Result, ensure};

use super::ask::Request;
use super::case::Turn;
use super::connection::Connection;
use super::script::Expected;
use super::server::Server;

/// How long some work takes, and how much of the processor the server needs for it.
pub(super) async fn timed(server: &Server, work: impl Future<Output = Result<()>>) -> Result<Turn> {
    let (before, began) = (server.processor_time()?, Instant::now());
    work.await?;
    let wall = began.elapsed();
    Ok(Turn { wall, cpu: server.processor_time()? - before })
}

/// One request with its body, from the first byte out to the last byte in.
pub(super) async fn once(
    server: &Server,
    request: &Request,
    body: &[u8],
    expected: Expected,
) -> Result<Turn> {
    again(server, request, body, expected, 1).await
}

/// The same request so many times, one after the other on one connection; the time of one.
pub(super) async fn again(
    server: &Server,
    request: &Request,
    body: &[u8],
    expected: Expected,
    times: u32,
) -> Result<Turn> {
    let mut connection = Connection::open(server.address).await?;
    let asking = async {
        for _ in 0..times {
            connection.send(&request.bytes).await?;
            connection.send(body).await?;
            let answer = connection.receive(request.answer, |_| {}).await?;
            ensure!(expected.fits(answer), "{answer:?} instead of {expected:?}");
        }
        Ok(())
    };
    let Turn { wall, cpu } = timed(server, asking).await?;
    Ok(Turn { wall: wall / times, cpu: cpu / times })
}
