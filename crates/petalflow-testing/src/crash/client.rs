//! A user of a thread who sees processes come and go.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;

use futures_core::Stream;
use petalflow::checkpoint::Store;
use petalflow::thread::{Durability, HistoryQuery, Outcome, Paused, Thread, ThreadRun};
use petalflow::{Durable, EventKind, Flow, RunError, State};

use super::Crashes;
use super::ending::{Ending, Ids, check_history, check_leftovers, keys};
use super::fault::{Fault, Moment, Window};
use super::mortal::Mortal;

/// The id of the thread; a text that every store must be able to hold.
const THREAD: &str = "crash/ø'%_";

/// A thread that goes on after this many pauses and crashes would never end.
const STEPS: usize = 10_000;

/// What came of a trial.
pub(super) struct Trial {
    /// How each turn ended.
    pub(super) turns: Vec<Ending>,
    /// How many of the faults have struck.
    pub(super) struck: usize,
    /// What they were, in words.
    pub(super) words: String,
    /// What else was wrong.
    pub(super) problem: Option<String>,
}

/// How far a run got.
enum Driven<S: State> {
    Ended(Result<Outcome<S>, RunError>),
    /// The process is gone, or the run was dropped.
    Gone,
}

/// One process, with what strikes it.
struct Life {
    store: Mortal,
    fault: Option<Fault>,
    /// How many events were seen, and how often a run waited.
    events: u64,
    waits: u64,
    gone: bool,
}

impl Life {
    fn new(store: &Arc<dyn Store>, fault: Option<Fault>) -> Self {
        let store = Mortal::over(Arc::clone(store));
        if let Some(fault) = fault {
            store.strike(fault);
        }
        Life {
            store,
            fault,
            events: 0,
            waits: 0,
            gone: false,
        }
    }

    fn is_struck(&self) -> bool {
        self.gone || self.store.is_struck()
    }

    fn strikes(&self, window: Window, count: u64) -> bool {
        self.fault == Some(Fault { window, nth: count })
    }

    async fn drive<F: Flow>(&mut self, run: ThreadRun<F>) -> Driven<F::State> {
        if self
            .fault
            .is_some_and(|fault| fault.window.moment() == Moment::Event)
        {
            return self.watch(run).await;
        }
        let store = self.store.clone();
        let (mut run, mut died) = (Box::pin(run), pin!(store.died()));
        poll_fn(|cx| {
            if let Poll::Ready(result) = run.as_mut().poll(cx) {
                return Poll::Ready(Driven::Ended(result));
            }
            self.waits += 1;
            if self.strikes(Window::Drop, self.waits) {
                self.gone = true;
                return Poll::Ready(Driven::Gone);
            }
            died.as_mut().poll(cx).map(|()| Driven::Gone)
        })
        .await
    }

    /// Watches the run's events.
    async fn watch<F: Flow>(&mut self, run: ThreadRun<F>) -> Driven<F::State> {
        let mut events = run.events();
        while let Some(event) = poll_fn(|cx| Pin::new(&mut events).poll_next(cx)).await {
            self.events += 1;
            if self.strikes(Window::Event, self.events) {
                self.gone = true;
                return Driven::Gone;
            }
            // Those of flows inside are not the run's own end.
            if !event.namespace.as_str().is_empty() {
                continue;
            }
            return Driven::Ended(match event.kind {
                EventKind::Finished { state } => Ok(Outcome::Finished(state)),
                EventKind::Interrupted { interrupts, state } => {
                    Ok(Outcome::Paused(Paused { state, interrupts }))
                }
                EventKind::Failed { error } => Err(error),
                _ => continue,
            });
        }
        Driven::Gone
    }
}

/// Plays all turns of a thread to their ends, whatever happens.
pub(super) async fn play<F: Flow<State: State<Storage = Durable>>>(
    crashes: &Crashes<F>,
    durability: Durability,
    faults: &[Fault],
) -> Trial {
    let store = (crashes.stores)().await;
    let mut client = Client {
        crashes,
        store,
        durability,
        ids: Ids::default(),
        trial: Trial {
            turns: Vec::new(),
            struck: 0,
            words: format!("{durability:?}"),
            problem: None,
        },
    };
    (crashes.before)();
    let played = match client.turns(faults).await {
        Ok(last) => client.check(last.as_ref()).await,
        Err(problem) => Err(problem),
    };
    client.trial.problem = played.err();
    client.trial
}

struct Client<'c, F: Flow> {
    crashes: &'c Crashes<F>,
    store: Arc<dyn Store>,
    durability: Durability,
    ids: Ids,
    trial: Trial,
}

impl<F: Flow<State: State<Storage = Durable>>> Client<'_, F> {
    fn thread(&self, store: &Mortal) -> Thread<F> {
        (self.crashes.launch)()
            .middleware(self.ids.clone())
            .store(store)
            .durability(self.durability)
            .thread(THREAD)
    }

    /// What somebody would do next who knows nothing but the thread's id and what was asked of it.
    async fn next(&self, thread: &Thread<F>, turn: usize) -> Result<ThreadRun<F>, String> {
        let snapshot = thread.state().await.map_err(|error| error.to_string())?;
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

    /// Plays the turns; gives the last state.
    async fn turns(&mut self, faults: &[Fault]) -> Result<Option<F::State>, String> {
        let mut faults = faults.iter().copied();
        let mut life = Life::new(&self.store, faults.next());
        let (mut turn, mut tries) = (0, self.crashes.tries);
        let mut last = None;
        for _ in 0..STEPS {
            if turn == self.crashes.turns.len() {
                life.store.bury();
                return Ok(last);
            }
            self.ids.begin_turn(turn);
            let thread = self.thread(&life.store);
            let run = self.next(&thread, turn).await?;
            let driven = life.drive(run).await;
            let ended = match driven {
                Driven::Ended(result) => Some(result),
                Driven::Gone => None,
            };
            self.ids.check()?;
            if life.is_struck() {
                self.strike(&life, ended.as_ref())?;
                life = Life::new(&self.store, faults.next());
                continue;
            }
            let ending = match ended {
                Some(Ok(Outcome::Finished(state))) => {
                    let ending = keys(&state);
                    last = Some(state);
                    ending
                }
                Some(Ok(Outcome::Paused(_))) => continue,
                Some(Err(_)) if tries > 0 => {
                    tries -= 1;
                    continue;
                }
                Some(Err(error)) => Err(petalflow::error::message_with_sources(&error)),
                None => return Err("the run was gone by itself".into()),
            };
            self.trial.turns.push(ending);
            turn += 1;
            tries = self.crashes.tries;
        }
        Err(format!("the thread has not ended after {STEPS} runs"))
    }

    /// A fault has struck: notes it, and what must hold now.
    fn strike(
        &mut self,
        life: &Life,
        ended: Option<&Result<Outcome<F::State>, RunError>>,
    ) -> Result<(), String> {
        life.store.bury();
        let trial = &mut self.trial;
        let then = if trial.struck == 0 { "" } else { " then" };
        trial.struck += 1;
        if let Some(fault) = life.fault {
            let last = life.store.last();
            let of = if last.is_empty() {
                last
            } else {
                format!(" ({last})")
            };
            trial.words = format!("{},{then} {fault}{of}", trial.words);
        }
        match ended {
            Some(Ok(_)) => Err("the run ended well although the store had failed".into()),
            _ => Ok(()),
        }
    }

    /// What must hold when all turns have ended.
    async fn check(&self, last: Option<&F::State>) -> Result<(), String> {
        check_leftovers(&*self.store, THREAD).await?;
        let thread = self.thread(&Mortal::over(Arc::clone(&self.store)));
        let history = thread.history(HistoryQuery::all()).await;
        check_history(&history.map_err(|error| error.to_string())?)?;
        let snapshot = thread.state().await.map_err(|error| error.to_string())?;
        let snapshot = snapshot.ok_or("the thread is gone")?;
        if let (Some(last), Some(Ok(ending))) = (last, self.trial.turns.last()) {
            let stored = keys(&snapshot.state);
            if let Some(problem) = super::ending::difference(&Ok(ending.clone()), &stored) {
                return Err(format!(
                    "what is stored is not what the run gave: {problem}"
                ));
            }
            (self.crashes.after)(last, &self.trial.words);
        }
        Ok(())
    }
}
