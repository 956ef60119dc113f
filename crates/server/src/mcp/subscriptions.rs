//! Who is told what of the files changed.

use std::collections::HashMap;
use std::time::Duration;

use engine::{Error, ErrorKind, Result};
use futures::FutureExt as _;
use futures::future::{BoxFuture, join_all};
use parking_lot::Mutex;
use rmcp::model::{ResourceUpdatedNotificationParam, SubscriptionFilter};
use rmcp::service::{Peer, RoleServer, SubscriptionContext, SubscriptionSink};
use tokio_util::task::AbortOnDropHandle;

use super::changes::{Aspect, Watched};
use super::resources;
use super::standing::Standing;
use super::uri;

/// How many resources one client may subscribe to at a time.
const MOST: usize = 64;
/// How many directories are watched for whoever wants to know when the list of resources changes.
const MOST_LISTED: usize = 8;

/// The subscriptions of a client that was greeted: they last until they are ended, or it goes.
#[derive(Debug, Default)]
pub(super) struct Subscriptions {
    open: Mutex<HashMap<String, AbortOnDropHandle<()>>>,
    /// Whoever has seen the list is told when it is another.
    list: Mutex<Option<AbortOnDropHandle<()>>>,
}

impl Subscriptions {
    /// Tells a client of the changes of a resource from now on.
    pub(super) async fn add(
        &self,
        standing: &Standing,
        address: String,
        peer: Peer<RoleServer>,
    ) -> Result<()> {
        self.check_room(&address)?;
        let outward = uri::outward(standing.workspace.sandbox(), &address)?;
        let limit = standing.settings.timeout;
        let mut watched =
            in_time(limit, Watched::begin(standing, &outward, Aspect::Everything)).await?;
        let (until, named) = ((standing.until)(), address.clone());
        let telling = async move {
            loop {
                watched.changed().await;
                let note = ResourceUpdatedNotificationParam::new(named.clone());
                if peer.notify_resource_updated(note).await.is_err() {
                    return;
                }
            }
        };
        let task = AbortOnDropHandle::new(tokio::spawn(either(telling, until)));
        // Whoever asks for the same thing twice gets it once.
        self.check_room(&address)?;
        self.open.lock().insert(address, task);
        Ok(())
    }

    /// Tells a client no more of a resource.
    pub(super) fn remove(&self, address: &str) {
        self.open.lock().remove(address);
    }

    /// Tells a client that has seen the list of resources when it is another.
    pub(super) fn has_seen_list(&self, standing: &Standing, peer: Peer<RoleServer>) {
        let mut list = self.list.lock();
        if list.as_ref().is_some_and(|task| !task.is_finished()) {
            return;
        }
        let standing = standing.clone();
        let until = (standing.until)();
        let telling = async move {
            let tell = || {
                let peer = peer.clone();
                async move { peer.notify_resource_list_changed().await.is_ok() }
            };
            join_all(listed(&standing).await.into_iter().map(|top| repeat(top, tell))).await;
        };
        *list = Some(AbortOnDropHandle::new(tokio::spawn(either(telling, until))));
    }

    /// Forgets which list the client has seen, and ends what it may not be told any more: it stands
    /// elsewhere now, or nowhere.
    pub(super) fn stay_within(&self, standing: Option<&Standing>) {
        *self.list.lock() = None;
        self.open.lock().retain(|address, _| {
            standing.is_some_and(|standing| {
                let outward = uri::outward(standing.workspace.sandbox(), address);
                outward.and_then(|outward| standing.call().look_at(&outward)).is_ok()
            })
        });
    }

    fn check_room(&self, address: &str) -> Result<()> {
        let mut open = self.open.lock();
        open.retain(|_, task| !task.is_finished());
        if open.contains_key(address) || open.len() < MOST {
            return Ok(());
        }
        let message = format!("a client subscribes to at most {MOST} resources at a time");
        Err(Error::new(ErrorKind::LimitExceeded, message))
    }
}

/// What of a wish is granted: no more resources than one client may watch.
pub(super) fn granted(wish: &SubscriptionFilter) -> SubscriptionFilter {
    let mut granted = SubscriptionFilter::new();
    granted.resources_list_changed = wish.resources_list_changed;
    granted.resource_subscriptions = wish.resource_subscriptions.as_ref().map(|wished| {
        let mut uris: Vec<String> = Vec::new();
        for uri in wished {
            if uris.len() < MOST && !uris.contains(uri) {
                uris.push(uri.clone());
            }
        }
        uris
    });
    granted
}

/// Tells a client what it listens to, until one of the two goes.
pub(super) async fn listen(standing: &Standing, context: &SubscriptionContext) -> Result<()> {
    let (limit, sink) = (standing.settings.timeout, context.sink());
    let mut telling: Vec<BoxFuture<'_, ()>> = Vec::new();
    for address in context.accepted().resource_subscriptions.iter().flatten() {
        let outward = uri::outward(standing.workspace.sandbox(), address)?;
        let watching = Watched::expect(standing, &outward, Aspect::Everything);
        let watched = in_time(limit, watching).await?;
        telling.push(repeat(watched, move || updated(sink, address)).boxed());
    }
    if context.accepted().resources_list_changed == Some(true) {
        for watched in listed(standing).await {
            let tell = move || async move { sink.notify_resource_list_changed().await.is_ok() };
            telling.push(repeat(watched, tell).boxed());
        }
    }
    let quiet = telling.is_empty();
    tokio::select! {
        () = context.cancelled() => {}
        () = (standing.until)() => {}
        _ = join_all(telling), if !quiet => {}
    }
    Ok(())
}

async fn updated(sink: &SubscriptionSink, address: &str) -> bool {
    sink.notify_resource_updated(address).await.is_ok()
}

/// Tells of each change, as long as somebody listens.
async fn repeat<Told: Future<Output = bool>>(mut watched: Watched, tell: impl Fn() -> Told) {
    loop {
        watched.changed().await;
        if !tell().await {
            return;
        }
    }
}

/// The directories whose names are listed as resources, as far as they can be watched.
async fn listed(standing: &Standing) -> Vec<Watched> {
    let mut watched = Vec::new();
    for top in resources::tops(standing).into_iter().take(MOST_LISTED) {
        watched.extend(Watched::begin(standing, &top, Aspect::Names).await.ok());
    }
    watched
}

async fn either(work: impl Future<Output = ()>, until: impl Future<Output = ()>) {
    tokio::select! {
        () = work => {}
        () = until => {}
    }
}

/// The same, or a failure if it takes too long.
pub(super) async fn in_time<T>(
    limit: Duration,
    work: impl Future<Output = Result<T>>,
) -> Result<T> {
    tokio::time::timeout(limit, work)
        .await
        .unwrap_or_else(|_| Err(Error::new(ErrorKind::Timeout, "the request took too long")))
}
