//! The session of one person.

use std::sync::Arc;

use tokio::sync::mpsc;

use super::task::Task;
use super::utterance::UtteranceSender;
use super::voice_model::Requests;
use super::{Loudspeaker, Microphone, Utterances, VoiceModel, VoiceSettings};
use crate::provider::ProviderModel;
use crate::provider::catalog::{Family, Platform};
use crate::{LlmClient, LlmError};

/// How many frames wait while there is no connection.
const WAITING_FRAMES: usize = 500;

/// The session of one person with a model that hears and speaks. Take its parts; [the module](super) has an example.
///
/// A session opens its connection itself, and opens another one when the provider ends it, which OpenAI does after 60 minutes.
/// The next request then sends the conversation as text. It ends when the model and the microphone are dropped.
#[derive(Debug)]
#[non_exhaustive]
pub struct VoiceSession {
    /// The model, for an agent or for requests.
    pub model: VoiceModel,
    /// Takes the audio of the person.
    pub microphone: Microphone,
    /// Has the audio of the answers.
    pub loudspeaker: Loudspeaker,
    /// Has what the person says, as text.
    pub utterances: Utterances,
}

impl VoiceSession {
    /// Opens a session with a model of OpenAI, such as `gpt-realtime`, or of a server with the same sessions. The key, the
    /// address, the prices, the retries and the limits are those of the model.
    ///
    /// ```no_run
    /// use petalflow_llm::ProviderModel;
    /// use petalflow_llm::voice::{VoiceSession, VoiceSettings};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), petalflow_llm::LlmError> {
    /// let session = VoiceSession::open(ProviderModel::new("gpt-realtime")?, VoiceSettings::new())?;
    /// # let _ = session;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`LlmErrorKind::Request`](crate::LlmErrorKind::Request) for a model of another provider. Failures to connect are
    /// reported by [`Utterances`] and by requests.
    ///
    /// # Panics
    ///
    /// If it is called outside of a Tokio runtime.
    pub fn open(model: ProviderModel, settings: VoiceSettings) -> Result<Self, LlmError> {
        let connection = Arc::new(model.client.client.clone());
        let has_sessions = matches!(connection.family, Family::Chat | Family::Responses)
            && matches!(connection.platform, Platform::Provider | Platform::Azure);
        if !has_sessions {
            return Err(LlmError::request(format!(
                "provider `{}` has no voice sessions that are known; use a model of OpenAI, such as `gpt-realtime`, or the address of a \
                 server with the same sessions, with `ProviderModel::openai_compatible`",
                connection.name()
            )));
        }
        let (sounds, microphone) = mpsc::channel(WAITING_FRAMES);
        let (requests, waiting) = mpsc::unbounded_channel();
        let (sender, utterances) = UtteranceSender::channel();
        let task = Task::new(
            Arc::clone(&connection),
            settings,
            microphone,
            waiting,
            sender,
        );
        let loudspeaker = Loudspeaker::new(task.playback());
        let ended = task.ended();
        tokio::spawn(task.run());
        let requests = Requests::new(connection, requests, ended);
        Ok(VoiceSession {
            model: VoiceModel::new(model.client.with_client(requests)),
            microphone: Microphone::new(sounds),
            loudspeaker,
            utterances,
        })
    }
}
