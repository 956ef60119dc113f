//! Many items in few requests.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::{
    AttributeValue, DeleteRequest, KeysAndAttributes, PutRequest, WriteRequest,
};
use futures::stream::{self, TryStreamExt as _};

use super::failure::{failure, unavailable};
use super::layout::{Item, Key};
use super::table::Table;
use crate::{Error, ErrorKind, Result};

/// How many requests are under way at once for one caller.
pub(super) const AT_ONCE: usize = 16;

/// What one request may write: so many items, and so many bytes. The service takes 16 MB, and what
/// is sent smaller is sent side by side.
const WRITES: usize = 25;
const WRITTEN: usize = 2 << 20;

/// A change of one item, whatever is there.
pub(super) enum Change {
    Put(Item),
    Delete(Key),
}

impl Table {
    /// Makes changes in any order. No two may be of the same item.
    pub(super) async fn change_all(&self, changes: Vec<Change>) -> Result<()> {
        let groups = groups(changes)?;
        let requests = groups.into_iter().map(|group| Ok(self.change(group)));
        stream::iter(requests).try_buffer_unordered(AT_ONCE).try_collect().await
    }

    async fn change(&self, mut group: Vec<WriteRequest>) -> Result<()> {
        loop {
            let wanted = group.len();
            let request = self.client.batch_write_item().request_items(&self.name, group);
            let answer = request.send().await.map_err(failure)?;
            let left = answer.unprocessed_items.unwrap_or_default().remove(&self.name);
            group = left.unwrap_or_default();
            if group.is_empty() {
                return Ok(());
            }
            if group.len() >= wanted {
                return Err(unavailable("DynamoDB is busy"));
            }
        }
    }

    /// The items of these keys that there are. At most `together` are asked for by one request, and
    /// no key may be there twice.
    pub(super) async fn get_all(
        &self,
        keys: Vec<Key>,
        together: usize,
    ) -> Result<HashMap<Key, Item>> {
        let groups: Vec<Vec<Key>> = keys.chunks(together).map(<[Key]>::to_vec).collect();
        let requests = groups.into_iter().map(|group| Ok(self.read(group)));
        let found: Vec<Vec<Item>> =
            stream::iter(requests).try_buffer_unordered(AT_ONCE).try_collect().await?;
        found.into_iter().flatten().map(|item| Ok((Key::of(&item)?, item))).collect()
    }

    async fn read(&self, keys: Vec<Key>) -> Result<Vec<Item>> {
        let mut found = Vec::new();
        let mut keys: Vec<Item> = keys.into_iter().map(Key::into_item).collect();
        loop {
            let wanted = keys.len();
            let all = KeysAndAttributes::builder().set_keys(Some(keys)).consistent_read(true);
            let all = all.build().map_err(unbuildable)?;
            let request = self.client.batch_get_item().request_items(&self.name, all);
            let answer = request.send().await.map_err(failure)?;
            found.extend(
                answer.responses.unwrap_or_default().remove(&self.name).unwrap_or_default(),
            );
            // What did not fit into the answer is told, and asked for again.
            let left = answer.unprocessed_keys.unwrap_or_default().remove(&self.name);
            keys = left.map(|left| left.keys).unwrap_or_default();
            if keys.is_empty() {
                return Ok(found);
            }
            if keys.len() >= wanted {
                return Err(unavailable("DynamoDB is busy"));
            }
        }
    }
}

/// The changes in groups that one request takes.
fn groups(changes: Vec<Change>) -> Result<Vec<Vec<WriteRequest>>> {
    let (mut groups, mut group, mut bytes) = (Vec::new(), Vec::new(), 0);
    for change in changes {
        let size = size(&change);
        if group.len() == WRITES || (bytes + size > WRITTEN && !group.is_empty()) {
            groups.push(std::mem::take(&mut group));
            bytes = 0;
        }
        group.push(request(change)?);
        bytes += size;
    }
    if !group.is_empty() {
        groups.push(group);
    }
    Ok(groups)
}

fn request(change: Change) -> Result<WriteRequest> {
    let request = WriteRequest::builder();
    match change {
        Change::Put(item) => {
            let put = PutRequest::builder().set_item(Some(item)).build().map_err(unbuildable)?;
            Ok(request.put_request(put).build())
        }
        Change::Delete(key) => {
            let key = DeleteRequest::builder().set_key(Some(key.into_item()));
            Ok(request.delete_request(key.build().map_err(unbuildable)?).build())
        }
    }
}

/// How many bytes a change carries, besides what is small.
fn size(change: &Change) -> usize {
    let bytes = |value: &AttributeValue| value.as_b().map_or(0, |bytes| bytes.as_ref().len());
    match change {
        Change::Put(item) => item.values().map(bytes).sum(),
        Change::Delete(_) => 0,
    }
}

fn unbuildable(err: aws_sdk_dynamodb::error::BuildError) -> Error {
    Error::new(ErrorKind::Io, "the request to DynamoDB cannot be made").because(err)
}
