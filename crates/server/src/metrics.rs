//! What operators measure, as Prometheus reads it.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::extract::MatchedPath;
use engine::LostEvents;
use http::Method;
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue, LabelValueEncoder};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

/// The media type of [`Metrics::render`].
pub(crate) const MEDIA_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// From a cached read to a large transfer, in seconds.
const BUCKETS: [f64; 14] =
    [0.0001, 0.000_25, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.25, 1.0, 5.0, 30.0, 120.0];

/// The counters of one server.
pub(crate) struct Metrics {
    registry: Registry,
    requests: Family<Outcome, Counter>,
    seconds: Family<Target, Histogram>,
    received: Counter,
    sent: Counter,
    /// How many clients are connected.
    pub(crate) connections: Gauge,
    /// How many connections were turned away because there were too many.
    pub(crate) refused: Counter,
    /// How many that were never let in lost their place to another.
    pub(crate) evicted: Counter,
    /// How many clients of agents are connected.
    agents: Gauge,
    /// How many events of the audit could not be written, by where to.
    lost: Family<Destination, Counter>,
}

/// A request that ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Finished<'a> {
    pub(crate) method: &'a Method,
    pub(crate) route: &'a Route,
    /// None if the client left before there was one.
    pub(crate) status: Option<u16>,
    pub(crate) took: Duration,
    pub(crate) received: u64,
    pub(crate) sent: u64,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Outcome {
    method: &'static str,
    route: Route,
    status: Status,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Destination {
    to: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Target {
    method: &'static str,
    route: Route,
}

/// The route of a request, shared with the router: counting allocates nothing.
#[derive(Clone, Debug)]
pub(crate) struct Route(pub(crate) Option<MatchedPath>);

impl Route {
    pub(crate) fn as_str(&self) -> &str {
        self.0.as_ref().map_or("unmatched", MatchedPath::as_str)
    }
}

impl PartialEq for Route {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Route {}

impl Hash for Route {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

impl EncodeLabelValue for Route {
    fn encode(&self, encoder: &mut LabelValueEncoder<'_>) -> fmt::Result {
        self.as_str().encode(encoder)
    }
}

#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq)]
struct Status(Option<u16>);

impl EncodeLabelValue for Status {
    fn encode(&self, encoder: &mut LabelValueEncoder<'_>) -> fmt::Result {
        match self.0 {
            Some(code) => u32::from(code).encode(encoder),
            None => "none".encode(encoder),
        }
    }
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let mut registry = Registry::with_prefix("sandkeep_http");
        let requests = Family::default();
        let seconds = Family::new_with_constructor(buckets as fn() -> Histogram);
        let (received, sent) = <(Counter, Counter)>::default();
        let (refused, evicted) = <(Counter, Counter)>::default();
        let connections = Gauge::default();
        registry.register("requests", "Requests that ended", requests.clone());
        let help = "From the headers of a request to the end of its answer";
        registry.register_with_unit("request", help, Unit::Seconds, seconds.clone());
        let help = "Received in bodies of requests";
        registry.register_with_unit("received", help, Unit::Bytes, received.clone());
        registry.register_with_unit("sent", "Sent in bodies", Unit::Bytes, sent.clone());
        registry.register("connections", "Clients that are connected", connections.clone());
        registry.register("refused_connections", "Clients turned away", refused.clone());
        let help = "Clients without a token that made room for others";
        registry.register("evicted_connections", help, evicted.clone());
        let lost = Family::<Destination, Counter>::default();
        let help = "Events of the audit that could not be written";
        registry.register("audit_events_lost", help, lost.clone());
        let agents = Gauge::default();
        registry.register("agent_connections", "Clients of agents by /v2", agents.clone());
        Self {
            registry,
            requests,
            seconds,
            received,
            sent,
            connections,
            refused,
            evicted,
            agents,
            lost,
        }
    }

    /// Says how many clients of agents are connected by now.
    pub(crate) fn tell_agents(&self, count: usize) {
        self.agents.set(i64::try_from(count).unwrap_or(i64::MAX));
    }

    /// Says how many events of the audit were lost by now.
    pub(crate) fn tell_lost(&self, lost: LostEvents) {
        let LostEvents { store, sink } = lost;
        for (to, count) in [("store", store), ("sink", sink)] {
            let counter = self.lost.get_or_create(&Destination { to });
            counter.inner().store(count, Ordering::Relaxed);
        }
    }

    /// Counts a request that ended.
    pub(crate) fn count(&self, finished: Finished<'_>) {
        let method = known(finished.method);
        let (route, status) = (finished.route.clone(), Status(finished.status));
        self.seconds
            .get_or_create(&Target { method, route: route.clone() })
            .observe(finished.took.as_secs_f64());
        self.requests.get_or_create(&Outcome { method, route, status }).inc();
        self.received.inc_by(finished.received);
        self.sent.inc_by(finished.sent);
    }

    /// All of it, as text.
    pub(crate) fn render(&self) -> Result<String, fmt::Error> {
        let mut text = String::new();
        encode(&mut text, &self.registry)?;
        Ok(text)
    }
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}

fn buckets() -> Histogram {
    Histogram::new(BUCKETS)
}

// A client may invent methods without end; each would be a series for ever.
fn known(method: &Method) -> &'static str {
    match method.as_str() {
        "GET" => "GET",
        "HEAD" => "HEAD",
        "PUT" => "PUT",
        "POST" => "POST",
        "PATCH" => "PATCH",
        "DELETE" => "DELETE",
        "OPTIONS" => "OPTIONS",
        _ => "other",
    }
}
