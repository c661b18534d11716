//! Crashes a flow wherever it can crash, and checks that nothing is lost and nothing is done twice.

mod check;
mod failure_script;
mod fault;
mod faulty_store;
mod trial;
mod turn_end;

use std::sync::Arc;

use petalflow::checkpoint::{InMemoryStore, Store};
use petalflow::interrupt::{Ask, Interrupt, Resume};
use petalflow::middleware::BoxFuture;
use petalflow::state::Durable;
use petalflow::thread::Durability;
use petalflow::{Flow, Launch, State};

pub use check::Crashed;
pub use failure_script::FailureScript;
pub use fault::{Fault, FaultKind, FaultTarget};
pub use faulty_store::FaultyStore;

type Input<F> = <<F as Flow>::State as State>::Input;
type Answers<F> = dyn Fn(&[Interrupt]) -> Resume<<F as Flow>::State>;
type Stores = dyn Fn() -> BoxFuture<'static, Arc<dyn Store>>;

/// Runs a flow on a thread, crashes it wherever a crash can make a difference, resumes it as a new process would, and
/// compares the result with that of a run without faults.
///
/// `launch` makes the launch of one process, `input` the input of the thread's first turn. [`FaultKind`] lists the faults. Each is
/// tried with every [`Durability`]. The check panics unless, after each crash,
///
/// * the final state of every turn, as it is stored, equals that of the run without faults;
/// * each superstep of the thread is in its history at most once, after the checkpoint that it names as its parent;
/// * no write of an unfinished superstep is left in the store, and the thread can be claimed;
/// * a task has the same [id](petalflow::Context::task_id) in each process.
///
/// The results of the nodes must not depend on chance or on the clock.
///
/// ```
/// use petalflow::prelude::*;
/// use petalflow_testing::crashes;
///
/// #[state]
/// struct Order {
///     #[key(input)]
///     item: String,
///     #[key(append)]
///     log: Vec<String>,
/// }
///
/// #[node(Order)]
/// async fn charge(item: &str, cx: Context) -> petalflow::Result<OrderLog> {
///     let receipt = cx.once("charge", async { Ok::<_, petalflow::BoxError>(format!("paid for {item}")) }).await?;
///     Ok(OrderLog(vec![receipt]))
/// }
///
/// #[node(Order)]
/// async fn ship(item: &str) -> OrderLog {
///     OrderLog(vec![format!("shipped {item}")])
/// }
///
/// flow!(Sell(Order) { charge -> ship });
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// // In a test:
/// let crashed = crashes(Sell::new, || "a rose".to_string()).check().await;
/// assert!(crashed.trials > 100);
/// # }
/// ```
pub fn crashes<F, I>(
    launch: impl Fn() -> Launch<F> + 'static,
    input: impl Fn() -> I + 'static,
) -> Crashes<F>
where
    F: Flow<State: State<Storage = Durable>>,
    I: Into<Input<F>>,
{
    let crashes = Crashes {
        launch: Box::new(launch),
        turns: Vec::new(),
        answers: Box::new(|_| Resume::new()),
        stores: Box::new(|| {
            let store: Arc<dyn Store> = Arc::new(InMemoryStore::new());
            Box::pin(std::future::ready(store))
        }),
        before: Box::new(|| {}),
        after: Box::new(|_, _| {}),
        durabilities: vec![
            Durability::Sync,
            Durability::Async,
            Durability::Interval(const { std::num::NonZeroU64::new(2).unwrap() }),
            Durability::Exit,
        ],
        kinds: FaultKind::ALL.to_vec(),
        faults: None,
        twice: false,
        tries: 8,
    };
    crashes.turn(input)
}

/// The trials of a flow, made by [`crashes`].
#[must_use = "no trial runs before `check` is called"]
pub struct Crashes<F: Flow> {
    launch: Box<dyn Fn() -> Launch<F>>,
    turns: Vec<Box<dyn Fn() -> Input<F>>>,
    answers: Box<Answers<F>>,
    stores: Box<Stores>,
    before: Box<dyn Fn()>,
    after: Box<dyn Fn(&F::State, &str)>,
    durabilities: Vec<Durability>,
    kinds: Vec<FaultKind>,
    /// Set: only these are tried.
    faults: Option<Vec<Vec<Fault>>>,
    twice: bool,
    tries: usize,
}

impl<F: Flow> std::fmt::Debug for Crashes<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Crashes")
            .field("turns", &self.turns.len())
            .field("durabilities", &self.durabilities)
            .field("kinds", &self.kinds)
            .field("twice", &self.twice)
            .finish_non_exhaustive()
    }
}

impl<F: Flow<State: State<Storage = Durable>>> Crashes<F> {
    /// Adds a turn of the thread, which begins when the previous one has ended.
    pub fn turn<I: Into<Input<F>>>(mut self, input: impl Fn() -> I + 'static) -> Self {
        self.turns.push(Box::new(move || input().into()));
        self
    }

    /// The answers to the questions of the thread. An interrupt without an answer is asked again.
    pub fn answers(mut self, answers: impl Fn(&[Interrupt]) -> Resume<F::State> + 'static) -> Self {
        self.answers = Box::new(answers);
        self
    }

    /// Answers all questions of one type.
    pub fn answer<A: Ask + serde_core::de::DeserializeOwned>(
        self,
        answer: impl Fn(A) -> A::Answer + 'static,
    ) -> Self {
        self.answers(move |interrupts| {
            let answered = interrupts.iter().filter_map(|interrupt| {
                let answer = answer(interrupt.question::<A>()?);
                interrupt.answer::<A>(answer).ok()
            });
            answered.collect::<Vec<_>>().into()
        })
    }

    /// The store of each trial. The default is a new [`InMemoryStore`].
    pub fn stores<St: Store, M: Future<Output = St> + Send + 'static>(
        mut self,
        make: impl Fn() -> M + 'static,
    ) -> Self {
        self.stores = Box::new(move || {
            let store = make();
            Box::pin(async move { Arc::new(store.await) as Arc<dyn Store> })
        });
        self
    }

    /// Runs before each trial: resets counters, for example.
    pub fn before(mut self, before: impl Fn() + 'static) -> Self {
        self.before = Box::new(before);
        self
    }

    /// Runs after each trial, with the final state and a text that names the faults: checks counters, for example.
    pub fn after(mut self, after: impl Fn(&F::State, &str) + 'static) -> Self {
        self.after = Box::new(after);
        self
    }

    /// Tries only these durabilities.
    pub fn durabilities(mut self, durabilities: impl IntoIterator<Item = Durability>) -> Self {
        self.durabilities = durabilities.into_iter().collect();
        self
    }

    /// Tries only these kinds.
    pub fn kinds(mut self, kinds: impl IntoIterator<Item = FaultKind>) -> Self {
        self.kinds = kinds.into_iter().collect();
        self
    }

    /// Tries only these faults: each list holds the faults of one trial, one after the other. For flows that are too long to try
    /// every fault, and for a fault that was reported.
    pub fn faults(mut self, trials: impl IntoIterator<Item = Vec<Fault>>) -> Self {
        self.faults = Some(trials.into_iter().collect());
        self
    }

    /// Crashes a second time, at every write after the first crash. The second fault is always the death of the process, which
    /// bounds the number of trials.
    pub fn twice(mut self) -> Self {
        self.twice = true;
        self
    }

    /// How often a turn that fails without a fault is resumed before it counts as failed. The default is 8.
    pub fn tries(mut self, tries: usize) -> Self {
        self.tries = tries;
        self
    }
}
