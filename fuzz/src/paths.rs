//! What each face takes a text for: nothing, or a path that cannot climb and has one spelling.
//!
//! What a text means is worked out a second time here, from what the faces promise and not from
//! their code, and both must agree.

use std::sync::{Arc, LazyLock};

use engine::{DotDot, Limits, MAX_NAME, MAX_PATH, Role, Sandbox, SandboxPath, Workspace};
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use server::fuzzing::{of_address, of_body, of_fs, of_resource, of_root, resource};
use server::mcp::Served;
use tools::{Call, Settings};

use crate::runtime::run;
use crate::trees::{at, id, memory};

/// A sandbox that its clients see at `/home/user`, where relative paths begin in `work`.
static SANDBOX: LazyLock<Arc<Sandbox>> = LazyLock::new(|| {
    Arc::new(Sandbox {
        id: id("box"),
        files: Arc::new(run(memory(Limits::default()))),
        prefix: at(PREFIX),
        home: at(HOME),
        is_system: false,
    })
});
const PREFIX: &str = "/home/user";
const HOME: &str = "/work";
/// What every host has: a name and its bytes.
type Names = Vec<Vec<u8>>;

/// Holds that every face takes a text for what it promises.
pub fn check(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    check_engine(text);
    check_fs(text);
    check_tools(text);
    check_sandboxes(text);
    check_mcp(text);
}

fn check_engine(text: &str) {
    let root = SandboxPath::root();
    let refused = SandboxPath::parse(text, DotDot::Refuse).ok();
    let clamped = SandboxPath::parse(text, DotDot::Clamp).ok();
    assert_eq!(refused.as_ref().map(names), meaning(&[], text, DotDot::Refuse));
    assert_eq!(clamped.as_ref().map(names), meaning(&[], text, DotDot::Clamp));
    assert!(refused.is_none() || refused == clamped);
    assert_eq!(root.resolve(text, DotDot::Refuse).ok(), refused);
    assert_eq!(root.resolve(text, DotDot::Clamp).ok(), clamped);
    let library = SandboxPath::clamped(text).ok();
    let slashes = text.replace('\\', "/");
    assert_eq!(library.as_ref().map(names), meaning(&[], &slashes, DotDot::Clamp));
    // As the command line does it.
    let beneath = at(HOME).resolve(text, DotDot::Clamp).ok();
    assert_eq!(beneath.as_ref().map(names), meaning(&names(&at(HOME)), text, DotDot::Clamp));
    let child = at(HOME).join(text).ok();
    let one_name = (!text.contains('/')).then(|| meaning(&names(&at(HOME)), text, DotDot::Refuse));
    let one_name = one_name.flatten().filter(|_| !matches!(text, "" | "."));
    assert_eq!(child.as_ref().map(names), one_name);
    for path in [refused, clamped, library, beneath, child].iter().flatten() {
        check_path(path);
    }
}

/// Holds what every path promises.
fn check_path(path: &SandboxPath) {
    let text = path.as_str();
    let rest = text.strip_prefix('/').expect("it begins with a slash");
    let parts: Vec<&str> = if rest.is_empty() { Vec::new() } else { rest.split('/').collect() };
    for name in &parts {
        assert!(!matches!(*name, "" | "." | "..") && !name.contains('\0'), "{text:?}");
        assert!(host(name).len() <= MAX_NAME, "{text:?}");
    }
    assert!(host(text).len() <= MAX_PATH, "{text:?}");
    assert_eq!(path.segments().collect::<Vec<_>>(), parts);
    assert_eq!((path.depth(), path.is_root()), (parts.len(), parts.is_empty()));
    assert_eq!(SandboxPath::parse(text, DotDot::Refuse).as_ref().ok(), Some(path), "{text:?}");
    match path.parent() {
        None => assert!(path.is_root()),
        Some(parent) => {
            assert_eq!(parent.join(path.name()).as_ref().ok(), Some(path));
            assert!(path.starts_with(&parent) && !parent.starts_with(path));
            assert_eq!(path.strip(&parent), Some(path.name()));
        }
    }
    assert_eq!(SANDBOX.locate(&SANDBOX.outward(path)).as_ref().ok(), Some(path));
    assert!(engine::fuzzing::keeps(path), "a record with {text:?} cannot be read again");
}

fn check_fs(text: &str) {
    let found = of_fs(&SANDBOX, text);
    let expected = match text.starts_with('/') {
        true => outward(text),
        false => meaning(&names(&at(HOME)), text, DotDot::Refuse),
    };
    assert_eq!(found.as_ref().map(|(path, _)| names(path)), expected);
    let Some((path, shown)) = found else { return };
    check_path(&path);
    // What a client is shown leads back to where it was.
    assert!(shown.starts_with('/'));
    assert_eq!(of_fs(&SANDBOX, &shown).map(|(again, _)| again), Some(path));
}

fn check_tools(text: &str) {
    let workspace = Workspace::new(Arc::clone(&SANDBOX), Role::Owner, None);
    let call = Call::new(workspace, Settings::for_programs());
    let Ok((_, path)) = call.look_at(text) else { return };
    check_path(&path);
    let absolute =
        if text.starts_with('/') { text.to_owned() } else { format!("{PREFIX}{HOME}/{text}") };
    assert_eq!(Some(names(&path)), outward(&absolute));
}

fn check_sandboxes(text: &str) {
    let meant = of_body(text, false);
    assert_eq!(meant, SandboxPath::parse(text, DotDot::Refuse).ok());
    let stripped = of_body(text, true);
    let without = meant.as_ref().map(|path| {
        let rest = path.strip(&at("/workspace")).map(|rest| format!("/{rest}"));
        rest.unwrap_or_else(|| path.to_string())
    });
    assert_eq!(stripped.as_ref().map(ToString::to_string), without);
    // An address is decoded once.
    let encoded = utf8_percent_encode(text, NON_ALPHANUMERIC);
    let address = format!("/v1/sandboxes/box/fs/{encoded}");
    if encoded.to_string().len() <= 3 * 8192 {
        assert_eq!(of_address(&address, false), meant);
    }
    let raw = format!("/v1/sandboxes/box/fs/{text}");
    if let Some(path) = of_address(&raw, true) {
        check_path(&path);
        let decoded = percent_decode_str(text).decode_utf8().expect("it was decoded");
        assert_eq!(Some(path), of_body(&decoded, true));
    }
    for path in meant.iter().chain(&stripped) {
        check_path(path);
    }
}

fn check_mcp(text: &str) {
    for address in [text.to_owned(), format!("sandkeep://box/{text}")] {
        let Some(path) = of_resource(&SANDBOX, &address) else { continue };
        check_path(&path);
        let again = resource(&SANDBOX, &path);
        assert!(again.bytes().all(|byte| byte.is_ascii_graphic()), "{again}");
        assert_eq!(of_resource(&SANDBOX, &again), Some(path));
    }
    let served = Served(vec!["/srv/box".into()]);
    for address in [text.to_owned(), format!("file://{text}"), format!("file:///srv/box/{text}")] {
        let Some(part) = of_root(&address, &served) else { continue };
        check_path(&part);
        let decoded = percent_decode_str(address.strip_prefix("file://").unwrap_or_default());
        let decoded: Vec<u8> = decoded.collect();
        let climbs = decoded.split(|byte| *byte == b'/').any(|name| name == b"..");
        assert!(!climbs, "{address}");
    }
}

/// What a text means beneath a directory. Names that are refused take everything with them.
fn meaning(base: &[Vec<u8>], text: &str, dots: DotDot) -> Option<Names> {
    let mut names = base.to_vec();
    for name in text.split('/') {
        match (name, dots) {
            ("" | ".", _) => {}
            ("..", DotDot::Refuse) => return None,
            ("..", DotDot::Clamp) => drop(names.pop()),
            _ => names.push(host(name)),
        }
        if name.contains('\0') || !matches!(name, "..") && host(name).len() > MAX_NAME {
            return None;
        }
    }
    Some(names).filter(|names| length(names) <= MAX_PATH)
}

/// What an absolute path means to clients who see the sandbox at its prefix.
fn outward(text: &str) -> Option<Names> {
    let mut names: Vec<&str> = Vec::new();
    for name in text.split('/') {
        match name {
            "" | "." => {}
            ".." => drop(names.pop()),
            _ => names.push(name),
        }
    }
    let rest = names.strip_prefix(&["home", "user"])?;
    meaning(&[], &rest.join("/"), DotDot::Refuse)
}

fn length(names: &Names) -> usize {
    names.iter().map(|name| name.len() + 1).sum::<usize>().max(1)
}

fn names(path: &SandboxPath) -> Names {
    path.segments().map(host).collect()
}

/// The bytes that a name has on a host: those that are no text are spelled by a reserved letter each.
pub(crate) fn host(name: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    for letter in name.chars() {
        match u32::from(letter) {
            point @ 0x10_FE80..=0x10_FEFF => bytes.push((point - 0x10_FE80 + 0x80) as u8),
            _ => bytes.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    bytes
}
