//! Names of every kind that a file system can hold: none is lost, none is taken for another, and none
//! does anything.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::io::Cursor;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::Path;

use serde_json::json;

use crate::attack_form::short_or_long;
use crate::dice::Dice;
use crate::outside::Premises;
use crate::raw_http::{Connection, JSON, quoted};
use crate::score::score;
use crate::server_process::ServerProcess;

/// What somebody, somewhere, takes for more than a name.
const ODD: [&[u8]; 56] = [
    b"...",
    b".. ",
    b"..\\",
    b"..;",
    b". ",
    b" ",
    b"  ",
    b"a ",
    b"a.",
    b" a",
    b"~",
    b"-rf",
    b"--help",
    b"%2e%2e",
    b"%2f",
    b"%00",
    b"%",
    b"a%2fb",
    b"$(reboot)",
    b"`reboot`",
    b"a;b",
    b"a|b",
    b"a&path=b",
    b"a?path=b",
    b"a#b",
    b"a+b",
    b"a b",
    b"\"quoted\"",
    b"'quoted'",
    b"{\"a\":1}",
    b"<img src=x onerror=alert(1)>",
    b"CON",
    b"nul.txt",
    b"C:\\x",
    b"\\\\host\\share",
    b"file:etc",
    b"a\r\nset-cookie: planted=1",
    b"a\nb",
    b"\x1b[31mred\x1b[0m",
    b"\x1b]0;title\x07",
    b"a\tb",
    b"\x7f",
    b".git",
    b".sandkeep",
    b".sandkeep-tmp-",
    b".sandkeep-tmp-0123456789abcdeg",
    "cafe\u{301}".as_bytes(),
    "caf\u{e9}".as_bytes(),
    "\u{202e}txt.exe".as_bytes(),
    "a\u{200b}b".as_bytes(),
    "\u{feff}".as_bytes(),
    "\u{fffd}".as_bytes(),
    "\u{10fe80}".as_bytes(),
    b"\xc0\xae\xc0\xae",
    b"\xed\xa0\x80",
    b"\xf4\x8f\xba\xc0",
];

#[test]
fn no_name_is_lost_or_taken_for_another_or_does_anything() {
    let names = names();
    let premises = Premises::new(&[]);
    let root = premises.root();
    fs::create_dir(root.join("odd")).unwrap();
    for (number, name) in names.iter().enumerate() {
        fs::write(at(&root, "odd", name), number.to_string()).unwrap();
    }
    let hidden = ".sandkeep-tmp-0123456789abcdef";
    let staging = premises.staging();
    let server = ServerProcess::start(&root, &["--staging", staging.to_str().unwrap()]);
    // What looks like ours is as hidden as what is ours.
    fs::write(root.join("odd").join(hidden), "x").unwrap();
    let mut connection = server.connect();
    let shown = listed(&mut connection, "odd");
    assert_eq!(shown.len(), names.len(), "each name is listed once");
    let mut attempts = names.len();
    let found = shown.iter().map(|text| (read(&mut connection, text), text));
    let texts: BTreeMap<usize, &String> = found.collect();
    assert_eq!(texts.len(), names.len(), "each shown name leads to its own file");
    attempts += packed(&mut connection, &names);
    for (number, name) in names.iter().enumerate() {
        attempts += change(&mut connection, &root, name, texts[&number], number);
    }
    assert!(listed(&mut connection, "odd").is_empty());
    let reserved = connection.ask("GET", &format!("/v1/fs/file?path=odd/{hidden}"), &[], b"");
    assert!(reserved.is_clear_refusal(), "{}", reserved.text());
    assert_eq!(fs::read_dir(root.join("odd")).unwrap().count(), 1, "and nothing else was made");
    score("odd-names", &[("attempts", attempts as u64), ("escapes", 0), ("lost", 0), ("5xx", 0)]);
}

fn names() -> Vec<Vec<u8>> {
    let one = (1..=u8::MAX).filter(|byte| !b"/.".contains(byte)).map(|byte| vec![byte]);
    let longest = [b'x', 0xff, b'.'].map(|byte| vec![byte; 255]);
    let mut dice = Dice::new(7);
    let random = (0..short_or_long(200, 5000)).map(|_| {
        let byte = |dice: &mut Dice| *dice.pick(&[b'.', b'%', 0x80, 0xc3, 0xf4, 0xff, b'\n', b'a']);
        (0..3 + dice.below(30)).map(|_| byte(&mut dice)).collect()
    });
    let all: BTreeSet<Vec<u8>> =
        one.chain(longest).chain(ODD.map(<[u8]>::to_vec)).chain(random).collect();
    all.into_iter().collect()
}

fn at(root: &Path, dir: &str, name: &[u8]) -> std::path::PathBuf {
    root.join(dir).join(OsStr::from_bytes(name))
}

fn listed(connection: &mut Connection, dir: &str) -> BTreeSet<String> {
    let target = format!("/v1/fs/entries?path={dir}");
    let entries = connection.ask("GET", &target, &[], b"").succeeds().json();
    let name = |entry: &serde_json::Value| entry["name"].as_str().unwrap().to_owned();
    entries.as_array().unwrap().iter().map(name).collect()
}

/// What the file holds that a shown name leads to, by either way to name it.
fn read(connection: &mut Connection, text: &str) -> usize {
    let name = quoted(text);
    let number = |bytes: &[u8]| std::str::from_utf8(bytes).unwrap().parse().unwrap();
    let target = format!("/v1/sandboxes/main/fs/odd/{}", name.replace('/', "%2F"));
    let in_address: usize = number(&connection.ask("GET", &target, &[], b"").succeeds().body);
    connection.send_head("GET", &format!("/v1/fs/file?path=odd/{name}"), &[], 0).unwrap();
    let head = connection.answer_head().unwrap();
    assert_eq!(head.status, 200, "{text:?}");
    assert_eq!(head.header("set-cookie"), None, "{text:?} became a header");
    let mut body = Vec::new();
    connection.answer_body(&head, |piece| body.extend_from_slice(piece)).unwrap();
    assert_eq!(number(&body), in_address, "{text:?}");
    in_address
}

/// An archive has every name as it is; gives how many.
fn packed(connection: &mut Connection, names: &[Vec<u8>]) -> usize {
    let answer = connection.ask("GET", "/v1/fs/download-batch?path=odd", &[], b"").succeeds();
    let mut archive = tar::Archive::new(Cursor::new(answer.body));
    let members = archive.entries().unwrap().map(Result::unwrap);
    let files = members.filter(|entry| entry.header().entry_type().is_file());
    let found: BTreeSet<Vec<u8>> = files
        .map(|entry| {
            let path = entry.path_bytes().into_owned();
            path.strip_prefix(b"./").unwrap_or(&path).to_vec()
        })
        .collect();
    assert_eq!(found, names.iter().cloned().collect());
    names.len()
}

/// Makes the same name elsewhere, moves it, and takes it away; gives how many requests that were.
fn change(
    connection: &mut Connection,
    root: &Path,
    name: &[u8],
    text: &str,
    number: usize,
) -> usize {
    let made = format!("/v1/fs/file?path=made/{}", quoted(text));
    connection.ask("PUT", &made, &[], b"made").succeeds();
    assert_eq!(fs::read(at(root, "made", name)).unwrap(), b"made", "{text:?}");
    let trip = json!({"from": format!("odd/{text}"), "to": format!("moved/{text}")}).to_string();
    connection.ask("POST", "/v1/fs/move", &JSON, trip.as_bytes()).succeeds();
    let moved = fs::read(at(root, "moved", name)).unwrap();
    assert_eq!(moved, number.to_string().into_bytes(), "{text:?}");
    let gone = format!("/v1/fs/entry?path=moved/{}", quoted(text));
    connection.ask("DELETE", &gone, &[], b"").succeeds();
    assert!(!at(root, "moved", name).exists(), "{text:?}");
    let name = fs::read_dir(root.join("made")).unwrap().next().unwrap().unwrap().file_name();
    fs::remove_file(at(root, "made", &name.into_vec())).unwrap();
    3
}
