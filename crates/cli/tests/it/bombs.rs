//! Archives that unfold to far more than was sent: each is refused in time, in little memory, and leaves
//! nothing.

use std::io::Write as _;
use std::thread;
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder};
use rustix::fs::statvfs;
use serde_json::json;
use tar::EntryType;

use crate::attack_form::short_or_long;
use crate::forged_archive::{Member, empty, pax, tar};
use crate::mounted::Mounted;
use crate::outside::Premises;
use crate::raw_http::{Answer, JSON};
use crate::score::score;
use crate::server_process::ServerProcess;

const LIMIT_MIB: u64 = 64;
/// So many of each kind come at the same time.
const AT_ONCE: usize = 4;
const SOON: Duration = Duration::from_secs(20);
const MIB: usize = 1 << 20;

/// What is sent, and as what.
struct Bomb {
    name: &'static str,
    format: &'static str,
    bytes: Vec<u8>,
}

#[test]
fn bombs_are_refused_by_a_directory_with_limits() {
    let premises = Premises::in_memory(&[]);
    let staging = premises.staging();
    let limits = ["--max-total-size", "32M", "--max-nodes", "1000", "--snapshots", "memory:"];
    let flags = [&limits[..], &["--staging", staging.to_str().unwrap()]].concat();
    let server = ServerProcess::start(&premises.root(), &flags);
    attack(&server);
    premises.becomes_clean();
    assert_eq!(std::fs::read_dir(premises.root()).unwrap().count(), 0);
}

#[test]
fn bombs_are_refused_by_a_virtual_sandbox_with_limits() {
    let limits = ["--max-total-size", "32M", "--max-nodes", "1000"];
    let place = tempfile::tempdir().unwrap();
    let url = format!("file:{}", place.path().join("store").display());
    let server = ServerProcess::of_store(&url, &limits);
    attack(&server);
    let stats = server.ask("GET", "/v1/sandboxes/main/stats", b"").succeeds().json();
    assert_eq!(stats["bytes"], 0, "{stats}");
}

/// Without limits it is the disk that is full, and is as empty as before when they are gone.
#[test]
fn bombs_on_a_small_disk_take_it_for_a_moment_only() {
    let place = tempfile::tempdir().unwrap();
    let point = place.path().to_path_buf();
    let Some(_mounted) = Mounted::mount("tmpfs", "size=48m", "tmpfs", &point) else { return };
    let premises = Premises::within(tempfile::tempdir_in(&point).unwrap(), &[]);
    let staging = premises.staging();
    let flags = ["--snapshots", "memory:", "--staging", staging.to_str().unwrap()];
    let server = ServerProcess::start(&premises.root(), &flags);
    let free = statvfs(&point).unwrap().f_bavail;
    let bombs: Vec<_> = bombs().into_iter().filter(|bomb| !bomb.name.contains("nodes")).collect();
    for bomb in &bombs {
        refused(bomb, &send(&server, bomb));
        premises.becomes_clean();
        assert_eq!(statvfs(&point).unwrap().f_bavail, free, "{}: all room is free", bomb.name);
    }
    server.ask("PUT", "/v1/fs/file?path=next", b"fine").succeeds();
    tell(bombs.len(), &server);
}

#[test]
fn an_archive_that_asks_for_much_memory_is_told_what_to_do() {
    let server = ServerProcess::of_store("memory:", &[]);
    let bytes = zstd(&tar(&[empty("a")]), 27);
    let answer = send(&server, &Bomb { name: "a large window", format: "tar.zst", bytes });
    assert!(answer.is_clear_refusal(), "{}", answer.text());
    assert!(answer.text().contains("without --ultra and --long"), "{}", answer.text());
}

#[test]
fn a_snapshot_that_unfolds_beyond_the_limits_changes_nothing() {
    let server = ServerProcess::of_store("memory:", &[]);
    let zeros = vec![0; 256 * MIB];
    server.ask("PUT", "/v1/fs/file?path=zeros", &zeros).succeeds();
    let export = server.ask("GET", "/v1/sandboxes/main/export", b"").succeeds().body;
    assert!(export.len() < MIB, "{} bytes", export.len());
    let small = json!({"id": "small", "limits": {"total_size": 32 * MIB}}).to_string();
    server.connect().ask("POST", "/v1/sandboxes", &JSON, small.as_bytes()).succeeds();
    let target = "/v1/sandboxes/small/snapshot-import?snapshot=bomb";
    let imported = server.ask("POST", target, &export);
    if imported.is_success() {
        let target = "/v1/sandboxes/small/snapshots/bomb/restore";
        let restored = server.connect().ask("POST", target, &JSON, b"{}");
        assert!(restored.is_clear_refusal(), "{} {}", restored.status, restored.text());
    }
    let stats = server.ask("GET", "/v1/sandboxes/small/stats", b"").succeeds().json();
    assert_eq!(stats["bytes"], 0, "{stats}");
    score("bombs", &[("attempts", 1), ("hung", 0), ("5xx", 0)]);
}

/// Sends every bomb, several at once.
fn attack(server: &ServerProcess) {
    let bombs = bombs();
    for bomb in &bombs {
        thread::scope(|scope| {
            let sent: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(|| send(server, bomb))).collect();
            for answer in sent {
                refused(bomb, &answer.join().unwrap());
            }
        });
    }
    tell(bombs.len() * AT_ONCE, server);
}

fn tell(attempts: usize, server: &ServerProcess) {
    let peak = server.peak_memory_mib();
    let figures = [("attempts", attempts as u64), ("hung", 0), ("5xx", 0), ("peak_mib", peak)];
    score("bombs", &figures);
    assert!(peak < LIMIT_MIB, "{peak} MiB");
    server.ask("GET", "/v1/fs/entries?path=.", b"").succeeds();
}

fn send(server: &ServerProcess, bomb: &Bomb) -> Answer {
    let begin = Instant::now();
    let target = format!("/v1/sandboxes/main/fs-archive/new?format={}", bomb.format);
    let answer = server.ask("POST", &target, &bomb.bytes);
    assert!(begin.elapsed() < SOON, "{} took {:?}", bomb.name, begin.elapsed());
    answer
}

#[track_caller]
fn refused(bomb: &Bomb, answer: &Answer) {
    let (status, text) = (answer.status, answer.text());
    assert!(answer.is_clear_refusal(), "{} as {}: {status} {text}", bomb.name, bomb.format);
}

fn bombs() -> Vec<Bomb> {
    let bomb = |name, format, bytes| Bomb { name, format, bytes };
    let zeros = tar_of_zeros();
    let nodes = tar(&(0..5000).map(directory).collect::<Vec<_>>());
    let comment = tar(&pax("comment", &"x".repeat(32 * MIB), empty("a")));
    let padded = [&tar(&[empty("a")])[..], &vec![0; 64 * MIB]].concat();
    let mut long_name = b"\x1f\x8b\x08\x08\0\0\0\0\0\xff".to_vec();
    long_name.resize(8 * MIB, b'x');
    vec![
        bomb("zeros", "tar.gz", gzip(&zeros)),
        bomb("zeros", "tar.zst", zstd(&zeros, 20)),
        bomb("zeros in a large window", "tar.zst", zstd(&zeros, 27)),
        bomb("zeros in a window beyond all bounds", "tar.zst", zstd(&zeros, 30)),
        bomb("zeros", "zip", zip(&zeros, zeros.len() as u32)),
        bomb("zeros that say to be few", "zip", zip(&zeros, 10)),
        bomb("nodes", "tar.gz", gzip(&nodes)),
        bomb("nodes", "tar.zst", zstd(&nodes, 20)),
        bomb("a comment", "tar.gz", gzip(&comment)),
        bomb("a comment", "tar.zst", zstd(&comment, 20)),
        bomb("padding", "tar.gz", gzip(&padded)),
        bomb("padding", "tar.zst", zstd(&padded, 20)),
        bomb("a name of the compressed", "tar.gz", long_name),
    ]
}

/// An archive of many files of a MiB, none of which is too large by itself.
fn tar_of_zeros() -> Vec<u8> {
    let file = |number: usize| Member {
        content: vec![0; MIB],
        size: MIB as u64,
        ..empty(&format!("{number}"))
    };
    tar(&(0..short_or_long(160, 1024)).map(file).collect::<Vec<_>>())
}

fn directory(number: usize) -> Member {
    Member { kind: EntryType::Directory, ..empty(&format!("{number}")) }
}

fn gzip(plain: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}

/// A frame that asks for a window of so many bits.
fn zstd(plain: &[u8], window: u32) -> Vec<u8> {
    let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 3).unwrap();
    encoder.window_log(window).unwrap();
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}

/// An archive of one file, which says that it has so many bytes.
fn zip(plain: &[u8], size: u32) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(plain).unwrap();
    let content = encoder.finish().unwrap();
    let mut crc = flate2::Crc::new();
    crc.update(plain);
    let told = [crc.sum(), content.len() as u32, size].map(u32::to_le_bytes).concat();
    let version = [20, 0, 0, 0, 8, 0, 0, 0, 0x21, 0];
    let name = [1, 0, 0, 0];
    let local = [b"PK\x03\x04", &version[..], &told, &name, b"a"].concat();
    let place = [0; 14];
    let central = [b"PK\x01\x02\x14\x03", &version[..], &told, &name, &place, b"a"].concat();
    let begin = (local.len() + content.len()) as u32;
    let extent = [central.len() as u32, begin].map(u32::to_le_bytes).concat();
    let end = [b"PK\x05\x06", &[0, 0, 0, 0, 1, 0, 1, 0][..], &extent, &[0, 0]].concat();
    [local, content, central, end].concat()
}
