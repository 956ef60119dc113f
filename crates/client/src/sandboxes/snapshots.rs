//! The snapshots of one sandbox.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use engine::{
    ByteStream, DifferenceStream, FileSystem, Limits, NewSnapshot, Point, Result, SandboxId,
    SandboxPath, Snapshot, SnapshotId, Snapshots,
};
use futures::{StreamExt as _, stream};
use http::Method;
use http::header::CONTENT_TYPE;
use reqwest::RequestBuilder;
use serde::Serialize;

use super::SandboxFs;
use super::diff::differences;
use super::wire::{SnapshotBody, SnapshotList, WireLimits};
use crate::endpoint::with_json;
use crate::{incoming, outgoing};

/// How many snapshots a server tells of at once.
const MOST_AT_ONCE: usize = 1000;

/// A snapshot that is to be taken.
#[derive(Debug, Serialize)]
struct NewSnapshotRequest<'a> {
    id: Option<&'a str>,
    message: &'a str,
    labels: &'a BTreeMap<String, String>,
}

/// What is brought back.
#[derive(Debug, Serialize)]
struct RestoreRequest<'a> {
    path: &'a str,
}

/// A sandbox that is to begin as a copy of this one.
#[derive(Debug, Serialize)]
struct ForkRequest<'a> {
    id: &'a str,
    snapshot: Option<&'a str>,
    limits: WireLimits,
}

#[async_trait]
impl Snapshots for SandboxFs {
    async fn create(&self, new: NewSnapshot) -> Result<Snapshot> {
        let NewSnapshot { id, message, labels } = &new;
        let id = id.as_ref().map(SnapshotId::as_str);
        let body = NewSnapshotRequest { id, message, labels };
        let request = self.request(Method::POST, "snapshots");
        self.ask::<SnapshotBody>(request, &body).await?.snapshot()
    }

    async fn list(&self, after: Option<&SnapshotId>, limit: usize) -> Result<Vec<Snapshot>> {
        let mut found: Vec<Snapshot> = Vec::new();
        let mut after = after.map(ToString::to_string);
        while found.len() < limit {
            let most = (limit - found.len()).min(MOST_AT_ONCE);
            let mut request = self.request(Method::GET, "snapshots").query(&[("limit", most)]);
            if let Some(after) = &after {
                request = request.query(&[("cursor", after)]);
            }
            let page: SnapshotList = self.endpoint.tell(request).await?;
            for body in page.snapshots {
                found.push(body.snapshot()?);
            }
            after = page.next_cursor;
            if after.is_none() {
                break;
            }
        }
        Ok(found)
    }

    async fn stat(&self, id: &SnapshotId) -> Result<Snapshot> {
        let request = self.about_snapshot(Method::GET, id, "");
        self.endpoint.tell::<SnapshotBody>(request).await?.snapshot()
    }

    async fn open(&self, id: &SnapshotId) -> Result<Arc<dyn FileSystem>> {
        Ok(Arc::new(self.as_of(id).await?))
    }

    async fn diff(&self, from: Point, to: Point) -> Result<DifferenceStream> {
        if from == to {
            // Two presents have no spelling, and nothing between them.
            return Ok(stream::empty().boxed());
        }
        let request = named(self.request(Method::GET, "diff"), "from", snapshot_of(&from));
        let request = named(request, "to", snapshot_of(&to));
        let answer = self.endpoint.send(request).await?;
        Ok(differences(incoming::stream(answer, self.endpoint.address())))
    }

    async fn restore(&self, id: &SnapshotId, path: &SandboxPath) -> Result<()> {
        let request = self.about_snapshot(Method::POST, id, "/restore");
        let request = with_json(request, &RestoreRequest { path: path.as_str() })?;
        self.endpoint.send(request).await.map(drop)
    }

    async fn fork(&self, from: Point, to: &SandboxId, limits: Limits) -> Result<()> {
        let (id, snapshot) = (to.as_str(), snapshot_of(&from));
        let body = ForkRequest { id, snapshot, limits: limits.into() };
        let request = with_json(self.request(Method::POST, "fork"), &body)?;
        self.endpoint.send(request).await.map(drop)
    }

    async fn delete(&self, id: &SnapshotId) -> Result<()> {
        self.endpoint.send(self.about_snapshot(Method::DELETE, id, "")).await.map(drop)
    }

    async fn export(&self, from: Point, since: Option<&SnapshotId>) -> Result<ByteStream> {
        let request = match &from {
            Point::Live => self.request(Method::GET, "export"),
            Point::Snapshot(id) => self.about_snapshot(Method::GET, id, "/export"),
        };
        let request = named(request, "since", since.map(SnapshotId::as_str));
        Ok(incoming::stream(self.endpoint.send(request).await?, self.endpoint.address()))
    }

    async fn import(&self, stream: ByteStream, new: NewSnapshot) -> Result<Snapshot> {
        let NewSnapshot { id, message, labels } = &new;
        let request = self.request(Method::POST, "snapshot-import");
        let mut request = named(request, "snapshot", id.as_ref().map(SnapshotId::as_str));
        request = request.query(&[("message", message)]);
        for (key, value) in labels {
            request = request.query(&[("label", format!("{key}={value}"))]);
        }
        let request = request.header(CONTENT_TYPE, "application/octet-stream");
        let (request, sent) = outgoing::attach(request, stream, None);
        let answer = sent.or(self.endpoint.send(request).await)?;
        self.endpoint.parse::<SnapshotBody>(answer).await?.snapshot()
    }
}

fn snapshot_of(point: &Point) -> Option<&str> {
    match point {
        Point::Live => None,
        Point::Snapshot(id) => Some(id.as_str()),
    }
}

/// The request with a parameter, if there is one.
fn named(request: RequestBuilder, name: &str, value: Option<&str>) -> RequestBuilder {
    match value {
        Some(value) => request.query(&[(name, value)]),
        None => request,
    }
}
