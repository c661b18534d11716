//! Shows a thread.

use petalflow::checkpoint::ThreadInfo;
use petalflow::thread::{CheckpointInfo, HistoryQuery, Snapshot, ThreadError};
use petalflow_conversations::ConversationState;
use petalflow_documents::{Envelope, WireEnvelope};
use serde_json::{Value, json};

use super::list::as_json;
use super::open::ThreadArgs;
use super::shown::{Shown, ShownState};
use crate::answers::{self, time};
use crate::envelope::{pretty, push_message};
use crate::exit::{Exit, Failure, Result};
use crate::place::PlaceArgs;
use crate::store::shell_quoted;
use crate::terminal::{self, STRONG};

#[derive(Debug, clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct Args {
    #[command(flatten)]
    thread: ThreadArgs,

    /// Show the state at this checkpoint. The default is the newest one
    #[arg(long, value_name = "NUMBER")]
    checkpoint: Option<u64>,

    /// Show the checkpoints, the newest first
    #[arg(long)]
    history: bool,

    /// Show at most this many checkpoints of the history
    #[arg(long, value_name = "CHECKPOINTS", default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,

    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

const AFTER: &str = "\
Examples:
  petalflow threads show review-1 --store runs.db
  petalflow threads show review-1 --store runs.db --history
  petalflow threads show review-1 review.graph.yaml --store runs.db --checkpoint 2 --json";

pub(crate) async fn run(args: Args) -> Result {
    #[cfg(feature = "client")]
    if let Some(served) = args.thread.served()? {
        let limit = args.history.then_some(args.limit as usize);
        let shown = served.show(args.checkpoint, limit).await?;
        return print(&args, &shown);
    }
    let (store, info) = args.thread.find().await?;
    if let Some(flow) = args.thread.conversation_to_read(&info)? {
        let thread = flow.store(&store).thread(info.id.as_str());
        let snapshot = thread.snapshot().await.map_err(thread_failure)?;
        let snapshot = snapshot
            .ok_or_else(|| Failure::new(Exit::Thread, "the conversation has no checkpoint"))?;
        return if args.json {
            terminal::json(&conversation_json(&info, &snapshot.state)).map(|()| Exit::Done)
        } else {
            print_properties(&info)?;
            print_conversation(&snapshot.state)
        };
    }
    let Some(flow) = args.thread.flow_to_read(&info)? else {
        if args.json {
            terminal::json(&as_json(&info))?;
        } else {
            print_properties(&info)?;
        }
        terminal::note(
            "the document of the thread is not known: write it after the name to see the state",
        );
        return Ok(Exit::Done);
    };
    let thread = flow.launch().store(&store).thread(info.id.as_str());
    let history = if args.history {
        let limit = args.limit as usize;
        // One more than is shown tells whether there are more.
        let newest = HistoryQuery::all().limit(limit + 1);
        let mut history = thread.history(newest).await.map_err(thread_failure)?;
        let has_more = history.len() > limit;
        history.truncate(limit);
        Some((history.iter().map(checkpoint_json).collect(), has_more))
    } else {
        None
    };
    let snapshot = match args.checkpoint {
        Some(checkpoint) => Some(thread.snapshot_at(checkpoint).await),
        None => thread.snapshot().await.transpose(),
    };
    let snapshot = snapshot
        .transpose()
        .map_err(thread_failure)?
        .ok_or_else(|| {
            let message = format!("thread `{}` has no checkpoint", info.id);
            Failure::new(Exit::Thread, message)
        })?;
    print(&args, &shown(info, snapshot, history))
}

fn shown(
    info: ThreadInfo,
    snapshot: Snapshot<Envelope>,
    history: Option<(Vec<Value>, bool)>,
) -> Shown {
    let tasks = snapshot.tasks.iter();
    let errors = tasks.clone().filter_map(|task| task.error.as_ref());
    Shown {
        info,
        checkpoint: snapshot.info.checkpoint,
        next: tasks.clone().map(|task| task.node.clone()).collect(),
        errors: errors.map(ToString::to_string).collect(),
        questions: snapshot.interrupts,
        state: ShownState::Envelope(Box::new(snapshot.state)),
        history,
    }
}

fn print(args: &Args, shown: &Shown) -> Result {
    if args.json {
        terminal::json(&thread_json(shown))?;
        return Ok(Exit::Done);
    }
    print_properties(&shown.info)?;
    let Some((history, has_more)) = &shown.history else {
        print_state(shown, &args.thread.place)?;
        return Ok(Exit::Done);
    };
    for checkpoint in history {
        terminal::line(checkpoint_text(checkpoint))?;
    }
    if *has_more {
        terminal::note("there are older checkpoints: set a larger `--limit`");
    }
    Ok(Exit::Done)
}

fn print_properties(info: &ThreadInfo) -> Result<()> {
    let (id, status, flow) = (&info.id, info.status.as_str(), &info.flow);
    terminal::line(format_args!(
        "{STRONG}{id}{STRONG:#} is {status}, updated {}",
        time(info.updated_ms)
    ))?;
    terminal::line(format_args!(
        "graph {flow}, {} checkpoints, {} bytes",
        info.checkpoints, info.bytes
    ))
}

fn thread_json(shown: &Shown) -> Value {
    let mut json = as_json(&shown.info);
    if let Some((history, _)) = &shown.history {
        json["history"] = json!(history);
    }
    json["checkpoint"] = shown.checkpoint.into();
    json["next"] = json!(shown.next);
    json["questions"] = shown.questions.iter().map(answers::as_json).collect();
    match &shown.state {
        ShownState::Envelope(envelope) => json["envelope"] = json!(WireEnvelope::from(&**envelope)),
        #[cfg(feature = "client")]
        ShownState::Keys(keys) => json["state"] = keys.clone(),
    }
    json
}

/// Prints the state, the next nodes, failures, and how to answer questions.
fn print_state(shown: &Shown, place: &PlaceArgs) -> Result<()> {
    terminal::line("")?;
    match &shown.state {
        ShownState::Envelope(envelope) => terminal::print(pretty(envelope))?,
        #[cfg(feature = "client")]
        ShownState::Keys(keys) => {
            for (name, value) in keys.as_object().into_iter().flatten() {
                let value = answers::plain(value);
                terminal::line(format_args!("{STRONG}{name}:{STRONG:#} {value}"))?;
            }
        }
    }
    if !shown.next.is_empty() {
        terminal::line(format_args!("\nNext: {}", shown.next.join(", ")))?;
    }
    for error in &shown.errors {
        terminal::line(format_args!("Failed: {error}"))?;
    }
    for request in shown.questions.iter().filter_map(answers::request_of) {
        terminal::line(format_args!(
            "\nWaits for {}",
            answers::question_text(&request)
        ))?;
        let answer = shell_quoted(&format!("{}={}", request.node, answers::example(&request)));
        terminal::note(format_args!(
            "petalflow threads resume {}{} --answer {answer}",
            shell_quoted(&shown.info.id),
            place.option()
        ));
    }
    Ok(())
}

fn conversation_json(info: &ThreadInfo, state: &ConversationState) -> Value {
    let mut json = as_json(info);
    json["node"] = json!(state.position.node);
    json["ended"] = state.has_ended().into();
    json["values"] = state.values.clone().into();
    json["messages"] = serde_json::to_value(&state.messages).unwrap_or_default();
    json
}

fn print_conversation(state: &ConversationState) -> Result {
    let node = state.position.node.as_deref().unwrap_or("no node yet");
    terminal::line(format_args!(
        "at {node}{}\n",
        if state.has_ended() { ", ended" } else { "" }
    ))?;
    let mut text = String::new();
    state
        .messages
        .iter()
        .for_each(|message| push_message(&mut text, message));
    terminal::print(text)?;
    Ok(Exit::Done)
}

fn checkpoint_json(info: &CheckpointInfo) -> Value {
    json!({
        "checkpoint": info.checkpoint,
        "parent": info.parent,
        "cause": format!("{:?}", info.cause).to_lowercase(),
        "turn": info.turn,
        "superstep": info.superstep,
        "next": info.next,
        "created": time(info.created_ms),
        "bytes": info.bytes,
    })
}

/// A checkpoint for people. It has the form of [`checkpoint_json`].
fn checkpoint_text(info: &Value) -> String {
    let next = info["next"].as_array().into_iter().flatten();
    let next: Vec<&str> = next.filter_map(Value::as_str).collect();
    let next = if next.is_empty() {
        "end".into()
    } else {
        next.join(", ")
    };
    let text = |name: &str| info[name].as_str().unwrap_or_default();
    format!(
        "{:>5}  {}  turn {}, superstep {}, after {}, next: {next}",
        info["checkpoint"].as_u64().unwrap_or_default(),
        text("created"),
        info["turn"],
        info["superstep"],
        text("cause"),
    )
}

/// The failure of a command whose thread cannot be used.
pub(super) fn thread_failure(error: ThreadError) -> Failure {
    Failure::new(Exit::Thread, error)
}
