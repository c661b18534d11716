//! Compares a flow with its `flow.lock`.

use std::any::type_name;
use std::fmt;

use crate::durable::Fingerprint;
use crate::flow::AnyFlow;
use crate::flow::{Flow, HasFlow};
use crate::plan::ExecutionPlan;
use crate::question::Ask;
use crate::state::{Durable, State};
use crate::upgrade::{LockFile, Locked, check_lock};

/// The parts of some flows that stored threads depend on, as text that is committed (`flow.lock`): the keys with their
/// types and reducers, the fields of their values, the nodes and edges, the items, and the version of the state.
///
/// `petalflow_testing::assert_flow_lock!` is a test that compares a flow with such a file. Use this type to store the text
/// in another way.
///
/// ```
/// use petalflow::prelude::*;
/// use petalflow::thread::FlowLock;
///
/// #[state]
/// struct Essay {
///     #[key(input)]
///     topic: String,
///     draft: String,
/// }
///
/// #[node(Essay)]
/// async fn write(topic: &str) -> EssayDraft {
///     EssayDraft(format!("about {topic}"))
/// }
///
/// flow!(WriteEssay(Essay) { write });
///
/// let mut lock = FlowLock::parse("");
/// assert!(lock.check(&WriteEssay).is_err());
/// lock.record(&WriteEssay);
/// lock.check(&WriteEssay)?;
/// assert_eq!(FlowLock::parse(&lock.to_string()), lock);
/// # Ok::<(), petalflow::BoxError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlowLock(LockFile);

/// A flow differs from its [`FlowLock`]. The text shows what differs, and what to do.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct FlowLockError(String);

crate::error::debug_is_message!(FlowLockError);

impl FlowLock {
    /// Parses the text of a lock. Ignores unknown lines; [`check`](Self::check) then reports the missing parts.
    pub fn parse(text: &str) -> Self {
        FlowLock(LockFile::parse(text))
    }

    /// Checks that stored threads of a flow can resume in this program.
    ///
    /// # Errors
    ///
    /// The flow differs from the lock: threads may be unable to resume, or the lock has to be [recorded](Self::record) again.
    pub fn check<S>(&self, flow: &impl HasFlow<Flow: Flow<State = S>>) -> Result<(), FlowLockError>
    where
        S: State<Storage = Durable>,
    {
        let (name, locked) = lock_of(flow.flow(), &flow.plan_of_runs());
        check_lock(&name, self.0.get(&name), &locked).map_err(FlowLockError)
    }

    /// Adds a flow, or replaces its record.
    pub fn record<S>(&mut self, flow: &impl HasFlow<Flow: Flow<State = S>>)
    where
        S: State<Storage = Durable>,
    {
        let (name, locked) = lock_of(flow.flow(), &flow.plan_of_runs());
        self.0.set(&name, locked);
    }

    /// Checks that recorded answers to a question can be read in this program. The lock of a flow does not have the questions
    /// of its nodes, because they are in the bodies of functions.
    ///
    /// # Errors
    ///
    /// The type of the answer differs from the lock, or the question is not in the lock.
    ///
    /// ```
    /// use petalflow::interrupt::Ask;
    /// use petalflow::thread::FlowLock;
    ///
    /// #[derive(serde::Serialize, Ask)]
    /// #[ask(answer = u64, name = "amount")]
    /// struct Amount;
    ///
    /// let mut lock = FlowLock::parse("question amount: u32\n");
    /// assert!(lock.check_question::<Amount>().unwrap_err().to_string().contains("from `u32` to `u64`"));
    /// lock.record_question::<Amount>();
    /// assert!(lock.check_question::<Amount>().is_ok());
    /// ```
    pub fn check_question<A: Ask>(&self) -> Result<(), FlowLockError> {
        let checked = self
            .0
            .check_type(&question::<A>(), type_name::<A::Answer>());
        checked.map_err(FlowLockError)
    }

    /// Adds a question, or replaces its record.
    pub fn record_question<A: Ask>(&mut self) {
        self.0.set_type(question::<A>(), type_name::<A::Answer>());
    }

    /// Checks that the recorded results of an effect with this name ([`Context::once`](crate::Context::once)) can be read as `T`.
    ///
    /// # Errors
    ///
    /// The type differs from the lock, or the effect is not in the lock.
    ///
    /// ```
    /// use petalflow::thread::FlowLock;
    ///
    /// let mut lock = FlowLock::parse("");
    /// lock.record_effect::<u32>("receipt");
    /// assert!(lock.check_effect::<u32>("receipt").is_ok());
    /// assert!(lock.check_effect::<String>("receipt").is_err());
    /// ```
    pub fn check_effect<T>(&self, name: &str) -> Result<(), FlowLockError> {
        let checked = self
            .0
            .check_type(&format!("effect {name}"), type_name::<T>());
        checked.map_err(FlowLockError)
    }

    /// Adds an effect, or replaces its record.
    pub fn record_effect<T>(&mut self, name: &str) {
        self.0.set_type(format!("effect {name}"), type_name::<T>());
    }
}

/// The text of the file.
impl fmt::Display for FlowLock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

fn question<A: Ask>() -> String {
    format!("question {}", A::NAME)
}

fn lock_of(flow: &dyn AnyFlow, plan: &ExecutionPlan) -> (String, Locked) {
    let ty = flow.state_type();
    let program = Fingerprint::of(ty, flow.stored_name(), plan);
    let locked = Locked {
        state: ty.name.into(),
        version: program.version,
        outline: program.outline,
        fields: Vec::new(),
    };
    let locked = locked.with_fields((ty.fields)());
    (program.flow.to_string(), locked)
}
