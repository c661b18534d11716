//! Runs a document.

use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, RandomState};
use std::path::{Path, PathBuf};
use std::time::Duration;

use petalflow::run::CancelToken;
use petalflow::thread::{DocumentVersion, Thread};
use petalflow::{Flow, Graph};
use petalflow_documents::document::GraphDefinition;
use petalflow_documents::{Envelope, EnvelopeErrors, Trace, WireEnvelope};
use serde_json::json;

use crate::answers::AnswerArgs;
use crate::drive::{Driver, End, FirstStop, stop_on_ctrl_c};
use crate::envelope::{InputArgs, ResultArgs};
use crate::events::{View, ViewMode};
use crate::exit::{Exit, Failure, Result};
use crate::load;
use crate::node_limit::NodeLimit;
use crate::services::ServiceArgs;
use crate::store::{KeptArgs, StoreArgs, shell_quoted};
use crate::terminal::{self, WARNING};

/// The label of a thread that has the path of its document.
pub(crate) const DOCUMENT_LABEL: &str = "petalflow.document";

#[derive(Debug, clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct Args {
    /// The document: a graph or an agent workflow in JSON or YAML; `-` is stdin
    file: PathBuf,

    #[command(flatten)]
    input: InputArgs,

    #[command(flatten)]
    pub(super) services: ServiceArgs,

    #[command(flatten)]
    store: StoreArgs,

    /// The name of the thread. With a store, a thread that exists continues with this input
    #[arg(long, value_name = "ID")]
    thread: Option<String>,

    #[command(flatten)]
    answers: AnswerArgs,

    /// Check the document and build its nodes, and run nothing
    #[arg(long)]
    dry_run: bool,

    #[command(flatten)]
    settings: RunArgs,

    #[command(flatten)]
    kept: KeptArgs,

    #[command(flatten)]
    result: ResultArgs,
}

impl Args {
    pub(super) fn prints_json(&self) -> bool {
        self.result.json
    }
}

const AFTER: &str = "\
Examples:
  petalflow run greeting.graph.json --input name=Ann
  petalflow run greeting.graph.json -f input.json --format json -o result.json
  echo '{\"name\": \"Ann\"}' | petalflow run greeting.graph.json -f - --var greeting
  petalflow run review.graph.yaml -i name=Ann --store runs.db --thread review-1
  petalflow run research.agent.yaml -i topic=tulips --script replies.json

A node that asks a person asks on the terminal. Without a terminal the run of a store pauses with
exit code 7, and `petalflow threads resume` answers. Without a terminal and a store, a question is
an error. `--answer` answers it, and `--approve` gives approvals without asking a person.";

/// The settings of a run.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct RunArgs {
    /// Stop the run after this time, such as `30s` or `1h`
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = humantime::parse_duration)]
    pub(crate) timeout: Duration,

    /// Stop a node after this time: it has failed then. A question to a person is not limited
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    node_timeout: Option<Duration>,

    /// Run at most this many nodes at the same time
    #[arg(long, value_name = "NODES", default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..))]
    concurrency: u16,

    /// Record failures of nodes in the result, and continue
    #[arg(long)]
    continue_on_error: bool,

    /// Show no progress
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

impl RunArgs {
    /// A launch with these settings.
    pub(crate) fn launch(
        &self,
        flow: &petalflow_documents::builder::EnvelopeFlow,
        graph: &GraphDefinition,
        token: &CancelToken,
    ) -> petalflow::Launch<Graph<Envelope>> {
        let launch = flow
            .launch()
            .limit(u64::MAX)
            .timeout(self.timeout)
            .max_concurrency(self.concurrency.into())
            .cancel_with(token);
        let launch = match self.node_timeout {
            Some(timeout) => launch.middleware(NodeLimit::new(timeout, graph)),
            None => launch,
        };
        if self.continue_on_error {
            launch.continue_on_error::<EnvelopeErrors>()
        } else {
            launch
        }
    }
}

/// `options` are those that `threads resume` needs too.
pub(crate) async fn run(args: Args, options: &str) -> Result {
    let catalog = args.services.catalog();
    let read = load::read_graph(&args.file, &catalog)?;
    if args.dry_run {
        load::build_without_services(read).map_err(|problems| {
            Failure::new(
                Exit::Missing,
                format_args!("the graph cannot be loaded: {}", problems.join("; ")),
            )
        })?;
        terminal::line("The document is valid and can be loaded.")?;
        return Ok(Exit::Done);
    }
    args.answers.check(&read.definition)?;
    args.result.check()?;
    let mut envelope = args.input.envelope()?;
    let services = args.services.services(&read.definition)?;
    let id = args.thread.clone();
    let id = id.unwrap_or_else(|| new_id(&read.definition.id));
    let graph = read.definition.clone();
    let flow = load::build(read, &services)?;
    let store = args.store.open_or_memory().await?;
    let is_stored = args.store.store.is_some();
    let token = CancelToken::new();
    let threads = args.settings.launch(&flow, &graph, &token).store(&store);
    let threads = threads.retention(args.kept.retention());
    envelope.trace = Trace {
        run_id: id.clone(),
        ..Trace::now()
    };
    let thread = threads.thread(id.as_str());
    let mut options = options.to_owned();
    if is_stored {
        if !label_with_document(&thread, &args.file, flow.version()).await? {
            // The store does not have the document.
            let file = if args.file == Path::new("-") {
                "FILE".into()
            } else {
                shell_quoted(&args.file.display().to_string())
            };
            options.insert_str(0, &format!(" {file}"));
        }
        if args.thread.is_none() && !args.settings.quiet {
            terminal::note(format_args!("thread {id}"));
        }
    } else if args.thread.is_some() && !args.settings.quiet {
        terminal::note(format_args!(
            "thread {id} is not stored: there is no `--store`"
        ));
    }
    stop_on_ctrl_c(
        &token,
        if is_stored {
            FirstStop::Drain
        } else {
            FirstStop::Cancel
        },
    );
    let run = thread.run(envelope);
    finish(
        &thread,
        run,
        is_stored.then(|| args.store.option()),
        &args.answers,
        &args.settings,
        &args.result,
        &options,
    )
    .await
}

/// Drives a run and prints its result. `place` is the option that names the store, if there is one.
pub(crate) async fn finish(
    thread: &Thread<Graph<Envelope>>,
    run: petalflow::thread::ThreadRun<Graph<Envelope>>,
    place: Option<String>,
    answers: &AnswerArgs,
    settings: &RunArgs,
    result: &ResultArgs,
    options: &str,
) -> Result {
    let mode = match (result.json, settings.quiet) {
        (true, _) => ViewMode::JsonLines,
        (false, true) => ViewMode::Quiet,
        (false, false) => ViewMode::Progress,
    };
    let mut driver = Driver {
        thread,
        view: View::new(thread.id(), mode),
        answers: answers.clone(),
        store_options: place,
        may_ask: terminal::can_ask(),
        options,
    };
    match driver.drive(run).await? {
        End::Finished(envelope) if result.json => {
            let envelope_json =
                serde_json::to_value(WireEnvelope::from(&*envelope)).unwrap_or_default();
            let data = json!({ "status": "completed", "envelope": envelope_json });
            driver.view.line("run.finished", 0, None, data)?;
            result.write(&envelope)?;
        }
        End::Finished(envelope) => result.print(&envelope)?,
        End::Waiting(interrupts) => return Err(driver.waiting_failure(&interrupts)),
        End::Sleeping(until) => return Err(driver.sleeping_failure(until)),
    }
    driver.answers.check_unused()?;
    Ok(Exit::Done)
}

/// Stores the path of the document as a label of the thread, so that `threads resume` finds it. Returns whether it could.
///
/// Says if the thread was run with another version of the document before.
pub(crate) async fn label_with_document<F: Flow>(
    thread: &Thread<F>,
    file: &Path,
    version: Option<&DocumentVersion>,
) -> Result<bool> {
    let wrong = |error| Failure::new(Exit::Thread, error);
    let info = thread.info().await.map_err(wrong)?;
    let mut labels = info.map(|info| info.labels).unwrap_or_default();
    if let Some(version) = version {
        note_version(thread.id(), &labels, version);
    }
    let path = std::path::absolute(file).unwrap_or_else(|_| file.into());
    let path = path.display().to_string();
    // A store refuses longer labels.
    if file == Path::new("-") || path.len() > 255 {
        return Ok(false);
    }
    if labels.get(DOCUMENT_LABEL) != Some(&path) {
        labels.insert(DOCUMENT_LABEL.into(), path);
        thread.set_labels(labels).await.map_err(wrong)?;
    }
    Ok(true)
}

/// Says that a thread was run with another version of its document.
pub(crate) fn note_version(id: &str, labels: &BTreeMap<String, String>, version: &DocumentVersion) {
    let now = version.to_string();
    let before = labels.get(DocumentVersion::LABEL);
    if let Some(before) = before.filter(|before| **before != now) {
        terminal::note(format_args!(
            "{WARNING}changed:{WARNING:#} thread `{id}` was run with version {before} of the document, which has version \
             {now} now. To continue with the version before, name its file"
        ));
    }
}

/// A random name for a new thread.
pub(crate) fn new_id(graph: &str) -> String {
    // The keys of a new `RandomState` are random.
    let random = RandomState::new().hash_one(std::process::id());
    format!("{graph}-{random:016x}")
}
