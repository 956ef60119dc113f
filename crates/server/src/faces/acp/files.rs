//! `_sandboxagent/fs/…`: what `/v1/fs` does, asked for by method.

use axum::body::Bytes;
use futures::{StreamExt as _, stream};
use http::HeaderMap;
use serde::Serialize;
use serde_json::{Value, json};

use super::arguments::Arguments;
use super::base64_text::{self, MOST_BYTES};
use super::rpc::Outcome;
use crate::faces::fs_v1::wire::{
    FsDeleteQuery, FsEntriesQuery, FsMoveRequest, FsPathQuery, FsSessionQuery, FsUploadBatchQuery,
};
use crate::faces::fs_v1::{batch, entries, entry, file, relocate};
use crate::problem::Problem;
use crate::visit::Visit;

/// Where files of any size go, and archives.
const GET_FILE: &str = "GET /v2/fs/file";
const PUT_FILE: &str = "PUT /v2/fs/file";
const UPLOAD: &str = "POST /v2/fs/upload-batch";

pub(super) async fn list(visit: &Visit, mut asked: Arguments) -> Result<Outcome, Problem> {
    let query = FsEntriesQuery {
        path: asked.optional("path")?,
        session_id: asked.session()?,
        limit: asked.number("limit")?,
        after: asked.optional("after")?,
    };
    entries::list(visit, query).await.map(Outcome::Listing)
}

pub(super) async fn stat(visit: &Visit, mut asked: Arguments) -> Result<Outcome, Problem> {
    let (_, stat) = entry::look(visit, &path_of(&mut asked)?).await?;
    Ok(value(&stat))
}

pub(super) async fn make_directory(
    visit: &Visit,
    mut asked: Arguments,
) -> Result<Outcome, Problem> {
    let (made, _) = entry::make_directory(visit, &path_of(&mut asked)?).await?;
    Ok(value(&made))
}

pub(super) async fn relocate(visit: &Visit, mut asked: Arguments) -> Result<Outcome, Problem> {
    let query = FsSessionQuery { session_id: asked.session()? };
    let request = FsMoveRequest {
        from: asked.required("from")?,
        to: asked.required("to")?,
        overwrite: Some(asked.flag("overwrite")?),
    };
    Ok(value(&relocate::relocate(visit, &query, &request).await?))
}

pub(super) async fn delete(visit: &Visit, mut asked: Arguments) -> Result<Outcome, Problem> {
    let FsPathQuery { path, session_id } = path_of(&mut asked)?;
    let recursive = Some(asked.flag("recursive")?);
    let query = FsDeleteQuery { path, session_id, recursive };
    Ok(value(&entry::remove(visit, &query, &HeaderMap::new()).await?))
}

pub(super) async fn read(visit: &Visit, mut asked: Arguments) -> Result<Outcome, Problem> {
    let read = file::gather(visit, &path_of(&mut asked)?, MOST_BYTES).await;
    let (path, bytes) = read.map_err(|problem| match problem.told().is_kind("file_too_large") {
        true => base64_text::too_large(GET_FILE),
        false => problem,
    })?;
    let content = base64_text::encode(&bytes);
    Ok(Outcome::Long(json!({"contentBase64": content, "path": path, "size": bytes.len()})))
}

pub(super) async fn write(visit: &Visit, mut asked: Arguments) -> Result<Outcome, Problem> {
    let query = path_of(&mut asked)?;
    let text = asked.content("contentBase64", "content_base64")?;
    let bytes = base64_text::decode(asked.method(), &text, PUT_FILE)?;
    Ok(value(&file::put(visit, &query, bytes.into()).await?))
}

pub(super) async fn upload(visit: &Visit, mut asked: Arguments) -> Result<Outcome, Problem> {
    let query = FsUploadBatchQuery { path: asked.optional("path")?, session_id: asked.session()? };
    let text = asked.content("contentBase64", "content_base64")?;
    let bytes = Bytes::from(base64_text::decode(asked.method(), &text, UPLOAD)?);
    let archive = stream::iter([Ok(bytes)]).boxed();
    let (answer, _) = batch::unpack(visit, &query, archive).await?;
    Ok(value(&answer))
}

fn path_of(asked: &mut Arguments) -> Result<FsPathQuery, Problem> {
    Ok(FsPathQuery { path: asked.required("path")?, session_id: asked.session()? })
}

/// A result, with its fields in the order of their names.
fn value(result: &impl Serialize) -> Outcome {
    let mut value = serde_json::to_value(result).unwrap_or(Value::Null);
    value.sort_all_objects();
    Outcome::Value(value)
}
