//! Drives the runs of a thread: shows their events, asks people, and stops them.

use std::time::SystemTime;

use petalflow::event::EventKind;
use petalflow::interrupt::{Interrupt, Resume};
use petalflow::run::{CancelToken, RunErrorKind, TimeoutScope};
use petalflow::thread::{Thread, ThreadError, ThreadRun};
use petalflow::{Graph, RunError};
use petalflow_documents::Envelope;
use petalflow_documents::kinds::{HumanQuestion, HumanRequest, HumanResponse};

use crate::answers::{self, AnswerArgs};
use crate::events::View;
use crate::exit::{Exit, Failure, Result};
use crate::stop::StopRequests;
use crate::store::shell_quoted;
use crate::terminal;

/// How a run stops without a failure.
pub(crate) enum End {
    Finished(Box<Envelope>),
    /// It waits for answers to these questions.
    Waiting(Vec<Interrupt>),
    /// It sleeps until this time.
    Sleeping(SystemTime),
}

/// Drives the runs of one thread.
pub(crate) struct Driver<'a> {
    pub(crate) thread: &'a Thread<Graph<Envelope>>,
    pub(crate) view: View,
    /// The answers that no question has needed yet.
    pub(crate) answers: AnswerArgs,
    /// The options that name the store in a hint. `None` if the thread ends with the program.
    pub(crate) store_options: Option<String>,
    /// Whether a person at the terminal may be asked.
    pub(crate) may_ask: bool,
    /// The other options of this command that the one in a hint needs too, with a space before each.
    pub(crate) options: &'a str,
}

impl Driver<'_> {
    /// Runs until the end, or until a question stays without an answer.
    pub(crate) async fn drive(&mut self, mut run: ThreadRun<Graph<Envelope>>) -> Result<End> {
        loop {
            let interrupts = match self.run_until_stop(run).await? {
                End::Waiting(interrupts) => interrupts,
                // Nothing else continues a thread that is only in the memory of this process.
                End::Sleeping(until) if self.store_options.is_none() => {
                    let wait = until.duration_since(SystemTime::now());
                    tokio::time::sleep(wait.unwrap_or_default()).await;
                    self.view.restart();
                    run = self.thread.resume(Resume::new());
                    continue;
                }
                sleeping @ End::Sleeping(_) => return Ok(sleeping),
                finished @ End::Finished(_) => return Ok(finished),
            };
            let Some(resume) = self.collect_answers(&interrupts).await? else {
                return Ok(End::Waiting(interrupts));
            };
            self.answers.remove_used(&interrupts);
            self.view.restart();
            run = self.thread.resume(resume);
        }
    }

    async fn run_until_stop(&mut self, run: ThreadRun<Graph<Envelope>>) -> Result<End> {
        let mut events = run.events();
        while let Some(event) = events.next().await {
            self.view.event(&event)?;
            match event.kind {
                EventKind::Finished { state } => {
                    self.view.clear();
                    return Ok(End::Finished(Box::new(state)));
                }
                EventKind::Interrupted { interrupts, .. } => {
                    self.view.clear();
                    return Ok(End::Waiting(interrupts));
                }
                EventKind::Sleeping { until, .. } => {
                    self.view.clear();
                    return Ok(End::Sleeping(until));
                }
                EventKind::Failed { error } => {
                    self.view.clear();
                    return Err(self.run_failure(&error));
                }
                _ => {}
            }
        }
        unreachable!("the last event of a run is one of those above")
    }

    /// The answers to the questions: those of the command, then those of a person. Returns `None` if there is none.
    async fn collect_answers(&self, interrupts: &[Interrupt]) -> Result<Option<Resume<Envelope>>> {
        let (mut resume, mut is_answered) = (Resume::new(), false);
        for interrupt in interrupts {
            let Some(request) = answers::request_of(interrupt) else {
                continue;
            };
            let response = match self.answers.find(&interrupt.node, interrupts) {
                Some(answer) => Some(answers::response(&request, answer)?),
                None => match approved(&self.answers, &request) {
                    Some(response) => Some(response),
                    None if self.may_ask => match answers::ask(&request).await {
                        // Ctrl-C at a question leaves the question open.
                        Err(failure) if failure.exit == Exit::Stopped => None,
                        asked => asked?,
                    },
                    None => None,
                },
            };
            if let Some(response) = response {
                let answer = interrupt.answer::<HumanQuestion>(Some(response));
                resume = resume.answer(answer.map_err(|error| Failure::new(Exit::Thread, error))?);
                is_answered = true;
            }
        }
        Ok(is_answered.then_some(resume))
    }

    /// The failure of a run that waits. It says how to answer.
    pub(crate) fn waiting_failure(&self, interrupts: &[Interrupt]) -> Failure {
        let place = self.store_options.as_deref();
        waiting_failure(self.thread.id(), place, self.options, interrupts)
    }

    /// The failure of a run that sleeps. It says how to continue it.
    pub(crate) fn sleeping_failure(&self, until: SystemTime) -> Failure {
        let place = self.store_options.as_deref().unwrap_or_default();
        sleeping_failure(self.thread.id(), place, self.options, until)
    }

    fn run_failure(&self, error: &RunError) -> Failure {
        let given = &self.answers;
        let id = self.thread.id();
        let exit = match error.kind() {
            RunErrorKind::Timeout {
                scope: TimeoutScope::Run,
            } => Exit::Timeout,
            RunErrorKind::Cancelled | RunErrorKind::Drained { .. } => Exit::Stopped,
            RunErrorKind::Thread { .. } => Exit::Thread,
            _ => Exit::Failed,
        };
        let failure = match (exit, error.thread_error()) {
            (Exit::Stopped, _) => {
                Failure::new(exit, format_args!("the run of thread `{id}` was stopped"))
            }
            (_, Some(ThreadError::Busy { .. })) => {
                return Failure::new(exit, format_args!("thread `{id}` is busy with another run"))
                    .hint("wait for it, or stop it in its process");
            }
            (_, Some(ThreadError::Waiting { waiting, .. })) => {
                return self.waiting_failure(waiting);
            }
            (_, Some(ThreadError::Sleeping { until, .. })) => {
                return self.sleeping_failure(*until);
            }
            (_, Some(ThreadError::Changed { .. })) => {
                let store = self.store_options.as_deref().unwrap_or_default();
                return Failure::new(exit, error).hint(format_args!(
                    "continue it with a file of the version before: `petalflow threads resume {} FILE{store}{}{}`",
                    shell_quoted(id),
                    self.options,
                    given.options(),
                ));
            }
            _ => Failure::new(exit, error),
        };
        match (&self.store_options, exit) {
            (Some(store), Exit::Stopped | Exit::Timeout | Exit::Failed) => {
                failure.hint(format_args!(
                    "continue it with `petalflow threads resume {}{store}{}{}`",
                    shell_quoted(id),
                    self.options,
                    given.options(),
                ))
            }
            _ => failure,
        }
    }
}

/// The approval of a request with `--approve`.
pub(crate) fn approved(answers: &AnswerArgs, request: &HumanRequest) -> Option<HumanResponse> {
    let response = answers::approval(request).filter(|_| answers.approve)?;
    let node = &request.node;
    terminal::note(format_args!(
        "node `{node}` is approved, because of `--approve`"
    ));
    Some(response)
}

/// The failure of a thread that waits. It says how to answer. `place` is the option that names where the thread is, and
/// `None` if the thread ends with the program. `options` are the others that the command which answers needs.
pub(crate) fn waiting_failure(
    id: &str,
    place: Option<&str>,
    options: &str,
    interrupts: &[Interrupt],
) -> Failure {
    let mut hints = Vec::new();
    let mut asks_approval = false;
    for interrupt in interrupts {
        let Some(request) = answers::request_of(interrupt) else {
            terminal::note(interrupt);
            continue;
        };
        terminal::note(answers::question_text(&request));
        asks_approval |= answers::approval(&request).is_some();
        hints.push(format!(
            "--answer {}",
            shell_quoted(&format!("{}={}", request.node, answers::example(&request)))
        ));
    }
    let hints = hints.join(" ");
    if let Some(place) = place {
        let text = format_args!("thread `{id}` waits for an answer");
        return Failure::new(Exit::Waiting, text).hint(format_args!(
            "petalflow threads resume {}{place}{options} {hints}",
            shell_quoted(id)
        ));
    }
    let text = if asks_approval {
        "the run waits for an approval, and there is no terminal: it is given without a person only with \
         `--approve`"
    } else {
        "the run waits for an answer, and nobody can be asked"
    };
    Failure::new(Exit::Failed, text).hint(format_args!(
        "give it with {hints}, or store the run with `--store FILE` and answer later"
    ))
}

/// The failure of a thread that sleeps. It says how to continue it.
pub(crate) fn sleeping_failure(id: &str, place: &str, options: &str, until: SystemTime) -> Failure {
    let wait = until.duration_since(SystemTime::now()).unwrap_or_default();
    let after = wait.as_secs() + 1;
    let text = format_args!("thread `{id}` sleeps for {after} more seconds");
    Failure::new(Exit::Waiting, text).hint(format_args!(
        "continue it then: petalflow threads resume {}{place}{options}",
        shell_quoted(id)
    ))
}

/// What the first request to end the process does to a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FirstStop {
    /// The run stops after its current nodes. The second request cancels it.
    Drain,
    /// The run is cancelled.
    Cancel,
}

/// Stops the runs with this token when the user presses Ctrl-C, or the process is asked to end. If they do not stop, one
/// more request ends the process.
pub(crate) fn stop_on_ctrl_c(token: &CancelToken, first: FirstStop) {
    let (token, mut requests) = (token.clone(), StopRequests::new());
    tokio::spawn(async move {
        if first == FirstStop::Drain {
            requests.next().await;
            token.drain();
            terminal::note("stopping after the current nodes; press Ctrl-C again to stop them");
        }
        requests.next().await;
        token.cancel();
        // A node that blocks its OS thread cannot be cancelled.
        requests.next().await;
        std::process::exit(Exit::Stopped as i32);
    });
}
