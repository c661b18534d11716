//! One trial: a client that runs all turns of a thread while its processes die.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;

use futures_core::Stream;
use petalflow::checkpoint::Store;
use petalflow::event::EventKind;
use petalflow::state::Durable;
use petalflow::thread::{Durability, HistoryQuery, Outcome, Paused, Thread, ThreadRun};
use petalflow::{Flow, RunError, State};

use super::Crashes;
use super::fault::{Fault, FaultKind, FaultTarget};
use super::faulty_store::FaultyStore;
use super::turn_end::{TaskIds, TurnEnd, check_history, check_leftovers, keys};

/// The id of the thread; a text that every store must be able to hold.
const THREAD: &str = "crash/ø'%_";

/// The most runs of a trial: a thread that pauses and crashes more often is taken for endless.
const MAX_RUNS: usize = 10_000;

/// The result of a trial.
pub(super) struct Trial {
    /// How each turn ended.
    pub(super) turns: Vec<TurnEnd>,
    /// How many of the faults occurred.
    pub(super) occurred: usize,
    /// The faults, for messages.
    pub(super) description: String,
    /// What was wrong, apart from the ends of turns.
    pub(super) problem: Option<String>,
}

/// How far a run got.
enum Progress<S: State> {
    Ended(Result<Outcome<S>, RunError>),
    /// The process died, or the run was dropped.
    Lost,
}

/// One process, and the fault that hits it.
struct Process {
    store: FaultyStore,
    fault: Option<Fault>,
    /// How many events were received, and how often the run was pending.
    events: u64,
    waits: u64,
    lost: bool,
}

impl Process {
    fn new(store: &Arc<dyn Store>, fault: Option<Fault>) -> Self {
        let store = FaultyStore::over(Arc::clone(store));
        if let Some(fault) = fault {
            store.inject(fault);
        }
        Process {
            store,
            fault,
            events: 0,
            waits: 0,
            lost: false,
        }
    }

    fn fault_occurred(&self) -> bool {
        self.lost || self.store.fault_occurred()
    }

    fn occurs(&self, kind: FaultKind, count: u64) -> bool {
        self.fault == Some(Fault { kind, nth: count })
    }

    async fn drive<F: Flow>(&mut self, run: ThreadRun<F>) -> Progress<F::State> {
        if self
            .fault
            .is_some_and(|fault| fault.kind.target() == FaultTarget::Event)
        {
            return self.watch(run).await;
        }
        let store = self.store.clone();
        let (mut run, mut died) = (Box::pin(run), pin!(store.died()));
        poll_fn(|cx| {
            if let Poll::Ready(result) = run.as_mut().poll(cx) {
                return Poll::Ready(Progress::Ended(result));
            }
            self.waits += 1;
            if self.occurs(FaultKind::Drop, self.waits) {
                self.lost = true;
                return Poll::Ready(Progress::Lost);
            }
            died.as_mut().poll(cx).map(|()| Progress::Lost)
        })
        .await
    }

    /// Watches the run's events.
    async fn watch<F: Flow>(&mut self, run: ThreadRun<F>) -> Progress<F::State> {
        let mut events = run.events();
        while let Some(event) = poll_fn(|cx| Pin::new(&mut events).poll_next(cx)).await {
            self.events += 1;
            if self.occurs(FaultKind::Event, self.events) {
                self.lost = true;
                return Progress::Lost;
            }
            // The end of a nested flow is not the end of the run.
            if !event.namespace.as_str().is_empty() {
                continue;
            }
            return Progress::Ended(match event.kind {
                EventKind::Finished { state } => Ok(Outcome::Finished(state)),
                EventKind::Interrupted {
                    interrupts,
                    wakes,
                    state,
                } => Ok(Outcome::Paused(Paused {
                    state,
                    interrupts,
                    wakes,
                })),
                EventKind::Sleeping { until, state } => Ok(Outcome::Paused(Paused {
                    state,
                    interrupts: Vec::new(),
                    wakes: Some(until),
                })),
                EventKind::Failed { error } => Err(error),
                _ => continue,
            });
        }
        Progress::Lost
    }
}

/// Runs all turns of a thread to their ends, through all faults.
pub(super) async fn run_trial<F: Flow<State: State<Storage = Durable>>>(
    crashes: &Crashes<F>,
    durability: Durability,
    faults: &[Fault],
) -> Trial {
    let store = (crashes.stores)().await;
    let mut client = Client {
        crashes,
        store,
        durability,
        ids: TaskIds::default(),
        trial: Trial {
            turns: Vec::new(),
            occurred: 0,
            description: format!("{durability:?}"),
            problem: None,
        },
    };
    (crashes.before)();
    let result = match client.turns(faults).await {
        Ok(last) => client.check(last.as_ref()).await,
        Err(problem) => Err(problem),
    };
    client.trial.problem = result.err();
    client.trial
}

struct Client<'c, F: Flow> {
    crashes: &'c Crashes<F>,
    store: Arc<dyn Store>,
    durability: Durability,
    ids: TaskIds,
    trial: Trial,
}

impl<F: Flow<State: State<Storage = Durable>>> Client<'_, F> {
    fn thread(&self, store: &FaultyStore) -> Thread<F> {
        (self.crashes.launch)()
            .middleware(self.ids.clone())
            .store(store)
            .durability(self.durability)
            .thread(THREAD)
    }

    /// The next run, chosen by a client that knows only the id of the thread and its open questions.
    async fn next(&self, thread: &Thread<F>, turn: usize) -> Result<ThreadRun<F>, String> {
        let snapshot = thread.snapshot().await.map_err(|error| error.to_string())?;
        Ok(match snapshot {
            Some(now) if now.info.turn > turn as u64 => {
                if now.interrupts.is_empty() {
                    thread.resume(())
                } else {
                    thread.resume((self.crashes.answers)(&now.interrupts))
                }
            }
            _ => thread.run((self.crashes.turns[turn])()),
        })
    }

    /// Runs the turns. Returns the last state.
    async fn turns(&mut self, faults: &[Fault]) -> Result<Option<F::State>, String> {
        let mut faults = faults.iter().copied();
        let mut process = Process::new(&self.store, faults.next());
        let (mut turn, mut tries) = (0, self.crashes.tries);
        let mut last = None;
        for _ in 0..MAX_RUNS {
            if turn == self.crashes.turns.len() {
                process.store.detach();
                return Ok(last);
            }
            self.ids.begin_turn(turn);
            let thread = self.thread(&process.store);
            let run = self.next(&thread, turn).await?;
            let progress = process.drive(run).await;
            let ended = match progress {
                Progress::Ended(result) => Some(result),
                Progress::Lost => None,
            };
            self.ids.check()?;
            if process.fault_occurred() {
                self.record_fault(&process, ended.as_ref())?;
                process = Process::new(&self.store, faults.next());
                continue;
            }
            let turn_end = match ended {
                Some(Ok(Outcome::Finished(state))) => {
                    let turn_end = keys(&state);
                    last = Some(state);
                    turn_end
                }
                Some(Ok(Outcome::Paused(_))) => continue,
                Some(Err(_)) if tries > 0 => {
                    tries -= 1;
                    continue;
                }
                Some(Err(error)) => Err(petalflow::error::message_with_sources(&error)),
                None => return Err("the stream of events ended without the end of the run".into()),
            };
            self.trial.turns.push(turn_end);
            turn += 1;
            tries = self.crashes.tries;
        }
        Err(format!("the thread has not ended after {MAX_RUNS} runs"))
    }

    /// Records that a fault occurred, and checks what must hold then.
    fn record_fault(
        &mut self,
        process: &Process,
        ended: Option<&Result<Outcome<F::State>, RunError>>,
    ) -> Result<(), String> {
        process.store.detach();
        let trial = &mut self.trial;
        let then = if trial.occurred == 0 { "" } else { " then" };
        trial.occurred += 1;
        if let Some(fault) = process.fault {
            let last = process.store.last();
            let of = if last.is_empty() {
                last
            } else {
                format!(" ({last})")
            };
            trial.description = format!("{},{then} {fault}{of}", trial.description);
        }
        match ended {
            Some(Ok(_)) => Err("the run succeeded although the store failed".into()),
            _ => Ok(()),
        }
    }

    /// Checks what must hold when all turns have ended.
    async fn check(&self, last: Option<&F::State>) -> Result<(), String> {
        check_leftovers(&*self.store, THREAD).await?;
        let thread = self.thread(&FaultyStore::over(Arc::clone(&self.store)));
        let history = thread.history(HistoryQuery::all()).await;
        check_history(&history.map_err(|error| error.to_string())?)?;
        let snapshot = thread.snapshot().await.map_err(|error| error.to_string())?;
        let snapshot = snapshot.ok_or("the thread has no checkpoint")?;
        if let (Some(last), Some(Ok(turn_end))) = (last, self.trial.turns.last()) {
            let stored = keys(&snapshot.state);
            if let Some(problem) = super::turn_end::difference(&Ok(turn_end.clone()), &stored) {
                return Err(format!(
                    "the stored state differs from that of the run: {problem}"
                ));
            }
            (self.crashes.after)(last, &self.trial.description);
        }
        Ok(())
    }
}
