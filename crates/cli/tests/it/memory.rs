//! Whatever the size of a file or directory, the server keeps little of it in memory.

use std::fs;
use std::io;
use std::path::Path;
use std::thread;

use crate::attack_form::short_or_long;
use crate::dice::Dice;
use crate::outside::Premises;
use crate::raw_http::{Connection, TAR, quoted};
use crate::score::score;
use crate::server_process::ServerProcess;

const LIMIT_MIB: u64 = 48;
const PIECE: usize = 1 << 20;

#[test]
fn a_huge_file_goes_up_and_comes_down_in_little_memory() {
    let premises = Premises::new(&[]);
    let server = start(&premises);
    let pieces = short_or_long(512, 10 << 10);
    let size = pieces * PIECE as u64;
    let mut connection = server.connect();
    connection.send_head("PUT", "/v1/fs/file?path=huge", &[], size).unwrap();
    send_pieces(&mut connection, pieces, fill);
    assert_eq!(connection.answer().unwrap().succeeds().json()["bytesWritten"], size);
    let after_up = server.peak_memory_mib();
    receive_pieces(&mut connection, "/v1/fs/file?path=huge", 0, pieces, fill);
    let peak = server.peak_memory_mib();
    eprintln!("memory: {pieces} MiB up: {after_up} MiB at most; and down: {peak} MiB at most");
    tell(pieces, peak);
}

#[test]
fn a_huge_file_goes_up_into_a_store_and_comes_down_in_little_memory() {
    let place = tempfile::tempdir().unwrap();
    let url = format!("file:{}", place.path().join("store").display());
    let server = ServerProcess::of_store(&url, &[]);
    let pieces = short_or_long(256, 4096);
    let size = pieces * PIECE as u64;
    let mut connection = server.connect();
    connection.send_head("PUT", "/v1/fs/file?path=huge", &[], size).unwrap();
    send_pieces(&mut connection, pieces, scatter);
    assert_eq!(connection.answer().unwrap().succeeds().json()["bytesWritten"], size);
    let after_up = server.peak_memory_mib();
    receive_pieces(&mut connection, "/v1/fs/file?path=huge", 0, pieces, scatter);
    let peak = server.peak_memory_mib();
    eprintln!(
        "memory: {pieces} MiB into a store: {after_up} MiB at most; and out of it: {peak} MiB at most"
    );
    tell(pieces, peak);
}

#[test]
fn a_huge_member_of_an_archive_goes_up_and_comes_down_in_little_memory() {
    let premises = Premises::new(&[]);
    let server = start(&premises);
    let pieces = short_or_long(256, 1024);
    let size = pieces * PIECE as u64;
    let mut header = tar::Header::new_ustar();
    header.set_path("member").unwrap();
    header.set_size(size);
    header.set_mode(0o644);
    header.set_cksum();
    let mut connection = server.connect();
    let length = 512 + size + 1024;
    connection.send_head("POST", "/v1/fs/upload-batch?path=there", &TAR, length).unwrap();
    connection.send(header.as_bytes()).unwrap();
    send_pieces(&mut connection, pieces, fill);
    connection.send(&[0; 1024]).unwrap();
    connection.answer().unwrap().succeeds();
    receive_pieces(&mut connection, "/v1/fs/download-batch?path=there", 512, pieces, fill);
    let peak = server.peak_memory_mib();
    eprintln!("memory: an archive of {pieces} MiB up and down: {peak} MiB at most");
    tell(pieces, peak);
}

#[test]
fn a_huge_directory_is_listed_in_little_memory() {
    let premises = Premises::new(&[]);
    let entries: u64 = short_or_long(100_000, 1_000_000);
    make_entries(&premises.root().join("crowd"), entries);
    let server = start(&premises);
    assert_eq!(listed_whole(&server), entries);
    let after_whole = server.peak_memory_mib();
    assert_eq!(listed_by_pages(&server, entries / 20), entries);
    let peak = server.peak_memory_mib();
    eprintln!(
        "memory: {entries} entries listed whole: {after_whole} MiB at most; \
         and page by page: {peak} MiB at most"
    );
    tell(entries, peak);
}

/// What a reader does not take stays on the disk.
#[test]
fn readers_that_take_nothing_cost_little_memory() {
    let premises = Premises::new(&[]);
    let server = start(&premises);
    let pieces = 64;
    let mut connection = server.connect();
    let size = pieces * PIECE as u64;
    connection.send_head("PUT", "/v1/fs/file?path=large", &[], size).unwrap();
    send_pieces(&mut connection, pieces, fill);
    connection.answer().unwrap().succeeds();
    let readers = short_or_long(50, 500);
    let stalled: Vec<_> = (0..readers)
        .map(|_| {
            let mut reader = server.connect();
            reader.send_head("GET", "/v1/fs/file?path=large", &[], 0).unwrap();
            assert_eq!(reader.answer_head().unwrap().status, 200);
            reader
        })
        .collect();
    server.comes_to_rest();
    let peak = server.peak_memory_mib();
    eprintln!("memory: {readers} readers that take nothing of {pieces} MiB: {peak} MiB at most");
    tell(readers, peak);
    drop(stalled);
}

fn tell(attempts: u64, peak: u64) {
    score("S8", &[("attempts", attempts), ("peak_mib", peak)]);
    assert!(peak < LIMIT_MIB, "{peak} MiB");
}

/// A directory with so many files.
pub(crate) fn make_entries(dir: &Path, entries: u64) {
    fs::create_dir(dir).unwrap();
    let make = |numbers: std::ops::Range<u64>| {
        for number in numbers {
            fs::File::create_new(dir.join(format!("entry-{number:07}"))).unwrap();
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| make(0..entries / 2));
        make(entries / 2..entries);
    });
}

/// How many entries of the crowd one page after the other has.
pub(crate) fn listed_by_pages(server: &ServerProcess, limit: u64) -> u64 {
    let mut connection = server.connect();
    let (mut after, mut count) = (String::new(), 0);
    loop {
        let target = format!("/v1/fs/entries?path=crowd&limit={limit}&after={}", quoted(&after));
        let page = connection.ask("GET", &target, &[], b"").succeeds().json();
        let names: Vec<_> =
            page.as_array().unwrap().iter().map(|entry| entry["name"].as_str().unwrap()).collect();
        let (Some(first), Some(last)) = (names.first(), names.last()) else { return count };
        assert!(*first > after.as_str() && names.is_sorted(), "each page follows the one before");
        count += u64::try_from(names.len()).unwrap();
        after = (*last).to_owned();
    }
}

fn listed_whole(server: &ServerProcess) -> u64 {
    let mut connection = server.connect();
    connection.send_head("GET", "/v1/fs/entries?path=crowd", &[], 0).unwrap();
    let head = connection.answer_head().unwrap();
    assert_eq!(head.status, 200);
    // Counted by the brackets, since a test that kept the listing would prove little by it.
    let mut entries = 0;
    let count = |piece: &[u8]| entries += piece.iter().filter(|byte| **byte == b'{').count();
    connection.answer_body(&head, count).unwrap();
    u64::try_from(entries).unwrap()
}

fn start(premises: &Premises) -> ServerProcess {
    let staging = premises.staging();
    ServerProcess::start(&premises.root(), &["--staging", staging.to_str().unwrap()])
}

/// Makes a piece what it should be.
type Make = fn(&mut [u8], u64);

fn send_pieces(connection: &mut Connection, pieces: u64, make: Make) {
    let mut piece = vec![0; PIECE];
    for number in 0..pieces {
        make(&mut piece, number);
        connection.send(&piece).unwrap();
    }
}

/// Checks every piece of an answer; `skip` bytes come before the first.
fn receive_pieces(connection: &mut Connection, target: &str, skip: usize, pieces: u64, make: Make) {
    connection.send_head("GET", target, &[], 0).unwrap();
    let head = connection.answer_head().unwrap();
    assert_eq!(head.status, 200);
    let (mut piece, mut number, mut skipped) = (Vec::with_capacity(PIECE), 0, 0);
    let mut expected = vec![0; PIECE];
    let received: io::Result<()> = connection.answer_body(&head, |mut bytes| {
        let jump = bytes.len().min(skip - skipped);
        skipped += jump;
        bytes = &bytes[jump..];
        while !bytes.is_empty() && number < pieces {
            let part = bytes.len().min(PIECE - piece.len());
            piece.extend_from_slice(&bytes[..part]);
            bytes = &bytes[part..];
            if piece.len() == PIECE {
                make(&mut expected, number);
                assert!(piece == expected, "piece {number} is as it was sent");
                piece.clear();
                number += 1;
            }
        }
    });
    received.unwrap();
    assert_eq!(number, pieces);
}

/// Makes a piece differ from every other.
fn fill(piece: &mut [u8], number: u64) {
    piece.fill(u8::try_from(number % 251).unwrap());
    piece[..8].copy_from_slice(&number.to_le_bytes());
}

/// Makes a piece that no compression makes smaller.
fn scatter(piece: &mut [u8], number: u64) {
    let mut dice = Dice::new(number);
    for word in piece.chunks_exact_mut(8) {
        word.copy_from_slice(&dice.roll().to_le_bytes());
    }
}
