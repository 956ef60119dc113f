//! Paths that try to lead out of a sandbox, in every spelling, on every route that takes one.

use std::collections::BTreeSet;
use std::sync::Arc;

use futures::{StreamExt as _, stream};
use serde_json::{Value, json};

use crate::http::{Ask, Server, ask, encoded};

pub(crate) const SECRET: &str = "TOP-SECRET";

/// Two dots, as people spell them who hope that somebody decodes once more than he should.
const DOTS: [&str; 22] = [
    "..",
    "%2e%2e",
    "%2E%2e",
    ".%2e",
    "%2e.",
    "%252e%252e",
    "%25252e%25252e",
    "%c0%ae%c0%ae",
    "%c0%2e%c0%2e",
    "%e0%80%ae%e0%80%ae",
    "%f0%80%80%ae%f0%80%80%ae",
    "%u002e%u002e",
    "%uff0e%uff0e",
    "%ef%bc%8e%ef%bc%8e",
    "%e2%80%a5",
    "..%00",
    "..%0d%0a",
    "..;",
    "..%20",
    "%20..",
    "...",
    "....",
];
/// A slash, likewise.
const SLASHES: [&str; 13] = [
    "/",
    "%2f",
    "%2F",
    "%5c",
    "%255c",
    "%252f",
    "%25252f",
    "%c0%af",
    "%e2%81%84",
    "%ef%bc%8f",
    "//",
    "/./",
    "/%2e/",
];
/// What stands before them.
const BEGINNINGS: [&str; 2] = ["", "sub/"];

/// More than 500 spellings, and some that are none.
pub(crate) fn tricks() -> Vec<String> {
    let mut tricks = BTreeSet::new();
    for dots in DOTS {
        for slash in SLASHES {
            for (count, beginning) in BEGINNINGS.iter().enumerate() {
                let climb = format!("{dots}{slash}").repeat(1 + 3 * count);
                tricks.insert(format!("{beginning}{climb}secret.txt"));
            }
        }
    }
    let others = [
        "/etc/passwd",
        "//etc/passwd",
        "/%2fetc%2fpasswd",
        "%2fetc%2fpasswd",
        "etc/passwd%00.txt",
        "/proc/self/environ",
        "/proc/self/root/etc/passwd",
        "/dev/stdin",
        "~/secret.txt",
        "~root",
        "file:///etc/passwd",
        "C:%5cwindows",
        "%5c%5chost%5cshare",
        "out",
        "out/secret.txt",
        "way/secret.txt",
        "chain",
        "sub/up/secret.txt",
        ".",
        "..",
        "/",
        "",
        "%",
        "%2",
        "%zz",
        "%00",
        "a%00b",
        "%ff%fe",
        "%0a",
        "%7f",
        "\u{fffd}".repeat(3).as_str(),
    ]
    .map(encode_odd);
    tricks.extend(others);
    tricks.insert("a/".repeat(3000));
    tricks.insert("a".repeat(300));
    tricks.into_iter().collect()
}

/// What a request line cannot hold is percent-encoded.
fn encode_odd(text: &str) -> String {
    text.chars()
        .flat_map(|letter| match letter.is_ascii_graphic() {
            true => vec![letter.to_string()],
            false => letter.to_string().bytes().map(|byte| format!("%{byte:02X}")).collect(),
        })
        .collect()
}

/// Every route that takes a path, from the description of the interface.
fn routes() -> Vec<(&'static str, String, Vec<String>)> {
    let document: Value = serde_json::from_str(&server::openapi_json()).unwrap();
    let mut routes = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for method in ["get", "head", "put", "post", "patch", "delete"] {
            let Some(operation) = item.get(method) else { continue };
            let named = |place: &str| {
                let list = operation["parameters"].as_array().into_iter().flatten();
                let taken = list.filter(|one| one["in"] == place && one["name"] == "path");
                taken.count() > 0
            };
            let fields = fields_of(&document, operation);
            if named("query") || named("path") || !fields.is_empty() {
                let method = match method {
                    "get" => "GET",
                    "head" => "HEAD",
                    "put" => "PUT",
                    "post" => "POST",
                    "patch" => "PATCH",
                    _ => "DELETE",
                };
                routes.push((method, path.clone(), fields));
            }
        }
    }
    routes
}

/// The fields of a JSON body that are paths.
fn fields_of(document: &Value, operation: &Value) -> Vec<String> {
    let schema = &operation["requestBody"]["content"]["application/json"]["schema"];
    let name = schema["$ref"].as_str().and_then(|name| name.rsplit('/').next());
    let Some(name) = name else { return Vec::new() };
    let fields = document["components"]["schemas"][name]["properties"].as_object();
    let fields = fields.into_iter().flatten().map(|(field, _)| field.clone());
    fields.filter(|field| ["path", "from", "to", "prefix"].contains(&field.as_str())).collect()
}

/// The requests that put a trick on a route.
fn requests(method: &'static str, route: &str, fields: &[String], trick: &str) -> Vec<Ask> {
    let in_address =
        route.replace("{id}", "test").replace("{snapshot}", "s1").replace("{key}", "aaaaaaaaaaaa");
    let dress = |ask: Ask| ask.header("x-append", "1").body("body");
    if route.contains("{path}") {
        let target = in_address.replace("{path}", trick);
        if method != "POST" && !route.contains("fs-link") {
            return vec![dress(ask(method, &target))];
        }
        let json = json!({"replacements": [{"old": "a", "new": "b"}], "target": "x", "pattern": "T",
            "mode": "644", "size": 1});
        let json = json.as_object().unwrap().clone();
        let typed = ask(method, &target).header("content-type", "application/json");
        let wanted = |field: &str| fields_wanted(route).contains(&field);
        let body: serde_json::Map<_, _> =
            json.into_iter().filter(|(field, _)| wanted(field)).collect();
        return vec![typed.body(Value::Object(body).to_string())];
    }
    if fields.is_empty() {
        return vec![dress(ask(method, &format!("{in_address}?path={trick}")))];
    }
    let spelled = [trick.to_owned(), decoded(trick)];
    let bodies = spelled.into_iter().flat_map(|text| {
        fields.iter().map(move |field| {
            let mut body = json!({"from": "sub/f.txt", "to": "sub/g.txt"});
            body[field] = Value::String(text.clone());
            body.as_object().unwrap().clone()
        })
    });
    bodies
        .map(|mut body| {
            body.retain(|field, _| fields.contains(field));
            let typed = ask(method, &in_address).header("content-type", "application/json");
            typed.body(Value::Object(body).to_string())
        })
        .collect()
}

/// The fields that the body of a route takes.
fn fields_wanted(route: &str) -> &'static [&'static str] {
    let known: [(&str, &'static [&'static str]); 5] = [
        ("fs-edit", &["replacements"]),
        ("fs-link", &["target"]),
        ("fs-search", &["pattern"]),
        ("fs-chmod", &["mode"]),
        ("fs-truncate", &["size"]),
    ];
    known.iter().find(|(word, _)| route.contains(word)).map_or(&[], |(_, fields)| fields)
}

pub(crate) fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        let pair = tail.get(..2).and_then(|pair| std::str::from_utf8(pair).ok());
        match pair.and_then(|pair| u8::from_str_radix(pair, 16).ok()).filter(|_| *first == b'%') {
            Some(byte) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            None => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A directory beside the sandbox that nobody may see or change, and links that lead there.
pub(crate) fn plant(server: &Server) -> std::path::PathBuf {
    let outside = server.host("").parent().unwrap().join("outside");
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("secret.txt"), SECRET).unwrap();
    std::fs::write(server.host("").parent().unwrap().join("secret.txt"), SECRET).unwrap();
    server.put("sub/f.txt", "fine");
    let link = |target: &std::path::Path, name: &str| {
        std::os::unix::fs::symlink(target, server.host(name)).unwrap();
    };
    link(&outside.join("secret.txt"), "out");
    link(&outside, "way");
    link("out".as_ref(), "chain");
    link("../../outside".as_ref(), "sub/up");
    outside
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_spelling_of_a_path_leads_out_on_any_route() {
    let (tricks, routes) = (tricks(), routes());
    assert!(tricks.len() >= 500, "{} tricks", tricks.len());
    assert!(routes.len() >= 20, "{routes:?}");
    let server = Arc::new(Server::start().await);
    let outside = plant(&server);
    let (before, mut tried) = (list(&outside), 0);
    for (method, route, fields) in &routes {
        // A removed sandbox teaches nothing about paths.
        let asks = tricks.iter().flat_map(|trick| requests(method, route, fields, trick));
        let outcomes = stream::iter(asks).map(|ask| {
            let (server, shown) = (Arc::clone(&server), format!("{ask:?}"));
            async move { (server.send(ask).await, shown) }
        });
        let mut outcomes = outcomes.buffer_unordered(16);
        while let Some((answer, shown)) = outcomes.next().await {
            assert!((200..500).contains(&answer.status), "{} for {shown}", answer.status);
            let body = String::from_utf8_lossy(&answer.body);
            assert!(!body.contains(SECRET) && !body.contains("root:x:0"), "{shown} told {body}");
            tried += 1;
        }
        assert_eq!(list(&outside), before, "{method} {route}");
    }
    let beside = server.host("").parent().unwrap().join("secret.txt");
    assert_eq!(std::fs::read_to_string(beside).unwrap(), SECRET);
    println!("SCORE spelled-paths attempts={tried} escapes=0 5xx=0");
}

pub(crate) fn list(dir: &std::path::Path) -> Vec<(String, Vec<u8>)> {
    let entries = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    let mut seen: Vec<_> = entries
        .map(|path| (path.display().to_string(), std::fs::read(&path).unwrap_or_default()))
        .collect();
    seen.sort();
    seen
}

#[test]
fn what_is_tried_is_spelled_as_a_browser_would_not() {
    assert!(tricks().contains(&"%2e%2e/secret.txt".to_owned()));
    assert_eq!(decoded("%2e%2e%2fx"), "../x");
    assert_eq!(encoded("a/b"), "a%2Fb");
}
