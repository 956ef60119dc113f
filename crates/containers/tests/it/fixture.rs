//! A tree of a container, and short words for what tests do with it.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use engine::{
    AttachTarget, AttachedFs, AttachedOptions, ByteStream, ContainerName, DotDot, Durability,
    Error, FileSystem, If, Limits, Page, Parents, Result, SandboxPath, Span, WriteMode,
    WriteOptions,
};
use futures::{StreamExt as _, TryStreamExt as _, stream};
use sandkeep_containers::Sockets;

pub(crate) const OPTIONS: AttachedOptions = AttachedOptions {
    limits: Limits { file_size: None, total_size: None, nodes: None },
    durability: Durability::Relaxed,
};

pub(crate) fn path(text: &str) -> SandboxPath {
    SandboxPath::parse(text, DotDot::Refuse).unwrap()
}

/// The tree at a path of a container.
pub(crate) fn container(socket: &Path, name: &str, at: &str) -> AttachedFs {
    let target = AttachTarget::Container(ContainerName::parse(name).unwrap());
    AttachedFs::new(target, path(at), OPTIONS, Some(Arc::new(Sockets::at(socket)))).unwrap()
}

/// The tree at a path of a process.
pub(crate) fn process(pid: u32, at: &str) -> AttachedFs {
    let target = AttachTarget::Process { pid, birth: None };
    AttachedFs::new(target, path(at), OPTIONS, None).unwrap()
}

pub(crate) async fn read(files: &dyn FileSystem, at: &str) -> Result<String> {
    let body = files.read(&path(at), Span::Whole).await?.body;
    let pieces: Vec<Bytes> = body.try_collect().await?;
    Ok(String::from_utf8(pieces.concat()).unwrap())
}

pub(crate) async fn write(files: &dyn FileSystem, at: &str, text: &str) -> Result<()> {
    let body = stream::iter([Ok(Bytes::from(text.to_owned()))]).boxed();
    write_stream(files, at, body).await
}

pub(crate) async fn write_stream(files: &dyn FileSystem, at: &str, body: ByteStream) -> Result<()> {
    let options = WriteOptions {
        mode: WriteMode::Replace,
        parents: Parents::Create,
        expected: If::Always,
        length: None,
    };
    files.write(&path(at), body, options).await.map(drop)
}

pub(crate) async fn names(files: &dyn FileSystem, at: &str) -> Result<Vec<String>> {
    let entries = files.list(&path(at), Page::default()).await?;
    entries.map_ok(|entry| entry.path.name().to_owned()).try_collect().await
}

pub(crate) fn kind<T: std::fmt::Debug>(outcome: Result<T>) -> engine::ErrorKind {
    outcome.expect_err("it must not work").kind()
}

/// The outcome of something that must not take long.
pub(crate) async fn soon<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(20), work).await.expect("it hangs")
}

/// Tries until it works, for a while.
pub(crate) async fn at_last<T, F: Future<Output = Result<T>>>(mut work: impl FnMut() -> F) -> T {
    let mut last: Option<Error> = None;
    for _ in 0..100 {
        match work().await {
            Ok(done) => return done,
            Err(err) => last = Some(err),
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("it never works: {last:?}")
}
