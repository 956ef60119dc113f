//! The keys of a server, listed or alone.

use client::Key;
use comfy_table::Cell;
use engine::{Role, SandboxId, SandboxPath, Scope};
use serde::Serialize;

use super::rows::Listed;
use super::{exact_time, shown, time};

/// A key as a program reads it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct KeyJson<'a> {
    /// The key itself, when it was just made.
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<&'a str>,
    id: &'a str,
    /// What its holder may do.
    pub(crate) role: &'static str,
    /// Null for all.
    sandboxes: Option<Vec<&'a str>>,
    /// Null for everything.
    pub(crate) prefix: Option<&'a str>,
    label: &'a str,
    created: Option<String>,
    created_by: &'a str,
    expires: Option<String>,
}

impl<'a> KeyJson<'a> {
    /// What is known of a key.
    pub(crate) fn new(key: &'a Key) -> Self {
        let sandboxes = match &key.grant.scope {
            Scope::All => None,
            Scope::Only(ids) => Some(ids.iter().map(SandboxId::as_str).collect()),
        };
        Self {
            key: None,
            id: key.id.as_str(),
            role: role(key.grant.role),
            sandboxes,
            prefix: key.grant.prefix.as_ref().map(SandboxPath::as_str),
            label: &key.label,
            created: exact_time(key.created),
            created_by: key.created_by.as_str(),
            expires: key.grant.expires.and_then(exact_time),
        }
    }

    /// The same with the key itself.
    pub(crate) fn with_secret(mut self, secret: &'a str) -> Self {
        self.key = Some(secret);
        self
    }

    /// The sandboxes, as people read them.
    pub(crate) fn scope(&self) -> String {
        self.sandboxes.as_ref().map_or_else(|| "all".into(), |ids| ids.join(" "))
    }
}

impl Listed for Key {
    const TITLES: &'static [&'static str] =
        &["ID", "ROLE", "SANDBOXES", "PREFIX", "EXPIRES", "LABEL"];

    fn cells(&self) -> Vec<Cell> {
        let json = KeyJson::new(self);
        vec![
            Cell::new(json.id),
            Cell::new(json.role),
            Cell::new(json.scope()),
            Cell::new(shown(json.prefix.unwrap_or("/"))),
            Cell::new(self.grant.expires.map_or_else(|| "-".into(), time)),
            Cell::new(shown(&self.label)),
        ]
    }

    fn json(&self) -> impl Serialize {
        KeyJson::new(self)
    }
}

fn role(role: Role) -> &'static str {
    match role {
        Role::Viewer => "viewer",
        Role::Developer => "developer",
        Role::Owner => "owner",
    }
}
