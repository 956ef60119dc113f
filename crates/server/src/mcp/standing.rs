//! Where a client stands, and what it may do there.

use std::fmt;
use std::sync::Arc;

use ::tools::{Call, Settings};
use engine::{Error, Workspace};
use futures::future::BoxFuture;
use http::request::Parts;
use rmcp::ErrorData;
use rmcp::model::Extensions;

/// Ends when a client may not be told any more what happens where it stands.
pub(crate) type Until = Arc<dyn Fn() -> BoxFuture<'static, ()> + Send + Sync>;

/// Where a client stands: its hold on a tree, how much it may do there, and until when.
#[derive(Clone)]
pub(crate) struct Standing {
    pub(crate) workspace: Workspace,
    pub(crate) settings: Settings,
    pub(crate) until: Until,
}

impl fmt::Debug for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { workspace, settings, until: _ } = self;
        f.debug_struct("Standing")
            .field("workspace", workspace)
            .field("settings", settings)
            .finish_non_exhaustive()
    }
}

impl Standing {
    /// One for as long as the client is there.
    pub(crate) fn forever(workspace: Workspace, settings: Settings) -> Self {
        let until: Until = Arc::new(|| Box::pin(std::future::pending()));
        Self { workspace, settings, until }
    }

    /// The one that the gate of HTTP gave to a request.
    pub(super) fn of_request(extensions: &Extensions) -> Result<Self, ErrorData> {
        let parts = extensions.get::<Parts>();
        let given = parts.and_then(|parts| parts.extensions.get::<Self>());
        given.cloned().ok_or_else(|| ErrorData::internal_error("no sandbox is named", None))
    }

    /// Writes down that something was refused that a client wanted to see, if it was.
    pub(super) async fn note_refusal(&self, operation: &'static str, outward: &str, err: &Error) {
        self.workspace.note_refusal(operation, Some(outward), err).await;
    }

    /// A call of a tool here.
    pub(super) fn call(&self) -> Call {
        Call::new(self.workspace.clone(), self.settings.clone())
    }
}
