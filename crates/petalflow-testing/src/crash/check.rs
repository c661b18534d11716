//! All trials of a flow.

use petalflow::thread::Durability;
use petalflow::{Durable, Flow, State};

use super::Crashes;
use super::client::{Trial, play};
use super::ending::{Ending, difference};
use super::fault::{Fault, Window};

/// More writes than any flow in a test makes.
const MOST: u64 = 100_000;

/// What was tried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Crashed {
    /// How often something went wrong, or one thing after the other, and all went well.
    pub trials: usize,
}

impl<F: Flow<State: State<Storage = Durable>>> Crashes<F> {
    /// Tries everything.
    ///
    /// # Panics
    ///
    /// When a crash makes a difference. The message says which, and what differs.
    pub async fn check(self) -> Crashed {
        match self.try_check().await {
            Ok(crashed) => crashed,
            Err(problem) => panic!("{problem}"),
        }
    }

    /// Tries everything.
    ///
    /// # Errors
    ///
    /// When a crash makes a difference: which, and what differs.
    pub async fn try_check(self) -> Result<Crashed, String> {
        let mut crashed = Crashed::default();
        let mut should: Option<Vec<Ending>> = None;
        for durability in &self.durabilities {
            let unbroken = play(&self, *durability, &[]).await;
            let should = should.get_or_insert_with(|| unbroken.turns.clone());
            compare(should, &unbroken).map_err(|problem| {
                format!("{}, with nothing going wrong: {problem}", unbroken.words)
            })?;
            if let Some(trials) = &self.faults {
                for faults in trials {
                    let struck = self.trial(*durability, faults, should).await?;
                    crashed.trials += usize::from(struck);
                }
                continue;
            }
            for window in &self.windows {
                crashed.trials += self.strike(*durability, *window, should).await?;
            }
        }
        Ok(crashed)
    }

    /// Every moment of one window.
    async fn strike(
        &self,
        durability: Durability,
        window: Window,
        should: &[Ending],
    ) -> Result<usize, String> {
        let mut trials = 0;
        for nth in 1..MOST {
            let fault = Fault { window, nth };
            if !self.trial(durability, &[fault], should).await? {
                break;
            }
            trials += 1;
            if !(self.twice && window.kills()) {
                continue;
            }
            for window in Window::KILLED {
                for nth in 1..MOST {
                    let faults = [fault, Fault { window, nth }];
                    if !self.trial(durability, &faults, should).await? {
                        break;
                    }
                    trials += 1;
                }
            }
        }
        Ok(trials)
    }

    /// One trial: whether all of the faults struck.
    async fn trial(
        &self,
        durability: Durability,
        faults: &[Fault],
        should: &[Ending],
    ) -> Result<bool, String> {
        let trial = play(self, durability, faults).await;
        compare(should, &trial).map_err(|problem| format!("{}: {problem}", trial.words))?;
        Ok(trial.struck == faults.len())
    }
}

fn compare(should: &[Ending], trial: &Trial) -> Result<(), String> {
    if let Some(problem) = &trial.problem {
        return Err(problem.clone());
    }
    let turns = should.iter().zip(&trial.turns).enumerate();
    for (turn, (should, is)) in turns {
        if let Some(problem) = difference(should, is) {
            return Err(format!("in turn {}, {problem}", turn + 1));
        }
    }
    if should.len() == trial.turns.len() {
        Ok(())
    } else {
        Err(format!(
            "{} of {} turns have ended",
            trial.turns.len(),
            should.len()
        ))
    }
}
