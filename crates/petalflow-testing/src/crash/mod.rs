//! Crashing a flow wherever it can crash, and seeing that nothing is lost and nothing done twice.

mod check;
mod client;
mod ending;
mod fault;
mod mortal;
mod script;

use std::sync::Arc;

use petalflow::checkpoint::{InMemoryStore, Store};
use petalflow::interrupt::{Ask, Interrupt, Resume};
use petalflow::middleware::BoxFuture;
use petalflow::thread::Durability;
use petalflow::{Durable, Flow, Launch, State};

pub use check::Crashed;
pub use fault::{Fault, Moment, Window};
pub use mortal::Mortal;
pub use script::Script;

type Input<F> = <<F as Flow>::State as State>::Input;
type Answers<F> = dyn Fn(&[Interrupt]) -> Resume<<F as Flow>::State>;
type Stores = dyn Fn() -> BoxFuture<'static, Arc<dyn Store>>;

/// Runs a flow on a thread, crashes it at every moment at which a crash can make a difference, lets it go on in what is as good
/// as a new process, and compares with the run that nothing broke.
///
/// `launch` makes the launch of one process; `input` the input of the thread's first turn. What is tried is said at [`Window`]
/// and [`Fault`]; each with every [`Durability`]. The check panics unless, after each crash,
///
/// * the final state of every turn is that of the unbroken run, compared as it is stored;
/// * each superstep of the thread is in its history at most once, after the checkpoint that it names as its parent;
/// * nothing of an unfinished superstep is left in the store, and the thread can be claimed;
/// * a task has the same [id](petalflow::Context::task_id) in each process.
///
/// So that the two can be compared, the nodes' results must not depend on chance or on the clock.
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
        windows: Window::ALL.to_vec(),
        faults: None,
        twice: false,
        tries: 8,
    };
    crashes.turn(input)
}

/// A flow to be crashed, made by [`crashes`].
#[must_use = "nothing is crashed before `check`"]
pub struct Crashes<F: Flow> {
    launch: Box<dyn Fn() -> Launch<F>>,
    turns: Vec<Box<dyn Fn() -> Input<F>>>,
    answers: Box<Answers<F>>,
    stores: Box<Stores>,
    before: Box<dyn Fn()>,
    after: Box<dyn Fn(&F::State, &str)>,
    durabilities: Vec<Durability>,
    windows: Vec<Window>,
    /// Instead of all.
    faults: Option<Vec<Vec<Fault>>>,
    twice: bool,
    tries: usize,
}

impl<F: Flow> std::fmt::Debug for Crashes<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Crashes")
            .field("turns", &self.turns.len())
            .field("durabilities", &self.durabilities)
            .field("windows", &self.windows)
            .field("twice", &self.twice)
            .finish_non_exhaustive()
    }
}

impl<F: Flow<State: State<Storage = Durable>>> Crashes<F> {
    /// Goes on with another turn of the thread when the one before has ended.
    pub fn turn<I: Into<Input<F>>>(mut self, input: impl Fn() -> I + 'static) -> Self {
        self.turns.push(Box::new(move || input().into()));
        self
    }

    /// How people answer when the thread waits for them. Whatever is left out is asked for again.
    pub fn answers(mut self, answers: impl Fn(&[Interrupt]) -> Resume<F::State> + 'static) -> Self {
        self.answers = Box::new(answers);
        self
    }

    /// How people answer questions of one type, all of them at once.
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

    /// Where the threads are kept: in a new [`InMemoryStore`] for each trial, unless this says otherwise.
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

    /// What to do before each trial: put counters back to zero.
    pub fn before(mut self, before: impl Fn() + 'static) -> Self {
        self.before = Box::new(before);
        self
    }

    /// What else must hold after each trial, of the final state and of what was counted. The text says what crashed.
    pub fn after(mut self, after: impl Fn(&F::State, &str) + 'static) -> Self {
        self.after = Box::new(after);
        self
    }

    /// Only these durabilities, instead of all.
    pub fn durabilities(mut self, durabilities: impl IntoIterator<Item = Durability>) -> Self {
        self.durabilities = durabilities.into_iter().collect();
        self
    }

    /// Only these windows, instead of all.
    pub fn windows(mut self, windows: impl IntoIterator<Item = Window>) -> Self {
        self.windows = windows.into_iter().collect();
        self
    }

    /// Only these faults, instead of every one of every window: each list is what goes wrong in one trial, one thing after the
    /// other. For flows that are too long for all of it, and for a fault that was reported.
    pub fn faults(mut self, trials: impl IntoIterator<Item = Vec<Fault>>) -> Self {
        self.faults = Some(trials.into_iter().collect());
        self
    }

    /// Crashes a second time, at every moment of going on after the first crash. Only process deaths, or there would be no end
    /// of it.
    pub fn twice(mut self) -> Self {
        self.twice = true;
        self
    }

    /// How often a turn that failed by itself is resumed before it counts as failed; 8 times unless set.
    pub fn tries(mut self, tries: usize) -> Self {
        self.tries = tries;
        self
    }
}
