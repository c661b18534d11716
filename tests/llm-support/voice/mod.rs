//! A server that acts as OpenAI's Realtime API, in the hands of a test: what it hears and says, the test says.
//!
//! It has the items of each session as the provider has them, and refuses events and fields that the provider does not know.

mod known_events;

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::server::{ErrorResponse, Request, Response};
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, frame::coding::CloseCode};

use known_events::check_event;

/// How long a test waits for something.
const LIMIT: Duration = Duration::from_secs(20);

/// The bytes of a millisecond of audio.
pub const BYTES_PER_MS: usize = 48;

/// A server on this machine. Dropping it stops it.
#[derive(Debug)]
pub struct VoiceServer {
    url: String,
    connections: UnboundedReceiver<VoiceConnection>,
    listening: JoinHandle<()>,
}

impl VoiceServer {
    /// Starts a server.
    ///
    /// # Panics
    ///
    /// If there is no free port.
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let (sender, connections) = unbounded_channel();
        let listening = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let sender = sender.clone();
                tokio::spawn(async move {
                    if let Some(connection) = VoiceConnection::accept(stream).await {
                        let _ = sender.send(connection);
                    }
                });
            }
        });
        VoiceServer {
            url,
            connections,
            listening,
        }
    }

    /// Its address, before the path of sessions.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The next session that a client opens, after it was set up.
    ///
    /// # Panics
    ///
    /// If none is opened for long.
    pub async fn connection(&mut self) -> VoiceConnection {
        let next = timeout(LIMIT, self.connections.recv()).await;
        let mut connection = next.expect("a session is opened").expect("it listens");
        let created = json!({ "type": "session.created", "session": { "type": "realtime" } });
        connection.send(created).await;
        let setup = connection.next().await;
        assert_eq!(setup["type"], "session.update", "{setup}");
        connection
            .send(json!({ "type": "session.updated", "session": setup["session"] }))
            .await;
        connection.setup = setup["session"].clone();
        connection
    }
}

impl Drop for VoiceServer {
    fn drop(&mut self) {
        self.listening.abort();
    }
}

/// A session of a client.
#[derive(Debug)]
pub struct VoiceConnection {
    stream: WebSocketStream<TcpStream>,
    /// The path and the query of its request.
    pub path: String,
    /// The header with the key.
    pub authorization: String,
    /// The settings of the session.
    pub setup: Value,
    /// The items of the conversation, as the provider has them.
    pub items: Vec<Value>,
    /// The audio that the client has sent.
    pub heard: Vec<u8>,
    /// All events of the client, except audio.
    pub events: Vec<Value>,
    number: usize,
}

impl VoiceConnection {
    async fn accept(stream: TcpStream) -> Option<Self> {
        let (mut path, mut authorization) = (String::new(), String::new());
        #[expect(clippy::result_large_err, reason = "the library names the type")]
        let read = |request: &Request, response: Response| -> Result<Response, ErrorResponse> {
            path = request.uri().to_string();
            let header = request.headers().get("authorization");
            let header = header.and_then(|header| header.to_str().ok());
            authorization = header.unwrap_or_default().to_string();
            Ok(response)
        };
        let stream = tokio_tungstenite::accept_hdr_async(stream, read).await;
        Some(VoiceConnection {
            stream: stream.ok()?,
            path,
            authorization,
            setup: Value::Null,
            items: Vec::new(),
            heard: Vec::new(),
            events: Vec::new(),
            number: 0,
        })
    }

    /// Sends an event to the client.
    ///
    /// # Panics
    ///
    /// If the client is gone.
    pub async fn send(&mut self, mut event: Value) {
        self.number += 1;
        event["event_id"] = format!("event_{}", self.number).into();
        let sent = self.stream.send(Message::text(event.to_string())).await;
        sent.expect("the client is there");
    }

    /// The next event of the client, except audio. `None` if it has closed the session.
    ///
    /// # Panics
    ///
    /// If there is none for long, or the provider does not know it.
    pub async fn try_next(&mut self) -> Option<Value> {
        let next = timeout(LIMIT, self.next_event()).await;
        next.expect("the client sends an event")
    }

    async fn next_event(&mut self) -> Option<Value> {
        loop {
            let text = match self.stream.next().await {
                Some(Ok(Message::Text(text))) => text,
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => continue,
                _ => return None,
            };
            let event: Value = serde_json::from_str(&text).expect("an event is JSON");
            check_event(&event);
            if event["type"] == "input_audio_buffer.append" {
                let audio = event["audio"].as_str().expect("audio is text");
                self.heard
                    .extend(STANDARD.decode(audio).expect("audio is base64"));
                continue;
            }
            self.events.push(event.clone());
            self.apply(&event).await;
            return Some(event);
        }
    }

    /// The next event of the client, except audio.
    ///
    /// # Panics
    ///
    /// If there is none for long, or the provider does not know it.
    pub async fn next(&mut self) -> Value {
        self.try_next().await.expect("the client is there")
    }

    /// The next event of this type. Others are applied.
    ///
    /// # Panics
    ///
    /// If it does not come.
    pub async fn next_of(&mut self, kind: &str) -> Value {
        loop {
            let event = self.next().await;
            if event["type"] == kind {
                return event;
            }
        }
    }

    /// Reads audio until the client has sent this number of bytes.
    ///
    /// # Panics
    ///
    /// If it sends something else, or nothing for long.
    pub async fn hear(&mut self, bytes: usize) {
        while self.heard.len() < bytes {
            let message = timeout(LIMIT, self.stream.next()).await;
            let Some(Ok(Message::Text(text))) = message.expect("the client sends audio") else {
                panic!("the client is gone");
            };
            let event: Value = serde_json::from_str(&text).expect("an event is JSON");
            assert_eq!(event["type"], "input_audio_buffer.append");
            let audio = event["audio"].as_str().expect("audio is text");
            self.heard
                .extend(STANDARD.decode(audio).expect("audio is base64"));
        }
    }

    /// Waits until the client has read everything.
    ///
    /// # Panics
    ///
    /// If it sends an event before.
    pub async fn read(&mut self) {
        let ping = Message::Ping(Vec::new().into());
        self.stream.send(ping).await.expect("the client is there");
        let message = timeout(LIMIT, self.stream.next()).await;
        let message = message.expect("it answers").expect("it is there");
        assert!(matches!(message, Ok(Message::Pong(_))), "{message:?}");
    }

    /// The person begins to speak.
    pub async fn speech_starts(&mut self, item: &str) {
        self.send(json!({
            "type": "input_audio_buffer.speech_started",
            "audio_start_ms": 0,
            "item_id": item,
        }))
        .await;
    }

    /// The person has ended: what it said becomes an item, without its words.
    pub async fn speech_ends(&mut self, item: &str) {
        self.send(json!({
            "type": "input_audio_buffer.speech_stopped",
            "audio_end_ms": 900,
            "item_id": item,
        }))
        .await;
        let previous = self.last_item();
        self.send(json!({
            "type": "input_audio_buffer.committed",
            "previous_item_id": previous,
            "item_id": item,
        }))
        .await;
        self.add(json!({
            "id": item,
            "type": "message",
            "status": "completed",
            "role": "user",
            "content": [{ "type": "input_audio", "transcript": null }],
        }))
        .await;
    }

    /// The words of what the person said are known.
    pub async fn transcribed(&mut self, item: &str, words: &str) {
        self.send(json!({
            "type": "conversation.item.input_audio_transcription.completed",
            "item_id": item,
            "content_index": 0,
            "transcript": words,
            "usage": {
                "type": "tokens",
                "total_tokens": 22,
                "input_tokens": 13,
                "input_token_details": { "text_tokens": 0, "audio_tokens": 13 },
                "output_tokens": 9,
            },
        }))
        .await;
    }

    /// The person says this.
    pub async fn says(&mut self, item: &str, words: &str) {
        self.speech_starts(item).await;
        self.speech_ends(item).await;
        self.transcribed(item, words).await;
    }

    /// A response begins.
    pub async fn response(&mut self, id: &str) {
        self.send(json!({
            "type": "response.created",
            "response": {
                "object": "realtime.response",
                "id": id,
                "status": "in_progress",
                "output": [],
            },
        }))
        .await;
    }

    /// The model says these words, in this number of milliseconds.
    pub async fn speaks(&mut self, response: &str, item: &str, words: &str, ms: usize) {
        if self.position(item).is_none() {
            let message = json!({
                "id": item,
                "type": "message",
                "status": "in_progress",
                "role": "assistant",
                "content": [],
            });
            self.send(json!({
                "type": "response.output_item.added",
                "response_id": response,
                "output_index": 0,
                "item": message,
            }))
            .await;
            self.add(message).await;
        }
        let place = json!({
            "response_id": response,
            "item_id": item,
            "output_index": 0,
            "content_index": 0,
        });
        for word in words.split_inclusive(' ') {
            let mut event = place.clone();
            event["type"] = "response.output_audio_transcript.delta".into();
            event["delta"] = word.into();
            self.send(event).await;
        }
        let audio = vec![7; ms * BYTES_PER_MS];
        // More than is played at once.
        for part in audio.chunks(200 * BYTES_PER_MS) {
            let mut event = place.clone();
            event["type"] = "response.output_audio.delta".into();
            event["delta"] = STANDARD.encode(part).into();
            self.send(event).await;
        }
    }

    /// A response ends with these items, as [`message`] and [`call`] write them.
    ///
    /// # Panics
    ///
    /// If an item has no id.
    pub async fn done(&mut self, id: &str, status: &str, output: Vec<Value>) {
        for item in &output {
            let known = item["id"].as_str().expect("an item has an id");
            match self.position(known) {
                Some(at) => self.items[at] = item.clone(),
                None => self.add(item.clone()).await,
            }
        }
        let reason = match status {
            "cancelled" => json!({ "type": "cancelled", "reason": "client_cancelled" }),
            _ => Value::Null,
        };
        self.send(json!({
            "type": "response.done",
            "response": {
                "object": "realtime.response",
                "id": id,
                "status": status,
                "status_details": reason,
                "output": output,
                "conversation_id": "conv_1",
                "output_modalities": ["audio"],
                "usage": usage(),
                "metadata": null,
            },
        }))
        .await;
    }

    /// Answers the next request with these words, in this number of milliseconds of audio. Returns the request.
    pub async fn answers(&mut self, number: usize, words: &str, ms: usize) -> Value {
        let request = self.next_of("response.create").await;
        let (id, item) = (format!("resp_{number}"), format!("msg_{number}"));
        self.response(&id).await;
        self.speaks(&id, &item, words, ms).await;
        self.done(&id, "completed", vec![message(&item, words)])
            .await;
        request
    }

    /// Breaks the connection off.
    pub fn cut(self) {
        let _ = self.stream.into_inner().set_zero_linger();
    }

    /// Ends the session as the provider does after 60 minutes.
    pub async fn expire(mut self) {
        let message = "Your session hit the maximum duration of 60 minutes.";
        self.send(json!({
            "type": "error",
            "error": {
                "type": "invalid_request_error",
                "code": "session_expired",
                "message": message,
                "param": null,
                "event_id": null,
            },
        }))
        .await;
        let frame = CloseFrame {
            code: CloseCode::Away,
            reason: message.into(),
        };
        let _ = self.stream.close(Some(frame)).await;
    }

    /// The texts of the items, each with its role or type.
    pub fn texts(&self) -> Vec<String> {
        let text = |item: &Value| {
            let content = item["content"].as_array().into_iter().flatten();
            let text = |part: &Value| {
                let text = part["text"].as_str().or(part["transcript"].as_str());
                text.unwrap_or_else(|| part["type"].as_str().unwrap_or_default())
                    .to_string()
            };
            let text: String = content.map(text).collect();
            match item["type"].as_str() {
                Some("function_call") => format!("call {} {}", item["name"], item["arguments"]),
                Some("function_call_output") => format!("output {}", item["output"]),
                _ => format!("{} {text}", item["role"].as_str().unwrap_or_default()),
            }
        };
        self.items.iter().map(text).collect()
    }

    fn position(&self, id: &str) -> Option<usize> {
        self.items.iter().position(|item| item["id"] == id)
    }

    fn last_item(&self) -> Value {
        let last = self.items.last();
        last.map_or(Value::Null, |last| last["id"].clone())
    }

    async fn add(&mut self, item: Value) {
        let previous = self.last_item();
        self.items.push(item.clone());
        for kind in ["conversation.item.added", "conversation.item.done"] {
            self.send(json!({ "type": kind, "previous_item_id": previous, "item": item }))
                .await;
        }
    }

    /// Does what an event of the client asks for.
    async fn apply(&mut self, event: &Value) {
        let id = event["item_id"].as_str().unwrap_or_default();
        let at = self.position(id);
        match event["type"].as_str() {
            Some("conversation.item.create") => {
                let mut item = event["item"].clone();
                let id = item["id"].as_str().expect("the client names its items");
                assert!(id.len() <= 32, "{id} is too long");
                assert!(self.position(id).is_none(), "{id} exists");
                if item["type"] == "function_call_output" {
                    let calls = self.items.iter();
                    let mut calls = calls.filter(|other| other["type"] == "function_call");
                    let is_call = |call: &Value| call["call_id"] == item["call_id"];
                    assert!(calls.any(is_call), "{item} has no call");
                }
                item["status"] = "completed".into();
                match event["previous_item_id"].as_str() {
                    None => self.add(item).await,
                    Some(previous) => {
                        let at = match previous {
                            "root" => 0,
                            previous => self.position(previous).expect("it exists") + 1,
                        };
                        self.items.insert(at, item.clone());
                        let kind = "conversation.item.added";
                        self.send(
                            json!({ "type": kind, "previous_item_id": previous, "item": item }),
                        )
                        .await;
                    }
                }
            }
            Some("conversation.item.delete") => {
                self.items.remove(at.expect("a deleted item exists"));
                let event = json!({ "type": "conversation.item.deleted", "item_id": id });
                self.send(event).await;
            }
            Some("conversation.item.truncate") => {
                let at = at.expect("a truncated item exists");
                assert_eq!(self.items[at]["role"], "assistant");
                // The words are removed with the audio.
                self.items[at]["content"] = json!([{
                    "type": format!("{} ms of audio", event["audio_end_ms"]),
                }]);
                self.send(json!({
                    "type": "conversation.item.truncated",
                    "item_id": id,
                    "content_index": 0,
                    "audio_end_ms": event["audio_end_ms"],
                }))
                .await;
            }
            _ => {}
        }
    }
}

/// A message of a response.
pub fn message(id: &str, words: &str) -> Value {
    json!({
        "id": id,
        "type": "message",
        "status": "completed",
        "role": "assistant",
        "content": [{ "type": "output_audio", "transcript": words }],
    })
}

/// A call of a response.
pub fn call(id: &str, name: &str, arguments: &Value) -> Value {
    json!({
        "id": format!("item_{id}"),
        "type": "function_call",
        "status": "completed",
        "name": name,
        "call_id": id,
        "arguments": arguments.to_string(),
    })
}

/// The tokens of a response.
fn usage() -> Value {
    json!({
        "total_tokens": 300,
        "input_tokens": 200,
        "output_tokens": 100,
        "input_token_details": {
            "text_tokens": 80,
            "audio_tokens": 120,
            "image_tokens": 0,
            "cached_tokens": 64,
            "cached_tokens_details": { "text_tokens": 0, "audio_tokens": 64, "image_tokens": 0 },
        },
        "output_token_details": { "text_tokens": 20, "audio_tokens": 80 },
    })
}
