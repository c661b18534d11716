//! A test that replays a stored thread.

mod end;
mod table;

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use petalflow::engine::{Replayed, ThreadEngine};
use petalflow::state::Durable;
use petalflow::thread::ThreadFile;
use petalflow::{Flow, Launch, State};

pub use end::{ReplayEnds, ReplayFrom};

/// A test that runs the program of today over a thread that was stored, such as one of production, and shows where the two differ.
///
/// The thread is a file that [`Thread::export`](petalflow::thread::Thread::export) has written. It needs
/// the results of its tasks: the threads [retain](petalflow::thread::Retention::with_results) them. No node runs: each task gives its
/// recorded result, and the program of today does the rest: it reads the state, folds what was written, and decides what runs next. The
/// table shows nodes, edges and keys that have changed, values of the state that are others, and where the thread would go elsewhere.
///
/// Nodes that are [named](ReplayOf::run) run. They get the results of their effects from the file, and what they return is compared.
/// Nothing is called that was not named: an effect ([`once`](petalflow::Context::once), the start of a thread) that is not in the file
/// does not run, and is a difference. A node that calls a service by itself, outside of an effect, calls it.
///
/// ```
/// # use petalflow::checkpoint::InMemoryStore;
/// use petalflow::prelude::*;
/// # use petalflow::thread::Retention;
/// use petalflow_testing::Replay;
///
/// #[state]
/// struct Refund {
///     #[key(input)]
///     euros: u32,
///     fee: u32,
/// }
///
/// #[node(Refund)]
/// async fn charge(euros: &u32) -> RefundFee {
///     RefundFee(euros / 10)
/// }
///
/// flow!(PayRefund(Refund) { charge });
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// # let path = std::env::temp_dir().join(format!("petalflow-doc-{}.thread.json", std::process::id()));
/// # let threads = PayRefund::new().store(&InMemoryStore::new()).retention(Retention::ALL.with_results());
/// # threads.thread("order-7").run(70).await?.into_finished()?;
/// # std::fs::write(&path, threads.thread("order-7").export().await?.to_string())?;
/// // In a test, with the path of the file.
/// Replay::of(&path).flow(PayRefund::new()).check().await;
/// // `charge` runs, and returns what it returned then.
/// Replay::of(&path).flow(PayRefund::new()).run("charge").check().await;
/// # std::fs::remove_file(&path)?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use = "it does nothing before `flow(..).check()`"]
pub struct Replay(Source);

#[derive(Clone)]
enum Source {
    Path(PathBuf),
    File(Arc<ThreadFile>),
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Path(path) => path.fmt(f),
            Source::File(file) => file.fmt(f),
        }
    }
}

impl Replay {
    /// The thread in this file. A relative path begins at the current folder, which is that of the package's `Cargo.toml` in a test.
    pub fn of(path: impl AsRef<Path>) -> Self {
        Replay(Source::Path(path.as_ref().into()))
    }

    /// A thread that was exported or parsed.
    pub fn of_file(file: ThreadFile) -> Self {
        Replay(Source::File(Arc::new(file)))
    }

    /// The program of today.
    pub fn flow<F: Flow<State: State<Storage = Durable>>>(self, launch: Launch<F>) -> ReplayOf<F> {
        ReplayOf {
            source: self.0,
            launch,
            runs: Runs::Named(BTreeSet::new()),
            requests: false,
        }
    }
}

/// A [`Replay`] with the program of today.
#[must_use = "it does nothing before `check`"]
pub struct ReplayOf<F: Flow> {
    source: Source,
    launch: Launch<F>,
    runs: Runs,
    requests: bool,
}

impl<F: Flow> fmt::Debug for ReplayOf<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReplayOf")
            .field("source", &self.source)
            .field("runs", &self.runs)
            .field("requests", &self.requests)
            .finish_non_exhaustive()
    }
}

#[derive(Clone, Debug)]
enum Runs {
    All,
    Named(BTreeSet<String>),
}

impl Runs {
    /// Whether the node with this name runs.
    fn has(&self, node: &str) -> bool {
        match self {
            Runs::All => true,
            Runs::Named(named) => named.contains(node),
        }
    }
}

impl<F: Flow<State: State<Storage = Durable>>> ReplayOf<F> {
    /// The node with this name runs. The name of a node in a sub-flow comes after those that lead to it: `review/write`.
    ///
    /// # Panics
    ///
    /// [`check`](Self::check) and [`report`](Self::report) panic if the flow has no such node.
    pub fn run(mut self, node: impl Into<String>) -> Self {
        if let Runs::Named(named) = &mut self.runs {
            named.insert(node.into());
        }
        self
    }

    /// Compares requests to models, too: each task that has asked a model runs as far as its request, which is compared with the one that
    /// was made then, and gives its recorded result. The model is not called, and no tool is.
    ///
    /// What makes the request runs: the code of the node before the call, the instruction functions of an agent, its callbacks before the
    /// model, and the sources of its tools. A node that runs a sub-flow itself, as an agent that calls another agent, runs as far as that,
    /// so that the requests in it are compared. The nodes of `petalflow-agent` and `petalflow-llm` record their requests, and so does a node
    /// that calls [`Context::note_request`](petalflow::Context::note_request).
    ///
    /// A request that was not recorded, because an older program stored the thread, is a difference: `not recorded`.
    ///
    /// ```
    /// use petalflow::checkpoint::InMemoryStore;
    /// use petalflow::node::RequestParts;
    /// use petalflow::prelude::*;
    /// use petalflow::thread::Retention;
    /// use petalflow_testing::Replay;
    ///
    /// #[state]
    /// struct Essay {
    ///     draft: String,
    /// }
    ///
    /// /// Stands for a call of a model. The nodes of `petalflow-llm` and agents do this by themselves.
    /// async fn ask(cx: &Context, prompt: &str) -> petalflow::Result<EssayDraft> {
    ///     cx.note_request(|| RequestParts::new().whole("prompt", prompt)).await?;
    ///     Ok(EssayDraft("Petals are leaves.".into()))
    /// }
    ///
    /// #[node(Essay)]
    /// async fn write(cx: Context) -> petalflow::Result<EssayDraft> {
    ///     ask(&cx, "Write about petals.").await
    /// }
    ///
    /// flow!(Write(Essay) { write });
    ///
    /// mod today {
    ///     use super::*;
    ///
    ///     #[node(Essay)]
    ///     async fn write(cx: Context) -> petalflow::Result<EssayDraft> {
    ///         ask(&cx, "Write one line about petals.").await
    ///     }
    ///
    ///     flow!(pub(super) Write(Essay) { write });
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let retention = Retention::ALL.with_results();
    /// let threads = Write::new().store(&InMemoryStore::new()).retention(retention);
    /// threads.thread("petals").run(()).await?.into_finished()?;
    /// let file = threads.thread("petals").export().await?;
    ///
    /// Replay::of_file(file.clone()).flow(Write::new()).requests().check().await;
    /// let report = Replay::of_file(file).flow(today::Write::new()).requests().report().await;
    /// let row = &report.replayed.differences[0];
    /// assert_eq!((&*row.name, &*row.expected), ("prompt", "\"Write about petals.\""));
    /// # Ok(())
    /// # }
    /// ```
    pub fn requests(mut self) -> Self {
        self.requests = true;
        self
    }

    /// All nodes run, those of sub-flows too.
    pub fn run_all(mut self) -> Self {
        self.runs = Runs::All;
        self
    }

    /// Runs on from a superstep to the end of its turn: the turn and the superstep, from 1, as in the rows of a report. The nodes that are
    /// [named](Self::run) really run, with the clients of the launch, as often as the turn comes to them. All others give their
    /// recorded results, if the thread had the same task with the same item at the same place; the turn stops at one that has none. So
    /// nothing is called that was not named.
    ///
    /// Both ends of the turn are states, which a test compares, or `Evaluation::score` of `petalflow-eval` for agents: what would another
    /// model have answered from here on?
    ///
    /// ```
    /// use petalflow::checkpoint::InMemoryStore;
    /// use petalflow::prelude::*;
    /// use petalflow::thread::Retention;
    /// use petalflow_testing::Replay;
    ///
    /// /// Stands for a model.
    /// struct Model(&'static str);
    ///
    /// #[state]
    /// struct Essay {
    ///     topic: String,
    ///     draft: String,
    /// }
    ///
    /// #[node(Essay)]
    /// async fn choose() -> EssayTopic {
    ///     EssayTopic("petals".into())
    /// }
    ///
    /// #[node(Essay)]
    /// async fn write(topic: &str, model: Managed<Model>) -> EssayDraft {
    ///     EssayDraft(format!("{} on {topic}", model.0))
    /// }
    ///
    /// flow!(WriteEssay(Essay) { choose -> write });
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let old = WriteEssay::new().manage(Model("a line"));
    /// let threads = old.store(&InMemoryStore::new()).retention(Retention::ALL.with_results());
    /// threads.thread("essay-7").run(()).await?.into_finished()?;
    /// let file = threads.thread("essay-7").export().await?;
    ///
    /// let new = WriteEssay::new().manage(Model("a poem"));
    /// let ends = Replay::of_file(file).flow(new).run("write").from(1, 2).ends().await;
    /// assert_eq!(ends.recorded.draft, "a line on petals");
    /// assert_eq!(ends.found.draft, "a poem on petals");
    /// assert_eq!((ends.ran, ends.stopped), (1, None));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Panics
    ///
    /// If the flow has no node of a name, or the file cannot be read.
    pub fn from(self, turn: u64, superstep: u64) -> ReplayFrom<F> {
        check_names(&self.launch, &self.runs);
        ReplayFrom {
            name: self.source.name(),
            file: self.source.file(),
            launch: self.launch,
            runs: self.runs,
            at: (turn, superstep),
        }
    }

    /// Replays the thread. The table of what differs is the message of the failed test.
    ///
    /// # Panics
    ///
    /// If something differs, if the file has no results to compare, or if it cannot be read.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future stops the nodes that run.
    pub async fn check(self) {
        let report = self.report().await;
        assert!(report.is_same(), "\n{report}");
    }

    /// Replays the thread, and returns what differs.
    ///
    /// # Panics
    ///
    /// If the file cannot be read.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future stops the nodes that run.
    pub async fn report(self) -> ReplayReport {
        let name = self.source.name();
        let file = self.source.file();
        check_names(&self.launch, &self.runs);
        let runs = self.runs;
        let is_run = move |node: &str| runs.has(node);
        let engine = ThreadEngine::new(self.launch);
        let replayed = if self.requests {
            engine.replay_requests(&file, is_run).await
        } else {
            engine.replay(&file, is_run).await
        };
        ReplayReport {
            thread: file.thread().into(),
            replayed: replayed.unwrap_or_else(|error| panic!("{name}{error}")),
        }
    }
}

impl Source {
    /// The path of the file, as the start of an error.
    fn name(&self) -> String {
        match self {
            Source::Path(path) => format!("{}: ", path.display()),
            Source::File(_) => String::new(),
        }
    }

    fn file(self) -> Arc<ThreadFile> {
        match self {
            Source::File(file) => file,
            Source::Path(path) => Arc::new(read(&path)),
        }
    }
}

/// Panics if the flow has no node of a name.
fn check_names<F: Flow>(launch: &Launch<F>, runs: &Runs) {
    let graph = launch.graph();
    let known: BTreeSet<&str> = graph.nodes().iter().map(|node| &*node.name).collect();
    if let Runs::Named(named) = runs
        && let Some(unknown) = named.iter().find(|node| !known.contains(first(node)))
    {
        let known: Vec<&str> = known.into_iter().collect();
        panic!(
            "there is no node `{unknown}` to run: the nodes are {}",
            known.join(", ")
        );
    }
}

/// The first of the names that lead to a node: that of the thread's own flow.
fn first(node: &str) -> &str {
    node.split('/').next().unwrap_or(node)
}

fn read(path: &Path) -> ThreadFile {
    let text = std::fs::read_to_string(path)
        .unwrap_or_else(|error| panic!("{} cannot be read: {error}", path.display()));
    text.parse()
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// What a replay has found. `Display` gives the table.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ReplayReport {
    /// The thread.
    pub thread: String,
    /// What was found.
    pub replayed: Replayed,
}

impl ReplayReport {
    /// What an engine has found, such as [`ThreadEngine::replay`](petalflow::engine::ThreadEngine::replay).
    pub fn new(thread: impl Into<String>, replayed: Replayed) -> Self {
        ReplayReport {
            thread: thread.into(),
            replayed,
        }
    }

    /// Whether all supersteps were compared, and nothing differs.
    pub fn is_same(&self) -> bool {
        self.replayed.differences.is_empty() && self.replayed.without_results.is_empty()
    }
}
