//! The sandboxes of a server, listed or alone.

use std::collections::BTreeMap;

use comfy_table::Cell;
use engine::{AttachTarget, Registered, SandboxKind, Usage};
use serde::Serialize;

use super::rows::Listed;
use super::{LimitsJson, UsageJson, exact_time, shown, time};

/// A sandbox of a server as a program reads it.
#[derive(Serialize)]
pub(crate) struct RegisteredJson<'a> {
    sandbox: &'a str,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    root: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    attach: Option<AttachJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<&'a str>,
    prefix: &'a str,
    limits: LimitsJson,
    labels: &'a BTreeMap<String, String>,
    created: Option<String>,
    expires: Option<String>,
    main: bool,
    #[serde(flatten)]
    usage: Option<UsageJson>,
}

/// Whose tree a sandbox is attached to.
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum AttachJson<'a> {
    Container(&'a str),
    Pid(u32),
}

impl<'a> AttachJson<'a> {
    fn new(target: &'a AttachTarget) -> Self {
        match target {
            AttachTarget::Container(name) => Self::Container(name.as_str()),
            AttachTarget::Process { pid, .. } => Self::Pid(*pid),
        }
    }
}

impl<'a> RegisteredJson<'a> {
    /// What is known of a sandbox.
    pub(crate) fn new(known: &'a Registered) -> Self {
        let root = match &known.kind {
            SandboxKind::Virtual => None,
            SandboxKind::Host { root, .. } => Some(root.as_str()).filter(|root| !root.is_empty()),
            SandboxKind::Attached { .. } => None,
        };
        let (attach, path) = match &known.kind {
            SandboxKind::Attached { target, path } => {
                (Some(AttachJson::new(target)), Some(path.as_str()))
            }
            SandboxKind::Virtual | SandboxKind::Host { .. } => (None, None),
        };
        Self {
            sandbox: known.id.as_str(),
            kind: kind(known),
            root,
            attach,
            path,
            prefix: known.prefix.as_str(),
            limits: LimitsJson::new(known.limits),
            labels: &known.labels,
            created: exact_time(known.created),
            expires: known.expires.and_then(exact_time),
            main: known.is_main,
            usage: None,
        }
    }

    /// The same, and how much it holds.
    pub(crate) fn holding(mut self, usage: Usage) -> Self {
        self.usage = Some(UsageJson::new(usage));
        self
    }
}

impl Listed for Registered {
    const TITLES: &'static [&'static str] = &["NAME", "KIND", "CREATED", "EXPIRES", "LABELS"];

    fn cells(&self) -> Vec<Cell> {
        let labels: Vec<String> =
            self.labels.iter().map(|(key, value)| shown(&format!("{key}={value}"))).collect();
        vec![
            Cell::new(&self.id),
            Cell::new(kind(self)),
            Cell::new(time(self.created)),
            Cell::new(self.expires.map_or_else(|| "-".into(), time)),
            Cell::new(labels.join(" ")),
        ]
    }

    fn json(&self) -> impl Serialize {
        RegisteredJson::new(self)
    }
}

fn kind(known: &Registered) -> &'static str {
    match known.kind {
        SandboxKind::Virtual => "virtual",
        SandboxKind::Host { .. } | SandboxKind::Attached { .. } => "host",
    }
}
