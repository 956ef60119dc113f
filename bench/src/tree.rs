//! Trees that scenarios need.

use anyhow::Result;
use bytes::Bytes;
use engine::{
    DotDot, FileSystem as _, If, Limits, Parents, SandboxId, SandboxPath, Step, Store, VirtualFs,
    WriteMode,
};

/// How many files a directory of a large tree has.
pub(crate) const IN_EACH: usize = 1000;
/// How many files are made in one batch.
const AT_ONCE: usize = 2000;

/// A store at a URL.
pub(crate) async fn store(url: &str) -> Result<Store> {
    Ok(Store::open(url).await?)
}

/// A new sandbox.
pub(crate) async fn sandbox(store: &Store, id: &str) -> Result<VirtualFs> {
    Ok(store.create(&SandboxId::parse(id)?, Limits::default()).await?)
}

/// Fills a directory with files in directories of their own.
pub(crate) async fn fill(
    files: &VirtualFs,
    dir: &str,
    count: usize,
    content: &Bytes,
) -> Result<()> {
    let mut steps = Vec::with_capacity(AT_ONCE);
    for index in 0..count {
        let file = format!("{dir}/part-{:04}/file-{index:07}", index / IN_EACH);
        steps.push(written(&file, content)?);
        if steps.len() == AT_ONCE || index + 1 == count {
            files.batch(std::mem::take(&mut steps)).await?;
        }
    }
    Ok(())
}

/// A step that writes a whole file.
pub(crate) fn written(file: &str, content: &Bytes) -> Result<Step> {
    Ok(Step::Write {
        file: path(file)?,
        content: content.clone(),
        mode: WriteMode::Replace,
        parents: Parents::Create,
        expected: If::Always,
    })
}

/// A path from its text.
pub(crate) fn path(text: &str) -> Result<SandboxPath> {
    Ok(SandboxPath::parse(text, DotDot::Refuse)?)
}

/// A path with everything above it, as a URL of the embedded store.
pub(crate) fn file_url(dir: &std::path::Path) -> String {
    format!("file:{}", dir.display())
}
