//! A server and its sandboxes.

use std::collections::BTreeMap;
use std::time::Duration;

use engine::{
    AttachTarget, NewKind, NewSandbox, Point, Registered, RegisteredChange, RegisteredPage, Result,
    SandboxId, SnapshotId,
};
use http::Method;
use reqwest::RequestBuilder;
use serde::Serialize;

use super::SandboxFs;
use super::wire::{SandboxBody, SandboxList, TreeKind, WireLimits};
use crate::endpoint::{Endpoint, with_json};
use crate::transport::not_understood;

const ROUTE: &str = "/v1/sandboxes";
/// How many sandboxes a server tells of at once.
const MOST_AT_ONCE: usize = 1000;

/// A server of many sandboxes, over its `/v1/sandboxes` interface.
#[derive(Clone, Debug)]
pub struct Server {
    pub(super) endpoint: Endpoint,
}

impl Server {
    /// The server at `endpoint`, such as `http://127.0.0.1:2468`. Nothing is sent before the first
    /// operation.
    pub fn connect(endpoint: &str, token: Option<&str>) -> Result<Self> {
        Ok(Self { endpoint: Endpoint::connect(endpoint, token)? })
    }

    /// Whether the server is there and lets this client in.
    pub async fn health(&self) -> Result<()> {
        self.endpoint.health().await
    }

    /// The files of a sandbox. Whether there is one is seen at the first operation.
    pub fn sandbox(&self, id: &SandboxId) -> SandboxFs {
        SandboxFs::new(self.endpoint.clone(), id.clone())
    }

    /// Makes a sandbox.
    pub async fn create(&self, new: NewSandbox) -> Result<Registered> {
        let request = self.endpoint.request(Method::POST, ROUTE);
        self.tell(with_json(request, &NewSandboxRequest::from(&new))?).await
    }

    /// The sandboxes that this client may see, in the order of their ids: those behind `after` that
    /// have these labels, at most `limit` and 1,000. A label without a value may have any.
    pub async fn list(
        &self,
        after: Option<&SandboxId>,
        limit: usize,
        labels: &BTreeMap<String, Option<String>>,
    ) -> Result<RegisteredPage> {
        let limit = limit.clamp(1, MOST_AT_ONCE);
        let mut request = self.endpoint.request(Method::GET, ROUTE).query(&[("limit", limit)]);
        if let Some(after) = after {
            request = request.query(&[("cursor", after.as_str())]);
        }
        for (key, value) in labels {
            let label =
                value.as_ref().map_or_else(|| key.clone(), |value| format!("{key}={value}"));
            request = request.query(&[("label", label)]);
        }
        let list: SandboxList = self.endpoint.tell(request).await?;
        let sandboxes = list.sandboxes.into_iter().map(SandboxBody::registered);
        let next = list.next_cursor.as_deref().map(SandboxId::parse).transpose();
        Ok(RegisteredPage {
            sandboxes: sandboxes.collect::<Result<_>>()?,
            next: next.map_err(not_understood)?,
        })
    }

    /// What is known of a sandbox. The root of a directory is empty for whoever may not see it.
    pub async fn stat(&self, id: &SandboxId) -> Result<Registered> {
        self.tell(self.about(Method::GET, id)).await
    }

    /// Changes the limits, labels or end of a sandbox.
    pub async fn change(&self, id: &SandboxId, change: RegisteredChange) -> Result<Registered> {
        let request = self.about(Method::PATCH, id);
        self.tell(with_json(request, &SandboxChange::from(&change))?).await
    }

    /// Removes a sandbox with all that is in it.
    pub async fn remove(&self, id: &SandboxId) -> Result<()> {
        self.endpoint.send(self.about(Method::DELETE, id)).await.map(drop)
    }

    fn about(&self, method: Method, id: &SandboxId) -> RequestBuilder {
        self.endpoint.request(method, &format!("{ROUTE}/{id}"))
    }

    async fn tell(&self, request: RequestBuilder) -> Result<Registered> {
        self.endpoint.tell::<SandboxBody>(request).await?.registered()
    }
}

/// A sandbox that is to be made.
#[derive(Debug, Serialize)]
struct NewSandboxRequest<'a> {
    id: Option<&'a str>,
    kind: TreeKind,
    root: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    attach: Option<Attach<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<&'a str>,
    prefix: &'a str,
    limits: Option<WireLimits>,
    labels: &'a BTreeMap<String, String>,
    ttl: Option<u64>,
    from: Option<Origin<'a>>,
}

/// What it is attached to.
#[derive(Debug, Serialize)]
#[serde(rename_all = "lowercase")]
enum Attach<'a> {
    Container(&'a str),
    Pid(u32),
}

impl<'a> From<&'a AttachTarget> for Attach<'a> {
    fn from(target: &'a AttachTarget) -> Self {
        match target {
            AttachTarget::Container(name) => Self::Container(name.as_str()),
            AttachTarget::Process { pid, .. } => Self::Pid(*pid),
        }
    }
}

#[derive(Debug, Serialize)]
struct Origin<'a> {
    sandbox: &'a str,
    snapshot: Option<&'a str>,
}

impl<'a> From<&'a NewSandbox> for NewSandboxRequest<'a> {
    fn from(new: &'a NewSandbox) -> Self {
        let (kind, root, from) = match &new.kind {
            NewKind::Virtual => (TreeKind::Virtual, None, None),
            NewKind::Host { root } => (TreeKind::Host, root.as_deref(), None),
            NewKind::Attached { .. } => (TreeKind::Host, None, None),
            NewKind::Fork { of, from } => {
                let snapshot = match from {
                    Point::Live => None,
                    Point::Snapshot(id) => Some(SnapshotId::as_str(id)),
                };
                (TreeKind::Virtual, None, Some(Origin { sandbox: of.as_str(), snapshot }))
            }
        };
        let (attach, path) = match &new.kind {
            NewKind::Attached { target, path } => (Some(target.into()), Some(path.as_str())),
            NewKind::Virtual | NewKind::Host { .. } | NewKind::Fork { .. } => (None, None),
        };
        Self {
            id: new.id.as_ref().map(SandboxId::as_str),
            kind,
            root,
            attach,
            path,
            prefix: new.prefix.as_str(),
            limits: new.limits.map(Into::into),
            labels: &new.labels,
            ttl: new.ttl.map(seconds),
            from,
        }
    }
}

/// What is to change of a sandbox.
#[derive(Debug, Serialize)]
struct SandboxChange<'a> {
    limits: Option<WireLimits>,
    labels: &'a BTreeMap<String, Option<String>>,
    /// Absent to stay, `null` for ever.
    #[serde(skip_serializing_if = "Option::is_none")]
    ttl: Option<Option<u64>>,
}

impl<'a> From<&'a RegisteredChange> for SandboxChange<'a> {
    fn from(change: &'a RegisteredChange) -> Self {
        let RegisteredChange { limits, labels, ttl } = change;
        let ttl = ttl.map(|ttl| ttl.map(seconds));
        Self { limits: limits.map(Into::into), labels, ttl }
    }
}

/// Whole seconds, and never less than it is.
pub(super) fn seconds(ttl: Duration) -> u64 {
    ttl.as_secs().saturating_add(u64::from(ttl.subsec_nanos() > 0))
}
