//! The WebSocket of a session.

use std::time::{Duration, Instant};

use futures_util::{SinkExt, StreamExt};
use reqwest::Upgraded;
use serde_json::Value;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};

use super::server_event::ServerEvent;
use crate::provider::error::ErrorConverter;
use crate::{LlmError, LlmErrorKind};

/// How often the server is asked whether it is there.
pub(super) const PING: Duration = Duration::from_secs(20);

/// The WebSocket of a session.
pub(super) struct Socket {
    stream: WebSocketStream<Upgraded>,
    pub(super) errors: ErrorConverter,
    /// When something arrived.
    last: Instant,
}

impl Socket {
    /// A socket over a connection whose protocol was changed. Messages have at most this number of bytes.
    pub(super) async fn new(connection: Upgraded, errors: ErrorConverter, most: usize) -> Self {
        let config = WebSocketConfig::default()
            .max_message_size(Some(most))
            .max_frame_size(Some(most));
        Socket {
            stream: WebSocketStream::from_raw_socket(connection, Role::Client, Some(config)).await,
            errors,
            last: Instant::now(),
        }
    }

    /// Sends an event.
    pub(super) async fn send(&mut self, event: &Value) -> Result<(), LlmError> {
        let message = Message::text(event.to_string());
        let sent = self.stream.send(message).await;
        sent.map_err(|error| self.lost(&error.to_string()))
    }

    /// Asks whether the server is there. An error if it was silent for long.
    pub(super) async fn ping(&mut self) -> Result<(), LlmError> {
        if self.last.elapsed() > PING * 3 {
            return Err(self.lost("the server does not answer"));
        }
        let sent = self.stream.send(Message::Ping(Vec::new().into())).await;
        sent.map_err(|error| self.lost(&error.to_string()))
    }

    /// The next event.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses no event.
    pub(super) async fn next(&mut self) -> Result<ServerEvent, LlmError> {
        loop {
            let message = self.stream.next().await;
            self.last = Instant::now();
            match message {
                Some(Ok(Message::Text(text))) => return self.read(&text),
                Some(Ok(Message::Close(Some(CloseFrame { reason, .. })))) if !reason.is_empty() => {
                    return Err(self.lost(&reason));
                }
                Some(Ok(Message::Close(_))) | None => return Err(self.errors.cut()),
                Some(Ok(_)) => {}
                Some(Err(error)) => return Err(self.lost(&error.to_string())),
            }
        }
    }

    /// Says that the session ends.
    pub(super) async fn close(mut self) {
        // The server may be gone.
        let _ = tokio::time::timeout(Duration::from_secs(1), self.stream.close(None)).await;
    }

    fn read(&self, text: &str) -> Result<ServerEvent, LlmError> {
        serde_json::from_str(text).map_err(|error| self.errors.not_json_event(&error, text))
    }

    /// The error for a connection that was lost.
    fn lost(&self, why: &str) -> LlmError {
        let what = format!("the connection was lost: {why}");
        self.errors.error(LlmErrorKind::Connection, &what)
    }
}
