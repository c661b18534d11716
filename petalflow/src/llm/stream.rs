//! Answers that come piece by piece.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;
use serde::{Deserialize, Serialize};

use super::{LlmError, LlmResponse};

/// A piece of an answer.
#[derive(Debug)]
pub struct StreamChunk {
    /// Its number in the stream, from 0.
    pub index: usize,
    /// What is new.
    pub delta: Delta,
    /// Whether it is the last.
    pub done: bool,
    /// On the last: the whole answer, unless the stream broke off before it began.
    pub response: Option<Box<LlmResponse>>,
    /// On the last: why the stream broke off.
    pub error: Option<LlmError>,
}

/// What is new in a piece.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Delta {
    /// Nothing.
    #[default]
    None,
    /// Words.
    Text(String),
    /// Thoughts.
    Thought(String),
    /// A piece of a tool call.
    Call {
        /// Which call of the answer, from 0.
        place: usize,
        /// Its id, once it is known.
        id: Option<String>,
        /// The tool's name, once it is known.
        name: Option<String>,
        /// A piece of its arguments, as JSON text.
        arguments: String,
    },
}

/// An answer that comes piece by piece. To drop it closes the connection.
///
/// It ends after the piece that is `done`: every stream has exactly one, and what goes wrong stands there.
pub struct LlmStream(Pin<Box<dyn Stream<Item = StreamChunk> + Send>>);

impl LlmStream {
    /// The answer that these pieces make.
    pub fn new(chunks: impl Stream<Item = StreamChunk> + Send + 'static) -> Self {
        LlmStream(Box::pin(chunks))
    }
}

impl Stream for LlmStream {
    type Item = StreamChunk;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<StreamChunk>> {
        self.0.as_mut().poll_next(cx)
    }
}

impl fmt::Debug for LlmStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LlmStream").finish_non_exhaustive()
    }
}
