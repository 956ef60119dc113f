//! The first words of a server: where it is, how to get in, and what to try.

use std::fmt::Write as _;
use std::io::Write as _;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use serde::Serialize;

use crate::config::{Access, Listen, StoreUrl};
use crate::render::shown;

/// What there is to say at the start.
pub(super) struct Welcome {
    /// What is served, and since when.
    scope: Scope,
    access: Access,
    address: SocketAddr,
}

/// What is served.
pub(super) enum Scope {
    /// A directory.
    Directory {
        /// Which.
        root: PathBuf,
        /// Whether it was made just now.
        made: bool,
    },
    /// A sandbox of a store.
    Sandbox {
        /// Where it is kept.
        store: StoreUrl,
        /// Which it is.
        name: String,
        /// Whether it was made just now.
        made: bool,
    },
    /// A tree of a container.
    Container {
        /// Of which.
        target: String,
        /// Where in it.
        path: String,
    },
    /// The whole machine.
    Machine,
}

/// The start as one line of JSON.
#[derive(Serialize)]
struct StartLine<'a> {
    url: String,
    /// The token, if nobody but us knows it yet.
    token: Option<&'a str>,
    /// What is served of this machine.
    root: Option<String>,
    pid: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    store: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sandbox: Option<&'a str>,
    /// Whose tree is served, if it is a container's or a process's.
    #[serde(skip_serializing_if = "Option::is_none")]
    attached: Option<&'a str>,
}

impl Welcome {
    /// The first words of a server.
    pub(super) fn new(listener: &TcpListener, access: &Access, scope: Scope) -> Result<Self> {
        let address = listener.local_addr().context("the port cannot be read")?;
        Ok(Self { scope, access: access.clone(), address })
    }

    /// Says it. A stdout that nobody reads is no reason not to serve.
    pub(super) fn say(&self, listen: &Listen) {
        let said = match listen.json {
            Some(true) => self.json(),
            Some(false) | None => self.text(),
        };
        let mut out = anstream::stdout().lock();
        if out.write_all(said.as_bytes()).and_then(|()| out.flush()).is_err() {
            tracing::debug!("nobody reads stdout");
        }
    }

    fn json(&self) -> String {
        let (root, store, sandbox) = match &self.scope {
            Scope::Directory { root, .. } => (Some(root.display().to_string()), None, None),
            Scope::Sandbox { store, name, .. } => {
                (None, Some(store.to_string()), Some(name.as_str()))
            }
            Scope::Container { path, .. } => (Some(path.clone()), None, None),
            Scope::Machine => (Some("/".into()), None, None),
        };
        let attached = match &self.scope {
            Scope::Container { target, .. } => Some(target.as_str()),
            Scope::Directory { .. } | Scope::Sandbox { .. } | Scope::Machine => None,
        };
        // A token that the operator gave is a secret that logs of stdout need not know.
        let token = match &self.access {
            Access::Made(token) => Some(token.as_str()),
            Access::Given(_) | Access::Open => None,
        };
        let (url, pid) = (self.url(), std::process::id());
        let line = StartLine { url, token, root, pid, store, sandbox, attached };
        serde_json::to_string(&line).map(|line| line + "\n").unwrap_or_default()
    }

    fn text(&self) -> String {
        let mut text = String::new();
        // Writing to a String cannot fail.
        self.write(&mut text).ok();
        text
    }

    fn write(&self, text: &mut String) -> std::fmt::Result {
        let url = self.url();
        self.scope.write(text, &url)?;
        writeln!(text)?;
        let bearer = match &self.access {
            Access::Made(token) => {
                writeln!(text, "  token  {token}\n")?;
                format!("-H 'Authorization: Bearer {token}' ")
            }
            Access::Given(_) => {
                writeln!(
                    text,
                    "  token  the one you gave; the lines below take it from SANDKEEP_TOKEN\n"
                )?;
                "-H \"Authorization: Bearer $SANDKEEP_TOKEN\" ".into()
            }
            Access::Open => {
                writeln!(text, "  token  none: whoever reaches this port may do everything\n")?;
                String::new()
            }
        };
        writeln!(text, "Three things to try:")?;
        writeln!(
            text,
            "  curl {bearer}--data-binary hello -X PUT '{url}/v1/fs/file?path=hello.txt'"
        )?;
        writeln!(text, "  curl {bearer}'{url}/v1/fs/entries'")?;
        writeln!(text, "  curl {bearer}'{url}/v1/fs/file?path=hello.txt'")?;
        writeln!(text)?;
        writeln!(text, "The interface is described at {url}/docs. Ctrl-C stops.")
    }

    /// A URL that works on this machine, also when the server listens on all addresses.
    fn url(&self) -> String {
        let mut address = self.address;
        if address.ip().is_unspecified() {
            address.set_ip(match address.ip() {
                IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
                IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
            });
        }
        format!("http://{address}")
    }
}

impl Scope {
    fn write(&self, text: &mut String, url: &str) -> std::fmt::Result {
        let new = |made: &bool| if *made { " (made just now)" } else { "" };
        match self {
            Self::Directory { root, made } => {
                let root = shown(&root.display().to_string());
                writeln!(text, "Sandkeep serves {root}{} at {url}", new(made))
            }
            Self::Sandbox { store: StoreUrl::Memory, name, .. } => {
                writeln!(text, "Sandkeep serves the sandbox {name}, in memory, at {url}")?;
                writeln!(text, "Everything in it ends with this process; --store file:DIR keeps it")
            }
            Self::Sandbox { store, name, made } => {
                let (new, store) = (new(made), shown(&store.to_string()));
                writeln!(text, "Sandkeep serves the sandbox {name}{new} of {store} at {url}")
            }
            Self::Container { target, path } => {
                writeln!(text, "Sandkeep serves {} of {target} at {url}", shown(path))
            }
            Self::Machine => {
                writeln!(text, "Sandkeep serves the whole file system of this machine at {url}")?;
                writeln!(text, "To confine clients to one directory: sandkeep serve DIR")
            }
        }
    }
}
