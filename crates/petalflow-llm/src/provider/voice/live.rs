//! A session while it is connected.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep_until};

use super::active::{self, Active, Stage};
use super::channels::{Channels, same};
use super::microphone::Sound;
use super::server_event::ServerEvent;
use super::session_items::SessionItems;
use super::socket::{PING, Socket};
use super::utterance::Utterance;
use super::voice_model::Request;
use crate::provider::wire::realtime;
use crate::stream::{Delta, StreamEvent};
use crate::{LlmError, LlmErrorKind, LlmResponse, TokenUsage};

/// How long the words of an utterance are awaited.
const TRANSCRIPTION: Duration = Duration::from_secs(15);

/// The event that sets up the session.
const SETUP: &str = "session";

/// Why a session is not connected any more.
pub(super) enum End {
    /// Nobody uses it.
    Closed,
    /// The server does not set it up as it should be.
    Refused(LlmError),
    /// The connection was lost.
    Lost,
    /// What the session has is not known, so that another one is better.
    Renewed,
}

/// A session while it is connected.
pub(super) struct Live<'t> {
    channels: &'t mut Channels,
    socket: Socket,
    items: SessionItems,
    active: Option<Active>,
    is_speaking: bool,
    /// What was said and is not written down yet: the items, and until when it is awaited.
    untranscribed: Vec<(String, Instant)>,
    /// Whether the items of the session are not known.
    is_stale: bool,
    next_ping: Instant,
}

/// What happens next.
enum Step {
    Event(Result<ServerEvent, LlmError>),
    Request(Option<Request>),
    Sound(Option<Sound>),
    /// The loudspeaker has taken everything.
    Played,
    /// Nobody waits for the response.
    Abandoned,
    Time,
}

impl<'t> Live<'t> {
    pub(super) fn new(channels: &'t mut Channels, socket: Socket) -> Self {
        Live {
            channels,
            socket,
            items: SessionItems::default(),
            active: None,
            is_speaking: false,
            untranscribed: Vec::new(),
            is_stale: false,
            next_ping: Instant::now() + PING,
        }
    }

    /// Sets the session up, and works until it is not connected any more.
    pub(super) async fn run(mut self, mut setup: Value) -> End {
        setup["event_id"] = SETUP.into();
        let mut done = self.socket.send(&setup).await.map_err(Stop::Lost);
        loop {
            if done.is_ok() {
                done = self.begin().await.map_err(Stop::Lost);
            }
            match done {
                Ok(()) => {}
                Err(Stop::Lost(error)) => return self.lost(&error),
                Err(Stop::Refused(error)) => return End::Refused(error),
            }
            if self.is_stale && self.active.is_none() {
                let lost = "the session was opened again";
                let error = LlmError::new(LlmErrorKind::Connection, lost);
                self.lost(&error);
                return End::Renewed;
            }
            if !self.channels.has_requests() && !self.channels.has_sounds() {
                self.socket.close().await;
                return End::Closed;
            }
            let step = self.step().await;
            done = self.take(step).await;
        }
    }

    async fn step(&mut self) -> Step {
        let deadlines = self.untranscribed.iter().map(|(_, until)| *until);
        let deadline = deadlines.fold(self.next_ping, Instant::min);
        let stage = self.active.as_ref().map(|active| &active.stage);
        let is_playing = matches!(stage, Some(Stage::Playing(_)));
        let is_awaited = !matches!(stage, None | Some(Stage::Abandoned));
        let is_free = self.active.is_none() && self.channels.waiting.is_none();
        let reply = self.active.as_ref().map(Active::reply);
        let abandoned = async {
            match &reply {
                Some(reply) => reply.closed().await,
                None => std::future::pending().await,
            }
        };
        let channels = &mut *self.channels;
        let (has_requests, has_sounds) = (channels.has_requests(), channels.has_sounds());
        tokio::select! {
            event = self.socket.next() => Step::Event(event),
            request = channels.requests.recv(), if has_requests && is_free => Step::Request(request),
            sound = channels.sounds.recv(), if has_sounds => Step::Sound(sound),
            () = channels.playback.drained(), if is_playing => Step::Played,
            () = abandoned, if is_awaited => Step::Abandoned,
            () = sleep_until(deadline) => Step::Time,
        }
    }

    async fn take(&mut self, step: Step) -> Result<(), Stop> {
        match step {
            Step::Event(event) => return self.event(event?).await,
            Step::Request(request) => {
                self.channels.waiting = request;
            }
            Step::Sound(Some(Sound::Audio(audio))) => {
                let audio = STANDARD.encode(audio);
                let event = json!({ "type": "input_audio_buffer.append", "audio": audio });
                self.socket.send(&event).await?;
            }
            Step::Sound(Some(Sound::EndOfSpeech)) => {
                let event = json!({ "type": "input_audio_buffer.commit" });
                self.socket.send(&event).await?;
            }
            Step::Sound(None) => {}
            Step::Played => self.played(),
            Step::Abandoned => self.abandoned().await?,
            Step::Time => self.time().await?,
        }
        Ok(())
    }

    /// Begins the request that waits, unless the person speaks.
    async fn begin(&mut self) -> Result<(), LlmError> {
        let is_heard = self.is_speaking || !self.untranscribed.is_empty();
        if self.active.is_some() || is_heard || self.is_stale {
            return Ok(());
        }
        let waiting = self.channels.waiting.take();
        let Some(request) = waiting.filter(|request| !request.reply.is_closed()) else {
            return Ok(());
        };
        if self.channels.utterances.has_unread() {
            active::end_before_answer(&self.channels.connection, request);
            return Ok(());
        }
        self.channels.number += 1;
        let number = self.channels.number;
        let Request {
            items,
            mut create,
            not_sent,
            reply,
        } = request;
        self.channels.playback.begin(number);
        // Before anything is sent, so that a lost connection ends it.
        self.active = Some(Active::new(number, reply, not_sent));
        let mut created = 0;
        let events = self.items.reconcile(items, || {
            created += 1;
            format!("item_{number}_{created}")
        });
        let event_id: Value = format!("request_{number}").into();
        for mut event in events {
            event["event_id"] = event_id.clone();
            self.socket.send(&event).await?;
        }
        create["event_id"] = event_id;
        self.socket.send(&create).await
    }

    async fn event(&mut self, event: ServerEvent) -> Result<(), Stop> {
        match event {
            ServerEvent::Error { error } => return self.refused(&error),
            ServerEvent::SpeechStarted {} => {
                self.is_speaking = true;
                self.interrupt().await?;
            }
            ServerEvent::SpeechStopped { item_id } => {
                self.is_speaking = false;
                self.await_transcription(item_id);
            }
            ServerEvent::Committed {
                item_id,
                previous_item_id,
            } => {
                self.is_speaking = false;
                self.items.add(&item_id, previous_item_id.as_deref());
                self.await_transcription(item_id);
                // If the provider detects no speech, the person has begun to speak before.
                self.interrupt().await?;
            }
            ServerEvent::ItemAdded {
                item,
                previous_item_id,
            } => {
                let is_known = matches!(
                    item["type"].as_str(),
                    Some("message" | "function_call" | "function_call_output")
                );
                if let Some(id) = item["id"].as_str().filter(|_| is_known) {
                    self.items.add(id, previous_item_id.as_deref());
                }
            }
            ServerEvent::Transcribed {
                item_id,
                transcript,
                usage,
            } => {
                let usage = realtime::read_usage(&usage, None);
                let utterance = Utterance::new(transcript.trim().to_string(), usage);
                self.transcribed(&item_id, utterance);
            }
            ServerEvent::NotTranscribed { item_id } => {
                self.transcribed(&item_id, Utterance::not_transcribed());
            }
            ServerEvent::ResponseCreated { response } => self.created(&response).await?,
            ServerEvent::Audio {
                response_id,
                item_id,
                delta,
            } => {
                let audio = STANDARD.decode(delta).map_err(|error| {
                    let problem = format!("it sent audio that is not base64: {error}");
                    self.socket.errors.malformed(&problem)
                })?;
                if let Some(active) = self.arriving(&response_id) {
                    active.incoming.add_audio(&item_id, audio.len());
                    self.channels.playback.push(audio);
                }
            }
            ServerEvent::Text {
                response_id,
                item_id,
                delta,
            } => {
                if let Some(active) = self.arriving(&response_id) {
                    active.incoming.add_text(&item_id, &delta);
                    active.send(Ok(StreamEvent::Delta(Delta::Text(delta))));
                }
            }
            ServerEvent::ResponseDone { response } => self.done(&response).await?,
            ServerEvent::Other => {}
        }
        Ok(())
    }

    /// The active request, if an event of the response with this id is for it.
    fn arriving(&mut self, response: &str) -> Option<&mut Active> {
        self.active.as_mut().filter(|active| active.takes(response))
    }

    /// The server refused an event, or failed.
    fn refused(&mut self, error: &Value) -> Result<(), Stop> {
        let reported = self.socket.errors.reported(&json!({ "error": error }));
        if error["code"] == "session_expired" {
            let what = format!("the session has ended: {}", error["message"]);
            let error = self.socket.errors.error(LlmErrorKind::Connection, &what);
            return Err(Stop::Lost(error));
        }
        let event = error["event_id"].as_str().unwrap_or_default();
        let (kind, number) = event.split_once('_').unwrap_or((event, ""));
        match kind {
            SETUP => return Err(Stop::Refused(reported)),
            "request" => {
                self.is_stale = true;
                let is_active = |active: &mut Active| active.number.to_string() == number;
                if let Some(active) = self.active.take_if(is_active) {
                    self.channels.playback.clear();
                    active.send(Err(reported));
                }
            }
            // A response that has ended cannot be cancelled, and its end arrives.
            "cancel" => {}
            "truncate" => self.is_stale = true,
            _ => self.channels.utterances.report(reported),
        }
        Ok(())
    }

    fn await_transcription(&mut self, item: String) {
        if self.untranscribed.iter().all(|(known, _)| *known != item) {
            let until = Instant::now() + TRANSCRIPTION;
            self.untranscribed.push((item, until));
        }
    }

    /// The words of an item are known, or that they cannot be.
    fn transcribed(&mut self, item: &str, utterance: Utterance) {
        let at = self
            .untranscribed
            .iter()
            .position(|(known, _)| known == item);
        let Some(at) = at else { return };
        self.untranscribed.remove(at);
        // A noise is no item of a request.
        if !utterance.text.is_empty() {
            self.items.set(item, realtime::user_text(&utterance.text));
            self.channels.utterances.send(utterance);
        }
    }

    async fn created(&mut self, response: &Value) -> Result<(), LlmError> {
        let Some(active) = &mut self.active else {
            return Ok(());
        };
        if active.response.is_none() {
            active.response = response["id"].as_str().map(str::to_string);
            // It was cancelled before it began.
            if matches!(active.stage, Stage::Interrupted(_) | Stage::Abandoned) {
                return self.cancel().await;
            }
        }
        Ok(())
    }

    /// Asks the server to end the response.
    async fn cancel(&mut self) -> Result<(), LlmError> {
        let Some(active) = &self.active else {
            return Ok(());
        };
        let id = format!("cancel_{}", active.number);
        let mut event = json!({ "type": "response.cancel", "event_id": id });
        if let Some(response) = &active.response {
            event["response_id"] = response.as_str().into();
        }
        self.socket.send(&event).await
    }

    /// The person speaks: the loudspeaker is silent, and a response ends.
    async fn interrupt(&mut self) -> Result<(), LlmError> {
        let heard = self.channels.playback.heard();
        let is_drained = self.channels.playback.is_drained();
        self.channels.playback.clear();
        match self.active.take() {
            Some(mut active) if matches!(active.stage, Stage::Arriving) => {
                active.stage = Stage::Interrupted(heard);
                self.active = Some(active);
                self.cancel().await
            }
            Some(mut active) if matches!(active.stage, Stage::Playing(_)) => {
                let Stage::Playing(response) =
                    std::mem::replace(&mut active.stage, Stage::Interrupted(heard))
                else {
                    return Ok(());
                };
                if is_drained {
                    active.end(*response);
                    return Ok(());
                }
                let usage = response.usage;
                self.end_interrupted(&active, None, heard, Some(usage))
                    .await
            }
            other => {
                self.active = other;
                Ok(())
            }
        }
    }

    /// Ends a response that was interrupted: the session and the response have what was heard.
    async fn end_interrupted(
        &mut self,
        active: &Active,
        arrived: Option<&Value>,
        bytes: usize,
        usage: Option<TokenUsage>,
    ) -> Result<(), LlmError> {
        let heard = active.incoming.heard(bytes);
        let cut = heard.cut.clone();
        let connection = &self.channels.connection;
        let (mut response, items) = active.interrupted(connection, arrived, bytes, heard);
        if let Some(usage) = usage {
            response.usage = usage;
        }
        for id in active.incoming.ids() {
            self.items.forget(id);
        }
        let has_cut = |cut: &(String, usize)| items.iter().any(|(id, _)| *id == cut.0);
        let cut = cut.filter(has_cut);
        for (id, value) in items {
            self.items.set(&id, value);
        }
        active.end(response);
        let Some((item, ms)) = cut else { return Ok(()) };
        self.socket
            .send(&json!({
                "type": "conversation.item.truncate",
                "event_id": format!("truncate_{}", active.number),
                "item_id": item,
                "content_index": 0,
                "audio_end_ms": ms,
            }))
            .await
    }

    /// The response has arrived, or was cancelled, or has failed.
    async fn done(&mut self, arrived: &Value) -> Result<(), LlmError> {
        let id = arrived["id"].as_str().unwrap_or_default();
        let is_same = |active: &mut Active| {
            let is_playing = matches!(active.stage, Stage::Playing(_));
            !is_playing && active.response.as_deref().is_none_or(|known| known == id)
        };
        let Some(mut active) = self.active.take_if(is_same) else {
            return Ok(());
        };
        active.response = Some(id.to_string());
        match (&active.stage, arrived["status"].as_str()) {
            (Stage::Abandoned, _) => Ok(()),
            (Stage::Interrupted(heard), _) => {
                let heard = *heard;
                self.end_interrupted(&active, Some(arrived), heard, None)
                    .await
            }
            (_, Some("failed")) => {
                self.channels.playback.clear();
                let failure = active::failure(arrived);
                active.send(Err(self.socket.errors.reported(&failure)));
                Ok(())
            }
            // By the server itself.
            (_, Some("cancelled")) => {
                let heard = self.channels.playback.heard();
                self.channels.playback.clear();
                self.end_interrupted(&active, Some(arrived), heard, None)
                    .await
            }
            _ => {
                let (response, items) = active.whole(&self.channels.connection, arrived);
                for (id, value) in items {
                    self.items.set(&id, value);
                }
                // Its calls are made while it is played.
                let has_calls = response.calls().next().is_some();
                if has_calls || self.channels.playback.is_drained() {
                    active.end(response);
                } else {
                    active.stage = Stage::Playing(Box::new(response));
                    self.active = Some(active);
                }
                Ok(())
            }
        }
    }

    fn played(&mut self) {
        if let Some(active) = self.active.take()
            && let Stage::Playing(response) = &active.stage
        {
            active.end(LlmResponse::clone(response));
        }
    }

    /// Nobody waits for the response: its turn was stopped.
    async fn abandoned(&mut self) -> Result<(), LlmError> {
        self.channels.playback.clear();
        let Some(active) = &mut self.active else {
            return Ok(());
        };
        for id in active.incoming.ids() {
            // No request has it.
            self.items.forget(id);
        }
        if matches!(active.stage, Stage::Playing(_)) {
            self.active = None;
            return Ok(());
        }
        let is_cancelled = matches!(active.stage, Stage::Interrupted(_));
        active.stage = Stage::Abandoned;
        if is_cancelled {
            return Ok(());
        }
        self.cancel().await
    }

    async fn time(&mut self) -> Result<(), LlmError> {
        let now = Instant::now();
        let late = self.untranscribed.iter();
        let late = late.filter(|(_, until)| *until <= now);
        let late: Vec<String> = late.map(|(item, _)| item.clone()).collect();
        for item in late {
            self.transcribed(&item, Utterance::not_transcribed());
        }
        if self.next_ping <= now {
            self.next_ping = now + PING;
            self.socket.ping().await?;
        }
        Ok(())
    }

    /// The connection was lost. A response that was heard or has arrived ends as it is.
    fn lost(&mut self, error: &LlmError) -> End {
        if let Some(active) = self.active.take() {
            match &active.stage {
                Stage::Playing(response) => active.end(LlmResponse::clone(response)),
                Stage::Interrupted(heard) => {
                    let heard = *heard;
                    let messages = active.incoming.heard(heard);
                    let connection = &self.channels.connection;
                    let (response, _) = active.interrupted(connection, None, heard, messages);
                    active.end(response);
                }
                Stage::Arriving => {
                    self.channels.playback.clear();
                    active.send(Err(same(error)));
                }
                Stage::Abandoned => {}
            }
        }
        if self.is_speaking || !self.untranscribed.is_empty() {
            let what = format!("{error}; what the person said just then is lost");
            let lost = LlmError::new(LlmErrorKind::Connection, what);
            self.channels.utterances.report(lost);
        }
        End::Lost
    }
}

/// Why a session stops working.
enum Stop {
    Lost(LlmError),
    Refused(LlmError),
}

impl From<LlmError> for Stop {
    fn from(error: LlmError) -> Self {
        Stop::Lost(error)
    }
}
