//! Summarizes the files of a folder, 16 at a time: `cargo run --bin batch -- FOLDER`.
//!
//! The summaries are stored as they are made, in `FOLDER.db`. Ctrl-C stops the program, and the next start continues with the
//! files that have no summary yet. Without a folder, the program makes one with 2,000 files in the current folder.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use petalflow::event::EventKind;
use petalflow::prelude::*;
use petalflow::run::{CancelToken, RunErrorKind};
use petalflow_sqlite::SqliteStore;

/// How many files are summarized at the same time.
const CONCURRENCY: usize = 16;

/// The state of a batch.
#[state]
#[derive(Debug)]
pub struct Batch {
    /// The folder with the files.
    #[key(input)]
    pub folder: PathBuf,
    /// A line per file, in the order of their names.
    #[key(append)]
    pub summaries: Vec<String>,
    /// How many words all files have.
    #[key(sum)]
    pub words: u64,
}

/// Stands for a language model: it takes its time, and every 50th call fails.
#[derive(Debug, Default)]
pub struct Model {
    calls: AtomicUsize,
}

impl Model {
    async fn summarize(&self, text: &str) -> petalflow::Result<String> {
        tokio::time::sleep(Duration::from_millis(5)).await;
        if self.calls.fetch_add(1, Ordering::Relaxed) % 50 == 49 {
            return Err("the model is overloaded".into());
        }
        Ok(text.lines().next().unwrap_or_default().into())
    }
}

/// The names of the files, sorted. Each becomes a task.
///
/// # Errors
///
/// If the folder cannot be read, or a name is not UTF-8.
#[node(Batch, blocking)]
pub fn list(folder: &Path) -> petalflow::Result<Each<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let name = entry?.file_name().into_string();
        names.push(name.map_err(|name| format!("the name `{}` is not UTF-8", name.display()))?);
    }
    names.sort();
    Ok(Each(names))
}

/// Summarizes one file. Its result is stored when it ends, beside those of the other files.
///
/// # Errors
///
/// If the file cannot be read, or the model fails.
#[node(Batch, retry = 5, timeout = 30s)]
pub async fn summarize(
    #[item] name: &str,
    folder: &Path,
    model: Managed<Model>,
) -> petalflow::Result<(BatchSummaries, BatchWords)> {
    let text = tokio::fs::read_to_string(folder.join(name)).await?;
    let summary = model.summarize(&text).await?;
    let words = text.split_whitespace().count() as u64;
    Ok((
        BatchSummaries(vec![format!("{name}: {summary}")]),
        BatchWords(words),
    ))
}

flow! {
    /// Summarizes the files of a folder.
    pub SummarizeFolder(Batch) {
        START -> list -> each summarize -> END;
    }
}

/// Begins the batch of a folder, or continues it.
async fn run(
    folder: &Path,
    file: &Path,
    stop: &CancelToken,
    bar: &ProgressBar,
    model: Arc<Model>,
) -> petalflow::Result<Batch> {
    let launch = SummarizeFolder::new()
        .max_concurrency(CONCURRENCY)
        .cancel_with(stop)
        .manage_with(model);
    let thread = launch
        .store(&SqliteStore::open(file).await?)
        .thread("batch");
    let run = match thread.snapshot().await? {
        None => thread.run(folder.to_path_buf()),
        Some(batch) if batch.is_finished() => return Ok(batch.state),
        Some(_) => thread.resume(()),
    };
    let mut events = run.events();
    while let Some(event) = events.next().await {
        let node = event.task.as_ref().map(|task| &*task.node);
        match event.kind {
            EventKind::SuperstepStarted { nodes } => bar.set_length(nodes.len() as u64),
            // Restored: finished before the batch was stopped.
            EventKind::NodeFinished { .. } | EventKind::NodeRestored { .. }
                if node == Some("summarize") =>
            {
                bar.inc(1);
            }
            EventKind::Retry { error, .. } => bar.println(format!("again: {error}")),
            EventKind::Finished { state } => return Ok(state),
            EventKind::Failed { error } => return Err(error.into()),
            _ => {}
        }
    }
    Err("the run ended without a result".into())
}

/// Makes a folder with files to summarize.
fn make_files(folder: &Path, count: usize) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    for number in 0..count {
        let text = format!("Report {number}\n\nAll {} petals are well.\n", number * 7);
        std::fs::write(folder.join(format!("report-{number:04}.txt")), text)?;
    }
    Ok(())
}

#[tokio::main]
async fn main() -> petalflow::Result<ExitCode> {
    let folder = std::env::args_os().nth(1).map(PathBuf::from);
    let folder = folder.unwrap_or_else(|| "reports".into());
    if !folder.exists() {
        make_files(&folder, 2_000)?;
    }
    let mut file: OsString = folder.clone().into();
    file.push(".db");

    let stop = CancelToken::new();
    let token = stop.clone();
    tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            token.cancel();
        }
    });
    let bar = ProgressBar::new(0).with_style(ProgressStyle::with_template(
        "{wide_bar} {pos}/{len} files, {eta} left",
    )?);
    let result = run(&folder, Path::new(&file), &stop, &bar, Arc::default()).await;
    bar.abandon();
    match result {
        Ok(batch) => {
            let (files, words) = (batch.summaries.len(), batch.words);
            println!(
                "{files} files with {words} words; remove {} to begin again",
                file.display()
            );
            Ok(ExitCode::SUCCESS)
        }
        Err(error) if is_cancelled(&error) => {
            println!(
                "stopped after {} files; start again to continue",
                bar.position()
            );
            Ok(ExitCode::from(130))
        }
        Err(error) => Err(error),
    }
}

fn is_cancelled(error: &petalflow::BoxError) -> bool {
    let error = error.downcast_ref::<petalflow::RunError>();
    error.is_some_and(|error| *error.kind() == RunErrorKind::Cancelled)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILES: usize = 2_000;

    #[tokio::test]
    async fn a_stopped_batch_continues_where_it_stopped() {
        let temporary = tempfile::tempdir().unwrap();
        let (folder, file) = (
            temporary.path().join("reports"),
            temporary.path().join("batch.db"),
        );
        make_files(&folder, FILES).unwrap();
        let model = Arc::<Model>::default();

        // Stops when 500 files are done.
        let (stop, bar) = (CancelToken::new(), ProgressBar::hidden());
        let stopping = async {
            while bar.position() < 500 {
                tokio::task::yield_now().await;
            }
            stop.cancel();
        };
        let (stopped, ()) = tokio::join!(run(&folder, &file, &stop, &bar, model.clone()), stopping);
        assert!(is_cancelled(&stopped.unwrap_err()));
        let done = bar.position();
        assert!((500..600).contains(&done), "{done}");

        // Another process.
        let (stop, bar) = (CancelToken::new(), ProgressBar::hidden());
        let batch = run(&folder, &file, &stop, &bar, model.clone())
            .await
            .unwrap();
        assert_eq!(
            (bar.position(), bar.length()),
            (FILES as u64, Some(FILES as u64))
        );
        assert_eq!(
            (batch.summaries.len(), batch.words),
            (FILES, 7 * FILES as u64)
        );
        assert_eq!(batch.summaries[7], "report-0007.txt: Report 7");
        // Only what ran when the batch stopped was done again, and one call in 50 failed.
        let calls = model.calls.load(Ordering::Relaxed);
        assert!(calls < FILES + FILES / 40 + 2 * CONCURRENCY, "{calls}");

        // There is nothing left to do.
        let again = run(&folder, &file, &stop, &bar, model.clone())
            .await
            .unwrap();
        assert_eq!(again.summaries, batch.summaries);
        assert_eq!(model.calls.load(Ordering::Relaxed), calls);
    }

    #[tokio::test(start_paused = true)]
    async fn a_file_that_is_gone_is_an_error() {
        let error = summarize("gone.txt", Path::new("."), Managed::new(Model::default())).await;
        assert!(error.err().unwrap().to_string().contains("No such file"));
    }
}
