//! The records of a test context: prepared answers and effects, and what the node emitted.

use std::any::{Any, TypeId, type_name};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use serde_core::Serialize;
use serde_core::de::DeserializeOwned;

use crate::erased::CopyState;
use crate::error::BoxError;
use crate::event::{AnyEvent, AnyEventKind, CustomEvent, Sink};
use crate::question::Ask;
use petalflow_store::codec::{decode, encode};

/// Answers the questions of one type.
pub(super) type AnswerFn<A> = Arc<dyn Fn(&A) -> <A as Ask>::Answer + Send + Sync>;

/// The answers and effects of the runs of one node in a test, and the values that it emitted. A managed value of its
/// contexts, so that a run outside of tests has no field for it.
#[derive(Default)]
pub(super) struct TestRecords(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    /// An [`AnswerFn`] for each type of question.
    answers: HashMap<TypeId, Box<dyn Any + Send + Sync>>,
    /// The encoded results of effects, by name.
    effects: HashMap<String, Vec<u8>>,
    /// The names that each attempt has used.
    used: HashSet<(u32, String)>,
    emitted: Vec<CustomEvent>,
}

impl TestRecords {
    pub(super) fn prepare_answer<A: Ask>(&self, answer: AnswerFn<A>) {
        let answers = &mut self.lock().answers;
        answers.insert(TypeId::of::<A>(), Box::new(answer));
    }

    pub(super) fn answer<A: Ask>(&self, attempt: u32, question: &A) -> Result<A::Answer, BoxError> {
        self.reserve(attempt, "ask", &format!("{}/{}", A::NAME, question.key()))?;
        // Not called under the lock: the function may use the context.
        match self.prepared::<A>() {
            Some(answer) => Ok(answer(question)),
            None => Err(format!(
                "the test has no answer to `{name}`: prepare one with `Context::test().answer(|question: &{name}| ..)`",
                name = A::NAME
            )
            .into()),
        }
    }

    fn prepared<A: Ask>(&self) -> Option<AnswerFn<A>> {
        let answers = &self.lock().answers;
        answers.get(&TypeId::of::<A>())?.downcast_ref().cloned()
    }

    /// The result of the effect, if it is recorded.
    pub(super) fn effect<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, BoxError> {
        let effects = &self.lock().effects;
        let result = effects.get(name).map(|bytes| decode(bytes)).transpose();
        result.map_err(|error| {
            let wanted = type_name::<T>();
            format!("the record of `{name}` cannot be read as `{wanted}`: {error}").into()
        })
    }

    pub(super) fn record<T: Serialize>(&self, name: &str, result: &T) -> Result<(), BoxError> {
        let mut bytes = Vec::new();
        encode(result, &mut bytes)?;
        self.lock().effects.insert(name.into(), bytes);
        Ok(())
    }

    pub(super) fn emitted(&self) -> Vec<CustomEvent> {
        self.lock().emitted.clone()
    }

    /// As in a stored run, each attempt may use a name once.
    pub(super) fn reserve(&self, attempt: u32, method: &str, name: &str) -> Result<(), BoxError> {
        let used = (attempt, format!("{method}/{name}"));
        if self.lock().used.insert(used) {
            return Ok(());
        }
        Err(format!("the node used `{method}` twice for `{name}` in one run; to run it again in a test, take another `TestContext::context`").into())
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Sink for TestRecords {
    fn send(&self, event: AnyEvent) {
        if let AnyEventKind::Custom(event) = event.kind {
            self.lock().emitted.push(event);
        }
    }

    fn copy_state(&self) -> Option<CopyState> {
        None
    }

    fn wants_progress(&self) -> bool {
        false
    }

    fn wants_values(&self) -> bool {
        false
    }

    fn poll_received(&self, _: &mut Context<'_>) -> Poll<()> {
        Poll::Ready(())
    }
}
