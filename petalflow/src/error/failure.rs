//! How one attempt of a node failed, before it is described as a [`NodeError`](super::NodeError).

use std::any::Any;
use std::time::Duration;

use super::{BoxError, FailureKind, Panicked};

/// The payload of a caught panic.
pub(crate) type Payload = Box<dyn Any + Send>;

/// How a node's attempt failed. Boxed, so that the result of every task fits into one register.
#[derive(Debug)]
pub(crate) struct Failure(Box<(FailureKind, BoxError)>);

impl Failure {
    fn new(kind: FailureKind, error: impl Into<BoxError>) -> Self {
        Failure(Box::new((kind, error.into())))
    }

    pub(crate) fn kind(&self) -> FailureKind {
        self.0.0
    }

    pub(crate) fn source(&self) -> &BoxError {
        &self.0.1
    }

    pub(crate) fn into_source(self) -> BoxError {
        self.0.1
    }

    #[cold]
    pub(crate) fn error(error: BoxError) -> Self {
        Failure::new(FailureKind::Error, error)
    }

    #[cold]
    pub(crate) fn panic(payload: Payload) -> Self {
        Failure::new(FailureKind::Panic, Panicked::new(&*payload))
    }

    pub(crate) fn timeout(after: Duration) -> Self {
        let words = format!("took longer than its timeout of {after:?}");
        Failure::new(FailureKind::Timeout, words)
    }

    pub(crate) fn idle(after: Duration) -> Self {
        let words = format!("showed no sign of life for {after:?}, its idle timeout");
        Failure::new(FailureKind::Idle, words)
    }
}
