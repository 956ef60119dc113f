//! The sandboxes of a server.

use anyhow::Result;
use client::Server;
use engine::{FileSystem as _, Limits, Registered, SandboxId, SandboxKind};

use crate::command_line::{EndpointFlags, NewSandboxFlags, SandboxCommand};
use crate::render::{Output, RegisteredJson, Rows, counted, show_rows, shown, time};
use crate::{ask, stats};

/// Sandboxes that are asked for at once.
const PAGE: usize = 1000;

/// Runs one command.
pub(super) async fn carry_out(
    command: &SandboxCommand,
    server: &EndpointFlags,
    out: &mut Output,
) -> Result<()> {
    let server = server.server()?;
    match command {
        SandboxCommand::Create(flags) => create(flags, &server, out).await,
        SandboxCommand::List { labels } => list(labels, &server, out).await,
        SandboxCommand::Show { name } => show(name, &server, out).await,
        SandboxCommand::Delete { names, yes } => delete(names, *yes, &server, out).await,
    }
}

async fn create(flags: &NewSandboxFlags, server: &Server, out: &mut Output) -> Result<()> {
    let made = server.create(flags.wish(limits(flags, server).await?)?).await?;
    if out.json() {
        return out.value(&RegisteredJson::new(&made));
    }
    // On stdout, where a script finds a name that was made up.
    out.line(made.id.as_str())
}

/// The limits of a new sandbox, if anything is said of them: the rest is as it would be without.
async fn limits(flags: &NewSandboxFlags, server: &Server) -> Result<Option<Limits>> {
    if flags.limits.is_silent() {
        return Ok(None);
    }
    let usual = match &flags.from {
        Some((of, _)) => server.stat(of).await?.limits,
        None => Limits::default(),
    };
    Ok(Some(flags.limits.wish().over(usual)))
}

/// Lists the sandboxes, page after page.
async fn list(
    labels: &[(String, Option<String>)],
    server: &Server,
    out: &mut Output,
) -> Result<()> {
    let labels = labels.iter().cloned().collect();
    let (mut after, mut rows) = (None, Rows::default());
    loop {
        let page = server.list(after.as_ref(), PAGE, &labels).await?;
        rows.page(&page.sandboxes, out)?;
        match page.next {
            Some(next) => after = Some(next),
            None => return rows.finish(out),
        }
    }
}

async fn show(id: &SandboxId, server: &Server, out: &mut Output) -> Result<()> {
    let known = server.stat(id).await?;
    let usage = server.sandbox(id).usage().await?;
    if out.json() {
        return out.value(&RegisteredJson::new(&known).holding(usage));
    }
    let rows = described(&known).into_iter().chain(stats::rows(usage, Some(known.limits)));
    show_rows(rows, out)
}

fn described(known: &Registered) -> Vec<(&'static str, String)> {
    let (kind, root) = match &known.kind {
        SandboxKind::Virtual => ("virtual", None),
        SandboxKind::Host { root, .. } => ("host", Some(root).filter(|root| !root.is_empty())),
        SandboxKind::Attached { .. } => ("host", None),
    };
    let mut rows = vec![("name", known.id.to_string()), ("kind", kind.to_owned())];
    rows.extend(root.map(|root| ("root", shown(root))));
    if let SandboxKind::Attached { target, path } = &known.kind {
        rows.push(("attached", format!("{target}, {}", shown(path.as_str()))));
    }
    rows.push(("prefix", shown(known.prefix.as_str())));
    rows.push(("created", time(known.created)));
    rows.extend(known.expires.map(|end| ("expires", time(end))));
    let label = |(key, value): (&String, &String)| ("label", shown(&format!("{key}={value}")));
    rows.extend(known.labels.iter().map(label));
    rows
}

/// Takes sandboxes away, one after the other; the first failure ends it.
async fn delete(ids: &[SandboxId], sure: bool, server: &Server, out: &mut Output) -> Result<()> {
    for id in ids {
        if !sure && ask::somebody_is_there() {
            let files = counted(server.sandbox(id).usage().await?.files, "file");
            ask::insist(&super::warning(id, &files))?;
        }
        server.remove(id).await?;
        super::gone(id, out)?;
    }
    Ok(())
}
