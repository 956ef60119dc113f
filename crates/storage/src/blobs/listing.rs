//! Names in order, page by page.

use object_store::ObjectMeta;
use object_store::list::PaginatedListOptions;

use super::bucket::Bucket;
use super::failure::failed;
use crate::{Error, ErrorKind, Result};

/// How many names one request asks for at most; more are not given.
const PAGE: usize = 1000;

/// At most `limit` names that begin with `prefix`, behind `after`, by their bytes.
///
/// Asks for no more than is wanted. A server that does not know how to begin behind a name (as the
/// emulator of Azure) tells all from the first, which costs requests but gives the same.
pub(super) async fn list(
    bucket: &Bucket,
    prefix: &str,
    after: Option<&str>,
    limit: usize,
) -> Result<Vec<ObjectMeta>> {
    // Where to begin must itself begin with the prefix; not every server takes others.
    let after = after.filter(|after| *after >= prefix);
    if limit == 0 || after.is_some_and(|after| !after.starts_with(prefix)) {
        return Ok(Vec::new());
    }
    let (mut listed, mut next) = (Vec::new(), None);
    loop {
        let options = PaginatedListOptions {
            offset: after.map(str::to_owned),
            // One more, because Azure begins with the name itself.
            max_keys: Some(if next.is_none() { limit.saturating_add(1).min(PAGE) } else { PAGE }),
            page_token: next,
            ..PaginatedListOptions::default()
        };
        let page = bucket.pages.list_paginated(Some(prefix), options).await;
        let page = page.map_err(|err| failed(&err))?;
        let is_behind =
            |found: &ObjectMeta| after.is_none_or(|after| found.location.as_ref() > after);
        listed.extend(page.result.objects.into_iter().filter(is_behind));
        next = page.page_token;
        if next.is_none() || listed.len() >= limit {
            break;
        }
    }
    if after.is_none() && is_name(prefix) && listed.first().is_none_or(|first| !is(first, prefix)) {
        // Azure's driver leaves out the name that is the prefix itself.
        listed.splice(0..0, bucket.look(prefix).await?);
    }
    if !listed.is_sorted_by(|one, two| one.location.as_ref() < two.location.as_ref()) {
        let message = "the bucket does not list its keys in order";
        return Err(Error::new(ErrorKind::Unsafe, message));
    }
    listed.truncate(limit);
    Ok(listed)
}

/// Whether a prefix could be a whole name. No name of ours ends so.
fn is_name(prefix: &str) -> bool {
    !prefix.ends_with(['/', '.'])
}

fn is(found: &ObjectMeta, name: &str) -> bool {
    found.location.as_ref() == name
}
