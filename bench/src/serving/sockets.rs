//! Answers without a server: what sockets alone take. Nothing is looked for and nothing is read; whoever
//! asks for anything gets the same 4 KiB.

use std::collections::HashMap;
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::fd::AsRawFd as _;

use anyhow::{Result, ensure};
use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};

const LENGTH: usize = 4096;
const LISTENER: u64 = u64::MAX;

/// Answers by one thread until the process is ended.
pub(crate) fn answer(port: u16) -> Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
    listener.set_nonblocking(true)?;
    let epoll = epoll::create(CreateFlags::CLOEXEC)?;
    epoll::add(&epoll, &listener, EventData::new_u64(LISTENER), EventFlags::IN)?;
    let mut answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {LENGTH}\r\n\r\n").into_bytes();
    answer.resize(answer.len() + LENGTH, b'x');
    let (mut clients, mut events) = (HashMap::new(), Vec::with_capacity(512));
    loop {
        epoll::wait(&epoll, spare_capacity(&mut events), None)?;
        for event in events.drain(..) {
            let number = event.data.u64();
            if number == LISTENER {
                while let Some(client) = accepted(&listener)? {
                    let number = u64::try_from(client.as_raw_fd())?;
                    epoll::add(&epoll, &client, EventData::new_u64(number), EventFlags::IN)?;
                    clients.insert(number, client);
                }
            } else if let Some(client) = clients.get_mut(&number)
                && !serve(client, &answer)?
            {
                clients.remove(&number);
            }
        }
    }
}

fn accepted(listener: &TcpListener) -> Result<Option<TcpStream>> {
    match listener.accept() {
        Ok((client, _)) => {
            client.set_nonblocking(true)?;
            client.set_nodelay(true)?;
            Ok(Some(client))
        }
        Err(err) if err.kind() == ErrorKind::WouldBlock => Ok(None),
        Err(err) => Err(err.into()),
    }
}

/// Answers one request. Whether the client is still there.
fn serve(client: &mut TcpStream, answer: &[u8]) -> Result<bool> {
    let mut request = [0; 4096];
    let Ok(len @ 1..) = client.read(&mut request) else { return Ok(false) };
    let request = request.get(..len).unwrap_or_default();
    ensure!(request.ends_with(b"\r\n\r\n"), "a request comes in pieces");
    client.write_all(answer)?;
    Ok(true)
}
