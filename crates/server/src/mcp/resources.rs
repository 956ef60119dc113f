//! Files and directories as resources.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use bytes::BytesMut;
use engine::{
    Entry, EntryKind, Error, ErrorKind, Links, Page, Result, SandboxPath, Span, Workspace,
};
use futures::TryStreamExt as _;
use rmcp::model::{
    ListResourceTemplatesResult, ListResourcesResult, ReadResourceResult, Resource,
    ResourceContents, ResourceTemplate,
};
use serde_json::{Value, json};

use super::standing::Standing;
use super::subscriptions::in_time;
use super::uri;

/// How many resources are listed at once.
const PAGE: usize = 200;
/// What a directory is called where files have a media type.
const DIRECTORY: &str = "inode/directory";

/// The paths under which resources are listed: those that are allowed, or where relative paths begin.
pub(super) fn tops(standing: &Standing) -> Vec<String> {
    let (sandbox, settings) = (standing.workspace.sandbox(), &standing.settings);
    match settings.allowed_paths.as_slice() {
        [] => vec![sandbox.outward(&settings.begin_in(sandbox))],
        allowed => allowed.iter().map(|path| sandbox.outward(path)).collect(),
    }
}

/// Some resources: the tops, each with the names in it. Everything beneath is found by the template.
pub(super) async fn list(standing: &Standing, cursor: Option<&str>) -> Result<ListResourcesResult> {
    let place = cursor.map_or_else(|| Ok(Place::default()), Place::parse)?;
    in_time(standing.settings.timeout, page(standing, place)).await
}

/// Where a listing goes on: at which top, and behind which name in it.
#[derive(Debug, Default)]
struct Place {
    top: usize,
    after: Option<String>,
}

impl Place {
    fn parse(cursor: &str) -> Result<Self> {
        let (top, after) = cursor.split_once('/').unwrap_or((cursor, ""));
        let after = (!after.is_empty()).then(|| after.to_owned());
        let unknown =
            |_| Error::new(ErrorKind::InvalidArgument, "the cursor is none of this server");
        Ok(Self { top: top.parse().map_err(unknown)?, after })
    }

    /// The cursor. A name holds no slash.
    fn cursor(&self) -> String {
        format!("{}/{}", self.top, self.after.as_deref().unwrap_or_default())
    }
}

async fn page(standing: &Standing, mut place: Place) -> Result<ListResourcesResult> {
    let tops = tops(standing);
    let mut found = Vec::new();
    while let Some(top) = tops.get(place.top) {
        let room = PAGE - found.len();
        let (more, next) = names(standing, top, place.after.take(), room).await?;
        found.extend(more);
        match next {
            Some(after) => place.after = Some(after),
            None => place.top += 1,
        }
        if found.len() >= PAGE || place.after.is_some() {
            break;
        }
    }
    let mut listed = ListResourcesResult::with_all_items(found);
    listed.next_cursor = (place.top < tops.len()).then(|| place.cursor());
    Ok(listed)
}

/// At most so many resources of a top, and behind which name there are more.
async fn names(
    standing: &Standing,
    top: &str,
    after: Option<String>,
    room: usize,
) -> Result<(Vec<Resource>, Option<String>)> {
    let call = standing.call();
    let (workspace, path) = call.look_at(top)?;
    let mut found = Vec::new();
    if after.is_none() {
        // An allowed path may not be there, yet or any more.
        let Ok(entry) = workspace.stat(&path, Links::Follow).await else {
            return Ok((found, None));
        };
        let is_directory = entry.kind == EntryKind::Directory;
        found.push(resource(&workspace, &entry));
        if !is_directory {
            return Ok((found, None));
        }
    }
    let limit = room.saturating_sub(found.len()).max(1);
    let entries = workspace.list(&path, Page { after, limit: Some(limit) }).await?;
    let entries: Vec<Entry> = entries.try_collect().await?;
    let is_full = entries.len() >= limit;
    let last = entries.last().map(|entry| entry.path.name().to_owned());
    let shown = entries.iter().filter(|entry| call.shows(&entry.path));
    found.extend(shown.map(|entry| resource(&workspace, entry)));
    Ok((found, last.filter(|_| is_full)))
}

fn resource(workspace: &Workspace, entry: &Entry) -> Resource {
    let sandbox = workspace.sandbox();
    let address = uri::of(sandbox, &entry.path);
    let name = match entry.path.is_root() {
        true => sandbox.outward(&entry.path),
        false => entry.path.name().to_owned(),
    };
    let resource = Resource::new(address, name);
    match entry.kind {
        EntryKind::Directory => resource.with_mime_type(DIRECTORY),
        EntryKind::File => match media_type(&entry.path) {
            Some(media) => resource.with_mime_type(media).with_size(entry.size),
            None => resource.with_size(entry.size),
        },
        EntryKind::Symlink | EntryKind::Special => resource,
    }
}

/// What a file's name says that it is.
fn media_type(path: &SandboxPath) -> Option<&'static str> {
    mime_guess::from_path(path.name()).first_raw()
}

/// The template of all resources.
pub(super) fn templates(standing: &Standing) -> ListResourceTemplatesResult {
    let sandbox = standing.workspace.sandbox();
    let template = ResourceTemplate::new(uri::template(sandbox), "file")
        .with_title("A file or directory")
        .with_description(format!(
            "What is at an absolute path of the sandbox `{}`, without its leading slash. A directory \
             is a JSON list of its entries.",
            sandbox.id
        ));
    ListResourceTemplatesResult::with_all_items(vec![template])
}

/// What is in a resource: the text or the bytes of a file, the entries of a directory.
pub(super) async fn read(standing: &Standing, address: &str) -> Result<ReadResourceResult> {
    let outward = uri::outward(standing.workspace.sandbox(), address)?;
    let reading = async {
        let (workspace, path) = standing.call().look_at(&outward)?;
        let entry = workspace.stat(&path, Links::Follow).await?;
        match entry.kind {
            EntryKind::Directory => directory(standing, &workspace, &path, address).await,
            EntryKind::File | EntryKind::Symlink | EntryKind::Special => {
                file(standing, &workspace, &path, address).await
            }
        }
    };
    let outcome = in_time(standing.settings.timeout, reading).await;
    if let Err(err) = &outcome {
        standing.note_refusal("read", &outward, err).await;
    }
    outcome.map(|content| ReadResourceResult::new(vec![content]))
}

async fn file(
    standing: &Standing,
    workspace: &Workspace,
    path: &SandboxPath,
    address: &str,
) -> Result<ResourceContents> {
    let most = standing.settings.max_file_size;
    let mut content = workspace.read(path, Span::Whole).await?;
    let too_long = |size: u64| {
        let message = format!(
            "the file has {size} bytes, and a resource is read whole up to {most}; read a part of it \
             with the tool read_file"
        );
        Error::new(ErrorKind::FileTooLarge, message).on(path)
    };
    if content.entry.size > most {
        return Err(too_long(content.entry.size));
    }
    let mut bytes = BytesMut::new();
    while let Some(piece) = content.body.try_next().await? {
        bytes.extend_from_slice(&piece);
        // It may grow while it is read.
        let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        if length > most {
            return Err(too_long(length));
        }
    }
    let media = media_type(path);
    Ok(match std::str::from_utf8(&bytes) {
        Ok(text) => {
            ResourceContents::text(text, address).with_mime_type(media.unwrap_or("text/plain"))
        }
        Err(_) => ResourceContents::blob(BASE64_STANDARD.encode(&bytes), address)
            .with_mime_type(media.unwrap_or("application/octet-stream")),
    })
}

async fn directory(
    standing: &Standing,
    workspace: &Workspace,
    path: &SandboxPath,
    address: &str,
) -> Result<ResourceContents> {
    let most = standing.settings.max_entries;
    let page = Page { after: None, limit: Some(most.saturating_add(1)) };
    let entries: Vec<Entry> = workspace.list(path, page).await?.try_collect().await?;
    let call = standing.call();
    let shown = entries.iter().take(most).filter(|entry| call.shows(&entry.path));
    let sandbox = workspace.sandbox();
    let listed: Vec<Value> = shown
        .map(|entry| {
            let size = (entry.kind == EntryKind::File).then_some(entry.size);
            json!({
                "name": entry.path.name(),
                "type": kind(entry.kind),
                "size": size,
                "uri": uri::of(sandbox, &entry.path),
            })
        })
        .collect();
    let whole = json!({
        "path": sandbox.outward(path),
        "entries": listed,
        "truncated": entries.len() > most,
    });
    Ok(ResourceContents::text(whole.to_string(), address).with_mime_type("application/json"))
}

/// What an entry is, in one word.
fn kind(kind: EntryKind) -> &'static str {
    match kind {
        EntryKind::File => "file",
        EntryKind::Directory => "directory",
        EntryKind::Symlink => "symlink",
        EntryKind::Special => "other",
    }
}
