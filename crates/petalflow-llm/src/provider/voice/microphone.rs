//! The audio of the person.

use std::fmt;

use tokio::sync::mpsc::Sender;

use super::BYTES_PER_MS;
use crate::{LlmError, LlmErrorKind};

/// The most bytes of audio in one event: a second.
const MAX_CHUNK: usize = 1_000 * BYTES_PER_MS;

/// What a microphone sends.
#[derive(Debug)]
pub(super) enum Sound {
    Audio(Vec<u8>),
    EndOfSpeech,
}

/// The audio of the person, from a microphone.
///
/// It is PCM: 24,000 samples in a second, of 16 bits each, little endian, one channel. Send all of it, silence too, in
/// frames of some milliseconds: the provider hears in it where the person begins and ends.
#[derive(Clone)]
pub struct Microphone {
    sounds: Sender<Sound>,
}

impl Microphone {
    pub(super) fn new(sounds: Sender<Sound>) -> Self {
        Microphone { sounds }
    }

    /// Sends a frame. It waits while there is no connection and its buffer is full.
    ///
    /// # Errors
    ///
    /// [`LlmErrorKind::Request`] for a part of a sample, and [`LlmErrorKind::Connection`] if the session has ended.
    ///
    /// # Cancel safety
    ///
    /// A frame is sent whole or not at all if it is at most a second long.
    pub async fn send(&self, frame: &[u8]) -> Result<(), LlmError> {
        if !frame.len().is_multiple_of(2) {
            return Err(LlmError::request(format!(
                "a frame has {} bytes, which is an odd number: a sample has 2 bytes; send whole samples",
                frame.len()
            )));
        }
        for chunk in frame.chunks(MAX_CHUNK) {
            self.sound(Sound::Audio(chunk.to_vec())).await?;
        }
        Ok(())
    }

    /// The person has ended: for a program that knows it, as with a button, or at the end of a file. The provider needs
    /// at least 100 ms of audio before it.
    ///
    /// # Errors
    ///
    /// [`LlmErrorKind::Connection`] if the session has ended.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, it was sent or not.
    pub async fn end_of_speech(&self) -> Result<(), LlmError> {
        self.sound(Sound::EndOfSpeech).await
    }

    async fn sound(&self, sound: Sound) -> Result<(), LlmError> {
        self.sounds.send(sound).await.map_err(|_| {
            LlmError::new(
                LlmErrorKind::Connection,
                "the voice session has ended; open another one",
            )
        })
    }
}

impl fmt::Debug for Microphone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Microphone").finish_non_exhaustive()
    }
}
