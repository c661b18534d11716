//! Models that hear and speak, over OpenAI's Realtime API.
//!
//! A [`VoiceSession`] is the microphone and the loudspeaker of one person, and a connection to a model that hears and
//! speaks. Its [`VoiceModel`] is an [`LlmClient`](crate::LlmClient), so that an agent with it has its tools, limits,
//! approvals and guardrails, and its thread has what both said, as text.
//!
//! A turn begins when the person has ended: [`Utterances`] has the words. The answer comes out of the [`Loudspeaker`], and
//! the turn ends when it was played. Who speaks before that interrupts it: the answer then ends where the person heard it
//! end, and is marked as [interrupted](crate::LlmResponse::interrupted).
//!
//! ```no_run
//! use petalflow_llm::voice::{VoiceSession, VoiceSettings};
//! use petalflow_llm::{ChatMessage, LlmClient, LlmRequest, ProviderModel};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), petalflow_llm::LlmError> {
//! let model = ProviderModel::new("gpt-realtime")?;
//! let VoiceSession { model, microphone, mut loudspeaker, mut utterances, .. } =
//!     VoiceSession::open(model, VoiceSettings::new().with_voice("marin"))?;
//! // `microphone.send(frame)` and `loudspeaker.next_frame()` are for the audio of the person.
//! # let _ = microphone;
//! tokio::spawn(async move { while loudspeaker.next_frame().await.is_some() {} });
//! let mut messages = Vec::new();
//! while let Some(utterance) = utterances.next().await {
//!     messages.push(ChatMessage::user(utterance?.text));
//!     let request = LlmRequest::new(messages.clone());
//!     messages = request.messages_with(&model.complete(&request).await?);
//! }
//! # Ok(())
//! # }
//! ```

mod active;
mod channels;
mod handshake;
mod incoming;
mod live;
mod loudspeaker;
mod microphone;
mod server_event;
mod session;
mod session_items;
mod settings;
mod socket;
mod task;
mod utterance;
mod voice_model;

pub use loudspeaker::Loudspeaker;
pub use microphone::Microphone;
pub use session::VoiceSession;
pub use settings::VoiceSettings;
pub use utterance::{Utterance, Utterances};
pub use voice_model::VoiceModel;

/// The bytes of a millisecond of audio: 24 samples of 16 bits.
const BYTES_PER_MS: usize = 48;
