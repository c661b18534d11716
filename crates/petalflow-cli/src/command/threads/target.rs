//! The threads that a command is for: one by its name, or all that meet conditions.

use std::future::Future;

use futures_util::StreamExt as _;
use petalflow::checkpoint::ThreadInfo;

use super::list::print_page;
use crate::exit::{Exit, Failure, Result};
use crate::place::{FilterArgs, Place, PlaceArgs};
use crate::terminal;

/// How many threads get a command at the same time.
const CONCURRENT: usize = 16;

/// Which threads a command is for.
#[derive(Clone, Debug, clap::Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option of the command line"
)]
pub(super) struct TargetArgs {
    /// The name of the thread. Without it, the conditions say which threads
    id: Option<String>,

    #[command(flatten)]
    pub(super) place: PlaceArgs,

    /// List the threads, and change nothing
    #[arg(long)]
    dry_run: bool,

    /// Do not ask before several threads are changed
    #[arg(short, long)]
    yes: bool,

    /// Print a line of JSON for each
    #[arg(long)]
    pub(super) json: bool,

    // The heading is that of all options which follow.
    #[command(flatten, next_help_heading = "Conditions")]
    filter: FilterArgs,

    /// All threads
    #[arg(long, help_heading = "Conditions")]
    all: bool,
}

/// A command in words, for questions and notes: `delete`, `deleted`.
#[derive(Clone, Copy)]
pub(super) struct Verb {
    pub(super) present: &'static str,
    pub(super) past: &'static str,
}

impl TargetArgs {
    /// Gives the command to each thread, and calls `show` with each result. The command fails if it has failed for a thread.
    pub(super) async fn each<T>(
        &self,
        place: &Place,
        verb: Verb,
        give: impl AsyncFn(&ThreadInfo) -> Result<T>,
        show: impl Fn(&ThreadInfo, T) -> Result<()>,
    ) -> Result {
        let threads = self.threads(place).await?;
        if threads.is_empty() {
            terminal::note("there are no such threads");
            return Ok(Exit::Done);
        }
        if self.dry_run {
            print_page(&threads, self.json)?;
            let (count, past) = (counted(threads.len()), verb.past);
            terminal::note(format_args!("{count} would be {past}"));
            return Ok(Exit::Done);
        }
        if self.id.is_none() && !self.is_confirmed(&threads, verb).await? {
            terminal::note("nothing was changed");
            return Ok(Exit::Done);
        }
        let failed = self.give_all(&threads, give, show).await?;
        match (&self.id, failed) {
            (_, None) => Ok(Exit::Done),
            (Some(_), Some((_, failure))) => Err(failure),
            (None, Some((count, _))) => {
                let (all, past) = (threads.len(), verb.past);
                let text = format_args!("{count} of {all} threads could not be {past}");
                Err(Failure::new(Exit::Thread, text))
            }
        }
    }

    /// Returns how many have failed, and the last failure.
    async fn give_all<T>(
        &self,
        threads: &[ThreadInfo],
        give: impl AsyncFn(&ThreadInfo) -> Result<T>,
        show: impl Fn(&ThreadInfo, T) -> Result<()>,
    ) -> Result<Option<(usize, Failure)>> {
        let given = threads.iter().map(|info| {
            let given = give(info);
            async move { (info, given.await) }
        });
        let mut given = std::pin::pin!(given_in_order(given));
        let mut failed: Option<(usize, Failure)> = None;
        while let Some((info, result)) = given.next().await {
            match result {
                Ok(result) => show(info, result)?,
                Err(failure) => {
                    if self.id.is_none() {
                        terminal::note(format_args!("{}: {}", info.id, failure.message));
                    }
                    let count = failed.map_or(0, |(count, _)| count) + 1;
                    failed = Some((count, failure));
                }
            }
        }
        Ok(failed)
    }

    async fn threads(&self, place: &Place) -> Result<Vec<ThreadInfo>> {
        match &self.id {
            Some(id) => {
                if self.all || !self.filter.is_empty() {
                    let text = "the command names a thread, and has conditions for others";
                    return Err(Failure::new(Exit::Usage, text).hint("leave one of them out"));
                }
                let info = place.info(id).await?;
                Ok(vec![info.ok_or_else(|| self.place.unknown_thread(id))?])
            }
            None if self.filter.is_empty() && !self.all => {
                let text = "the command names no thread and has no condition";
                Err(Failure::new(Exit::Usage, text)
                    .hint("name a thread, a condition such as `--status failed`, or `--all`"))
            }
            None if self.all && !self.filter.is_empty() => {
                let text = "the command has conditions, and is for all threads";
                Err(Failure::new(Exit::Usage, text).hint("leave `--all` out"))
            }
            None => place.every_thread(&self.filter).await,
        }
    }

    async fn is_confirmed(&self, threads: &[ThreadInfo], verb: Verb) -> Result<bool> {
        if self.yes {
            return Ok(true);
        }
        let (count, verb) = (counted(threads.len()), verb.present);
        if !terminal::can_ask() {
            let text = format_args!("the command would {verb} {count}, and nobody can confirm it");
            return Err(Failure::new(Exit::Usage, text)
                .hint("look at them with `--dry-run`, and repeat it with `--yes`"));
        }
        let answer = terminal::ask(format_args!("{verb} {count}? [y/N] ")).await?;
        let answer = answer.unwrap_or_default();
        Ok(["y", "yes"].contains(&answer.trim().to_lowercase().as_str()))
    }
}

/// Several at the same time, with the results in the order of the threads.
fn given_in_order<F: Future>(
    given: impl Iterator<Item = F>,
) -> impl futures_util::Stream<Item = F::Output> {
    futures_util::stream::iter(given).buffered(CONCURRENT)
}

fn counted(threads: usize) -> String {
    let plural = if threads == 1 { "" } else { "s" };
    format!("{threads} thread{plural}")
}
