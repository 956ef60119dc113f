//! `/v1/keys`: who may do what.

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use engine::{Actor, Grant, KeyId, Result, Role, SandboxId, SandboxPath, Scope, UnixTime};
use http::Method;
use serde::{Deserialize, Serialize};

use super::Server;
use super::server::seconds;
use super::wire::{moment, path};
use crate::endpoint::with_json;
use crate::transport::not_understood;

const ROUTE: &str = "/v1/keys";
/// How many keys a server tells of at once.
const MOST_AT_ONCE: usize = 1000;

/// A key that is to be made.
#[derive(Clone, Debug)]
pub struct KeyWish {
    /// What its holder may do.
    pub role: Role,
    /// The sandboxes that he may see.
    pub scope: Scope,
    /// The directory that he may see of each of them; everything without it.
    pub prefix: Option<SandboxPath>,
    /// How long it is good, if not for ever.
    pub ttl: Option<Duration>,
    /// What it is for.
    pub label: String,
}

/// What a server tells of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// The part of the key that everybody may know.
    pub id: KeyId,
    /// What it allows.
    pub grant: Grant,
    /// What it is for.
    pub label: String,
    /// When it was made.
    pub created: UnixTime,
    /// By whom.
    pub created_by: Actor,
}

/// Some keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyPage {
    /// Those that were found.
    pub keys: Vec<Key>,
    /// The key behind which there may be more.
    pub next: Option<KeyId>,
}

/// A key that was just made.
pub struct MadeKey {
    /// What is known of it.
    pub key: Key,
    text: String,
}

impl MadeKey {
    /// The key itself, which the server tells once.
    pub fn expose(&self) -> &str {
        &self.text
    }
}

impl fmt::Debug for MadeKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MadeKey").field("key", &self.key).finish_non_exhaustive()
    }
}

impl Server {
    /// Makes a key. Nobody can give more than his own key allows.
    pub async fn create_key(&self, wish: &KeyWish) -> Result<MadeKey> {
        let request = self.endpoint.request(Method::POST, ROUTE);
        let request = with_json(request, &NewKeyRequest::from(wish))?;
        let MadeKeyBody { key, known } = self.endpoint.tell(request).await?;
        Ok(MadeKey { key: known.key()?, text: key })
    }

    /// The keys that this client could have made, in the order of their ids: those behind `after`,
    /// at most `limit` and 1,000.
    pub async fn list_keys(&self, after: Option<&KeyId>, limit: usize) -> Result<KeyPage> {
        let limit = limit.clamp(1, MOST_AT_ONCE);
        let mut request = self.endpoint.request(Method::GET, ROUTE).query(&[("limit", limit)]);
        if let Some(after) = after {
            request = request.query(&[("cursor", after.as_str())]);
        }
        let list: KeyList = self.endpoint.tell(request).await?;
        let next = list.next_cursor.as_deref().map(KeyId::parse).transpose();
        Ok(KeyPage {
            keys: list.keys.into_iter().map(KeyBody::key).collect::<Result<_>>()?,
            next: next.map_err(not_understood)?,
        })
    }

    /// What is known of a key.
    pub async fn stat_key(&self, id: &KeyId) -> Result<Key> {
        let request = self.endpoint.request(Method::GET, &format!("{ROUTE}/{id}"));
        self.endpoint.tell::<KeyBody>(request).await?.key()
    }

    /// Revokes a key.
    pub async fn revoke_key(&self, id: &KeyId) -> Result<()> {
        let request = self.endpoint.request(Method::DELETE, &format!("{ROUTE}/{id}"));
        self.endpoint.send(request).await.map(drop)
    }
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum WireRole {
    Viewer,
    Developer,
    Owner,
}

impl From<Role> for WireRole {
    fn from(role: Role) -> Self {
        match role {
            Role::Viewer => Self::Viewer,
            Role::Developer => Self::Developer,
            Role::Owner => Self::Owner,
        }
    }
}

impl From<WireRole> for Role {
    fn from(role: WireRole) -> Self {
        match role {
            WireRole::Viewer => Self::Viewer,
            WireRole::Developer => Self::Developer,
            WireRole::Owner => Self::Owner,
        }
    }
}

/// A key that is to be made.
#[derive(Debug, Serialize)]
struct NewKeyRequest<'a> {
    role: WireRole,
    sandboxes: Option<BTreeSet<&'a str>>,
    prefix: Option<&'a str>,
    ttl: Option<u64>,
    label: &'a str,
}

impl<'a> From<&'a KeyWish> for NewKeyRequest<'a> {
    fn from(wish: &'a KeyWish) -> Self {
        Self {
            role: wish.role.into(),
            sandboxes: match &wish.scope {
                Scope::All => None,
                Scope::Only(ids) => Some(ids.iter().map(SandboxId::as_str).collect()),
            },
            prefix: wish.prefix.as_ref().map(SandboxPath::as_str),
            ttl: wish.ttl.map(seconds),
            label: &wish.label,
        }
    }
}

#[derive(Debug, Deserialize)]
struct KeyBody {
    id: String,
    role: WireRole,
    sandboxes: Option<Vec<String>>,
    prefix: Option<String>,
    label: String,
    created_at: String,
    created_by: String,
    expires_at: Option<String>,
}

impl KeyBody {
    fn key(self) -> Result<Key> {
        let ids = self.sandboxes.map(|ids| {
            let ids = ids.iter().map(|id| SandboxId::parse(id));
            ids.collect::<Result<BTreeSet<_>>>().map_err(not_understood)
        });
        let grant = Grant {
            role: self.role.into(),
            scope: ids.transpose()?.map_or(Scope::All, Scope::Only),
            prefix: self.prefix.as_deref().map(path).transpose()?,
            expires: self.expires_at.as_deref().map(moment).transpose()?,
        };
        Ok(Key {
            id: KeyId::parse(&self.id).map_err(not_understood)?,
            grant,
            label: self.label,
            created: moment(&self.created_at)?,
            created_by: Actor::parse(&self.created_by).map_err(not_understood)?,
        })
    }
}

/// Not shown by `Debug`, for it holds the key itself.
#[derive(Deserialize)]
struct MadeKeyBody {
    key: String,
    #[serde(flatten)]
    known: KeyBody,
}

#[derive(Debug, Deserialize)]
struct KeyList {
    keys: Vec<KeyBody>,
    next_cursor: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canned::answering;

    #[tokio::test]
    async fn a_new_key_is_told_and_never_shown_by_accident() {
        let (address, came) = answering(
            "HTTP/1.1 201 Created\r\nconnection: close\r\n\r\n\
             {\"key\":\"ask_abc0123456xz_secret\",\"id\":\"abc0123456xz\",\"role\":\"viewer\",\
             \"sandboxes\":[\"a\"],\"prefix\":\"src\",\"label\":\"ci\",\
             \"created_at\":\"2023-11-14T22:13:20Z\",\"created_by\":\"token\"}",
        )
        .await;
        let server = Server::connect(&format!("http://{address}"), None).unwrap();
        let prefix = Some(SandboxPath::clamped("src").unwrap());
        let scope = Scope::Only([SandboxId::parse("a").unwrap()].into());
        let ttl = Some(Duration::from_millis(1500));
        let wish = KeyWish { role: Role::Viewer, scope, prefix, ttl, label: "ci".into() };
        let made = server.create_key(&wish).await.unwrap();
        assert_eq!(made.expose(), "ask_abc0123456xz_secret");
        assert!(!format!("{made:?}").contains("secret"));
        let grant =
            Grant { role: Role::Viewer, scope: wish.scope, prefix: wish.prefix, expires: None };
        assert_eq!((made.key.grant, made.key.created_by), (grant, Actor::Token));
        let request = came.await.unwrap();
        let body = r#"{"role":"viewer","sandboxes":["a"],"prefix":"/src","ttl":2,"label":"ci"}"#;
        assert!(request.ends_with(body), "{request}");
    }
}
