//! Runs a document over an exported thread, and shows where the two differ.

use std::collections::BTreeSet;
use std::path::PathBuf;

use petalflow::engine::{Difference, Replayed, ThreadEngine};
use petalflow::state::Durable;
use petalflow::thread::ThreadFile;
use petalflow::{Flow, Launch, State};
use petalflow_testing::ReplayReport;
use serde_json::{Value, json};

use super::chat;
use super::run::DOCUMENT_LABEL;
use crate::document::{File, Kind};
use crate::exit::{Exit, Failure, Result};
use crate::services::ServiceArgs;
use crate::{load, terminal, thread_file};

#[derive(Debug, clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct Args {
    /// The file that `petalflow threads export` has written
    file: PathBuf,

    /// The document of today: a graph, an agent workflow or a conversation flow. Without it, the document with which the thread was run
    #[arg(long, value_name = "DOCUMENT")]
    flow: Option<PathBuf>,

    /// Let this node run, with its models and tools. Can be repeated
    #[arg(long, value_name = "NODE")]
    run: Vec<String>,

    #[command(flatten)]
    pub(super) services: ServiceArgs,

    /// Print the comparison as JSON
    #[arg(long)]
    pub(super) json: bool,
}

const AFTER: &str = "\
Examples:
  petalflow replay review-1.thread.json --flow review.graph.yaml
  petalflow replay review-1.thread.json --flow review.graph.yaml --json

Each task gives its recorded result: no model and no tool is called, except for those of nodes that `--run` names. Requests
to models are compared with the recorded ones; the tools of `--tool` are part of them. The thread needs the results of its
tasks: `petalflow run --keep-results`.

Exit code 0: no difference. 11: something differs. 8: the file has not the results of all tasks.";

pub(crate) async fn run(args: Args) -> Result {
    let thread = thread_file::read(&args.file)?;
    let file = File::read(&document(&args, &thread)?)?;
    let replayed = match file.kind() {
        Kind::Conversation => {
            let (_, checked) = load::check_conversation(file)?;
            let flow = if args.run.is_empty() {
                chat::read_only_flow(checked.conversation)?
            } else {
                let model = args.services.model_of_conversation()?;
                chat::flow_with_tools(checked.conversation, &args.services.tools, model)?
            };
            replay(&args, &thread, flow.launch()).await?
        }
        Kind::Graph => {
            let read = load::check_graph(&file, &args.services.catalog())?;
            let services = if args.run.is_empty() {
                args.services.silent(&read.definition.needs())
            } else {
                args.services.services(&read.definition)?
            };
            let flow = load::build(read, &services)?;
            replay(&args, &thread, flow.launch()).await?
        }
    };
    show(&args, &thread, replayed)
}

/// The document that the options name, or that the label of the thread names.
fn document(args: &Args, thread: &ThreadFile) -> Result<PathBuf> {
    if let Some(path) = &args.flow {
        return Ok(path.clone());
    }
    let label = thread.json()["labels"][DOCUMENT_LABEL].as_str();
    label.map(PathBuf::from).ok_or_else(|| {
        Failure::new(
            Exit::Usage,
            format_args!("`{}` does not name its document", args.file.display()),
        )
        .hint("name the document of today with `--flow DOCUMENT`")
    })
}

async fn replay<F: Flow<State: State<Storage = Durable>>>(
    args: &Args,
    thread: &ThreadFile,
    launch: Launch<F>,
) -> Result<Replayed> {
    check_nodes(&args.run, &launch)?;
    let named: BTreeSet<String> = args.run.iter().cloned().collect();
    let runs = move |node: &str| named.contains(node);
    let engine = ThreadEngine::new(launch);
    // A thread whose nodes ask no model has no request that could be compared.
    let replayed = if has_requests(thread.json()) {
        engine.replay_requests(thread, runs).await
    } else {
        engine.replay(thread, runs).await
    };
    replayed.map_err(|error| {
        let path = args.file.display();
        Failure::new(Exit::Thread, format_args!("{path}: {error}"))
    })
}

fn check_nodes<F: Flow>(named: &[String], launch: &Launch<F>) -> Result<()> {
    let graph = launch.graph();
    let known: BTreeSet<&str> = graph.nodes().iter().map(|node| &*node.name).collect();
    let first = |node: &str| node.split('/').next().unwrap_or_default().to_string();
    match named.iter().find(|node| !known.contains(&*first(node))) {
        None => Ok(()),
        Some(unknown) => Err(Failure::new(
            Exit::Usage,
            format_args!("the document has no node `{unknown}` that could run"),
        )
        .hint(format_args!(
            "its nodes are: {}",
            Vec::from_iter(known).join(", ")
        ))),
    }
}

/// Whether a task has recorded a request to a model.
fn has_requests(file: &Value) -> bool {
    let flows = file["flows"].as_object().into_iter().flatten();
    let of_flow = |flow: &Value| {
        let checkpoints = flow["checkpoints"].as_array().into_iter().flatten();
        let beside = checkpoints.map(|checkpoint| &checkpoint["records"]);
        let mut records = beside
            .chain([&flow["other_records"]])
            .flat_map(|records| records.as_array().into_iter().flatten());
        records.any(|record| {
            let name = record["name"].as_str();
            name.is_some_and(|name| name.starts_with("request/"))
        })
    };
    flows.into_iter().any(|(_, flow)| of_flow(flow))
}

fn show(args: &Args, thread: &ThreadFile, replayed: Replayed) -> Result {
    let report = ReplayReport::new(thread.thread(), replayed);
    if args.json {
        terminal::json(&form(&report))?;
    } else {
        terminal::print(report.table(terminal::columns()))?;
    }
    Ok(match &report.replayed {
        replayed if !replayed.differences.is_empty() => Exit::Differs,
        replayed if !replayed.without_results.is_empty() => Exit::Thread,
        _ => Exit::Done,
    })
}

fn form(report: &ReplayReport) -> Value {
    let replayed = &report.replayed;
    let place = |(turn, superstep): (u64, u64)| json!({ "turn": turn, "superstep": superstep });
    let difference = |row: &Difference| {
        json!({
            "kind": row.kind.to_string(),
            "flow": row.flow,
            "at": row.superstep.map(place),
            "node": row.node,
            "name": row.name,
            "expected": row.expected,
            "found": row.found,
        })
    };
    json!({
        "thread": report.thread,
        "same": report.is_same(),
        "supersteps": replayed.supersteps,
        "ran": replayed.ran,
        "requests": replayed.requests,
        "requests_left": replayed.requests_left,
        "without_results": replayed.without_results.iter().copied().map(place).collect::<Vec<_>>(),
        "differences": replayed.differences.iter().map(difference).collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_found_in_all_flows() {
        let with = |record: &str| {
            let records = json!([{ "name": record }]);
            json!({ "flows": { "": { "checkpoints": [{ "number": 0 }] }, "a": { "checkpoints": [{ "records": records }] } } })
        };
        assert!(has_requests(&with("request/0")));
        assert!(!has_requests(&with("done")));
        assert!(!has_requests(&json!({})));
    }
}
