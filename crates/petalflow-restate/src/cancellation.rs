//! Tells a handler that Restate has cancelled its invocation, while the handler executes a step of its journal. The SDK reads no
//! message of the server then, so a node would run to its end. This reads them before the SDK does.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{Buf as _, Bytes, BytesMut};
use hyper::body::{Body, Frame, Incoming};
use hyper::{Request, Response};
use restate_sdk::endpoint::{Endpoint, HandleOptions, ProtocolMode};
use tokio::sync::{mpsc, watch};

tokio::task_local! {
    /// What tells the handlers that a response body polls.
    static CANCELLED: Cancelled;
}

/// Tells whether Restate has cancelled an invocation.
#[derive(Clone, Debug)]
pub(crate) struct Cancelled(watch::Receiver<bool>);

impl Cancelled {
    /// That of the invocation whose handler is polled.
    pub(crate) fn current() -> Option<Self> {
        CANCELLED.try_with(Clone::clone).ok()
    }

    /// Completes when the invocation is cancelled.
    pub(crate) async fn wait(mut self) {
        if self.0.wait_for(|cancelled| *cancelled).await.is_err() {
            // The invocation has ended, with all that its handler awaits.
            std::future::pending::<()>().await;
        }
    }
}

/// Answers a request of the server.
pub(crate) fn handle(endpoint: &Endpoint, request: Request<Incoming>) -> Response<Answer> {
    let (cancel, cancelled) = watch::channel(false);
    let (parts, body) = request.into_parts();
    let (sender, frames) = mpsc::unbounded_channel();
    tokio::spawn(read(body, sender, cancel));
    let request = Request::from_parts(parts, Read(frames));
    let options = HandleOptions {
        protocol_mode: ProtocolMode::BidiStream,
    };
    let response = endpoint.handle_with_options(request, options);
    response.map(|body| Answer {
        body: Box::pin(body),
        cancelled: Cancelled(cancelled),
    })
}

/// Reads the messages of the server until the invocation ends, or the stream does.
async fn read<B: Body<Data = Bytes>>(
    body: B,
    frames: mpsc::UnboundedSender<Result<Bytes, B::Error>>,
    cancel: watch::Sender<bool>,
) {
    let mut body = std::pin::pin!(body);
    let mut messages = Messages::default();
    loop {
        let next = std::future::poll_fn(|cx| body.as_mut().poll_frame(cx));
        let frame = tokio::select! {
            frame = next => frame,
            () = frames.closed() => return,
        };
        let bytes = match frame {
            None => return,
            Some(Ok(frame)) => match frame.into_data() {
                Ok(bytes) => bytes,
                Err(_) => continue,
            },
            // A stream that was reset gives its error each time that it is polled.
            Some(Err(error)) => {
                let _ = frames.send(Err(error));
                return;
            }
        };
        if messages.have_cancel(&bytes) {
            cancel.send_replace(true);
        }
        // The end of the invocation has dropped the receiver.
        if frames.send(Ok(bytes)).is_err() {
            return;
        }
    }
}

/// The type of a message that tells a signal.
const SIGNAL: u16 = 0xfbff;

/// The field of the number of a built-in signal, and the number of that of a cancellation.
const CANCEL: [u8; 2] = [2 << 3, 1];

/// No message that tells a cancellation is longer.
const LONGEST: usize = 16;

/// The messages that a stream of bytes consists of: a type of two bytes, two bytes of flags, four of the length, and the contents.
#[derive(Debug, Default)]
struct Messages {
    /// The beginning of a message whose rest has not arrived.
    rest: BytesMut,
    /// How many bytes of the present message are not read because of its length.
    skip: usize,
}

impl Messages {
    /// Whether one of the messages that end in these bytes tells a cancellation.
    fn have_cancel(&mut self, bytes: &[u8]) -> bool {
        let skipped = self.skip.min(bytes.len());
        self.skip -= skipped;
        self.rest.extend_from_slice(&bytes[skipped..]);
        let mut found = false;
        while let Some((head, _)) = self.rest.split_first_chunk::<8>() {
            let kind = u16::from_be_bytes([head[0], head[1]]);
            let length = u32::from_be_bytes([head[4], head[5], head[6], head[7]]) as usize;
            if kind == SIGNAL && length <= LONGEST {
                let Some(contents) = self.rest.get(8..8 + length) else {
                    break;
                };
                found |= contents.starts_with(&CANCEL);
            }
            let whole = (8 + length).min(self.rest.len());
            self.skip = 8 + length - whole;
            self.rest.advance(whole);
        }
        found
    }
}

/// The messages of the server, for the SDK.
struct Read(mpsc::UnboundedReceiver<hyper::Result<Bytes>>);

impl Body for Read {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<hyper::Result<Frame<Bytes>>>> {
        let bytes = self.0.poll_recv(cx);
        bytes.map(|bytes| bytes.map(|bytes| bytes.map(Frame::data)))
    }
}

/// The messages of a handler, which runs while they are polled.
pub(crate) struct Answer {
    body: Pin<Box<restate_sdk::endpoint::ResponseBody>>,
    cancelled: Cancelled,
}

impl Body for Answer {
    type Data = Bytes;
    type Error = <restate_sdk::endpoint::ResponseBody as Body>::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let answer = self.get_mut();
        let body = answer.body.as_mut();
        CANCELLED.sync_scope(answer.cancelled.clone(), || body.poll_frame(cx))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> hyper::body::SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stream of a server that is gone.
    struct Reset;

    impl Body for Reset {
        type Data = Bytes;
        type Error = &'static str;

        fn poll_frame(
            self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
            Poll::Ready(Some(Err("reset")))
        }
    }

    #[tokio::test]
    async fn f43_a_stream_that_was_reset_is_read_once() {
        let (sender, mut frames) = mpsc::unbounded_channel();
        let (cancel, _cancelled) = watch::channel(false);
        // The handler still runs, so it keeps its receiver.
        tokio::spawn(read(Reset, sender, cancel));
        assert_eq!(frames.recv().await, Some(Err("reset")));
        assert_eq!(frames.recv().await, None);
    }

    fn message(kind: u16, contents: &[u8]) -> Vec<u8> {
        let length = u32::try_from(contents.len()).expect("it is short");
        let head = [&kind.to_be_bytes()[..], &[0, 0], &length.to_be_bytes()].concat();
        [&head[..], contents].concat()
    }

    #[test]
    fn f42_a_cancellation_is_found_wherever_the_bytes_are_cut() {
        let cancel = message(SIGNAL, &[16, 1, 34, 0]);
        let others = [
            message(0x0000, &[7; 300]),
            message(SIGNAL, &[16, 17, 34, 0]),
            message(SIGNAL, &[7; 40]),
            message(0x8404, &[16, 1, 34, 0]),
        ]
        .concat();
        let stream = [&others[..], &cancel, &others].concat();
        for size in [1, 2, 7, 8, 9, 100, stream.len()] {
            let mut messages = Messages::default();
            let found = stream
                .chunks(size)
                .map(|bytes| usize::from(messages.have_cancel(bytes)));
            assert_eq!(found.sum::<usize>(), 1, "in pieces of {size}");
            let mut messages = Messages::default();
            let found = others.chunks(size).any(|bytes| messages.have_cancel(bytes));
            assert!(!found, "in pieces of {size}");
        }
    }
}
