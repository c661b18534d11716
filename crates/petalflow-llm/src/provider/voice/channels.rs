//! What the parts of a session and its task share.

use std::sync::Arc;

use tokio::sync::mpsc::{Receiver, UnboundedReceiver};

use super::loudspeaker::Playback;
use super::microphone::Sound;
use super::utterance::UtteranceSender;
use super::voice_model::Request;
use crate::LlmError;
use crate::provider::connection::Connection;

/// The channels to the parts of a session, and what outlives a connection.
pub(super) struct Channels {
    pub(super) connection: Arc<Connection>,
    pub(super) sounds: Receiver<Sound>,
    pub(super) requests: UnboundedReceiver<Request>,
    pub(super) utterances: UtteranceSender,
    pub(super) playback: Arc<Playback>,
    /// A request that has not begun.
    pub(super) waiting: Option<Request>,
    /// The number of requests that have begun.
    pub(super) number: u64,
}

impl Channels {
    /// Whether requests may still come.
    pub(super) fn has_requests(&self) -> bool {
        !(self.requests.is_closed() && self.requests.is_empty())
    }

    /// Whether audio of the person may still come.
    pub(super) fn has_sounds(&self) -> bool {
        !(self.sounds.is_closed() && self.sounds.is_empty())
    }
}

/// The same error once more.
pub(super) fn same(error: &LlmError) -> LlmError {
    LlmError::new(error.kind.clone(), error.to_string()).with_retry(error.is_transient())
}
