//! What is in the file of a thread: while it runs, with forks and messages, without secrets; and files that are damaged.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use petalflow::BoxError;
use petalflow::thread::{HistoryQuery, ThreadFile};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use super::*;

/// As it is stored, and as it is in a text that is JSON.
const TOKEN: &str = "line one\n\"quoted\" line two";
const QUOTED: &str = r#"line one\n\"quoted\" line two"#;

#[state]
struct Login {
    #[key(secret)]
    token: String,
    names: std::collections::BTreeMap<String, u32>,
    #[key(append)]
    log: Vec<String>,
}

struct Gate {
    reached: Semaphore,
    open: Semaphore,
}

#[node(Login)]
async fn begin() -> LoginLog {
    LoginLog(vec!["begin".into()])
}

/// Gets the token, which an effect has recorded too.
#[node(Login)]
async fn log_in(cx: Context) -> petalflow::Result<(LoginToken, LoginNames)> {
    let token: String = cx
        .once("token", async { Ok::<_, BoxError>(TOKEN.to_string()) })
        .await?;
    let names = [(token.clone(), 1)].into_iter().collect();
    Ok((LoginToken(token), LoginNames(names)))
}

#[node(Login)]
async fn hold(gate: Managed<Gate>) -> LoginLog {
    gate.reached.add_permits(1);
    let _open = gate.open.acquire().await;
    let arguments = json!({ "token": TOKEN }).to_string();
    LoginLog(vec![format!("called with {arguments}")])
}

#[node(Login)]
async fn end(log: &[String]) -> LoginLog {
    LoginLog(vec![format!("{} lines", log.len())])
}

flow! {
    LogIn(Login) {
        begin -> (log_in & hold) -> end;
    }
}

fn closed() -> Arc<Gate> {
    Arc::new(Gate {
        reached: Semaphore::new(0),
        open: Semaphore::new(0),
    })
}

fn assert_no_token(file: &ThreadFile) {
    let text = file.to_string();
    for part in ["line one", "quoted", "line two"] {
        assert!(!text.contains(part), "{part}: {text}");
    }
}

#[tokio::test]
async fn f44_a_file_of_a_thread_that_runs_has_no_secret_and_replays() {
    let gate = closed();
    let threads = threads(LogIn::new().manage_with(Arc::clone(&gate)));
    let thread = threads.thread("ann");
    let running = thread.clone();
    let run = tokio::spawn(async move { running.run(()).await });
    gate.reached.acquire().await.unwrap().forget();
    // The result of `log_in` is recorded, and no checkpoint has its token.
    let mut file = exported(&threads, "ann").await;
    while !file.to_string().contains("once/token") {
        tokio::task::yield_now().await;
        file = exported(&threads, "ann").await;
    }
    assert_no_token(&file);
    let report = Replay::of_file(file).flow(LogIn::new().manage_with(closed()));
    let report = report.report().await;
    assert!(report.replayed.differences.is_empty(), "{report}");
    gate.open.add_permits(1);
    let state = run.await.unwrap().unwrap().into_finished().unwrap();
    assert!(
        state.log.iter().any(|line| line.contains(QUOTED)),
        "{:?}",
        state.log
    );
    let file = exported(&threads, "ann").await;
    assert_no_token(&file);
    let open = closed();
    open.open.add_permits(1);
    let replay = || Replay::of_file(file.clone()).flow(LogIn::new().manage_with(Arc::clone(&open)));
    replay().check().await;
    // `hold` makes the text with the token itself, so it differs from the file.
    let run = replay().run("hold").report().await;
    assert_eq!(run.replayed.differences.len(), 1, "{run}");
}

#[state]
struct Inquiry {
    #[key(input, append, inbox)]
    questions: Vec<String>,
    #[key(append, inbox, secret)]
    codes: Vec<String>,
    #[key(append)]
    answers: Vec<String>,
}

#[node(Inquiry)]
async fn reply(questions: &[String]) -> InquiryAnswers {
    InquiryAnswers(vec![format!("answer {}", questions.len())])
}

#[node(Inquiry)]
async fn close(codes: &[String]) -> InquiryAnswers {
    InquiryAnswers(vec![format!("{} codes", codes.len())])
}

flow!(Inquire(Inquiry) { reply -> close });

#[tokio::test]
async fn f44_a_file_has_forks_and_queued_messages_without_their_secrets() {
    let threads = threads(Inquire::new());
    let thread = threads.thread("inquiry");
    for question in ["one?", "two?"] {
        thread
            .run(vec![question.to_string()])
            .await
            .unwrap()
            .into_finished()
            .unwrap();
    }
    let oldest = thread
        .history(HistoryQuery::default())
        .await
        .unwrap()
        .pop()
        .unwrap();
    thread.fork(oldest.checkpoint).await.unwrap();
    thread
        .run(vec!["three?".to_string()])
        .await
        .unwrap()
        .into_finished()
        .unwrap();
    // No run has taken it: only the queue has the code.
    thread
        .send(InquiryCodes(vec!["4711-4712".into()]))
        .await
        .unwrap();
    thread
        .send(InquiryQuestions(vec!["is 4711-4712 right?".into()]))
        .await
        .unwrap();
    let file = exported(&threads, "inquiry").await;
    assert!(!file.to_string().contains("4711-4712"), "{file}");
    assert!(file.to_string().contains("is [removed] right?"), "{file}");
    Replay::of_file(file.clone())
        .flow(Inquire::new())
        .check()
        .await;

    let there = InMemoryStore::new();
    file.write_to(&there).await.unwrap();
    let copy = Inquire::new().store(&there).thread("inquiry");
    let state = copy
        .run(vec!["four?".to_string()])
        .await
        .unwrap()
        .into_finished()
        .unwrap();
    assert!(
        state.codes.iter().all(|code| code == "[removed]"),
        "{:?}",
        state.codes
    );
    assert!(
        state.questions.contains(&"is [removed] right?".to_string()),
        "{:?}",
        state.questions
    );
}

/// Replays a file of the disk. Returns the message if the test fails.
async fn failure(path: PathBuf) -> Option<String> {
    let replay = async move { Replay::of(path).flow(Inquire::new()).check().await };
    let panic = tokio::spawn(replay).await.err()?.into_panic();
    let text = panic.downcast_ref::<String>().cloned();
    Some(text.unwrap_or_else(|| "a panic without a message".into()))
}

fn written(folder: &Path, text: &str) -> PathBuf {
    let path = folder.join("inquiry.thread.json");
    std::fs::write(&path, text).unwrap();
    path
}

async fn inquiry() -> ThreadFile {
    let threads = threads(Inquire::new());
    let thread = threads.thread("inquiry");
    thread
        .run(vec!["one?".to_string()])
        .await
        .unwrap()
        .into_finished()
        .unwrap();
    exported(&threads, "inquiry").await
}

#[tokio::test]
async fn f44_a_file_that_cannot_be_replayed_is_named_with_the_place_and_the_correction() {
    let folder = tempfile::tempdir().unwrap();
    let file = inquiry().await;
    let text = file.to_string();
    let with = |field: &str, value: Value| {
        let mut json = file.json().clone();
        json[field] = value;
        json.to_string()
    };
    let newer = with("version", json!(7));
    let other = with("flow", json!("PayRefund"));
    let path = written(folder.path(), &text);
    assert_eq!(failure(path.clone()).await, None);
    let shown = path.display().to_string();
    for (wrong, parts) in [
        (&text[..text.len() / 2], ["EOF", "export the thread again"]),
        (
            &newer,
            [
                "/version: version 7 is not known, and 1 is",
                "use the version of petalflow that wrote the file",
            ],
        ),
        ("[]", ["an object is expected", "export the thread again"]),
    ] {
        written(folder.path(), wrong);
        let failure = failure(path.clone()).await.unwrap();
        assert!(failure.starts_with(&shown), "{failure}");
        for part in parts {
            assert!(failure.contains(part), "{part}: {failure}");
        }
    }
    written(folder.path(), &other);
    let failure_of_other = failure(path.clone()).await.unwrap();
    assert!(
        failure_of_other.contains("PayRefund") && failure_of_other.contains("Inquire"),
        "{failure_of_other}"
    );
    std::fs::remove_file(&path).unwrap();
    let missing = failure(path).await.unwrap();
    assert!(
        missing.starts_with(&shown) && missing.contains("cannot be read"),
        "{missing}"
    );
}

/// The addresses of all values in a file.
fn addresses(value: &Value, at: &str, found: &mut Vec<String>) {
    found.push(at.into());
    let escaped = |name: &str| name.replace('~', "~0").replace('/', "~1");
    match value {
        Value::Object(map) => map
            .iter()
            .for_each(|(name, item)| addresses(item, &format!("{at}/{}", escaped(name)), found)),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .for_each(|(index, item)| addresses(item, &format!("{at}/{index}"), found)),
        _ => {}
    }
}

#[tokio::test]
async fn f44_each_damaged_value_is_an_error_that_names_the_file_or_a_difference() {
    let folder = tempfile::tempdir().unwrap();
    let file = inquiry().await;
    let mut all = Vec::new();
    addresses(file.json(), "", &mut all);
    assert!(all.len() > 100, "{}", all.len());
    let mut refused = 0;
    for at in all {
        for damage in [
            Value::Null,
            json!(-1),
            json!("damaged"),
            json!([[]]),
            json!({ "$bytes": "zz" }),
        ] {
            let mut json = file.json().clone();
            *json.pointer_mut(&at).unwrap() = damage.clone();
            let path = written(folder.path(), &json.to_string());
            let shown = path.display().to_string();
            let Some(failure) = failure(path).await else {
                continue;
            };
            refused += 1;
            let is_clear =
                failure.starts_with(&shown) || failure.trim_start().starts_with("thread `");
            assert!(is_clear, "{at} {damage}: {failure}");
        }
    }
    assert!(refused > 300, "{refused}");
}

#[tokio::test]
async fn f44_a_file_that_an_editor_has_saved_is_the_same() {
    let file = inquiry().await;
    let text = file.to_string();
    for saved in [
        text.replace('\n', "\r\n"),
        format!("\u{feff}{text}\n"),
        file.json().to_string(),
    ] {
        let read: ThreadFile = saved.parse().unwrap();
        assert_eq!(read, file);
        Replay::of_file(read).flow(Inquire::new()).check().await;
    }
}

#[tokio::test]
async fn f44_a_table_that_is_too_wide_has_lines_for_each_difference() {
    let file = inquiry().await;
    let mut other = file.json().clone();
    other["flow"] = json!("PayRefund");
    let other = other.to_string();
    let report = Replay::of_file(other.parse().unwrap())
        .flow(Inquire::new())
        .report()
        .await;
    assert_eq!(report.table(None), report.to_string());
    let narrow = report.table(Some(40));
    assert!(
        narrow.contains("    expected  PayRefund\n    found     Inquire\n"),
        "{narrow}"
    );
    let rows = narrow.lines().skip(1);
    assert!(
        rows.clone().count() > 2 && rows.clone().all(|line| line.chars().count() <= 40),
        "{narrow}"
    );
}
