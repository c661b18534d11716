//! Sets and removes labels of threads.

use std::collections::BTreeMap;

use petalflow::checkpoint::ThreadInfo;
use serde_json::json;

use super::target::{TargetArgs, Verb};
use crate::exit::{Exit, Failure, Result};
use crate::place::label;
use crate::terminal::{self, STRONG};

#[derive(Debug, clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct Args {
    /// Set a label. Can be repeated
    #[arg(long = "set", value_name = "NAME:VALUE", value_parser = label)]
    set: Vec<(String, String)>,

    /// Remove the label with this name. Can be repeated
    #[arg(long = "remove", value_name = "NAME")]
    remove: Vec<String>,

    #[command(flatten)]
    pub(super) target: TargetArgs,
}

const AFTER: &str = "\
Examples:
  petalflow threads label review-1 --set team:night --store runs.db
  petalflow threads label --status failed --set seen:no --store runs.db --yes
  petalflow threads label review-1 --remove team --store runs.db

The other labels stay. Those whose names begin with `petalflow.` belong to petalflow.";

pub(crate) async fn run(args: Args) -> Result {
    let changes = changes(&args)?;
    let place = args.target.place.open().await?;
    let verb = Verb {
        present: "label",
        past: "labelled",
    };
    let json = args.target.json;
    let give = async |info: &ThreadInfo| place.label(&info.id, &changes).await;
    let each = args.target.each(&place, verb, give, |info, labels| {
        let id = &info.id;
        if json {
            return terminal::json_line(&json!({ "thread": id, "labels": labels }));
        }
        let labels = labels.iter().map(|(name, value)| format!("{name}:{value}"));
        let labels = labels.collect::<Vec<_>>().join("  ");
        terminal::line(format_args!("{STRONG}{id}{STRONG:#}  {labels}"))
    });
    each.await
}

fn changes(args: &Args) -> Result<BTreeMap<String, Option<String>>> {
    let set = args.set.iter();
    let set = set.map(|(name, value)| (name.clone(), Some(value.clone())));
    let removed = args.remove.iter().map(|name| (name.clone(), None));
    let changes: BTreeMap<_, _> = set.chain(removed).collect();
    let wrong = |text: String| Failure::new(Exit::Usage, text);
    if changes.is_empty() {
        return Err(wrong("the command changes no label".into())
            .hint("write `--set NAME:VALUE` or `--remove NAME`"));
    }
    match changes.keys().find(|name| name.starts_with("petalflow.")) {
        Some(name) => Err(wrong(format!(
            "the label `{name}` cannot be changed: names that begin with `petalflow.` belong to petalflow"
        ))),
        None => Ok(changes),
    }
}
