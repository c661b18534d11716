//! Streamed responses.

use std::borrow::Cow;
use std::fmt;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use futures_core::Stream;
use futures_util::future::{self, Either};
use futures_util::{StreamExt, stream};

use super::accumulator::StreamAccumulator;
use super::delta::Delta;
use crate::{LlmError, LlmErrorKind, LlmRequest, LlmResponse, TokenUsage};
use petalflow::run::CancelToken;

/// A chunk of a response, from an [`LlmStream`].
///
/// ```
/// use futures_util::StreamExt;
/// use petalflow_llm::{LlmResponse, LlmStream};
/// use petalflow_llm::stream::Delta;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let mut stream = LlmStream::from_response(LlmResponse::text_only("hello"));
/// let first = stream.next().await.unwrap();
/// assert_eq!((first.index, first.delta, first.done), (0, Delta::Text("hello".into()), false));
/// assert!(stream.next().await.unwrap().done);
/// # }
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct StreamChunk {
    /// The number of the chunk in the stream, from 0.
    pub index: usize,
    /// The new content.
    pub delta: Delta,
    /// Whether this is the last chunk.
    pub done: bool,
    /// On the last chunk: the complete response. With an error: the content received before it, if any.
    pub response: Option<Box<LlmResponse>>,
    /// On the last chunk: the error that ended the stream.
    pub error: Option<LlmError>,
}

impl StreamChunk {
    /// The tokens used: on the last chunk, if the provider reports them.
    ///
    /// ```
    /// use futures_util::StreamExt;
    /// use petalflow_llm::{LlmResponse, LlmStream, TokenUsage};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let usage = TokenUsage { input: 3, output: 1, total: 4, ..TokenUsage::default() };
    /// let stream = LlmStream::from_response(LlmResponse { usage, ..LlmResponse::text_only("hello") });
    /// let events: Vec<_> = stream.collect().await;
    /// assert_eq!(events[0].usage(), None);
    /// assert_eq!(events[1].usage(), Some(&usage));
    /// # }
    /// ```
    pub fn usage(&self) -> Option<&TokenUsage> {
        let usage = &self.response.as_ref()?.usage;
        (*usage != TokenUsage::default()).then_some(usage)
    }

    /// On the last chunk: the complete response, or the error.
    ///
    /// ```
    /// use futures_util::StreamExt;
    /// use petalflow_llm::{LlmResponse, LlmStream};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let mut stream = LlmStream::from_response(LlmResponse::text_only("hello"));
    /// let mut answer = None;
    /// while let Some(chunk) = stream.next().await {
    ///     answer = chunk.into_outcome();
    /// }
    /// assert_eq!(answer.unwrap().unwrap().text(), "hello");
    /// # }
    /// ```
    pub fn into_outcome(self) -> Option<Result<LlmResponse, LlmError>> {
        match (self.done, self.error) {
            (false, _) => None,
            (true, Some(error)) => Some(Err(error)),
            (true, None) => Some(Ok(self
                .response
                .map(|response| *response)
                .unwrap_or_default())),
        }
    }
}

/// An event of a provider's stream.
///
/// ```
/// use petalflow_llm::LlmResponse;
/// use petalflow_llm::stream::{Delta, StreamEvent};
///
/// let events = [StreamEvent::Delta(Delta::Text("hello".into())), StreamEvent::End(Box::new(LlmResponse::default()))];
/// assert!(matches!(events[1], StreamEvent::End(_)));
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum StreamEvent {
    /// New content.
    Delta(Delta),
    /// The end: everything except the message, which the earlier deltas produce. A message in this response replaces the deltas.
    End(Box<LlmResponse>),
}

/// A response that arrives in chunks. Dropping it closes the connection.
///
/// The stream ends after the chunk that is `done`. Every stream has exactly one. It carries the error of a failure.
///
/// ```
/// use futures_util::{StreamExt, stream};
/// use petalflow_llm::{LlmRequest, LlmResponse, LlmStream};
/// use petalflow_llm::stream::{Delta, StreamEvent};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let events = [
///     Ok(StreamEvent::Delta(Delta::Text("Hello, ".into()))),
///     Ok(StreamEvent::Delta(Delta::Text("world".into()))),
///     Ok(StreamEvent::End(Box::new(LlmResponse { model: "m-1".into(), ..LlmResponse::default() }))),
/// ];
/// let mut stream = LlmStream::new(&LlmRequest::default(), stream::iter(events));
/// assert_eq!(stream.next().await.unwrap().delta, Delta::Text("Hello, ".into()));
/// assert_eq!(stream.accumulated(), "Hello, ");
/// let response = stream.into_response().await.unwrap();
/// assert_eq!((response.text(), response.model), ("Hello, world".into(), "m-1".into()));
/// # }
/// ```
pub struct LlmStream {
    /// `None` after the stream has ended: the source is dropped, which closes the connection.
    events: Option<StreamSource>,
    accumulated: StreamAccumulator,
    /// The text, after the other content has moved into the response.
    final_text: Option<String>,
    index: usize,
    wants_json: bool,
    observers: Vec<Observer>,
}

type Observer = Box<dyn FnMut(&StreamChunk) + Send>;

/// The source of the events of an [`LlmStream`].
pub type StreamSource = Pin<Box<dyn Stream<Item = Result<StreamEvent, LlmError>> + Send>>;

impl LlmStream {
    /// The response to this request, built from these events. It ends with the first error or [`StreamEvent::End`].
    pub fn new(
        request: &LlmRequest,
        events: impl Stream<Item = Result<StreamEvent, LlmError>> + Send + 'static,
    ) -> Self {
        Self::with_source(events, request.json_schema.is_some())
    }

    fn with_source(
        events: impl Stream<Item = Result<StreamEvent, LlmError>> + Send + 'static,
        wants_json: bool,
    ) -> Self {
        LlmStream {
            events: Some(Box::pin(events)),
            accumulated: StreamAccumulator::new(),
            final_text: None,
            index: 0,
            wants_json,
            observers: Vec::new(),
        }
    }

    /// A stream of a response that is already complete, with a chunk for each of its parts.
    pub fn from_response(response: LlmResponse) -> Self {
        let deltas = response
            .message
            .as_ref()
            .map(Delta::from_message)
            .unwrap_or_default();
        let end = StreamEvent::End(Box::new(response));
        let events = deltas
            .into_iter()
            .map(StreamEvent::Delta)
            .chain([end])
            .map(Ok);
        // The JSON of the response was parsed before.
        Self::with_source(stream::iter(events), false)
    }

    /// The text so far, without reasoning. It is stored once, not once for each chunk.
    pub fn accumulated(&self) -> Cow<'_, str> {
        match &self.final_text {
            Some(final_text) => Cow::Borrowed(final_text),
            None => self.accumulated.text(),
        }
    }

    /// Waits for the end and returns the complete response, or the error.
    ///
    /// # Errors
    ///
    /// The error that ended the stream, a call whose arguments are not a JSON object, or
    /// [`LlmErrorKind::Request`] if the stream was read to its end before: its last chunk had the response.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future closes the connection.
    pub async fn into_response(mut self) -> Result<LlmResponse, LlmError> {
        while let Some(chunk) = self.next().await {
            if let Some(outcome) = chunk.into_outcome() {
                return outcome;
            }
        }
        Err(LlmError::request(
            "the stream was read to its end before; take the response from its last chunk, with `StreamChunk::into_outcome`",
        ))
    }

    /// Adds an observer: the function sees each chunk before the reader does, and is dropped with the stream. Observers
    /// run in the order in which they were added.
    ///
    /// ```
    /// use petalflow_llm::{LlmResponse, LlmStream};
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    ///
    /// static CHUNKS: AtomicUsize = AtomicUsize::new(0);
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let stream = LlmStream::from_response(LlmResponse::text_only("hello")).with_observer(|_| {
    ///     CHUNKS.fetch_add(1, Ordering::Relaxed);
    /// });
    /// stream.into_response().await.unwrap();
    /// assert_eq!(CHUNKS.load(Ordering::Relaxed), 2);
    /// # }
    /// ```
    #[must_use]
    pub fn with_observer(mut self, observe: impl FnMut(&StreamChunk) + Send + 'static) -> Self {
        self.observers.push(Box::new(observe));
        self
    }

    /// Ends the stream with an error when this token is cancelled, and closes its connection at once.
    ///
    /// A stream that a node reads needs no token: it is dropped with the node.
    ///
    /// ```
    /// use petalflow::run::CancelToken;
    /// use petalflow_llm::{LlmClient, LlmErrorKind, LlmRequest, Reply, ScriptedModel};
    /// use std::time::Duration;
    ///
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), petalflow_llm::LlmError> {
    /// let model = ScriptedModel::new([Reply::chunks(["Once", "upon"]).every(Duration::from_secs(60))]);
    /// let token = CancelToken::new();
    /// let stream = model.stream(&LlmRequest::prompt("a story")).await?.cancel_with(&token);
    /// token.cancel();
    /// assert_eq!(stream.into_response().await.unwrap_err().kind, LlmErrorKind::Cancelled);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn cancel_with(self, token: &CancelToken) -> Self {
        let token = token.clone();
        self.wrap_source(move |events| {
            stream::unfold(Some((events, token)), |state| async move {
                let (mut events, token) = state?;
                let event = unless_cancelled(&token, &mut events).await?;
                let continues = event.is_ok();
                Some((event, continues.then_some((events, token))))
            })
        })
    }

    /// The events that are still to come, without the observers.
    #[cfg(feature = "providers")]
    pub(crate) fn into_source(self) -> StreamSource {
        self.events.unwrap_or_else(|| Box::pin(stream::empty()))
    }

    /// The same stream after its first chunk has arrived, or the error that came instead.
    pub(crate) async fn wait_for_first_event(mut self) -> Result<Self, LlmError> {
        let Some(mut events) = self.events.take() else {
            return Ok(self);
        };
        let first = events.next().await.transpose()?;
        self.events = Some(Box::pin(stream::iter(first.map(Ok)).chain(events)));
        Ok(self)
    }

    /// What this function says about the response of a stream without content. `None` if the stream has content, or the function
    /// says nothing. No event is lost.
    pub(crate) async fn ends_at_once<T>(
        &mut self,
        says: impl FnOnce(&LlmResponse) -> Option<T>,
    ) -> Option<T> {
        let mut events = self.events.take()?;
        let first = events.next().await;
        let said = match &first {
            Some(Ok(StreamEvent::End(response))) => says(response),
            _ => None,
        };
        self.events = Some(Box::pin(stream::iter(first).chain(events)));
        said
    }

    /// The same stream with its source wrapped: for clients around another client, such as one that polls its source
    /// within a tracing span.
    ///
    /// ```
    /// use futures_util::StreamExt;
    /// use petalflow_llm::{LlmClient, LlmError, LlmRequest, ScriptedModel};
    /// use petalflow_llm::stream::Delta;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), LlmError> {
    /// let model = ScriptedModel::new(["hi"]);
    /// let stream = model.stream(&LlmRequest::prompt("hello")).await?;
    /// let mut stream = stream.wrap_source(|source| source.inspect(|_| println!("something arrived")));
    /// assert_eq!(stream.next().await.unwrap().delta, Delta::Text("hi".into()));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn wrap_source<S>(mut self, wrap: impl FnOnce(StreamSource) -> S) -> Self
    where
        S: Stream<Item = Result<StreamEvent, LlmError>> + Send + 'static,
    {
        self.events = self
            .events
            .map(|events| Box::pin(wrap(events)) as StreamSource);
        self
    }

    fn finish(&mut self, rest: LlmResponse) -> LlmResponse {
        self.final_text = Some(self.accumulated.text().into_owned());
        std::mem::take(&mut self.accumulated).finish(rest)
    }

    fn last(&mut self, rest: LlmResponse) -> StreamChunk {
        let response = self.finish(rest);
        match response.checked_with(self.wants_json) {
            Ok(response) => self.chunk(Delta::None, Some(Ok(response))),
            Err(error) => self.chunk(Delta::None, Some(Err((error, None)))),
        }
    }

    fn failed(&mut self, error: LlmError) -> StreamChunk {
        let received = (!self.accumulated.is_empty()).then(|| {
            let rest = LlmResponse {
                status: crate::response::Status::Incomplete,
                ..LlmResponse::default()
            };
            self.finish(rest)
        });
        self.chunk(Delta::None, Some(Err((error, received))))
    }

    fn chunk(
        &mut self,
        delta: Delta,
        end: Option<Result<LlmResponse, (LlmError, Option<LlmResponse>)>>,
    ) -> StreamChunk {
        let index = self.index;
        self.index += 1;
        let done = end.is_some();
        if done {
            self.events = None;
        }
        let (response, error) = match end {
            None => (None, None),
            Some(Ok(response)) => (Some(response), None),
            Some(Err((error, received))) => (received, Some(error)),
        };
        StreamChunk {
            index,
            delta,
            done,
            response: response.map(Box::new),
            error,
        }
    }
}

/// The next event. The token is checked first: after a cancellation, no further event is returned.
async fn unless_cancelled(
    token: &CancelToken,
    events: &mut StreamSource,
) -> Option<Result<StreamEvent, LlmError>> {
    match future::select(pin!(token.cancelled()), events.next()).await {
        Either::Left(_) => {
            let message = "the response was cancelled";
            Some(Err(LlmError::new(LlmErrorKind::Cancelled, message)))
        }
        Either::Right((event, _)) => event,
    }
}

impl LlmStream {
    /// The next chunk. `None` after the last one. Programs need no other crate to read the stream with it.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses no chunk.
    pub async fn next(&mut self) -> Option<StreamChunk> {
        std::future::poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }
}

impl Stream for LlmStream {
    type Item = StreamChunk;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<StreamChunk>> {
        let Some(events) = &mut self.events else {
            return Poll::Ready(None);
        };
        events.as_mut().poll_next(cx).map(|event| {
            let chunk = match event {
                Some(Ok(StreamEvent::Delta(delta))) => {
                    self.accumulated.push(&delta);
                    self.chunk(delta, None)
                }
                Some(Ok(StreamEvent::End(rest))) => self.last(*rest),
                Some(Err(error)) => self.failed(error),
                None => self.last(LlmResponse::default()),
            };
            self.observers
                .iter_mut()
                .for_each(|observe| observe(&chunk));
            Some(chunk)
        })
    }
}

impl fmt::Debug for LlmStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LlmStream")
            .field("index", &self.index)
            .field("ended", &self.events.is_none())
            .finish_non_exhaustive()
    }
}
