//! Who asks, and what he may do.

use std::collections::BTreeSet;
use std::sync::Arc;

use engine::{Role, SandboxId, SandboxPath};

/// Who asks.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    /// The id of his key; `token` for whoever has the server's, `open` at an open server.
    pub(crate) name: Arc<str>,
    pub(crate) role: Role,
    /// The sandboxes that he may see; all of them if that is absent.
    pub(crate) sandboxes: Option<Arc<BTreeSet<SandboxId>>>,
    /// Beneath which he must stay in each of them.
    pub(crate) prefix: Option<SandboxPath>,
}

impl Caller {
    /// Whoever may do everything.
    pub(crate) fn owner(name: &str) -> Self {
        Self { name: name.into(), role: Role::Owner, sandboxes: None, prefix: None }
    }

    pub(crate) fn may_see(&self, id: &SandboxId) -> bool {
        self.sandboxes.as_ref().is_none_or(|sandboxes| sandboxes.contains(id))
    }

    /// The one sandbox that he may see, if it is just one. Faces that name no sandbox mean it.
    pub(crate) fn only_sandbox(&self) -> Option<&SandboxId> {
        let sandboxes = self.sandboxes.as_deref().filter(|sandboxes| sandboxes.len() == 1)?;
        sandboxes.first()
    }
}
