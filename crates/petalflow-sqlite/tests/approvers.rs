//! Two processes decide the same approval: one decision is accepted, and the other process gets an error that says so.

use std::path::Path;
use std::process::{Command, Stdio};

use petalflow::checkpoint::DecisionKind;
use petalflow::interrupt::{AnswerError, Decision};
use petalflow::prelude::*;
use petalflow::run::RunErrorKind;
use petalflow::thread::{HistoryQuery, Thread, ThreadError};
use petalflow_sqlite::SqliteStore;

const DATABASE: &str = "PETALFLOW_TEST_APPROVERS_DATABASE";
const DECISION: &str = "PETALFLOW_TEST_APPROVERS_DECISION";

#[state]
struct Post {
    #[key(input)]
    text: String,
    #[key(append)]
    published: Vec<String>,
}

#[node(Post)]
async fn publish(text: &str) -> PostPublished {
    PostPublished(vec![text.into()])
}

flow!(Publish(Post) { publish; interrupt before publish; });

async fn thread(database: &Path) -> Thread<Publish> {
    let store = SqliteStore::open(database).await.expect("it opens");
    Publish::new().store(&store).thread("post")
}

/// The process of one approver. It is a test only to be called by name.
#[tokio::test]
async fn approver() {
    let (Some(database), Ok(decision)) = (std::env::var_os(DATABASE), std::env::var(DECISION))
    else {
        return;
    };
    let decision = match decision.as_str() {
        "approve" => Decision::approve(),
        _ => Decision::reject(),
    };
    let thread = thread(Path::new(&database)).await;
    let result = match thread.resume(decision).begin().await {
        Ok(run) => match run.await {
            Ok(_) => "approved",
            Err(error) if matches!(error.kind(), RunErrorKind::Rejected { .. }) => "rejected",
            Err(error) => panic!("{error}"),
        },
        Err(error) => match error.thread_error() {
            Some(ThreadError::Answer(AnswerError::Answered { .. })) => "late",
            _ => panic!("{error}"),
        },
    };
    println!("result: {result}.");
}

#[tokio::test]
async fn one_of_two_processes_decides() {
    for _ in 0..3 {
        let folder = tempfile::tempdir().expect("it can be made");
        let database = folder.path().join("posts.db");
        let thread = thread(&database).await;
        let paused = thread.run("hello".to_string()).await.expect("it runs");
        assert_eq!(paused.interrupts().len(), 1);
        let approvers = ["approve", "reject"].map(|decision| {
            Command::new(std::env::current_exe().expect("it is known"))
                .args(["--exact", "approvers::approver", "--nocapture"])
                .env(DATABASE, &database)
                .env(DECISION, decision)
                .stdout(Stdio::piped())
                .spawn()
                .expect("it starts")
        });
        let results = approvers.map(|approver| {
            let output = approver.wait_with_output().expect("it ends");
            let output = String::from_utf8_lossy(&output.stdout).into_owned();
            let (_, result) = output.split_once("result: ").expect("it has a result");
            result
                .split_once('.')
                .expect("it ends with a dot")
                .0
                .to_string()
        });
        let results = results.each_ref().map(String::as_str);
        assert!(
            matches!(results, ["approved", "late"] | ["late", "rejected"]),
            "{results:?}"
        );
        let history = thread
            .history(HistoryQuery::all())
            .await
            .expect("it is read");
        let decisions = history.iter().flat_map(|info| &info.notes);
        let decisions: Vec<_> = decisions.map(|note| note.decision).collect();
        let decided = if results[0] == "approved" {
            DecisionKind::Approved
        } else {
            DecisionKind::Rejected
        };
        assert_eq!(
            decisions,
            [decided],
            "the other decision is not in the history"
        );
    }
}
