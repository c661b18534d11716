//! For the code of `#[node]`.

use std::future::{Future, Pending, pending};
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_util::FutureExt as _;
use futures_util::future::Map;
use petalflow_graph::{Rule, messages};

use crate::error::BoxError;
use crate::middleware::{carried, carried_call};
use crate::node::{Effects, IntoBoxError, Key, Node, Output};
use crate::state::{Durable, KeyMeta, KeySet, State, Volatile};

/// Any type. Generated code names a type through this trait, so that an error points at the span of its choice.
pub trait Itself {
    type Type;
}

impl<T> Itself for T {
    type Type = T;
}

/// The state of a node. Generated code names it through this trait, so that a type that is not a state is one error.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a state",
    label = "not a state",
    note = "annotate the struct with `#[state]`"
)]
pub trait IsState {
    type State: State;
}

#[diagnostic::do_not_recommend]
impl<S: State> IsState for S {
    type State = S;
}

/// The storage of a state, in the type of a node's future. If the check of a key has failed, the storage is a type with an error,
/// and rustc does not also report that the future is not `Send`.
pub trait CheckedStorage<F> {
    type Type;
    fn check(future: F) -> Self::Type;
}

macro_rules! checked_storage {
    ($($storage:ty),*) => {$(
        impl<F> CheckedStorage<F> for $storage {
            type Type = F;

            fn check(future: F) -> F {
                future
            }
        }
    )*};
}

checked_storage!(Durable, Volatile);

/// The future of a node, of a type that depends on the checks of its state.
pub fn checked_by_state<S: IsState<State: State<Storage: CheckedStorage<F>>>, F>(
    future: F,
) -> <<S::State as State>::Storage as CheckedStorage<F>>::Type {
    <<S::State as State>::Storage as CheckedStorage<F>>::check(future)
}

/// The keys of a state. This constant has precedence over that of [`NoNames`], which applies if the type is not a state.
#[derive(Debug)]
pub struct Names<S>(PhantomData<S>);

impl<S: State> Names<S> {
    pub const KEYS: &'static [KeyMeta] = S::KEYS;
}

/// No keys.
pub trait NoNames {
    const KEYS: &'static [KeyMeta] = &[];
}

impl<S> NoNames for Names<S> {}

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
        panic!("{}", messages::coded(Rule::WrittenTwice, &text).as_str());
    }
}

/// The result of a node whose return type is an alias of `Result`, of which the macro does not know the error type.
///
/// # Errors
///
/// The same error.
pub fn boxed_error<T, E: IntoBoxError>(result: Result<T, E>) -> Result<T, BoxError> {
    result.map_err(Into::into)
}

/// The future of such a node. `convert` is [`boxed_error`]: with it as a value, only one bound can fail.
pub fn boxed_error_of<R, O, F: Future<Output = R>>(
    future: F,
    convert: fn(R) -> O,
) -> Map<F, fn(R) -> O> {
    future.map(convert)
}

/// The future of the method of a node value. If threads cannot share the value, the implementation of `Node` reports that, and not
/// the future that has the value.
pub fn if_shared<const SHARED: bool, F: IfShared<SHARED>>(future: F) -> F::Future {
    future.choose()
}

/// See [`if_shared`].
pub trait IfShared<const SHARED: bool> {
    type Future;
    fn choose(self) -> Self::Future;
}

impl<F: Future> IfShared<true> for F {
    type Future = F;

    fn choose(self) -> F {
        self
    }
}

impl<F: Future> IfShared<false> for F {
    type Future = Pending<F::Output>;

    fn choose(self) -> Self::Future {
        pending()
    }
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
    finished(tokio::task::spawn_blocking(carried_call(work)).await)
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

    let mut task = AbortOnDrop(tokio::spawn(carried(work)));
    finished((&mut task.0).await)
}

/// The result of a tokio task. A panic in the task continues here, where the engine catches it.
fn finished<R>(joined: Result<Result<R, BoxError>, tokio::task::JoinError>) -> Result<R, BoxError> {
    match joined {
        Ok(result) => result,
        Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
        // The tokio runtime is shutting down.
        Err(error) => Err(error.into()),
    }
}
