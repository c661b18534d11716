//! The settings of a session.

use serde_json::{Value, json};

use crate::provider::wire::merge;

/// The model that writes down what the person says, unless another one is set.
const TRANSCRIPTION: &str = "gpt-4o-mini-transcribe";

/// The settings of a [`VoiceSession`](super::VoiceSession): the voice, and how speech is recognized.
///
/// ```
/// use petalflow_llm::voice::VoiceSettings;
///
/// let settings = VoiceSettings::new().with_voice("marin").with_language("en");
/// # let _ = settings;
/// ```
#[derive(Clone, Debug)]
pub struct VoiceSettings {
    voice: Option<String>,
    language: Option<String>,
    transcription: String,
    has_turn_detection: bool,
    extra: Value,
}

impl Default for VoiceSettings {
    fn default() -> Self {
        VoiceSettings {
            voice: None,
            language: None,
            transcription: TRANSCRIPTION.to_string(),
            has_turn_detection: true,
            extra: json!({}),
        }
    }
}

impl VoiceSettings {
    /// The default settings: the voice of the provider, `gpt-4o-mini-transcribe` for the words of the person, and the end
    /// of speech where the provider hears a silence.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the voice of the model, such as `marin` or `cedar`.
    #[must_use]
    pub fn with_voice(mut self, voice: impl Into<String>) -> Self {
        self.voice = Some(voice.into());
        self
    }

    /// Sets the language of the person, such as `en`. The words are then recognized better and faster.
    #[must_use]
    pub fn with_language(mut self, language: impl Into<String>) -> Self {
        self.language = Some(language.into());
        self
    }

    /// Sets the model that writes down what the person says.
    ///
    /// ```
    /// use petalflow_llm::voice::VoiceSettings;
    ///
    /// let settings = VoiceSettings::new().with_transcription_model("gpt-4o-transcribe");
    /// # let _ = settings;
    /// ```
    #[must_use]
    pub fn with_transcription_model(mut self, model: impl Into<String>) -> Self {
        self.transcription = model.into();
        self
    }

    /// The program says where the person has ended, with [`Microphone::end_of_speech`](super::Microphone::end_of_speech),
    /// as with a button that is held while one speaks. The provider detects no speech then.
    ///
    /// ```
    /// use petalflow_llm::voice::VoiceSettings;
    ///
    /// let settings = VoiceSettings::new().without_turn_detection();
    /// # let _ = settings;
    /// ```
    #[must_use]
    pub fn without_turn_detection(mut self) -> Self {
        self.has_turn_detection = false;
        self
    }

    /// Adds fields to the session as the provider has them. Objects are merged. A response is still created by a turn
    /// alone.
    ///
    /// ```
    /// use petalflow_llm::voice::VoiceSettings;
    /// use serde_json::json;
    ///
    /// let longer = json!({ "audio": { "input": { "turn_detection": { "silence_duration_ms": 900 } } } });
    /// let settings = VoiceSettings::new().with_session(longer);
    /// # let _ = settings;
    /// ```
    #[must_use]
    pub fn with_session(mut self, fields: Value) -> Self {
        merge(&mut self.extra, &fields);
        self
    }

    /// The event that sets up a session.
    pub(super) fn session_update(&self) -> Value {
        let pcm = json!({ "type": "audio/pcm", "rate": 24_000 });
        let mut session = json!({
            "type": "realtime",
            "output_modalities": ["audio"],
            "audio": {
                "input": { "format": pcm, "transcription": { "model": self.transcription } },
                "output": { "format": pcm },
            },
        });
        let audio = &mut session["audio"];
        if let Some(language) = &self.language {
            audio["input"]["transcription"]["language"] = language.as_str().into();
        }
        if let Some(voice) = &self.voice {
            audio["output"]["voice"] = voice.as_str().into();
        }
        let detection = self
            .has_turn_detection
            .then(|| json!({ "type": "server_vad" }));
        audio["input"]["turn_detection"] = detection.into();
        // Lists of the provider are not extended: a session speaks or writes.
        if let Some(modalities) = self.extra.get("output_modalities") {
            session["output_modalities"] = modalities.clone();
        }
        let mut extra = self.extra.clone();
        if let Value::Object(fields) = &mut extra {
            fields.remove("output_modalities");
        }
        merge(&mut session, &extra);
        let detection = &mut session["audio"]["input"]["turn_detection"];
        if detection.is_object() {
            detection["create_response"] = false.into();
            detection["interrupt_response"] = false.into();
        }
        json!({ "type": "session.update", "session": session })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_setting_lets_the_server_answer_by_itself() {
        let fields = json!({
            "output_modalities": ["text"],
            "audio": { "input": { "turn_detection": { "create_response": true, "threshold": 0.7 } } },
        });
        let update = VoiceSettings::new()
            .with_language("en")
            .with_session(fields)
            .session_update();
        let session = &update["session"];
        assert_eq!(session["output_modalities"], json!(["text"]));
        let input = &session["audio"]["input"];
        assert_eq!(
            input["turn_detection"],
            json!({
                "type": "server_vad",
                "threshold": 0.7,
                "create_response": false,
                "interrupt_response": false,
            })
        );
        assert_eq!(input["transcription"]["language"], "en");
        let manual = VoiceSettings::new()
            .without_turn_detection()
            .session_update();
        let input = &manual["session"]["audio"]["input"];
        assert!(input["turn_detection"].is_null());
    }
}
