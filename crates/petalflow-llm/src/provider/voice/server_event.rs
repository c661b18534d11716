//! The events of the server.

use serde::Deserialize;
use serde_json::Value;

/// An event of the server. Others than these say nothing new.
#[derive(Debug, Deserialize)]
#[serde(tag = "type")]
pub(super) enum ServerEvent {
    /// The server refused an event of the client, or failed.
    #[serde(rename = "error")]
    Error { error: Value },
    #[serde(rename = "input_audio_buffer.speech_started")]
    SpeechStarted {},
    #[serde(rename = "input_audio_buffer.speech_stopped")]
    SpeechStopped { item_id: String },
    /// What the person said has become an item.
    #[serde(rename = "input_audio_buffer.committed")]
    Committed {
        item_id: String,
        #[serde(default)]
        previous_item_id: Option<String>,
    },
    #[serde(
        rename = "conversation.item.added",
        alias = "conversation.item.created"
    )]
    ItemAdded {
        item: Value,
        #[serde(default)]
        previous_item_id: Option<String>,
    },
    #[serde(rename = "conversation.item.input_audio_transcription.completed")]
    Transcribed {
        item_id: String,
        transcript: String,
        #[serde(default)]
        usage: Value,
    },
    #[serde(rename = "conversation.item.input_audio_transcription.failed")]
    NotTranscribed { item_id: String },
    #[serde(rename = "response.created")]
    ResponseCreated { response: Value },
    #[serde(rename = "response.output_audio.delta")]
    Audio {
        response_id: String,
        item_id: String,
        /// In base64.
        delta: String,
    },
    #[serde(
        rename = "response.output_audio_transcript.delta",
        alias = "response.output_text.delta"
    )]
    Text {
        response_id: String,
        item_id: String,
        delta: String,
    },
    #[serde(rename = "response.done")]
    ResponseDone { response: Value },
    #[serde(other)]
    Other,
}
