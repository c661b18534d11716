//! Resumes a thread.

use petalflow::run::CancelToken;

use super::open::ThreadArgs;
use crate::answers::AnswerArgs;
use crate::command::run::{RunArgs, finish, note_version};
use crate::drive::{FirstStop, stop_on_ctrl_c};
use crate::envelope::ResultArgs;
use crate::exit::Result;
use crate::services::ServiceArgs;
use crate::store::KeptArgs;

#[derive(Debug, clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct Args {
    #[command(flatten)]
    thread: ThreadArgs,

    #[command(flatten)]
    answers: AnswerArgs,

    #[command(flatten)]
    pub(super) services: ServiceArgs,

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
  petalflow threads resume review-1 --store runs.db
  petalflow threads resume review-1 --store runs.db --answer approve
  petalflow threads resume review-1 --store runs.db --answer 'review=reject: too long'

A thread that has ended is not run again: its result is printed. An answer that no question needs ends with exit code 9.
With `--server`, the server runs the thread, so the document, models and tools are not needed here, and `--json` prints
the last line only.";

pub(crate) async fn run(mut args: Args, options: &str) -> Result {
    args.answers.must_be_used = true;
    #[cfg(feature = "client")]
    if let Some(served) = args.thread.served()? {
        return served.resume(&args.answers, &args.result, options).await;
    }
    let (store, info) = args.thread.find().await?;
    let (graph, flow) = args.thread.flow(&info, &args.services)?;
    if let Some(version) = flow.version() {
        note_version(&info.id, &info.labels, version);
    }
    args.answers.check(&graph)?;
    args.result.check()?;
    let token = CancelToken::new();
    let thread = args
        .settings
        .launch(&flow, &graph, &token)
        .store(&store)
        .retention(args.kept.retention())
        .thread(info.id.as_str());
    stop_on_ctrl_c(&token, FirstStop::Drain);
    let run = thread.resume(());
    finish(
        &thread,
        run,
        Some(args.thread.place.option()),
        &args.answers,
        &args.settings,
        &args.result,
        options,
    )
    .await
}
