//! The server that is asked, and its files.

use std::future::pending;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use anyhow::Result;
use engine::{
    Durability, FileSystem, HostFs, HostOptions, Limits, Mounts, Sandbox, SandboxId, SandboxPath,
    Store,
};
use server::{Access, App, Options};
use tokio::net::TcpListener;

use crate::client::{Client, TOKEN, request};
use crate::hot_path::Tree;

/// Where everything lies, a file of some length, and a directory with a hundred of them.
pub(crate) const TREE: &str = "project/src";
pub(crate) const FILE: &str = "project/src/file.txt";
pub(crate) const LENGTH: usize = 4096;
pub(crate) const MANY: &str = "project/many";

/// Starts a server over a tree with these files, which lasts as long as the process.
pub(crate) async fn serve(tree: Tree, dir: &Path) -> Result<SocketAddr> {
    let id = SandboxId::parse("main")?;
    let files: Arc<dyn FileSystem> = match tree {
        Tree::Host => Arc::new(host(dir)?),
        Tree::Memory => {
            Arc::new(Store::open("memory:").await?.create(&id, Limits::default()).await?)
        }
    };
    let (prefix, home) = (SandboxPath::root(), SandboxPath::root());
    let sandbox = Sandbox { id, files, prefix, home, is_system: false };
    let app = App::new(sandbox, Options::new(Access::Token(TOKEN.to_owned())))?;
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let _serving = tokio::spawn(server::run(listener, app, pending()));
    plant(address).await?;
    Ok(address)
}

fn host(dir: &Path) -> Result<HostFs> {
    let (root, staging) = (dir.join("root"), dir.join("staging"));
    std::fs::create_dir_all(&root)?;
    let options = HostOptions {
        limits: Limits::default(),
        durability: Durability::Relaxed,
        mounts: Mounts::Stay,
        staging: vec![staging],
    };
    Ok(HostFs::open(&root, options)?)
}

async fn plant(address: SocketAddr) -> Result<()> {
    let mut client = Client::connect(address).await?;
    // Lines, as the tools count them.
    let text = "0123456789 abcdefghijklmnopqrstuvwxyz 0123456789 abcdefghijklmn\n".repeat(64);
    let many = (0..100).map(|number| (format!("{MANY}/entry-{number:03}.txt"), "content"));
    for (path, content) in many.chain([(FILE.to_owned(), text.as_str())]) {
        let target = format!("/v1/fs/file?path=/{path}");
        let answer = client.ask(&request("PUT", &target, &[], content.as_bytes())).await?;
        anyhow::ensure!(answer.status == 200, "{path}: {answer:?}");
    }
    Ok(())
}
