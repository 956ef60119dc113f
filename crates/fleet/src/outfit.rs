//! What there is in the sandboxes, and what it is called.

use engine::{DotDot, Limits, SandboxId, SandboxPath};

/// How many sandboxes there are besides the hot one.
pub(crate) const COLD: u32 = 100;

/// Where the tokens are carried about.
pub(crate) const TOKEN_DIRS: u32 = 4;

/// One of the sandboxes; the first is the hot one.
pub(crate) const HOT: u32 = 0;

/// How much of everything a sandbox has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outfit {
    pub(crate) counters: u32,
    pub(crate) pairs: u32,
    pub(crate) tokens: u32,
    pub(crate) limits: Limits,
}

/// So tight that clients meet them now and then.
const TIGHT: Limits = Limits { file_size: None, total_size: Some(300_000), nodes: Some(110) };

pub(crate) fn outfit(sandbox: u32) -> Outfit {
    match sandbox {
        HOT => Outfit { counters: 4, pairs: 4, tokens: 8, limits: TIGHT },
        _ => Outfit { counters: 1, pairs: 1, tokens: 2, limits: Limits::default() },
    }
}

pub(crate) fn sandbox_id(sandbox: u32) -> SandboxId {
    let name = match sandbox {
        HOT => "hot".to_owned(),
        cold => format!("cold-{cold}"),
    };
    SandboxId::parse(&name).unwrap()
}

pub(crate) fn counter(counter: u32) -> String {
    format!("/counters/{counter}")
}

/// The two files that always hold the same.
pub(crate) fn pair(pair: u32) -> [String; 2] {
    ["left", "right"].map(|side| format!("/pairs/{pair}/{side}"))
}

pub(crate) fn token(token: u32, dir: u32) -> String {
    format!("/tokens/{dir}/{token}")
}

/// The directory of what only one client uses.
pub(crate) fn own_dir(client: u32) -> String {
    format!("/own/{client}")
}

pub(crate) fn own(client: u32, name: u32) -> String {
    format!("{}/{name}", own_dir(client))
}

/// The path that a text spells.
pub(crate) fn at(path: &str) -> SandboxPath {
    SandboxPath::parse(path, DotDot::Refuse).unwrap()
}
