//! A refund that a person approves or declines, hours or weeks later: `cargo run --bin approval`.
//!
//! Without arguments, the program shows all steps with a temporary file. With arguments, each call is a process of its own. It
//! may be killed and started again at any time:
//!
//! ```sh
//! cargo run --bin approval -- request A-17 129900
//! cargo run --bin approval -- list
//! cargo run --bin approval -- decide A-17 yes --by Ann --because "it arrived broken"
//! ```

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use petalflow::Context;
use petalflow::checkpoint::ThreadQuery;
use petalflow::interrupt::{Ask, Decision, InterruptKind};
use petalflow::prelude::*;
use petalflow::run::RunErrorKind;
use petalflow::thread::{HistoryQuery, OnBusy, Outcome, Threads};
use petalflow_sqlite::SqliteStore;
use serde::{Deserialize, Serialize};

/// The state of a refund.
#[state]
#[derive(Debug)]
pub struct Refund {
    /// The order.
    #[key(input)]
    pub order: String,
    /// The amount in cents.
    #[key(input)]
    pub cents: u64,
    /// A line per step.
    #[key(append)]
    pub log: Vec<String>,
}

/// The question to a clerk.
#[derive(Debug, Serialize, Deserialize, Ask)]
#[ask(answer = RefundDecision, name = "approve-refund")]
pub struct ApproveRefund {
    /// The order.
    pub order: String,
    /// The amount in cents.
    pub cents: u64,
}

/// The answer of a clerk.
#[derive(Debug, Serialize, Deserialize)]
pub struct RefundDecision {
    /// Whether to pay.
    pub pay: bool,
    /// The name of the clerk.
    pub by: String,
    /// The reason.
    pub because: String,
}

/// Whether a refund is paid.
#[derive(Debug, Route)]
pub enum Verdict {
    /// Pay it.
    Pay,
    /// Do not pay it.
    Decline,
}

/// Approves a small refund, and asks a clerk about any other. The run stops here until there is an answer.
#[node(Refund)]
async fn decide(order: &str, cents: &u64, cx: Context) -> petalflow::Result<(RefundLog, Verdict)> {
    if *cents < 2_000 {
        return Ok((RefundLog(vec!["small enough".into()]), Verdict::Pay));
    }
    let question = ApproveRefund {
        order: order.into(),
        cents: *cents,
    };
    let RefundDecision { pay, by, because } = cx.ask(question).await?;
    let (word, verdict) = if pay {
        ("approved", Verdict::Pay)
    } else {
        ("declined", Verdict::Decline)
    };
    Ok((
        RefundLog(vec![format!("{word} by {by}: {because}")]),
        verdict,
    ))
}

/// Transfers the money. `once` records the transfer before the run continues, so that no later crash repeats it.
#[node(Refund)]
async fn pay(cents: &u64, cx: Context) -> petalflow::Result<RefundLog> {
    let receipt = cx
        .once("transfer", async {
            Ok::<_, petalflow::BoxError>(format!("receipt {}", &cx.task_id().to_string()[..8]))
        })
        .await?;
    let (units, rest) = (cents / 100, cents % 100);
    Ok(RefundLog(vec![format!(
        "paid {units}.{rest:02}, {receipt}"
    )]))
}

/// Informs the customer.
#[node(Refund)]
async fn notify(order: &str) -> RefundLog {
    RefundLog(vec![format!("informed the customer of {order}")])
}

flow! {
    /// Pays a refund if a clerk approves it. A large one needs a second person.
    pub PayRefund(Refund) {
        START -> decide -> match { Pay => pay, Decline => notify };
        pay -> notify;
        interrupt before pay if |cents: &u64| *cents >= 100_000;
    }
}

async fn threads(file: &Path) -> petalflow::Result<Threads<PayRefund>> {
    let store = SqliteStore::open(file).await?;
    // Two clerks may decide at the same time. The second one waits.
    Ok(PayRefund::new().store(&store).on_busy(OnBusy::Queue))
}

/// Prints the progress of a refund.
fn report(order: &str, outcome: &Outcome<Refund>) {
    for line in &outcome.state().log {
        println!("{order}: {line}");
    }
    for interrupt in outcome.interrupts() {
        println!("{order}: {interrupt}");
    }
}

async fn request(threads: &Threads<PayRefund>, order: &str, cents: u64) -> petalflow::Result<()> {
    let input = RefundInput {
        order: order.into(),
        cents,
    };
    report(order, &threads.thread(order).run(input).await?);
    Ok(())
}

/// Answers the question or the approval that the refund waits for.
async fn answer(
    threads: &Threads<PayRefund>,
    order: &str,
    pay: bool,
    by: &str,
    because: &str,
) -> petalflow::Result<()> {
    let thread = threads.thread(order);
    let snapshot = thread
        .snapshot()
        .await?
        .ok_or_else(|| format!("there is no refund for {order}; create one with `request`"))?;
    let Some(interrupt) = snapshot.interrupts.first() else {
        return Err(format!("the refund for {order} does not wait for an answer").into());
    };
    let run = if let InterruptKind::Ask { .. } = interrupt.kind {
        let decision = RefundDecision {
            pay,
            by: by.into(),
            because: because.into(),
        };
        thread.resume(interrupt.answer::<ApproveRefund>(decision)?)
    } else {
        let approval = if pay {
            Decision::approve()
        } else {
            Decision::reject()
        };
        thread.resume(approval.by(by).because(because))
    };
    match run.await {
        Ok(outcome) => report(order, &outcome),
        Err(error) if matches!(error.kind(), RunErrorKind::Rejected { .. }) => {
            println!("{order}: {error}");
        }
        Err(error) => return Err(error.into()),
    }
    Ok(())
}

async fn list(threads: &Threads<PayRefund>) -> petalflow::Result<()> {
    for info in threads.list(ThreadQuery::default()).await? {
        let thread = threads.thread(info.id);
        let Some(snapshot) = thread.snapshot().await? else {
            continue;
        };
        let waits: Vec<String> = snapshot
            .interrupts
            .iter()
            .map(ToString::to_string)
            .collect();
        let status = match (&waits[..], snapshot.is_finished()) {
            ([], true) => "done".into(),
            ([], false) => "interrupted; resume it to continue".into(),
            (waits, _) => waits.join(", "),
        };
        println!("{}: {status}", thread.id());
        for info in thread.history(HistoryQuery::all()).await? {
            for note in info.notes {
                let by = note.by.as_deref().unwrap_or("unknown");
                println!("  {} {} by {by}", note.node, note.decision);
            }
        }
    }
    Ok(())
}

/// All steps from the request to the payment. Each step opens the file again, as a new process would.
async fn demo(file: &Path) -> petalflow::Result<()> {
    println!("-- a customer asks for 1299.00 back");
    request(&threads(file).await?, "A-17", 129_900).await?;
    println!("-- three weeks and two deployments later, a clerk answers");
    answer(
        &threads(file).await?,
        "A-17",
        true,
        "Ann",
        "it arrived broken",
    )
    .await?;
    println!("-- a large amount needs a second person");
    answer(&threads(file).await?, "A-17", true, "Bo", "checked").await?;
    println!("-- the history in the file");
    list(&threads(file).await?).await
}

const USAGE: &str = "usage: approval [--db FILE] [request ORDER CENTS | list | decide ORDER yes|no [--by NAME] [--because REASON]]";

/// The parsed command line.
struct CommandLine {
    file: PathBuf,
    words: Vec<String>,
    by: String,
    because: String,
}

fn parse() -> petalflow::Result<CommandLine> {
    use lexopt::prelude::*;
    let mut call = CommandLine {
        file: "refunds.db".into(),
        words: Vec::new(),
        by: "unknown".into(),
        because: "no reason given".into(),
    };
    let mut parser = lexopt::Parser::from_env();
    while let Some(argument) = parser.next()? {
        match argument {
            Long("db") => call.file = parser.value()?.into(),
            Long("by") => call.by = parser.value()?.string()?,
            Long("because") => call.because = parser.value()?.string()?,
            Long("help") | Short('h') => call.words = vec!["help".into()],
            Value(word) => call.words.push(word.string()?),
            other => return Err(format!("{}\n{USAGE}", other.unexpected()).into()),
        }
    }
    Ok(call)
}

async fn perform(call: CommandLine) -> petalflow::Result<()> {
    let words: Vec<&str> = call.words.iter().map(String::as_str).collect();
    match words[..] {
        [] => {
            let folder =
                std::env::temp_dir().join(format!("petalflow-approval-{}", std::process::id()));
            std::fs::create_dir_all(&folder)?;
            let result = demo(&folder.join("refunds.db")).await;
            std::fs::remove_dir_all(&folder)?;
            result
        }
        ["help"] => {
            println!("{USAGE}");
            Ok(())
        }
        ["request", order, cents] => {
            let cents = cents
                .parse()
                .map_err(|_| format!("`{cents}` is not a number of cents"))?;
            request(&threads(&call.file).await?, order, cents).await
        }
        ["list"] => list(&threads(&call.file).await?).await,
        ["decide", order, word @ ("yes" | "no")] => {
            let threads = threads(&call.file).await?;
            answer(&threads, order, word == "yes", &call.by, &call.because).await
        }
        _ => Err(USAGE.into()),
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    let done = match parse() {
        Ok(call) => perform(call).await,
        Err(error) => Err(error),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn two_people_approve_and_the_history_names_them() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("refunds.db");
        demo(&file).await.unwrap();
        let thread = threads(&file).await.unwrap().thread("A-17");
        let snapshot = thread.snapshot().await.unwrap().unwrap();
        assert!(snapshot.is_finished());
        assert_eq!(snapshot.state.log[0], "approved by Ann: it arrived broken");
        assert!(snapshot.state.log[1].starts_with("paid 1299.00, receipt "));
        let history = thread.history(HistoryQuery::all()).await.unwrap();
        let notes: Vec<_> = history.iter().flat_map(|info| &info.notes).collect();
        assert_eq!(notes[0].by.as_deref(), Some("Bo"));
    }

    #[tokio::test]
    async fn a_small_refund_asks_no_question_and_a_rejection_stops_the_run() {
        let folder = tempfile::tempdir().unwrap();
        let threads = threads(&folder.path().join("refunds.db")).await.unwrap();
        request(&threads, "B-1", 500).await.unwrap();
        assert!(
            threads
                .thread("B-1")
                .snapshot()
                .await
                .unwrap()
                .unwrap()
                .is_finished()
        );
        request(&threads, "C-1", 200_000).await.unwrap();
        answer(&threads, "C-1", true, "Ann", "fine").await.unwrap();
        answer(&threads, "C-1", false, "Bo", "too much")
            .await
            .unwrap();
        let snapshot = threads.thread("C-1").snapshot().await.unwrap().unwrap();
        assert_eq!(snapshot.state.log, ["approved by Ann: fine"]);
        assert!(snapshot.is_finished());
    }
}
