//! How much of the server one key may take.

use std::collections::HashMap;
use std::num::NonZero;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::MatchedPath;
use axum::response::Response;
use engine::Actor;
use governor::clock::{Clock as _, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use http::header::RETRY_AFTER;
use http::request::Parts;
use http::{HeaderValue, StatusCode};
use http_body_util::BodyExt as _;
use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::app::App;
use crate::caller::Caller;
use crate::faces;
use crate::problem::{Class, Problem};

/// When so many keys are remembered, those that are not used are forgotten.
const MANY: usize = 4096;

/// What one key may take. Whoever has the server's own token, or none, counts as one key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PerKey {
    /// How many requests a second, and as many at once after a pause; any number without it.
    pub requests: Option<NonZero<u32>>,
    /// How many bodies of files and archives at a time; any number without it.
    pub transfers: Option<NonZero<usize>>,
}

/// Who took how much.
#[derive(Debug)]
pub(crate) struct Quotas {
    requests: Option<DefaultKeyedRateLimiter<Option<Actor>>>,
    transfers: Option<Transfers>,
}

#[derive(Debug)]
struct Transfers {
    most: usize,
    under_way: Mutex<HashMap<Option<Actor>, Arc<Semaphore>>>,
}

impl Quotas {
    pub(crate) fn new(per_key: PerKey) -> Self {
        let PerKey { requests, transfers } = per_key;
        let requests = requests.map(|rate| RateLimiter::keyed(Quota::per_second(rate)));
        let transfers =
            transfers.map(|most| Transfers { most: most.get(), under_way: Mutex::default() });
        Self { requests, transfers }
    }

    /// Counts a request; after how long to try again if there are too many.
    fn take_request(&self, actor: Option<Actor>) -> Result<(), Duration> {
        let Some(limiter) = &self.requests else { return Ok(()) };
        if limiter.len() > MANY {
            limiter.retain_recent();
        }
        let counted = limiter.check_key(&actor);
        counted.map_err(|early| early.wait_time_from(DefaultClock::default().now()))
    }

    /// A place for a body, if that is limited. None if all are taken.
    fn take_place(&self, actor: Option<Actor>) -> Option<Option<OwnedSemaphorePermit>> {
        let Some(Transfers { most, under_way }) = &self.transfers else { return Some(None) };
        let mut under_way = under_way.lock();
        if under_way.len() > MANY {
            under_way.retain(|_, places| places.available_permits() < *most);
        }
        let places = under_way.entry(actor).or_insert_with(|| Arc::new(Semaphore::new(*most)));
        Arc::clone(places).try_acquire_owned().ok().map(Some)
    }
}

/// Counts what is asked beside the first thing in one request, where there may be more than one.
pub(crate) fn heed_another(app: &App, actor: Option<Actor>) -> Result<(), Problem> {
    let counted = app.quotas.take_request(actor);
    counted.map_err(|wait| too_many("the key sends requests too fast", wait))
}

/// What a request takes of its key's share, as long as it lasts.
#[derive(Debug)]
pub(crate) struct Share(Option<OwnedSemaphorePermit>);

/// Refuses whoever asks for too much at once.
pub(crate) fn heed(app: &App, parts: &Parts) -> Result<Share, Problem> {
    let Some(actor) = parts.extensions.get::<Caller>().map(|caller| caller.actor) else {
        return Ok(Share(None));
    };
    heed_another(app, actor)?;
    let route = parts.extensions.get::<MatchedPath>();
    if !route.is_some_and(|route| faces::is_transfer(route.as_str())) {
        return Ok(Share(None));
    }
    app.quotas.take_place(actor).map(Share).ok_or_else(|| {
        let message = "the key has as many bodies under way as it may";
        too_many(message, Duration::from_secs(1))
    })
}

impl Share {
    /// The answer, whose body counts until its last byte was sent.
    pub(crate) fn held_by(self, response: Response) -> Response {
        match self.0 {
            None => response,
            Some(place) => response.map(|body| {
                Body::new(body.map_frame(move |frame| {
                    let _held = &place;
                    frame
                }))
            }),
        }
    }
}

fn too_many(message: &str, wait: Duration) -> Problem {
    let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
    Problem::new(StatusCode::TOO_MANY_REQUESTS, Class::LIMIT_EXCEEDED, message)
        .message(message)
        .kind("too_many_requests")
        .hint("wait as long as retry-after says")
        .header(RETRY_AFTER, HeaderValue::from(seconds.max(1)))
}
