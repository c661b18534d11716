//! The event streams of AWS: frames with headers, checksums and JSON.

use aws_smithy_eventstream::frame::{DecodedFrame, MessageFrameDecoder};
use bytes::{Bytes, BytesMut};
use futures_core::Stream;
use futures_util::{StreamExt, stream};
use serde_json::{Value, json};

use crate::LlmError;

/// An event as JSON.
pub(super) struct AwsEvent {
    /// Whether it is an exception.
    pub(super) is_error: bool,
    pub(super) data: String,
}

/// The events of a body in the format of AWS. An event is an object whose field is its type.
pub(super) fn events(
    chunks: impl Stream<Item = Result<Bytes, LlmError>> + Send + Unpin + 'static,
    unreadable: impl Fn(&str) -> LlmError + Send + 'static,
) -> impl Stream<Item = Result<AwsEvent, LlmError>> + Send + 'static {
    let state = Some((
        chunks,
        BytesMut::new(),
        MessageFrameDecoder::new(),
        unreadable,
    ));
    stream::unfold(state, |state| async {
        let (mut chunks, mut buffer, mut decoder, unreadable) = state?;
        loop {
            match decoder.decode_frame(&mut buffer) {
                Ok(DecodedFrame::Complete(message)) => {
                    return Some((
                        Ok(event(&message)),
                        Some((chunks, buffer, decoder, unreadable)),
                    ));
                }
                Ok(DecodedFrame::Incomplete) => {}
                Err(error) => {
                    let problem = format!("it sent an event that cannot be read: {error}");
                    return Some((Err(unreadable(&problem)), None));
                }
            }
            match chunks.next().await? {
                Ok(chunk) => buffer.extend_from_slice(&chunk),
                Err(error) => return Some((Err(error), None)),
            }
        }
    })
}

fn event(message: &aws_smithy_types::event_stream::Message) -> AwsEvent {
    let header = |name: &str| {
        let mut headers = message.headers().iter();
        let header = headers.find(|header| header.name().as_str() == name)?;
        Some(header.value().as_string().ok()?.as_str().to_string())
    };
    let payload = String::from_utf8_lossy(message.payload());
    if header(":message-type").as_deref() == Some("event") {
        let kind: Value = header(":event-type").unwrap_or_default().into();
        return AwsEvent {
            is_error: false,
            data: format!("{{{kind}:{payload}}}"),
        };
    }
    let name = header(":exception-type").or_else(|| header(":error-code"));
    let sent: Value = serde_json::from_str(&payload).unwrap_or_default();
    let text = sent["message"].as_str().map(str::to_string);
    let text = text.or_else(|| header(":error-message"));
    let name = name.unwrap_or_default();
    let text = format!("{name}: {}", text.unwrap_or_default());
    AwsEvent {
        is_error: true,
        data: json!({ "error": { "type": name, "message": text } }).to_string(),
    }
}
