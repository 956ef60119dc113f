//! How much one client asks at once.

use std::collections::HashSet;

use parking_lot::Mutex;
use rmcp::ErrorData;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, JsonRpcMessage, RequestId, ServerJsonRpcMessage,
};

/// How many requests of one client are answered at a time.
const MOST: usize = 256;

/// The requests of a client that are not answered yet.
#[derive(Debug, Default)]
pub(crate) struct InFlight(Mutex<HashSet<RequestId>>);

impl InFlight {
    /// Takes in what a client sends. A request too many is refused, and one with the id of another:
    /// the SDK would answer only one of the two.
    pub(crate) fn take(
        &self,
        message: &ClientJsonRpcMessage,
    ) -> Result<(), Box<ServerJsonRpcMessage>> {
        match message {
            JsonRpcMessage::Request(request) => {
                let refuse = |why: String| {
                    let error = ErrorData::invalid_request(why, None);
                    Err(Box::new(ServerJsonRpcMessage::error(error, Some(request.id.clone()))))
                };
                let mut open = self.0.lock();
                if open.contains(&request.id) {
                    return refuse("a request with this id is not answered yet".to_owned());
                }
                if open.len() >= MOST {
                    return refuse(format!("at most {MOST} requests are answered at a time"));
                }
                open.insert(request.id.clone());
            }
            JsonRpcMessage::Notification(notification) => {
                // Nobody answers what was cancelled.
                if let ClientNotification::CancelledNotification(cancelled) =
                    &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.0.lock().remove(id);
                }
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => {}
        }
        Ok(())
    }

    /// Takes notice of what a client is sent.
    pub(crate) fn answered(&self, message: &ServerJsonRpcMessage) {
        let id = match message {
            JsonRpcMessage::Response(response) => Some(&response.id),
            JsonRpcMessage::Error(error) => error.id.as_ref(),
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
        };
        if let Some(id) = id {
            self.0.lock().remove(id);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn request(id: usize) -> ClientJsonRpcMessage {
        message(json!({"jsonrpc": "2.0", "id": id, "method": "tools/list"}))
    }

    fn message(value: Value) -> ClientJsonRpcMessage {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn an_id_can_be_used_again_when_its_request_is_answered_or_cancelled() {
        let open = InFlight::default();
        open.take(&request(1)).unwrap();
        assert!(open.take(&request(1)).is_err());
        open.answered(&ServerJsonRpcMessage::error(
            super::super::failures::cancelled(),
            Some(RequestId::Number(1)),
        ));
        open.take(&request(1)).unwrap();
        let params = json!({"requestId": 1});
        let cancelled =
            json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
        open.take(&message(cancelled)).unwrap();
        open.take(&request(1)).unwrap();
    }

    #[test]
    fn a_client_asks_so_much_at_once_and_no_more() {
        let open = InFlight::default();
        for id in 0..MOST {
            open.take(&request(id)).unwrap();
        }
        assert!(open.take(&request(MOST)).is_err());
    }
}
