//! What keeps a session connected.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use tokio::sync::mpsc::{Receiver, UnboundedReceiver};
use tokio::time::sleep;

use super::VoiceSettings;
use super::channels::{Channels, same};
use super::handshake;
use super::live::{End, Live};
use super::loudspeaker::Playback;
use super::microphone::Sound;
use super::utterance::UtteranceSender;
use super::voice_model::{Ended, Request};
use crate::LlmError;
use crate::provider::connection::Connection;

/// The delay before a second connection. It doubles with each failure.
const FIRST_DELAY: Duration = Duration::from_millis(100);
const MAX_DELAY: Duration = Duration::from_secs(30);

/// A connection that lasts longer has not failed.
const STABLE: Duration = Duration::from_secs(10);

/// The task of a session. It connects, and connects again, until nobody uses the session.
pub(super) struct Task {
    channels: Channels,
    settings: VoiceSettings,
    ended: Ended,
}

impl Task {
    pub(super) fn new(
        connection: Arc<Connection>,
        settings: VoiceSettings,
        sounds: Receiver<Sound>,
        requests: UnboundedReceiver<Request>,
        utterances: UtteranceSender,
    ) -> Self {
        Task {
            channels: Channels {
                connection,
                sounds,
                requests,
                utterances,
                playback: Arc::default(),
                waiting: None,
                number: 0,
            },
            settings,
            ended: Arc::new(OnceLock::new()),
        }
    }

    pub(super) fn playback(&self) -> Arc<Playback> {
        Arc::clone(&self.channels.playback)
    }

    pub(super) fn ended(&self) -> Ended {
        Arc::clone(&self.ended)
    }

    pub(super) async fn run(mut self) {
        let mut failures = 0;
        while let Some(lost) = self.connected().await {
            failures = if lost.is_stable { 0 } else { failures + 1 };
            if !self.channels.has_requests() && !self.channels.has_sounds() {
                break;
            }
            let delay = FIRST_DELAY * 2_u32.saturating_pow(failures).min(1_000);
            sleep(delay.min(MAX_DELAY).max(lost.requested)).await;
        }
        self.channels.playback.end();
    }

    /// Connects, and stays connected for as long as possible. `None` if the session has ended.
    async fn connected(&mut self) -> Option<Lost> {
        let socket = match handshake::open(&self.channels.connection).await {
            Ok(socket) => socket,
            Err(error) if error.is_transient() => {
                self.fail_requests(&error);
                let requested = error.retry_after().unwrap_or_default();
                self.channels.utterances.report(error);
                return Some(Lost {
                    is_stable: false,
                    requested,
                });
            }
            Err(error) => return self.end(error),
        };
        let begun = Instant::now();
        let update = self.settings.session_update();
        match Live::new(&mut self.channels, socket).run(update).await {
            End::Closed => None,
            End::Refused(error) => self.end(error),
            End::Lost => Some(Lost {
                is_stable: begun.elapsed() > STABLE,
                requested: Duration::ZERO,
            }),
            End::Renewed => Some(Lost {
                is_stable: true,
                requested: Duration::ZERO,
            }),
        }
    }

    /// Ends the session with an error that another attempt does not change.
    fn end(&mut self, error: LlmError) -> Option<Lost> {
        let why = (error.kind.clone(), error.to_string());
        // It is set once, here.
        let _ = self.ended.set(why);
        self.channels.utterances.report(error);
        None
    }

    /// Fails the requests that wait, so that they are tried again or not as their client was told.
    fn fail_requests(&mut self, error: &LlmError) {
        let waiting = self.channels.waiting.take();
        let queued = std::iter::from_fn(|| self.channels.requests.try_recv().ok());
        for request in waiting.into_iter().chain(queued) {
            let _ = request.reply.send(Err(same(error)));
        }
    }
}

/// Why there is no connection.
struct Lost {
    /// Whether it lasted for a time.
    is_stable: bool,
    /// The delay that the server asks for.
    requested: Duration,
}
