//! Shows a thread.

use petalflow::checkpoint::ThreadInfo;
use petalflow::thread::{CheckpointInfo, HistoryQuery, Snapshot, ThreadError};
use petalflow_conversations::ConversationState;
use petalflow_documents::{Envelope, WireEnvelope};
use serde_json::{Value, json};

use super::list::as_json;
use super::open::ThreadArgs;
use crate::answers::{self, time};
use crate::envelope::{pretty, push_message};
use crate::exit::{Exit, Failure, Result};
use crate::store::{StoreArgs, shell_quoted};
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

    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

const AFTER: &str = "\
Examples:
  petalflow threads show review-1 --store runs.db
  petalflow threads show review-1 --store runs.db --history
  petalflow threads show review-1 review.graph.yaml --store runs.db --checkpoint 2 --json";

/// How many checkpoints are shown.
const CHECKPOINTS: usize = 200;

pub(crate) async fn run(args: Args) -> Result {
    let (store, info) = args.thread.find().await?;
    if !args.json {
        print_properties(&info)?;
    }
    if let Some(flow) = args.thread.conversation_to_read(&info)? {
        let thread = flow.store(&store).thread(info.id.as_str());
        let snapshot = thread.snapshot().await.map_err(thread_failure)?;
        let snapshot = snapshot
            .ok_or_else(|| Failure::new(Exit::Thread, "the conversation has no checkpoint"))?;
        return if args.json {
            terminal::json(&conversation_json(&info, &snapshot.state)).map(|()| Exit::Done)
        } else {
            print_conversation(&snapshot.state)
        };
    }
    let Some(flow) = args.thread.flow_to_read(&info)? else {
        if args.json {
            terminal::json(&as_json(&info))?;
        }
        terminal::note(
            "the document of the thread is not known: write it after the name to see the state",
        );
        return Ok(Exit::Done);
    };
    let thread = flow.launch().store(&store).thread(info.id.as_str());
    let history = if args.history {
        let newest = HistoryQuery::all().limit(CHECKPOINTS);
        Some(thread.history(newest).await.map_err(thread_failure)?)
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
    match history {
        history if args.json => terminal::json(&thread_json(&info, &snapshot, history.as_deref()))?,
        Some(history) => history
            .iter()
            .try_for_each(|it| terminal::line(checkpoint_text(it)))?,
        None => print_state(&info, &snapshot, &args.thread.store)?,
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

fn thread_json(
    info: &ThreadInfo,
    snapshot: &Snapshot<Envelope>,
    history: Option<&[CheckpointInfo]>,
) -> Value {
    let mut json = as_json(info);
    if let Some(history) = history {
        json["history"] = history.iter().map(checkpoint_json).collect();
    }
    json["checkpoint"] = snapshot.info.checkpoint.into();
    json["next"] = json!(next_nodes(snapshot));
    json["questions"] = snapshot.interrupts.iter().map(answers::as_json).collect();
    json["envelope"] =
        serde_json::to_value(WireEnvelope::from(&snapshot.state)).unwrap_or_default();
    json
}

fn next_nodes(snapshot: &Snapshot<Envelope>) -> Vec<&str> {
    let tasks = snapshot.tasks.iter();
    tasks.map(|task| task.node.as_str()).collect()
}

/// Prints the envelope, the next nodes, failures, and how to answer questions.
fn print_state(info: &ThreadInfo, snapshot: &Snapshot<Envelope>, store: &StoreArgs) -> Result<()> {
    terminal::line("")?;
    terminal::print(pretty(&snapshot.state))?;
    let next = next_nodes(snapshot);
    if !next.is_empty() {
        terminal::line(format_args!("\nNext: {}", next.join(", ")))?;
    }
    for error in snapshot.tasks.iter().filter_map(|task| task.error.as_ref()) {
        terminal::line(format_args!("Failed: {error}"))?;
    }
    for request in snapshot.interrupts.iter().filter_map(answers::request_of) {
        terminal::line(format_args!(
            "\nWaits for {}",
            answers::question_text(&request)
        ))?;
        let answer = shell_quoted(&format!("{}={}", request.node, answers::example(&request)));
        terminal::note(format_args!(
            "petalflow threads resume {}{} --answer {answer}",
            shell_quoted(&info.id),
            store.option()
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

fn checkpoint_text(info: &CheckpointInfo) -> String {
    let next = if info.next.is_empty() {
        "end".into()
    } else {
        info.next.join(", ")
    };
    let cause = format!("{:?}", info.cause).to_lowercase();
    format!(
        "{:>5}  {}  turn {}, superstep {}, after {cause}, next: {next}",
        info.checkpoint,
        time(info.created_ms),
        info.turn,
        info.superstep
    )
}

/// The failure of a command whose thread cannot be used.
pub(super) fn thread_failure(error: ThreadError) -> Failure {
    Failure::new(Exit::Thread, error)
}
