//! The sandboxes as a fleet finds them.

use engine::{FileSystem as _, If, Parents, Result, Step, Store, WriteMode};
use futures::{StreamExt as _, TryStreamExt as _, stream};

use crate::outfit::{COLD, at, counter, outfit, pair, sandbox_id, token};

/// How many sandboxes are made at a time.
const AT_ONCE: usize = 8;

/// Makes all sandboxes in a new store.
pub(crate) async fn furnish(store: &Store) -> Result<()> {
    let sandboxes = stream::iter((0..=COLD).map(|sandbox| furnish_one(store, sandbox)));
    sandboxes.buffer_unordered(AT_ONCE).try_collect().await
}

async fn furnish_one(store: &Store, sandbox: u32) -> Result<()> {
    let outfit = outfit(sandbox);
    let files = store.create(&sandbox_id(sandbox), outfit.limits).await?;
    let counters = (0..outfit.counters).map(|number| put(&counter(number), "0 start"));
    let pairs = (0..outfit.pairs).flat_map(pair).map(|side| put(&side, "start"));
    let tokens = (0..outfit.tokens).map(|name| put(&token(name, 0), &format!("token {name}")));
    files.batch(counters.chain(pairs).chain(tokens).collect()).await.map(drop)
}

/// Puts a whole file in place.
pub(crate) fn put(file: &str, text: &str) -> Step {
    let (mode, parents, expected) = (WriteMode::Replace, Parents::Create, If::Always);
    Step::Write { file: at(file), content: text.to_owned().into(), mode, parents, expected }
}
