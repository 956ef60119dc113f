//! `sandkeep keys`: who may do what on a server.

use anyhow::Result;
use client::{Key, Server};
use engine::{ErrorKind, KeyId};
use serde_json::json;

use crate::command_line::{KeysCommand, KeysFlags, NewKeyFlags};
use crate::failure::OrHint as _;
use crate::remote;
use crate::render::{KeyJson, Output, Rows, show_rows, shown, time};

/// Keys that are asked for at once.
const PAGE: usize = 1000;

/// Runs one key command.
pub(crate) fn run(flags: &KeysFlags) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut out = Output::new(flags.output.style());
        let done = carry_out(flags, &mut out).await;
        // What was done before a failure is still worth knowing.
        out.flush()?;
        remote::advised(done, &flags.server.endpoint, None)
    })
}

async fn carry_out(flags: &KeysFlags, out: &mut Output) -> Result<()> {
    let server = flags.server.server()?;
    let there = |outcome| known_to(outcome, &flags.server.endpoint);
    match &flags.command {
        KeysCommand::Create(new) => create(new, &server, out).await,
        KeysCommand::List => list(&server, out).await,
        KeysCommand::Show { id } => show(&there(server.stat_key(id).await)?, out),
        KeysCommand::Revoke { ids } => {
            for id in ids {
                known_to(server.revoke_key(id).await, &flags.server.endpoint)?;
                revoked(id, out)?;
            }
            Ok(())
        }
    }
}

/// The same outcome; whoever names a key that is not there learns where they are listed.
fn known_to<T>(outcome: engine::Result<T>, endpoint: &str) -> Result<T> {
    match outcome {
        Err(err) if err.kind() == ErrorKind::NotFound => Err(err).or_hint(|| {
            let words =
                format!("see which there are: sandkeep keys list {}", remote::words(endpoint));
            words.trim_end().to_owned()
        }),
        outcome => Ok(outcome?),
    }
}

/// The key on stdout, where a script finds it, and beside it that this was the only time.
#[expect(clippy::print_stderr, reason = "a remark for people goes beside the data")]
async fn create(flags: &NewKeyFlags, server: &Server, out: &mut Output) -> Result<()> {
    let made = server.create_key(&flags.wish()).await?;
    if out.json() {
        return out.value(&KeyJson::new(&made.key).with_secret(made.expose()));
    }
    out.line(made.expose())?;
    out.flush()?;
    eprintln!("keep it: it is shown this once. Its id is {}", made.key.id);
    Ok(())
}

/// Lists the keys, page after page.
async fn list(server: &Server, out: &mut Output) -> Result<()> {
    let (mut after, mut rows) = (None, Rows::default());
    loop {
        let page = server.list_keys(after.as_ref(), PAGE).await?;
        rows.page(&page.keys, out)?;
        match page.next {
            Some(next) => after = Some(next),
            None => return rows.finish(out),
        }
    }
}

fn show(key: &Key, out: &mut Output) -> Result<()> {
    let json = KeyJson::new(key);
    if out.json() {
        return out.value(&json);
    }
    let mut rows = vec![
        ("id", key.id.to_string()),
        ("role", json.role.to_owned()),
        ("sandboxes", json.scope()),
        ("prefix", shown(json.prefix.unwrap_or("/"))),
        ("label", shown(&key.label)),
        ("created", time(key.created)),
        ("created by", key.created_by.to_string()),
    ];
    rows.extend(key.grant.expires.map(|end| ("expires", time(end))));
    show_rows(rows, out)
}

fn revoked(id: &KeyId, out: &mut Output) -> Result<()> {
    out.done(&format!("revoked the key {id}"), &json!({ "id": id.as_str() }))
}
