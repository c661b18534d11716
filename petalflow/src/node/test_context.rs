//! The contexts of a node in a unit test.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_core::Serialize;
use serde_core::de::DeserializeOwned;

use super::test_records::{AnswerFn, TestRecords};
use super::{Context, ManagedValues, RunShared, Scope, Surroundings};
use crate::cancel_token::RunToken;
use crate::event::CustomEvent;
use crate::question::Ask;
use crate::task_services::AttemptLife;

/// The surroundings of a node in a unit test, which calls the node as a function: what the node gets from its
/// [`Context`], and what it leaves. Created by [`Context::test`].
///
/// ```
/// use petalflow::interrupt::Ask;
/// use petalflow::prelude::*;
/// # #[state]
/// # struct Refund { #[key(input)] order: String, receipt: String }
/// # async fn transfer(order: &str) -> petalflow::Result<String> { Err(format!("no bank for {order}").into()) }
///
/// #[derive(serde::Serialize, Ask)]
/// #[ask(answer = bool)]
/// struct MayPay {
///     order: String,
/// }
///
/// #[node(Refund)]
/// async fn pay(order: &str, cx: Context) -> petalflow::Result<RefundReceipt> {
///     if !cx.ask(MayPay { order: order.into() }).await? {
///         return Err("declined".into());
///     }
///     cx.emit("paying");
///     Ok(RefundReceipt(cx.once("transfer", transfer(order)).await?))
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// // In a test: `#[tokio::test]`
/// let test = Context::test()
///     .answer(|question: &MayPay| question.order == "A-17")
///     .recorded("transfer", &"receipt 7"); // So `transfer` is not called.
/// let receipt = pay("A-17", test.context()).await?;
/// assert_eq!(receipt.0, "receipt 7");
/// assert_eq!(test.emitted()[0].downcast_ref::<&str>(), Some(&"paying"));
///
/// // The node runs again, as after a crash, and the answer is another one.
/// let error = pay("B-2", test.context()).await.err().unwrap();
/// assert_eq!(error.to_string(), "declined");
/// # Ok(())
/// # }
/// ```
pub struct TestContext {
    node: &'static str,
    index: Option<u32>,
    limit: u64,
    cancel: Option<RunToken>,
    managed: ManagedValues,
    records: Arc<TestRecords>,
    attempts: AtomicU32,
}

impl Context {
    /// A context for a unit test of a node.
    ///
    /// ```
    /// use petalflow::prelude::*;
    /// # #[state]
    /// # struct Log { line: String }
    /// #[node(Log)]
    /// async fn greet(cx: Context) -> LogLine {
    ///     LogLine(format!("attempt {}", cx.attempt()))
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// assert_eq!(greet(Context::test().context()).await.0, "attempt 1");
    /// # }
    /// ```
    pub fn test() -> TestContext {
        TestContext {
            node: "test",
            index: None,
            limit: 100,
            cancel: None,
            managed: ManagedValues::default(),
            records: Arc::default(),
            attempts: AtomicU32::new(0),
        }
    }
}

impl TestContext {
    /// Sets the node's name; `test` by default.
    #[must_use]
    pub fn node(mut self, name: &'static str) -> Self {
        self.node = name;
        self
    }

    /// Sets the index of the node's item. The item itself is an argument of the function.
    #[must_use]
    pub fn index(mut self, index: u32) -> Self {
        self.index = Some(index);
        self
    }

    /// Sets the run's limit of supersteps; 100 by default. The node runs in superstep 1.
    #[must_use]
    pub fn limit(mut self, supersteps: u64) -> Self {
        self.limit = supersteps;
        self
    }

    /// Sets the token that cancels the run.
    #[must_use]
    pub fn cancel_with(mut self, token: impl Into<RunToken>) -> Self {
        self.cancel = Some(token.into());
        self
    }

    /// Provides a managed value to [`Context::managed`]. A parameter `Managed<T>` is an argument of the function:
    /// [`Managed::new`](crate::Managed::new).
    #[must_use]
    pub fn manage<T: Send + Sync + 'static>(mut self, value: T) -> Self {
        self.managed.insert(Arc::new(value));
        self
    }

    /// Answers the questions of one type. A question of a type without an answer is an error of
    /// [`ask`](Context::ask).
    #[must_use]
    pub fn answer<A: Ask>(self, answer: impl Fn(&A) -> A::Answer + Send + Sync + 'static) -> Self {
        let answer: AnswerFn<A> = Arc::new(answer);
        self.records.prepare_answer(answer);
        self
    }

    /// Sets the recorded result of an effect, as an earlier run of the node would have left it: [`once`](Context::once)
    /// returns it and does not run the effect.
    ///
    /// # Panics
    ///
    /// If the result cannot be stored.
    #[must_use]
    #[track_caller]
    pub fn recorded<T: Serialize>(self, effect: &str, result: &T) -> Self {
        if let Err(error) = self.records.record(effect, result) {
            panic!("the result of `{effect}`: {error}");
        }
        self
    }

    /// The context of one more attempt of the same task. Answers and the results of effects stay, so a test that calls the
    /// node again sees what a repetition does.
    pub fn context(&self) -> Context {
        let mut managed = self.managed.clone();
        managed.insert(Arc::clone(&self.records));
        let surroundings = Surroundings {
            managed: Some(Arc::new(managed)),
            cancel: self.cancel.clone(),
            listener: Some(Arc::clone(&self.records) as _),
            // All attempts are of one task.
            thread: Arc::<str>::from("test").into(),
            ..Surroundings::none()
        };
        let shared = RunShared::lone(self.node, self.limit, surroundings);
        let mut scope = Scope::new(Arc::new(shared));
        scope.life = AttemptLife::endless();
        scope.superstep = 1;
        scope.attempt = self.attempts.fetch_add(1, Ordering::Relaxed) + 1;
        if self.index.is_some() {
            scope.details_mut().send = self.index;
        }
        scope.context()
    }

    /// The values that the node has emitted, in order.
    pub fn emitted(&self) -> Vec<CustomEvent> {
        self.records.emitted()
    }

    /// The recorded result of an effect; `None` if there is none.
    ///
    /// # Panics
    ///
    /// If the result is not a `T`.
    #[track_caller]
    pub fn effect<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        match self.records.effect(name) {
            Ok(result) => result,
            Err(error) => panic!("{error}"),
        }
    }
}

impl_debug!(TestContext, |this| node = this.node);
