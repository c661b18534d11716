//! A thread on a server: shows, resumes and forks it. The server has its document, models and tools.

use std::collections::BTreeSet;
use std::time::{Duration, UNIX_EPOCH};

use petalflow::checkpoint::ThreadStatus;
use petalflow::interrupt::{Interrupt, InterruptKind};
use petalflow::state::RawValue;
use petalflow_documents::kinds::HumanResponse;
use petalflow_documents::{Envelope, WireEnvelope};
use reqwest::Method;
use serde_json::{Value, json};

use super::shown::{Shown, ShownState};
use crate::answers::{self, AnswerArgs, time};
use crate::drive::{approved, sleeping_failure, waiting_failure};
use crate::envelope::ResultArgs;
use crate::exit::{Exit, Failure, Result};
use crate::place::{Place, PlaceArgs, Server};
use crate::terminal;

/// How long a command waits between two looks at a thread.
const LOOK_INTERVAL: Duration = Duration::from_millis(250);

/// A thread on a server.
pub(super) struct ServedThread<'a> {
    server: Server,
    id: &'a str,
    place: &'a PlaceArgs,
}

impl<'a> ServedThread<'a> {
    pub(super) fn new(server: Server, id: &'a str, place: &'a PlaceArgs) -> Self {
        ServedThread { server, id, place }
    }

    /// The thread at its newest checkpoint, or at this one, with at most this many checkpoints of its history.
    pub(super) async fn show(
        &self,
        checkpoint: Option<u64>,
        history: Option<usize>,
    ) -> Result<Shown> {
        let place = Place::Server(self.server.clone());
        let info = place.info(self.id).await?;
        let info = info.ok_or_else(|| self.place.unknown_thread(self.id))?;
        let view = match checkpoint.map(|checkpoint| checkpoint.to_string()) {
            Some(checkpoint) => {
                let path = ["threads", self.id, "checkpoints", &checkpoint];
                self.server.get(&path, &[]).await?
            }
            None => self.view().await?,
        };
        let history = match history {
            Some(limit) => Some(self.history(limit).await?),
            None => None,
        };
        let errors = view["errors"].as_array().into_iter().flatten();
        Ok(Shown {
            info,
            checkpoint: view["checkpoint"].as_u64().unwrap_or_default(),
            next: texts(&view["tasks"], "node"),
            errors: errors
                .filter_map(|it| Some(it["error"].as_str()?.into()))
                .collect(),
            questions: questions(&view),
            state: match envelope(&view["state"]) {
                Some(envelope) => ShownState::Envelope(Box::new(envelope)),
                None => ShownState::Keys(view["state"].clone()),
            },
            history,
        })
    }

    /// Gives the answers, continues the thread, and prints its result when it has ended.
    pub(super) async fn resume(
        &self,
        answers: &AnswerArgs,
        result: &ResultArgs,
        options: &str,
    ) -> Result {
        result.check()?;
        let place = self.place.option();
        let (mut answers, mut answered) = (answers.clone(), BTreeSet::new());
        let mut was_resumed = false;
        loop {
            let view = self.view().await?;
            let status = view["status"].as_str().and_then(ThreadStatus::named);
            let mut open = questions(&view);
            open.retain(|question| !answered.contains(&question.id.to_string()));
            match status {
                Some(ThreadStatus::Finished) => {
                    print_result(&view, result)?;
                    answers.check_unused()?;
                    return Ok(Exit::Done);
                }
                Some(ThreadStatus::Waiting) if !open.is_empty() => {
                    let given = self.answer(&open, &answers).await?;
                    if given.is_empty() {
                        if result.json {
                            let open: Vec<Value> = open.iter().map(answers::as_json).collect();
                            let line = json!({ "event": "run.paused", "thread": self.id, "questions": open });
                            terminal::json_line(&line)?;
                        }
                        return Err(waiting_failure(self.id, Some(&place), options, &open));
                    }
                    answers.remove_used(&open);
                    answered.extend(given);
                    was_resumed = true;
                }
                Some(ThreadStatus::Sleeping) => {
                    let until = Duration::from_millis(view["due_ms"].as_u64().unwrap_or_default());
                    return Err(sleeping_failure(
                        self.id,
                        &place,
                        options,
                        UNIX_EPOCH + until,
                    ));
                }
                Some(ThreadStatus::Running | ThreadStatus::Waiting) => {}
                _ if was_resumed => return Err(self.failure(&view)),
                _ => {
                    let path = ["threads", self.id, "resume"];
                    self.server.send(Method::POST, &path, &Value::Null).await?;
                    was_resumed = true;
                }
            }
            tokio::time::sleep(LOOK_INTERVAL).await;
        }
    }

    /// Continues from a checkpoint, in this thread or in another one. Returns the name of the thread, and its newest checkpoint.
    pub(super) async fn fork(&self, checkpoint: u64, to: Option<&str>) -> Result<(String, u64)> {
        let mut body = json!({ "checkpoint": checkpoint });
        if let Some(to) = to {
            body["id"] = to.into();
        }
        let path = ["threads", self.id, "fork"];
        let forked = self.server.send(Method::POST, &path, &body).await?;
        let id = forked["thread"].as_str().unwrap_or(self.id).to_owned();
        let newest = if let Some(newest) = forked["checkpoint"].as_u64() {
            newest
        } else {
            let view = self.server.get(&["threads", &id], &[]).await?;
            view["checkpoint"].as_u64().unwrap_or_default()
        };
        Ok((id, newest))
    }

    /// Gives the answers to the questions that are open. Returns the ids of those that are answered.
    async fn answer(&self, open: &[Interrupt], answers: &AnswerArgs) -> Result<Vec<String>> {
        let mut given = Vec::new();
        for interrupt in open {
            let Some(response) = response(interrupt, open, answers).await? else {
                continue;
            };
            let id = interrupt.id.to_string();
            let path = ["threads", self.id, "answers", &id];
            let body = serde_json::to_value(response).unwrap_or_default();
            self.server.send(Method::POST, &path, &body).await?;
            given.push(id);
        }
        Ok(given)
    }

    async fn view(&self) -> Result<Value> {
        self.server.get(&["threads", self.id], &[]).await
    }

    /// The newest checkpoints, and whether there are older ones.
    async fn history(&self, limit: usize) -> Result<(Vec<Value>, bool)> {
        let path = ["threads", self.id, "history"];
        let (mut all, mut before) = (Vec::new(), None);
        loop {
            let mut query = vec![("limit", (limit - all.len()).min(1_000).to_string())];
            query.extend(before.map(|before: u64| ("before", before.to_string())));
            let page = self.server.get(&path, &query).await?;
            let checkpoints = page["checkpoints"].as_array().into_iter().flatten();
            all.extend(checkpoints.map(checkpoint));
            before = page["next"].as_u64();
            let has_more = before.is_some_and(|before| before > 1);
            if !has_more || all.len() >= limit {
                return Ok((all, has_more));
            }
        }
    }

    fn failure(&self, view: &Value) -> Failure {
        let status = view["status"].as_str().unwrap_or_default();
        let errors = view["errors"].as_array().into_iter().flatten();
        let errors: Vec<&str> = errors.filter_map(|it| it["error"].as_str()).collect();
        let exit = if status == ThreadStatus::Failed.as_str() {
            Exit::Failed
        } else {
            Exit::Stopped
        };
        let text = format!("thread `{}` is {status}", self.id);
        match errors.as_slice() {
            [] => Failure::new(exit, text),
            errors => Failure::new(exit, format_args!("{text}: {}", errors.join("; "))),
        }
    }
}

/// The response to a question: that of the command, or that of a person.
async fn response(
    interrupt: &Interrupt,
    open: &[Interrupt],
    answers: &AnswerArgs,
) -> Result<Option<HumanResponse>> {
    let Some(request) = answers::request_of(interrupt) else {
        return Ok(None);
    };
    if let Some(answer) = answers.find(&interrupt.node, open) {
        return answers::response(&request, answer).map(Some);
    }
    if let Some(response) = approved(answers, &request) {
        return Ok(Some(response));
    }
    if !terminal::can_ask() {
        return Ok(None);
    }
    match answers::ask(&request).await {
        // Ctrl-C at a question leaves the question open.
        Err(failure) if failure.exit == Exit::Stopped => Ok(None),
        asked => asked,
    }
}

fn print_result(view: &Value, result: &ResultArgs) -> Result<()> {
    let state = &view["state"];
    let Some(envelope) = envelope(state) else {
        return terminal::json(state);
    };
    if result.json {
        let line = json!({
            "event": "run.finished",
            "thread": view["thread"],
            "status": "completed",
            "envelope": state,
        });
        terminal::json_line(&line)?;
        return result.write(&envelope);
    }
    result.print(&envelope)
}

/// The state of a document. `None` if it is that of another flow.
fn envelope(state: &Value) -> Option<Envelope> {
    let wire: WireEnvelope = serde_json::from_value(state.clone()).ok()?;
    Envelope::try_from(wire).ok()
}

/// The open questions.
fn questions(view: &Value) -> Vec<Interrupt> {
    let questions = view["questions"].as_array().into_iter().flatten();
    questions.filter_map(question).collect()
}

fn question(shown: &Value) -> Option<Interrupt> {
    let text = |name: &str| shown[name].as_str();
    let kind = match text("kind")? {
        "ask" => InterruptKind::Ask {
            name: text("name")?.into(),
            question: RawValue::new(&shown["question"]).ok()?,
        },
        "before" => InterruptKind::Before,
        _ => InterruptKind::After,
    };
    let id = text("id")?.parse().ok()?;
    let node = text("node")?;
    let mut question = Interrupt::new(id, node, text("namespace").unwrap_or_default(), kind);
    question.asked_ms = shown["asked_ms"].as_u64().unwrap_or_default();
    question.expires_ms = shown["expires_ms"].as_u64();
    Some(question)
}

/// A checkpoint of a server in the form of this program.
fn checkpoint(shown: &Value) -> Value {
    let cause = shown["cause"].as_str().unwrap_or_default().to_lowercase();
    json!({
        "checkpoint": shown["checkpoint"],
        "parent": shown["parent"],
        "cause": cause,
        "turn": shown["turn"],
        "superstep": shown["superstep"],
        "next": shown["next"],
        "created": time(shown["created_ms"].as_u64().unwrap_or_default()),
        "bytes": shown["bytes"],
    })
}

/// The texts with this name in a list of objects.
fn texts(list: &Value, name: &str) -> Vec<String> {
    let list = list.as_array().into_iter().flatten();
    list.filter_map(|it| Some(it[name].as_str()?.into()))
        .collect()
}
