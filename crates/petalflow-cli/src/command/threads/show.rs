//! Shows a thread.

use petalflow::thread::{CheckpointInfo, HistoryQuery, ThreadError};
use petalflow_conversation::Talk;
use petalflow_envelope::WireEnvelope;
use serde_json::{Value, json};

use super::list::as_json;
use super::open::ThreadArgs;
use crate::answers::{self, time};
use crate::envelope::{pretty, push_message};
use crate::exit::{Exit, Failure, Result};
use crate::store::quoted;
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
    json: bool,
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
    let mut shown = as_json(&info);
    if !args.json {
        let (id, status, flow) = (&info.id, info.status.as_str(), &info.flow);
        terminal::line(format_args!(
            "{STRONG}{id}{STRONG:#} is {status}, updated {}",
            time(info.updated_ms)
        ))?;
        terminal::line(format_args!(
            "graph {flow}, {} checkpoints, {} bytes",
            info.checkpoints, info.bytes
        ))?;
    }
    if let Some(flow) = args.thread.conversation_to_read(&info)? {
        let thread = flow.store(&store).thread(info.id.as_str());
        let talk = thread
            .snapshot()
            .await
            .map_err(failed)?
            .map(|snapshot| snapshot.state);
        return conversation(shown, talk.as_ref(), args.json);
    }
    let Some(flow) = args.thread.flow_to_read(&info)? else {
        if args.json {
            terminal::json(&shown)?;
        }
        terminal::note(
            "the document of the thread is not known: write it after the name to see the state",
        );
        return Ok(Exit::Done);
    };
    let thread = flow.launch().store(&store).thread(info.id.as_str());
    if args.history {
        let history = thread
            .history(HistoryQuery::all().limit(CHECKPOINTS))
            .await
            .map_err(failed)?;
        if args.json {
            shown["history"] = history.iter().map(checkpoint_json).collect();
        } else {
            history
                .iter()
                .try_for_each(|it| terminal::line(checkpoint_text(it)))?;
        }
    }
    let snapshot = match args.checkpoint {
        Some(checkpoint) => Some(thread.snapshot_at(checkpoint).await.map_err(failed)?),
        None => thread.snapshot().await.map_err(failed)?,
    };
    let Some(snapshot) = snapshot else {
        return Err(Failure::new(
            Exit::Thread,
            format_args!("thread `{}` has no checkpoint", info.id),
        ));
    };
    let next: Vec<&str> = snapshot
        .tasks
        .iter()
        .map(|task| task.node.as_str())
        .collect();
    if args.json {
        shown["checkpoint"] = snapshot.info.checkpoint.into();
        shown["next"] = json!(next);
        shown["questions"] = snapshot.interrupts.iter().map(answers::as_json).collect();
        shown["envelope"] =
            serde_json::to_value(WireEnvelope::from(&snapshot.state)).unwrap_or_default();
        terminal::json(&shown)?;
        return Ok(Exit::Done);
    }
    if args.history {
        return Ok(Exit::Done);
    }
    terminal::line("")?;
    terminal::print(pretty(&snapshot.state))?;
    if !next.is_empty() {
        terminal::line(format_args!("\nNext: {}", next.join(", ")))?;
    }
    for task in &snapshot.tasks {
        if let Some(error) = &task.error {
            terminal::line(format_args!("Failed: {error}"))?;
        }
    }
    for interrupt in &snapshot.interrupts {
        if let Some(request) = answers::request_of(interrupt) {
            terminal::line(format_args!("\nWaits for {}", answers::shown(&request)))?;
            let answer = quoted(&format!("{}={}", request.node, answers::example(&request)));
            terminal::note(format_args!(
                "petalflow threads resume {}{} --answer {answer}",
                quoted(&info.id),
                args.thread.store.option()
            ));
        }
    }
    Ok(Exit::Done)
}

/// Shows a conversation.
fn conversation(mut shown: Value, talk: Option<&Talk>, as_json: bool) -> Result {
    let Some(talk) = talk else {
        return Err(Failure::new(
            Exit::Thread,
            "the conversation has no checkpoint",
        ));
    };
    if as_json {
        shown["node"] = json!(talk.position.node);
        shown["ended"] = talk.has_ended().into();
        shown["values"] = talk.values.clone().into();
        shown["messages"] = serde_json::to_value(&talk.messages).unwrap_or_default();
        terminal::json(&shown)?;
        return Ok(Exit::Done);
    }
    let node = talk.position.node.as_deref().unwrap_or("no node yet");
    terminal::line(format_args!(
        "at {node}{}\n",
        if talk.has_ended() { ", ended" } else { "" }
    ))?;
    let mut text = String::new();
    talk.messages
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

/// Says why a thread cannot be used.
pub(super) fn failed(error: ThreadError) -> Failure {
    Failure::new(Exit::Thread, error)
}
