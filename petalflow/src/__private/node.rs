//! For the code of `#[node]`.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_util::FutureExt as _;
use futures_util::future::Map;
use petalflow_graph::{Rule, messages};

use crate::error::BoxError;
use crate::exec::needs_tokio;
use crate::middleware::{call_in_current_context, in_current_context};
use crate::node::{Effects, Key, Node, Output};
use crate::state::{KeyMeta, KeySet, State};

/// The keys of a state with these names.
pub const fn keys_named<S: State>(names: &[&str]) -> KeySet {
    KeyMeta::named(S::KEYS, names)
}

/// A key of the state `S`, for `#[key(..)]` on a parameter.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a key of `{S}`",
    label = "not a key of `{S}`",
    note = "the keys of a state are named state + key, such as `EssayDraft`"
)]
pub trait KeyOf<S: State> {
    type Value;
    const INDEX: usize;
    fn get(state: &S) -> &Self::Value;
}

#[diagnostic::do_not_recommend]
impl<S: State, K: Key<State = S>> KeyOf<S> for K {
    type Value = K::Value;
    const INDEX: usize = K::INDEX;

    fn get(state: &S) -> &K::Value {
        K::get(state)
    }
}

/// The output of a node whose return type has an error. It writes all keys, so that nothing else is reported.
#[derive(Debug)]
pub enum Broken {}

#[diagnostic::do_not_recommend]
impl<S: State> Output<S> for Broken {
    const MAY_WRITE: KeySet = KeySet::NONE;
    const MUST_WRITE: KeySet = KeySet::ALL;
    type Routing = ();

    fn apply(self, _: &mut Effects<S>) -> Result<(), BoxError> {
        match self {}
    }
}

/// A key that holds an `Option`, for a parameter `Option<&T>`.
#[diagnostic::on_unimplemented(
    message = "the key is a `{Self}`, not an `Option`",
    label = "reads an `Option`, which the key is not",
    note = "take `&{Self}`"
)]
pub trait Optional {
    type Value;
    fn get(&self) -> Option<&Self::Value>;
}

impl<T> Optional for Option<T> {
    type Value = T;

    fn get(&self) -> Option<&T> {
        self.as_ref()
    }
}

/// Fails if a node writes one key twice in one result.
#[track_caller]
pub const fn written_once<S: State, N: Node<S>>() {
    let twice = <N::Output as Output<S>>::WRITES_TWICE.intersection(S::EXCLUSIVE);
    if let Some(key) = twice.first() {
        let text = messages::written_twice(N::NAME, S::KEYS[key].name);
        panic!(
            "{}",
            messages::with_code(Rule::WrittenTwice, &text).as_str()
        );
    }
}

/// The future of such a node. `convert` is [`boxed_error`](crate::checks::boxed_error): with it as a value, only one bound can fail.
pub fn boxed_error_of<R, O, F: Future<Output = R>>(
    future: F,
    convert: fn(R) -> O,
) -> Map<F, fn(R) -> O> {
    future.map(convert)
}

/// The future of a function that is not async. Calls it when polled.
#[derive(Debug)]
pub struct Lazy<F>(Option<F>);

impl<F> Lazy<F> {
    pub fn new(call: F) -> Self {
        Lazy(Some(call))
    }
}

// No field is pinned.
impl<F> Unpin for Lazy<F> {}

impl<T, F: FnOnce() -> T> Future for Lazy<F> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<T> {
        match self.0.take() {
            Some(call) => Poll::Ready(call()),
            None => unreachable!("a future is not polled after it is ready"),
        }
    }
}

/// Runs blocking code on another thread. It cannot be stopped: if the future is dropped, the code runs to its end and its
/// result is dropped.
pub async fn blocking<R: Send + 'static>(
    work: impl FnOnce() -> Result<R, BoxError> + Send + 'static,
) -> Result<R, BoxError> {
    check_tokio("`blocking` code runs on a thread of its own")?;
    task_result(tokio::task::spawn_blocking(call_in_current_context(work)).await)
}

/// Runs a future as a tokio task. The task is aborted if this future is dropped.
pub async fn spawn<R: Send + 'static>(
    work: impl Future<Output = Result<R, BoxError>> + Send + 'static,
) -> Result<R, BoxError> {
    struct AbortOnDrop<R>(tokio::task::JoinHandle<R>);

    impl<R> Drop for AbortOnDrop<R> {
        fn drop(&mut self) {
            self.0.abort();
        }
    }

    check_tokio("`spawn` makes a task")?;
    let mut task = AbortOnDrop(tokio::spawn(in_current_context(work)));
    task_result((&mut task.0).await)
}

/// Fails if no runtime of tokio polls the run. tokio would panic, in words that do not say what to do.
fn check_tokio(needs: &str) -> Result<(), BoxError> {
    match tokio::runtime::Handle::try_current() {
        Ok(_) => Ok(()),
        Err(_) => Err(needs_tokio(needs).into()),
    }
}

/// The result of a tokio task. A panic in the task continues here, where the engine catches it.
fn task_result<R>(
    joined: Result<Result<R, BoxError>, tokio::task::JoinError>,
) -> Result<R, BoxError> {
    match joined {
        Ok(result) => result,
        Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
        // The tokio runtime is shutting down.
        Err(error) => Err(error.into()),
    }
}
