//! The audio of the answers.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use super::BYTES_PER_MS;

/// The bytes of a frame: 20 ms.
const FRAME: usize = 20 * BYTES_PER_MS;

/// The audio of the answers, for the loudspeaker of the person.
///
/// It is PCM: 24,000 samples in a second, of 16 bits each, little endian, one channel. Take a frame when it is played: what
/// was taken counts as heard. When the person interrupts an answer, the rest of its audio is removed, and the message of the
/// thread ends with the frames that were taken.
///
/// A turn ends when its audio was taken. If the loudspeaker is dropped, nobody listens, and turns do not wait for it.
pub struct Loudspeaker {
    playback: Arc<Playback>,
    frame: usize,
}

impl Loudspeaker {
    pub(super) fn new(playback: Arc<Playback>) -> Self {
        Loudspeaker {
            playback,
            frame: FRAME,
        }
    }

    /// Sets the length of frames, in milliseconds: 20 by default. Zero counts as one.
    #[must_use]
    pub fn with_frame_ms(mut self, ms: usize) -> Self {
        self.frame = ms.clamp(1, 1_000) * BYTES_PER_MS;
        self
    }

    /// The next frame. It waits for audio. The last frame of an answer may be shorter. `None` if the session has ended.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses no frame.
    pub async fn next_frame(&mut self) -> Option<Vec<u8>> {
        loop {
            let playback = Arc::clone(&self.playback);
            let changed = playback.changed.notified();
            if let Some(frame) = self.try_next_frame() {
                return Some(frame);
            }
            if playback.state().has_ended {
                return None;
            }
            changed.await;
        }
    }

    /// The next frame, if there is audio now: for a callback of a sound card, which must not wait.
    pub fn try_next_frame(&mut self) -> Option<Vec<u8>> {
        let frame = self.playback.take(self.frame)?;
        Some(frame)
    }
}

impl Drop for Loudspeaker {
    fn drop(&mut self) {
        self.playback.close();
    }
}

impl fmt::Debug for Loudspeaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Loudspeaker").finish_non_exhaustive()
    }
}

/// The audio that was not taken yet, and how much of the current response was.
#[derive(Debug, Default)]
pub(super) struct Playback {
    state: Mutex<State>,
    /// Audio has come or gone, or the session has ended.
    changed: Notify,
    /// The last audio was taken.
    drained: Notify,
}

#[derive(Debug, Default)]
struct State {
    /// The audio, with the number of its response.
    chunks: VecDeque<(u64, VecDeque<u8>)>,
    /// The number of the current response.
    response: u64,
    /// How many bytes of it were taken.
    heard: usize,
    /// Whether there is no loudspeaker.
    is_closed: bool,
    has_ended: bool,
}

impl Playback {
    /// The values are consistent at every point, so a panic does not invalidate them.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins another response. Audio of the one before it is still played.
    pub(super) fn begin(&self, response: u64) {
        let mut state = self.state();
        state.response = response;
        state.heard = 0;
    }

    /// Adds audio of the current response.
    pub(super) fn push(&self, audio: Vec<u8>) {
        let mut state = self.state();
        if state.is_closed {
            // Nobody can interrupt what nobody hears.
            state.heard += audio.len();
            return;
        }
        let response = state.response;
        state.chunks.push_back((response, audio.into()));
        drop(state);
        self.changed.notify_waiters();
    }

    /// Removes what was not taken.
    pub(super) fn clear(&self) {
        self.state().chunks.clear();
        self.drained.notify_waiters();
    }

    /// How many bytes of the current response were taken.
    pub(super) fn heard(&self) -> usize {
        self.state().heard
    }

    pub(super) fn is_drained(&self) -> bool {
        self.state().chunks.is_empty()
    }

    /// Waits until everything was taken.
    pub(super) async fn drained(&self) {
        loop {
            let drained = self.drained.notified();
            if self.is_drained() {
                return;
            }
            drained.await;
        }
    }

    /// There is no loudspeaker any more.
    fn close(&self) {
        let mut state = self.state();
        state.is_closed = true;
        let current = state.response;
        let left = state.chunks.drain(..);
        let of_current = left.filter(|(response, _)| *response == current);
        let left: usize = of_current.map(|(_, audio)| audio.len()).sum();
        state.heard += left;
        drop(state);
        self.drained.notify_waiters();
    }

    /// The session has ended: no audio follows.
    pub(super) fn end(&self) {
        self.state().has_ended = true;
        self.changed.notify_waiters();
    }

    /// At most this number of bytes.
    fn take(&self, most: usize) -> Option<Vec<u8>> {
        let mut state = self.state();
        let mut frame = Vec::new();
        while frame.len() < most
            && let Some((response, audio)) = state.chunks.front_mut()
        {
            let response = *response;
            let count = audio.len().min(most - frame.len());
            frame.extend(audio.drain(..count));
            let is_empty = audio.is_empty();
            if is_empty {
                state.chunks.pop_front();
            }
            if response == state.response {
                state.heard += count;
            }
        }
        let is_drained = state.chunks.is_empty();
        drop(state);
        if is_drained {
            self.drained.notify_waiters();
        }
        (!frame.is_empty()).then_some(frame)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_was_taken_of_the_current_response_was_heard() {
        let playback = Arc::new(Playback::default());
        let mut loudspeaker = Loudspeaker::new(Arc::clone(&playback)).with_frame_ms(1);
        playback.begin(1);
        playback.push(vec![1; 60]);
        playback.begin(2);
        playback.push(vec![2; 40]);
        assert_eq!(loudspeaker.next_frame().await.unwrap(), [1; 48]);
        assert_eq!(playback.heard(), 0);
        assert_eq!(loudspeaker.next_frame().await.unwrap().len(), 48);
        assert_eq!((playback.heard(), playback.is_drained()), (36, false));
        playback.clear();
        assert_eq!(loudspeaker.try_next_frame(), None);
        assert_eq!(playback.heard(), 36, "the rest was not heard");
        playback.push(vec![2; 10]);
        drop(loudspeaker);
        playback.push(vec![2; 10]);
        assert_eq!((playback.heard(), playback.is_drained()), (56, true));
        playback.end();
        let mut again = Loudspeaker::new(playback);
        assert_eq!(again.next_frame().await, None);
    }
}
