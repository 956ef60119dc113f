//! `check`: whether a store is whole.

use anyhow::{Result, bail};
use engine::{Problem, SandboxId, Verified};
use serde::Serialize;

use crate::config::StoreUrl;
use crate::failure::OrHint as _;
use crate::progress::Progress;
use crate::render::{Output, counted, shown, size};
use crate::stores;

/// What a check found, as a program reads it.
#[derive(Serialize)]
struct VerifiedJson<'a> {
    sandboxes: u64,
    snapshots: u64,
    objects: u64,
    bytes: u64,
    problems: Vec<ProblemJson<'a>>,
}

#[derive(Serialize)]
struct ProblemJson<'a> {
    sandbox: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    snapshot: Option<&'a str>,
    path: &'a str,
    message: &'a str,
}

/// Checks a store, or one of its sandboxes. Problems are a failure.
pub(super) async fn run(
    url: &StoreUrl,
    sandbox: Option<&SandboxId>,
    out: &mut Output,
) -> Result<()> {
    let store = stores::open(url).await?;
    let progress = Progress::of_work();
    let watch = |so_far: &Verified| progress.tell(|| summary(so_far));
    let verified = match sandbox {
        Some(id) => store.verify_watched(id, watch).await.or_hint(|| stores::which(url))?,
        None => store.verify_all(watch).await?,
    };
    drop(progress);
    if out.json() {
        out.value(&VerifiedJson::new(&verified))?;
    } else {
        report(&verified, out)?;
    }
    out.flush()?;
    match verified.problems.len() as u64 {
        0 => Ok(()),
        problems => bail!("the store is damaged: {}", counted(problems, "problem")),
    }
}

fn summary(so_far: &Verified) -> String {
    let Verified { objects, bytes, problems, .. } = so_far;
    let problems = counted(problems.len() as u64, "problem");
    format!("{}, {}, {problems}", counted(*objects, "object"), size(*bytes))
}

fn report(verified: &Verified, out: &mut Output) -> Result<()> {
    let Verified { sandboxes, snapshots, objects, bytes, problems } = verified;
    problems.iter().try_for_each(|problem| out.line(&line(problem)))?;
    out.line(&format!("sandboxes  {sandboxes}"))?;
    out.line(&format!("snapshots  {snapshots}"))?;
    out.line(&format!("objects    {objects}"))?;
    out.line(&format!("size       {} ({bytes} bytes)", size(*bytes)))?;
    out.line(&format!("problems   {}", problems.len()))
}

fn line(Problem { sandbox, snapshot, path, message }: &Problem) -> String {
    let of = snapshot.as_ref().map(|id| format!(", snapshot {id}")).unwrap_or_default();
    format!("sandbox {sandbox}{of}: {}: {message}", shown(path.as_str()))
}

impl<'a> VerifiedJson<'a> {
    fn new(verified: &'a Verified) -> Self {
        let Verified { sandboxes, snapshots, objects, bytes, ref problems } = *verified;
        let problems = problems.iter().map(ProblemJson::new).collect();
        Self { sandboxes, snapshots, objects, bytes, problems }
    }
}

impl<'a> ProblemJson<'a> {
    fn new(Problem { sandbox, snapshot, path, message }: &'a Problem) -> Self {
        let snapshot = snapshot.as_ref().map(engine::SnapshotId::as_str);
        Self { sandbox: sandbox.as_str(), snapshot, path: path.as_str(), message }
    }
}
