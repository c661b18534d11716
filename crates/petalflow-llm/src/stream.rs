//! Streamed responses.

use std::borrow::Cow;
use std::fmt;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use futures_core::Stream;
use futures_util::future::{self, Either};
use futures_util::{StreamExt, stream};

use super::{
    Delta, LlmError, LlmErrorKind, LlmRequest, LlmResponse, StreamAccumulator, TokenUsage,
};
use petalflow::run::CancelToken;

/// A chunk of a response, from an [`LlmStream`].
///
/// ```
/// use futures_util::StreamExt;
/// use petalflow_llm::{Delta, LlmResponse, LlmStream};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let mut stream = LlmStream::whole(LlmResponse::text_only("hello"));
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
    /// let stream = LlmStream::whole(LlmResponse { usage, ..LlmResponse::text_only("hello") });
    /// let pieces: Vec<_> = stream.collect().await;
    /// assert_eq!(pieces[0].usage(), None);
    /// assert_eq!(pieces[1].usage(), Some(&usage));
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
    /// let mut stream = LlmStream::whole(LlmResponse::text_only("hello"));
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
/// use petalflow_llm::{Delta, LlmResponse, StreamEvent};
///
/// let pieces = [StreamEvent::Delta(Delta::Text("hello".into())), StreamEvent::End(Box::new(LlmResponse::default()))];
/// assert!(matches!(pieces[1], StreamEvent::End(_)));
/// ```
#[derive(Clone, Debug)]
pub enum StreamEvent {
    /// New content.
    Delta(Delta),
    /// The end: everything except the message, which the earlier deltas produce. A message in this response is kept.
    End(Box<LlmResponse>),
}

/// A response that arrives in chunks. Dropping it closes the connection.
///
/// The stream ends after the chunk that is `done`. Every stream has exactly one. It carries the error of a failure.
///
/// ```
/// use futures_util::{StreamExt, stream};
/// use petalflow_llm::{Delta, LlmRequest, LlmResponse, LlmStream, StreamEvent};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let pieces = [
///     Ok(StreamEvent::Delta(Delta::Text("Hello, ".into()))),
///     Ok(StreamEvent::Delta(Delta::Text("world".into()))),
///     Ok(StreamEvent::End(Box::new(LlmResponse { model: "m-1".into(), ..LlmResponse::default() }))),
/// ];
/// let mut stream = LlmStream::new(&LlmRequest::default(), stream::iter(pieces));
/// assert_eq!(stream.next().await.unwrap().delta, Delta::Text("Hello, ".into()));
/// assert_eq!(stream.accumulated(), "Hello, ");
/// let response = stream.into_response().await.unwrap();
/// assert_eq!((response.text(), response.model), ("Hello, world".into(), "m-1".into()));
/// # }
/// ```
pub struct LlmStream {
    /// `None` after the stream has ended: the source is dropped, which closes the connection.
    pieces: Option<StreamSource>,
    so_far: StreamAccumulator,
    /// The text, after the other content has moved into the response.
    words: Option<String>,
    index: usize,
    wants_json: bool,
    watchers: Vec<Watcher>,
}

type Watcher = Box<dyn FnMut(&StreamChunk) + Send>;

/// The source of the events of an [`LlmStream`].
pub type StreamSource = Pin<Box<dyn Stream<Item = Result<StreamEvent, LlmError>> + Send>>;

impl LlmStream {
    /// The response to this request, built from these events. It ends with the first error or [`StreamEvent::End`].
    pub fn new(
        request: &LlmRequest,
        pieces: impl Stream<Item = Result<StreamEvent, LlmError>> + Send + 'static,
    ) -> Self {
        Self::of(pieces, request.json_schema.is_some())
    }

    fn of(
        pieces: impl Stream<Item = Result<StreamEvent, LlmError>> + Send + 'static,
        wants_json: bool,
    ) -> Self {
        LlmStream {
            pieces: Some(Box::pin(pieces)),
            so_far: StreamAccumulator::new(),
            words: None,
            index: 0,
            wants_json,
            watchers: Vec::new(),
        }
    }

    /// A stream of a response that is already complete, with a chunk for each of its parts.
    pub fn whole(response: LlmResponse) -> Self {
        let deltas = response.message.as_ref().map(Delta::of).unwrap_or_default();
        let end = StreamEvent::End(Box::new(response));
        let pieces = deltas
            .into_iter()
            .map(StreamEvent::Delta)
            .chain([end])
            .map(Ok);
        // The JSON of the response was parsed before.
        Self::of(stream::iter(pieces), false)
    }

    /// The text so far, without reasoning. It is stored once, not once for each chunk.
    pub fn accumulated(&self) -> Cow<'_, str> {
        match &self.words {
            Some(words) => Cow::Borrowed(words),
            None => self.so_far.text(),
        }
    }

    /// Waits for the end and returns the complete response, or the error.
    ///
    /// # Errors
    ///
    /// The error that ended the stream, or a call whose arguments are not a JSON object.
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
        // Reached only if the stream was read to its end before.
        Ok(LlmResponse::default())
    }

    /// Adds an observer: the function sees each chunk before the reader does, and is dropped with the stream. Observers
    /// run in the order in which they were added.
    ///
    /// ```
    /// use petalflow_llm::{LlmResponse, LlmStream};
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    ///
    /// static PIECES: AtomicUsize = AtomicUsize::new(0);
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let stream = LlmStream::whole(LlmResponse::text_only("hello")).watched(|_| {
    ///     PIECES.fetch_add(1, Ordering::Relaxed);
    /// });
    /// stream.into_response().await.unwrap();
    /// assert_eq!(PIECES.load(Ordering::Relaxed), 2);
    /// # }
    /// ```
    #[must_use]
    pub fn watched(mut self, watch: impl FnMut(&StreamChunk) + Send + 'static) -> Self {
        self.watchers.push(Box::new(watch));
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
    /// let model = ScriptedModel::new([Reply::pieces(["Once", "upon"]).every(Duration::from_secs(60))]);
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
        self.wrap_source(move |pieces| {
            stream::unfold(Some((pieces, token)), |state| async move {
                let (mut pieces, token) = state?;
                let piece = unless_cancelled(&token, &mut pieces).await?;
                let goes_on = piece.is_ok();
                Some((piece, goes_on.then_some((pieces, token))))
            })
        })
    }

    /// The same stream after its first chunk has arrived, or the error that came instead.
    pub(super) async fn begun(mut self) -> Result<Self, LlmError> {
        let Some(mut pieces) = self.pieces.take() else {
            return Ok(self);
        };
        let first = pieces.next().await.transpose()?;
        self.pieces = Some(Box::pin(stream::iter(first.map(Ok)).chain(pieces)));
        Ok(self)
    }

    /// The same stream with its source wrapped: for clients around another client, such as one that polls its source
    /// within a tracing span.
    ///
    /// ```
    /// use futures_util::StreamExt;
    /// use petalflow_llm::{Delta, LlmClient, LlmError, LlmRequest, ScriptedModel};
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
        self.pieces = self
            .pieces
            .map(|pieces| Box::pin(wrap(pieces)) as StreamSource);
        self
    }

    fn joined(&mut self, rest: LlmResponse) -> LlmResponse {
        self.words = Some(self.so_far.text().into_owned());
        std::mem::take(&mut self.so_far).finish(rest)
    }

    fn last(&mut self, rest: LlmResponse) -> StreamChunk {
        let response = self.joined(rest);
        match response.checked_with(self.wants_json) {
            Ok(response) => self.chunk(Delta::None, Some(Ok(response))),
            Err(error) => self.chunk(Delta::None, Some(Err((error, None)))),
        }
    }

    fn broken(&mut self, error: LlmError) -> StreamChunk {
        let heard = (!self.so_far.is_empty()).then(|| {
            let rest = LlmResponse {
                status: super::Status::Incomplete,
                ..LlmResponse::default()
            };
            self.joined(rest)
        });
        self.chunk(Delta::None, Some(Err((error, heard))))
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
            self.pieces = None;
        }
        let (response, error) = match end {
            None => (None, None),
            Some(Ok(response)) => (Some(response), None),
            Some(Err((error, heard))) => (heard, Some(error)),
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
    pieces: &mut StreamSource,
) -> Option<Result<StreamEvent, LlmError>> {
    match future::select(pin!(token.cancelled()), pieces.next()).await {
        Either::Left(_) => {
            let message = "the answer was cancelled";
            Some(Err(LlmError::new(LlmErrorKind::Cancelled, message)))
        }
        Either::Right((piece, _)) => piece,
    }
}

impl Stream for LlmStream {
    type Item = StreamChunk;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<StreamChunk>> {
        let Some(pieces) = &mut self.pieces else {
            return Poll::Ready(None);
        };
        pieces.as_mut().poll_next(cx).map(|piece| {
            let chunk = match piece {
                Some(Ok(StreamEvent::Delta(delta))) => {
                    self.so_far.push(&delta);
                    self.chunk(delta, None)
                }
                Some(Ok(StreamEvent::End(rest))) => self.last(*rest),
                Some(Err(error)) => self.broken(error),
                None => self.last(LlmResponse::default()),
            };
            self.watchers.iter_mut().for_each(|watch| watch(&chunk));
            Some(chunk)
        })
    }
}

impl fmt::Debug for LlmStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LlmStream")
            .field("index", &self.index)
            .field("ended", &self.pieces.is_none())
            .finish_non_exhaustive()
    }
}
