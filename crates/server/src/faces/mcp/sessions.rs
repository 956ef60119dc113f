//! The sessions of the SDK, with what it leaves out: how much is asked in one at a time.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures::{Stream, StreamExt as _, stream};
use parking_lot::Mutex;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::service::RoleServer;
use rmcp::transport::Transport;
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionManager, LocalSessionManagerError, SessionTransport,
};
use rmcp::transport::streamable_http_server::session::{
    ServerSseMessage, SessionId, SessionManager,
};

use super::owners::Owners;
use crate::mcp::InFlight;

/// How long the answer to a cancelled request is kept for those who were cut off.
const KEPT: Duration = Duration::from_secs(10);

/// The sessions of a server.
#[derive(Debug)]
pub(super) struct Sessions {
    of_sdk: LocalSessionManager,
    in_flight: Mutex<HashMap<SessionId, Arc<InFlight>>>,
    owners: Arc<Owners>,
}

impl Sessions {
    pub(super) fn new(owners: Arc<Owners>) -> Self {
        let mut of_sdk = LocalSessionManager::default();
        // How long they are kept is decided by their use, of which the SDK sees only a part.
        of_sdk.session_config.keep_alive = None;
        of_sdk.session_config.completed_cache_ttl = KEPT;
        Self { of_sdk, in_flight: Mutex::default(), owners }
    }

    fn in_flight(&self, id: &SessionId) -> Option<Arc<InFlight>> {
        self.in_flight.lock().get(id).cloned()
    }
}

type Outcome<T> = Result<T, LocalSessionManagerError>;

impl SessionManager for Sessions {
    type Error = LocalSessionManagerError;
    type Transport = Counted<SessionTransport>;

    async fn create_session(&self) -> Outcome<(SessionId, Self::Transport)> {
        let (id, transport) = self.of_sdk.create_session().await?;
        let in_flight = Arc::<InFlight>::default();
        self.in_flight.lock().insert(Arc::clone(&id), Arc::clone(&in_flight));
        Ok((id, Counted { transport, in_flight }))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Outcome<ServerJsonRpcMessage> {
        self.of_sdk.initialize_session(id, message).await
    }

    async fn has_session(&self, id: &SessionId) -> Outcome<bool> {
        self.of_sdk.has_session(id).await
    }

    async fn close_session(&self, id: &SessionId) -> Outcome<()> {
        self.in_flight.lock().remove(id);
        self.owners.forget(id);
        self.of_sdk.close_session(id).await
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Outcome<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static> {
        if let Some(in_flight) = self.in_flight(id)
            && let Err(refusal) = in_flight.take(&message)
        {
            let refusal = ServerSseMessage::from_message(*refusal);
            return Ok(stream::iter([refusal]).left_stream());
        }
        // Where that fails, the session is gone.
        Ok(self.of_sdk.create_stream(id, message).await?.right_stream())
    }

    async fn accept_message(&self, id: &SessionId, message: ClientJsonRpcMessage) -> Outcome<()> {
        if let Some(in_flight) = self.in_flight(id) {
            // What is no request is never refused.
            in_flight.take(&message).ok();
        }
        self.of_sdk.accept_message(id, message).await
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Outcome<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static> {
        self.of_sdk.create_standalone_stream(id).await
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Outcome<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static> {
        self.of_sdk.resume(id, last_event_id).await
    }
}

/// A transport whose answers are counted.
pub(super) struct Counted<T> {
    transport: T,
    in_flight: Arc<InFlight>,
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for Counted<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), T::Error>> + Send + 'static {
        self.in_flight.answered(&message);
        self.transport.send(message)
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        self.transport.receive().await
    }

    async fn close(&mut self) -> Result<(), T::Error> {
        self.transport.close().await
    }
}
