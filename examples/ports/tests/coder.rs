//! The coding agent.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use petalflow::checkpoint::{InMemoryStore, Store};
use petalflow_llm::usage::{Price, Prices};
use petalflow_llm::{LlmRequest, Reply, Role, ScriptedModel, TokenUsage};
use petalflow_port_examples::coder::{Coder, Mode, Progress, Settings, Workplace};
use serde_json::json;

use crate::killed;

const DONE: &str = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT; cat total.sh";
const MENDED: &str = "echo $(($1 * $2))\n";

fn run(command: &str) -> Reply {
    Reply::call("bash", json!({ "command": command }))
}

/// The results of tools, and what the user has said after the task.
fn heard(request: &LlmRequest) -> String {
    let after = request.messages.iter().skip(1);
    let after = after.filter(|message| message.role != Role::Assistant);
    let texts = after.map(|message| {
        let results = message
            .tool_results()
            .map(|result| result.content.to_string());
        message.text() + &results.collect::<String>()
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// Mends a program, with an answer that has no call.
fn mends(request: &LlmRequest) -> Reply {
    let answers = request.messages.iter();
    match answers
        .filter(|message| message.role == Role::Assistant)
        .count()
    {
        0 => run("sh total.sh 3 4"),
        1 => {
            let heard = heard(request);
            assert!(
                heard.contains(r#""output":"7\n","returncode":0"#)
                    || heard.contains(r#""returncode":0,"output":"7\n""#),
                "{heard}"
            );
            Reply::text("It adds.")
        }
        2 => {
            assert!(heard(request).contains("has no call"), "{}", heard(request));
            run("sed -i 's/ + / * /' total.sh")
                .and_call("bash", json!({ "command": "sh total.sh 3 4" }))
        }
        _ => run(DONE),
    }
}

fn coder<S: Store + Clone>(
    script: impl Fn(&LlmRequest) -> Reply + Send + Sync + 'static,
    store: S,
    folder: &Path,
) -> Coder<S> {
    let program = folder.join("total.sh");
    if !program.exists() {
        std::fs::write(program, "echo $(($1 + $2))\n").expect("it can be written");
    }
    Coder {
        model: Arc::new(ScriptedModel::from_fn(script)),
        store,
        settings: Settings {
            mode: Mode::Yolo,
            allowed: Vec::new(),
            steps: None,
            cost: None,
            prices: Prices::new(),
            time: None,
            workplace: Workplace {
                folder: folder.into(),
                longest: Duration::from_secs(30),
            },
        },
    }
}

#[tokio::test]
async fn f44_the_shell_agent_mends_a_program_and_hands_it_over() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let coder = coder(mends, InMemoryStore::new(), folder.path());
    let progress = coder.work("Make it multiply.").await.expect("it works");
    assert_eq!(progress, Progress::Submitted(MENDED.into()));
    // Called again, it asks no model.
    let progress = coder.work("Make it multiply.").await.expect("it works");
    assert_eq!(progress, Progress::Submitted(MENDED.into()));
}

#[tokio::test]
async fn f44_a_person_decides_about_the_commands_of_the_shell_agent() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let script = |request: &LlmRequest| {
        let heard = heard(request);
        if heard.contains("not that one") {
            assert!(heard.contains("I have run `rm total.sh`"), "{heard}");
            run(DONE)
        } else {
            run("ls")
                .and_call("bash", json!({ "command": "touch a" }))
                .and_call("bash", json!({ "command": "touch b" }))
        }
    };
    let mut coder = coder(script, InMemoryStore::new(), folder.path());
    coder.settings.mode = Mode::Confirm;
    coder.settings.allowed = vec![regex::Regex::new("ls").expect("a pattern")];
    let progress = coder.work("Do it.").await.expect("it works");
    assert_eq!(
        progress,
        Progress::Waits(vec!["touch a".into(), "touch b".into()])
    );
    coder.run_for_person("rm total.sh").await.expect("it works");
    let progress = coder.decide(Some("not that one")).await.expect("it works");
    assert_eq!(progress, Progress::Waits(vec![DONE.into()]));
    assert!(!folder.path().join("a").exists());
    // The person trusts it from now on.
    coder.settings.mode = Mode::Yolo;
    std::fs::write(folder.path().join("total.sh"), "x\n").expect("it can be written");
    let progress = coder.decide(None).await.expect("it works");
    assert_eq!(progress, Progress::Submitted("x\n".into()));
}

#[tokio::test]
async fn f44_the_shell_agent_takes_a_new_task_after_it_has_ended() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let script = |request: &LlmRequest| match heard(request) {
        heard if heard.contains("Now make c.") && !heard.contains("c\\n") => run("touch c; ls c"),
        _ => run("echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"),
    };
    let coder = coder(script, InMemoryStore::new(), folder.path());
    let ended = Progress::Submitted(String::new());
    assert_eq!(coder.work("Make a.").await.expect("it works"), ended);
    assert_eq!(coder.say("Now make c.").await.expect("it works"), ended);
    assert!(folder.path().join("c").exists());
}

#[tokio::test]
async fn f44_the_shell_agent_continues_after_its_limit_was_raised() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let mut coder = coder(mends, InMemoryStore::new(), folder.path());
    coder.settings.steps = Some(2);
    let error = coder.work("Make it multiply.").await.expect_err("it stops");
    assert!(error.to_string().contains('2'), "{error}");
    coder.settings.steps = Some(10);
    let progress = coder.work("Make it multiply.").await.expect("it works");
    assert_eq!(progress, Progress::Submitted(MENDED.into()));
    coder.settings.time = Some(Duration::ZERO);
    let error = coder.say("More.").await.expect_err("it stops");
    assert!(format!("{error:?}").contains("all its time"), "{error:?}");
}

#[tokio::test]
async fn f44_the_shell_agent_stops_at_the_limit_of_its_cost() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let script = |_: &LlmRequest| {
        run("ls").with_usage(TokenUsage {
            input: 1_000_000,
            total: 1_000_000,
            ..TokenUsage::default()
        })
    };
    let mut coder = coder(script, InMemoryStore::new(), folder.path());
    let price = Price {
        input: 1.0,
        ..Price::default()
    };
    coder.settings.prices = Prices::new().with(coder.model.name(), price);
    coder.settings.cost = Some(2.5);
    let error = coder.work("Do it.").await.expect_err("it stops");
    assert!(error.to_string().contains("2.5"), "{error}");
}

#[tokio::test]
async fn f44_the_shell_agent_ends_after_three_answers_without_a_command() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let coder = coder(
        |_| Reply::text("Well."),
        InMemoryStore::new(),
        folder.path(),
    );
    assert_eq!(
        coder.work("Do it.").await.expect("it works"),
        Progress::NoCommand
    );
}

#[tokio::test]
async fn f44_a_command_that_takes_too_long_is_killed_with_what_it_has_started() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let script = |request: &LlmRequest| match heard(request) {
        heard if heard.contains("was killed") => {
            assert!(heard.contains("begun"), "{heard}");
            run(DONE)
        }
        _ => run("echo begun; (sleep 2; touch late) & sleep 20"),
    };
    let mut coder = coder(script, InMemoryStore::new(), folder.path());
    coder.settings.workplace.longest = Duration::from_millis(300);
    coder.work("Do it.").await.expect("it works");
    tokio::time::sleep(Duration::from_millis(2_500)).await;
    assert!(!folder.path().join("late").exists());
}

#[tokio::test]
async fn f44_a_shell_agent_that_is_killed_at_each_write_mends_the_program() {
    let kills = killed::everywhere(async |store, folder| {
        let coder = coder(mends, store, folder);
        coder.work("Make it multiply.").await.expect("it works")
    })
    .await;
    println!("the shell agent was killed {kills} times");
}
