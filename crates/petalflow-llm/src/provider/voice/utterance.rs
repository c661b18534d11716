//! What the person says.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::{LlmError, TokenUsage};

/// What the person said without a longer pause: the input of a turn.
///
/// ```
/// use petalflow_llm::voice::Utterance;
///
/// fn input(utterance: Utterance) -> Option<String> {
///     utterance.is_transcribed.then_some(utterance.text)
/// }
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Utterance {
    /// The words. If they could not be written down, a text in brackets that says so; the model of this session has heard
    /// them.
    pub text: String,
    /// Whether the words could be written down.
    pub is_transcribed: bool,
    /// The tokens of the model that wrote them down. They are not part of the usage of a turn. All are 0 if the provider
    /// counts seconds.
    pub usage: TokenUsage,
}

impl Utterance {
    pub(super) fn new(text: String, usage: TokenUsage) -> Self {
        Utterance {
            text,
            is_transcribed: true,
            usage,
        }
    }

    /// An utterance whose words could not be written down.
    pub(super) fn not_transcribed() -> Self {
        Utterance {
            text: "[speech that could not be transcribed]".to_string(),
            is_transcribed: false,
            usage: TokenUsage::default(),
        }
    }
}

/// What the person says, in order.
///
/// A model does not answer while an utterance waits here: the person has said more than the request has. So read it when a
/// turn has ended, and run the next one.
pub struct Utterances {
    utterances: UnboundedReceiver<Result<Utterance, LlmError>>,
    unread: Arc<AtomicUsize>,
}

impl Utterances {
    /// The next utterance. `None` if the session has ended. An utterance without words, such as a cough, is left out.
    ///
    /// # Errors
    ///
    /// A failure of the connection, or one that the provider reports. The session goes on if a later connection may
    /// succeed. Otherwise, as for a wrong key, it has ended.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses no utterance.
    pub async fn next(&mut self) -> Option<Result<Utterance, LlmError>> {
        let next = self.utterances.recv().await?;
        if next.is_ok() {
            self.unread.fetch_sub(1, Ordering::AcqRel);
        }
        Some(next)
    }
}

impl fmt::Debug for Utterances {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Utterances").finish_non_exhaustive()
    }
}

/// The end of the session of a channel of utterances.
#[derive(Debug)]
pub(super) struct UtteranceSender {
    utterances: UnboundedSender<Result<Utterance, LlmError>>,
    unread: Arc<AtomicUsize>,
}

impl UtteranceSender {
    pub(super) fn channel() -> (Self, Utterances) {
        let (sender, utterances) = unbounded_channel();
        let unread = Arc::new(AtomicUsize::new(0));
        let sender = UtteranceSender {
            utterances: sender,
            unread: Arc::clone(&unread),
        };
        (sender, Utterances { utterances, unread })
    }

    pub(super) fn send(&self, utterance: Utterance) {
        self.unread.fetch_add(1, Ordering::AcqRel);
        // The program may not want them.
        let _ = self.utterances.send(Ok(utterance));
    }

    pub(super) fn report(&self, error: LlmError) {
        let _ = self.utterances.send(Err(error));
    }

    /// Whether the program has not read an utterance yet.
    pub(super) fn has_unread(&self) -> bool {
        !self.utterances.is_closed() && self.unread.load(Ordering::Acquire) > 0
    }
}
