//! `exists` and `file_info`.

use engine::{Entry, EntryKind, ErrorKind, Links, SandboxPath};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::call::Call;
use crate::failure::Failure;
use crate::outcome::Done;
use crate::reach::Manner;
use crate::shown::{Kind, size, time};
use crate::tool::{Effect, Tool};

/// Tell whether a file, directory or link is there.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Exists {
    /// Where.
    path: String,
}

/// Whether something is there.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExistsOutput {
    /// Where.
    path: String,
    /// Whether something is there.
    exists: bool,
    /// What it is; null if nothing is there.
    r#type: Option<Kind>,
    /// What a link leads to; null for a link that leads nowhere, and for everything else.
    leads_to: Option<Kind>,
}

/// Tell what is known of a file, directory or link: type, length, permissions, times, version.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct FileInfo {
    /// What is asked about.
    path: String,
}

/// What is known of it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FileInfoOutput {
    /// Where it is.
    path: String,
    /// What it is called; `/` for the root.
    name: String,
    /// What it is.
    r#type: Kind,
    /// How many bytes a file has; null for everything else.
    size: Option<u64>,
    /// Permissions as `ls -l` shows them, such as `-rw-r--r--`; null where there are none.
    permissions: Option<String>,
    /// When it was made (RFC 3339); null where nobody knows.
    created_at: Option<String>,
    /// When its content last changed (RFC 3339); null where nobody knows.
    modified_at: Option<String>,
    /// A token of its state: another one means another content.
    version: Option<String>,
    /// What a link holds; null for everything else.
    target: Option<String>,
    /// What a link leads to; null for a link that leads nowhere, and for everything else.
    leads_to: Option<Kind>,
}

impl Tool for Exists {
    const NAME: &'static str = "exists";
    const TITLE: &'static str = "Check whether a path exists";
    const EFFECT: Effect = Effect::Looks;
    type Output = ExistsOutput;

    async fn run(self, call: &Call) -> Result<Done<ExistsOutput>, Failure> {
        let path = call.path(&self.path)?;
        let shown = call.shown(&path);
        match call.at(&path, Manner::Keep)?.stat(&path, Links::Keep).await {
            Ok(entry) => {
                let kind = Kind::from(entry.kind);
                let leads_to = leads_to(call, &entry, &path).await;
                let text = format!("{shown} is a {}", kind.word());
                let output =
                    ExistsOutput { path: shown, exists: true, r#type: Some(kind), leads_to };
                Ok(Done::new(output, text))
            }
            // Nothing can be beneath a file.
            Err(err) if matches!(err.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                let text = format!("nothing is at {shown}");
                let output =
                    ExistsOutput { path: shown, exists: false, r#type: None, leads_to: None };
                Ok(Done::new(output, text))
            }
            Err(err) => Err(err.into()),
        }
    }
}

impl Tool for FileInfo {
    const NAME: &'static str = "file_info";
    const TITLE: &'static str = "Describe a file or directory";
    const EFFECT: Effect = Effect::Looks;
    type Output = FileInfoOutput;

    async fn run(self, call: &Call) -> Result<Done<FileInfoOutput>, Failure> {
        let path = call.path(&self.path)?;
        let held = call.at(&path, Manner::Keep)?;
        let entry = held.stat(&path, Links::Keep).await?;
        let target = match entry.kind {
            EntryKind::Symlink => Some(held.read_link(&path).await?),
            EntryKind::File | EntryKind::Directory | EntryKind::Special => None,
        };
        let output = FileInfoOutput {
            path: call.shown(&path),
            name: if path.is_root() { "/" } else { path.name() }.to_owned(),
            r#type: entry.kind.into(),
            size: size(&entry),
            permissions: entry.mode.map(|mode| permissions(entry.kind, mode)),
            created_at: entry.created.and_then(time),
            modified_at: entry.modified.and_then(time),
            version: entry.version.as_ref().map(ToString::to_string),
            target,
            leads_to: leads_to(call, &entry, &path).await,
        };
        let text = in_words(&output);
        Ok(Done::new(output, text))
    }
}

/// What a link leads to, as far as the caller may see it.
async fn leads_to(call: &Call, entry: &Entry, path: &SandboxPath) -> Option<Kind> {
    if entry.kind != EntryKind::Symlink {
        return None;
    }
    let held = call.at(path, Manner::Follow).ok()?;
    held.stat(path, Links::Follow).await.ok().map(|entry| entry.kind.into())
}

fn permissions(kind: EntryKind, mode: u32) -> String {
    let first = match kind {
        EntryKind::File => '-',
        EntryKind::Directory => 'd',
        EntryKind::Symlink => 'l',
        EntryKind::Special => '?',
    };
    let letters = "rwxrwxrwx".chars().enumerate();
    let bits =
        letters.map(|(place, letter)| if mode & (0o400 >> place) == 0 { '-' } else { letter });
    std::iter::once(first).chain(bits).collect()
}

fn in_words(info: &FileInfoOutput) -> String {
    let size = info.size.map(|size| format!("{size} bytes"));
    let modified = info.modified_at.as_ref().map(|time| format!("modified {time}"));
    let created = info.created_at.as_ref().map(|time| format!("created {time}"));
    let target = info.target.as_ref().map(|target| format!("-> {target}"));
    let facts = [
        Some(format!("{}: {}", info.path, info.r#type.word())),
        target,
        size,
        info.permissions.clone(),
        modified,
        created,
        info.version.as_ref().map(|version| format!("version {version}")),
    ];
    facts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}
