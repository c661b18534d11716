//! Runs all trials of a flow, and compares each with the run without faults.

use petalflow::state::Durable;
use petalflow::thread::Durability;
use petalflow::{Flow, State};

use super::Crashes;
use super::fault::{Fault, FaultKind};
use super::trial::{Trial, run_trial};
use super::turn_end::{TurnEnd, difference};

/// An upper bound on the writes of a flow in a test.
const MAX_WRITES: u64 = 100_000;

/// The result of [`Crashes::check`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Crashed {
    /// How many faults, or sequences of faults, the flow survived.
    pub trials: usize,
}

impl<F: Flow<State: State<Storage = Durable>>> Crashes<F> {
    /// Runs all trials.
    ///
    /// # Panics
    ///
    /// When a crash changes the result. The message names the fault and the difference.
    pub async fn check(self) -> Crashed {
        match self.try_check().await {
            Ok(crashed) => crashed,
            Err(problem) => panic!("{problem}"),
        }
    }

    /// Runs all trials.
    ///
    /// # Errors
    ///
    /// When a crash changes the result. The error names the fault and the difference.
    pub async fn try_check(self) -> Result<Crashed, String> {
        let mut crashed = Crashed::default();
        let mut expected: Option<Vec<TurnEnd>> = None;
        for durability in &self.durabilities {
            let without_faults = run_trial(&self, *durability, &[]).await;
            let expected = expected.get_or_insert_with(|| without_faults.turns.clone());
            compare(expected, &without_faults).map_err(|problem| {
                format!("{}, without a fault: {problem}", without_faults.description)
            })?;
            if let Some(trials) = &self.faults {
                for faults in trials {
                    let occurred = self.trial(*durability, faults, expected).await?;
                    crashed.trials += usize::from(occurred);
                }
                continue;
            }
            for kind in &self.kinds {
                crashed.trials += self.try_window(*durability, *kind, expected).await?;
            }
        }
        Ok(crashed)
    }

    /// Tries every occurrence of one kind.
    async fn try_window(
        &self,
        durability: Durability,
        kind: FaultKind,
        expected: &[TurnEnd],
    ) -> Result<usize, String> {
        let mut trials = 0;
        for nth in 1..MAX_WRITES {
            let fault = Fault { kind, nth };
            if !self.trial(durability, &[fault], expected).await? {
                break;
            }
            trials += 1;
            if !(self.twice && kind.kills()) {
                continue;
            }
            for kind in FaultKind::KILLED {
                for nth in 1..MAX_WRITES {
                    let faults = [fault, Fault { kind, nth }];
                    if !self.trial(durability, &faults, expected).await? {
                        break;
                    }
                    trials += 1;
                }
            }
        }
        Ok(trials)
    }

    /// Runs one trial. Returns whether all faults occurred.
    async fn trial(
        &self,
        durability: Durability,
        faults: &[Fault],
        expected: &[TurnEnd],
    ) -> Result<bool, String> {
        let trial = run_trial(self, durability, faults).await;
        compare(expected, &trial).map_err(|problem| format!("{}: {problem}", trial.description))?;
        Ok(trial.occurred == faults.len())
    }
}

fn compare(expected: &[TurnEnd], trial: &Trial) -> Result<(), String> {
    if let Some(problem) = &trial.problem {
        return Err(problem.clone());
    }
    let turns = expected.iter().zip(&trial.turns).enumerate();
    for (turn, (expected, actual)) in turns {
        if let Some(problem) = difference(expected, actual) {
            return Err(format!("in turn {}, {problem}", turn + 1));
        }
    }
    if expected.len() == trial.turns.len() {
        Ok(())
    } else {
        Err(format!(
            "{} of {} turns ended",
            trial.turns.len(),
            expected.len()
        ))
    }
}
