//! Archives that no honest program makes: none reaches out, none makes a special file, and a bad
//! one leaves nothing.

use std::fs;
use std::os::unix::fs::MetadataExt as _;

use tar::EntryType;

use crate::forged_archive::{Member, empty, file, link, long_name, pax, tar};
use crate::input::{premises, start, unharmed};
use crate::outside::Premises;
use crate::raw_http::{Answer, TAR};
use crate::server_process::ServerProcess;

#[test]
fn an_archive_that_climbs_is_refused() {
    for name in ["../climbs", "a/../../climbs", "a/../climbs", "/absolute", "..", "a/..", "//x"] {
        is_refused(name, &[file("fine"), file(name)]);
    }
}

#[test]
fn an_archive_with_a_name_that_cannot_be_is_refused() {
    let long = "x".repeat(300);
    is_refused("a name of 300 bytes", &pax("path", &long, file("short")));
    is_refused("a path of 6,000 bytes", &pax("path", &"d/".repeat(3000), file("short")));
    is_refused("a NUL in a name", &pax("path", "a\0b", file("short")));
    is_refused("a climbing name in an extension", &pax("path", "../climbs", file("short")));
    is_refused("a climbing long name", &[long_name(b"../climbs"), file("short")]);
    is_refused("an absolute long name", &[long_name(b"/absolute"), file("short")]);
}

#[test]
fn an_archive_with_a_link_out_is_refused() {
    for target in ["../../outside", "/etc", "..", "a/../../..", "../staging", "../../../../.."] {
        is_refused(target, &[link(EntryType::Symlink, "way", target)]);
        let through = [link(EntryType::Symlink, "way", target), file("way/planted")];
        is_refused(target, &through);
    }
    let chain = [
        link(EntryType::Symlink, "a", "."),
        link(EntryType::Symlink, "a/b", ".."),
        link(EntryType::Symlink, "a/b/c", "../.."),
        file("a/b/c/planted"),
    ];
    is_refused("a chain of links", &chain);
}

#[test]
fn an_archive_with_a_hard_link_to_a_stranger_is_refused() {
    for target in ["../outside/canary", "/etc/passwd", "missing", "../kept", "kept"] {
        is_refused(target, &[link(EntryType::Link, "mine", target)]);
    }
    let disguised = [
        link(EntryType::Symlink, "way", "../../outside"),
        link(EntryType::Link, "mine", "way/canary"),
    ];
    is_refused("a hard link through a link", &disguised);
}

#[test]
fn an_archive_with_a_special_file_is_refused() {
    for kind in [EntryType::Char, EntryType::Block, EntryType::Fifo] {
        is_refused(&format!("{kind:?}"), &[file("fine"), Member { kind, ..file("special") }]);
    }
}

#[test]
fn an_archive_whose_members_collide_is_refused() {
    let dir = || Member { kind: EntryType::Directory, ..empty("a") };
    is_refused("a file beneath a file", &[file("a"), file("a/b")]);
    is_refused("a directory where a file is", &[file("a"), dir()]);
    is_refused("a file where a directory is", &[file("a/b"), file("a")]);
    let through = [link(EntryType::Symlink, "a", "b"), file("a/planted")];
    is_refused("a file beneath a link", &through);
}

#[test]
fn an_archive_with_false_sizes_is_refused() {
    let sized = |size| Member { size, ..file("sized") };
    is_refused("more than is there", &[sized(1 << 20)]);
    is_refused("as much as octal digits can say", &[sized(0o77_777_777_777)]);
    is_refused("half of all numbers", &[sized(1 << 63)]);
    is_refused("all numbers", &[sized(u64::MAX)]);
    for size in ["18446744073709551615", "99999999999999999999999", "-1", "ten", ""] {
        is_refused(&format!("an extension that says {size:?}"), &pax("size", size, file("sized")));
    }
    let sparse = Member { kind: EntryType::GNUSparse, size: 0, ..empty("sparse") };
    is_refused("a sparse file", &[sparse]);
    let bomb = pax("GNU.sparse.realsize", "1099511627776", file("sparse"));
    let answer = send(&premises_with_server().1, &tar(&bomb));
    assert!(answer.is_success() || answer.is_clear_refusal(), "{}", answer.text());
}

#[test]
fn an_archive_with_endless_extensions_is_refused() {
    let long = Member { content: vec![b'x'; 8 << 20], size: 8 << 20, ..long_name(b"") };
    is_refused("a name of 8 MiB", &[long, file("short")]);
    let claimed = Member { size: 1 << 40, ..long_name(b"x") };
    is_refused("a name that claims a TiB", &[claimed, file("short")]);
    let many = (0..100).map(|_| long_name(b"again")).collect::<Vec<_>>();
    is_refused("a hundred long names for nobody", &many);
    let value = "x".repeat(4 << 20);
    is_refused("a comment of 4 MiB", &pax("comment", &value, file("short")));
    is_refused(
        "an extension without a form",
        &[Member { kind: EntryType::XHeader, ..file("no form") }],
    );
}

#[test]
fn bytes_that_are_no_archive_are_refused() {
    let whole = tar(&[file("first"), file("second")]);
    let (premises, server) = premises_with_server();
    let refused = |wrong: &str, body: &[u8]| {
        let answer = send(&server, body);
        assert!(answer.is_clear_refusal(), "{wrong}: {} {}", answer.status, answer.text());
        unharmed(&premises, &server);
    };
    refused("words", b"this is not an archive, as anybody can see");
    refused("noise", &(0..4096).map(|at| (at * 7 % 251) as u8).collect::<Vec<_>>());
    refused("cut in a header", &whole[..700]);
    refused("cut in a file", &whole[..514]);
    refused("a gzip", b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xed\xc1\x01\r\x00\x00");
    let mut wrong_sum = whole.clone();
    wrong_sum[0] ^= 1;
    refused("a wrong checksum", &wrong_sum);
    let mut later = whole;
    later[1024] ^= 1;
    refused("a wrong checksum later on", &later);
}

#[test]
fn rights_beyond_the_ordinary_are_not_given() {
    let (premises, server) = premises_with_server();
    let set = Member { mode: 0o7755, ..file("set") };
    let dir = Member { kind: EntryType::Directory, mode: 0o7777, ..empty("dir") };
    send(&server, &tar(&[set, dir])).succeeds();
    for (name, mode) in [("set", 0o755), ("dir", 0o777)] {
        let metadata = fs::metadata(premises.root().join("new").join(name)).unwrap();
        assert_eq!(metadata.mode() & 0o7777, mode, "{name}");
        assert_eq!(metadata.uid(), rustix::process::geteuid().as_raw(), "{name}");
    }
}

#[track_caller]
fn is_refused(wrong: &str, members: &[Member]) {
    let (premises, server) = premises_with_server();
    let answer = send(&server, &tar(members));
    assert!(answer.is_clear_refusal(), "{wrong}: {} {}", answer.status, answer.text());
    unharmed(&premises, &server);
}

pub(crate) fn premises_with_server() -> (Premises, ServerProcess) {
    let premises = premises();
    let server = start(&premises);
    (premises, server)
}

pub(crate) fn send(server: &ServerProcess, body: &[u8]) -> Answer {
    server.connect().ask("POST", "/v1/fs/upload-batch?path=new", &TAR, body)
}
