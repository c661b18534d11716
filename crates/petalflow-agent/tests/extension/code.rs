//! Code that models write.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use petalflow::async_trait;
use petalflow::{BoxError, Context};
use petalflow_agent::Mode;
use petalflow_agent::extension::{CodeExecutor, CodeOutput};
use petalflow_llm::{LlmError, LlmErrorKind, Part, Reply};
use serde_json::json;

use crate::kit::{call, constant_tool, events, failure, scripted_agent, sent_messages, shape};

/// Returns the code in capitals, or the outcome that the code names.
#[derive(Clone, Default)]
struct Loud {
    ran: Arc<AtomicUsize>,
}

#[async_trait]
impl CodeExecutor for Loud {
    async fn execute(&self, code: &str, cx: &Context) -> Result<CodeOutput, BoxError> {
        self.ran.fetch_add(1, SeqCst);
        assert_eq!(cx.node(), "execute");
        match code {
            "fail" => Ok(CodeOutput::failed("it failed")),
            "hang" => std::future::pending().await,
            "break" => Err("the sandbox is gone".into()),
            code => Ok(CodeOutput::printed(code.to_uppercase())),
        }
    }

    fn language(&self) -> &'static str {
        "shout"
    }
}

fn code(code: &str) -> String {
    format!("Let me see.\n```tool_code\n{code}\n```\nIt prints 7.")
}

#[tokio::test]
async fn a009_code_runs_and_the_model_reads_what_it_printed() {
    let (agent, model) = scripted_agent([code("hey"), "It printed HEY.".into()]);
    let loud = Loud::default();
    let (events, talk) = events(&agent.code_executor(loud.clone()), "shout").await;
    assert_eq!(
        shape(&events),
        [
            "Let me see.\n & Code { language: \"shout\", code: \"hey\", origin: None }",
            "CodeResult { outcome: \"OUTCOME_OK\", output: \"HEY\", origin: None }",
            "It printed HEY.",
        ],
        "what the model said behind its code is gone"
    );
    assert_eq!(
        (loud.ran.load(SeqCst), talk.answer()),
        (1, "It printed HEY.".into())
    );
    let asked = sent_messages(&model);
    assert_eq!(
        asked[1..],
        [
            "assistant: Let me see.\n & ```tool_code\nhey\n```",
            "user: ```tool_output\nHEY\n```"
        ],
        "no provider takes from the model what it did not run"
    );
    let system = model.requests()[0].system.clone().unwrap();
    assert!(
        system.contains("shout code") && system.contains("```tool_code"),
        "{system}"
    );
}

#[tokio::test]
async fn a009_without_an_executor_code_is_text() {
    let (agent, model) = scripted_agent([code("hey")]);
    let (_, talk) = events(&agent, "shout").await;
    assert_eq!(talk.answer(), code("hey"));
    assert_eq!(model.requests()[0].system, None);
}

#[tokio::test]
async fn a009_failed_code_can_be_corrected_a_limited_number_of_times() {
    let script = [code("fail"), code("fail"), code("fine"), "done".into()];
    let (agent, model) = scripted_agent(script);
    let loud = Loud::default();
    let (_, talk) = events(&agent.code_executor(loud.clone()), "go").await;
    assert_eq!((loud.ran.load(SeqCst), talk.answer()), (3, "done".into()));
    let transcript = sent_messages(&model);
    assert_eq!(
        transcript[2],
        "user: ```tool_output\nOUTCOME_FAILED: it failed\n```"
    );

    let (agent, _) = scripted_agent([
        code("fail"),
        code("fail"),
        code("fail"),
        code("fail"),
        "never".into(),
    ]);
    let loud = Loud::default();
    let agent = agent.code_executor(loud.clone());
    let (_, talk) = events(&agent, "go").await;
    assert_eq!(loud.ran.load(SeqCst), 3, "twice more");
    assert_eq!(
        talk.answer(),
        code("fail"),
        "then its code is no more than words"
    );

    // Nor is code run that comes as such.
    let native = || {
        Reply::from("so:").and(Part::Code {
            language: "PYTHON".into(),
            code: "fail".into(),
            origin: None,
        })
    };
    let (agent, _) = scripted_agent([native(), native(), native(), native(), "never".into()]);
    let other = Loud::default();
    events(&agent.code_executor(other.clone()), "go").await;
    assert_eq!(other.ran.load(SeqCst), 3);

    // Another turn, other tries.
    let (agent, _) = scripted_agent([code("fine"), "done".into()]);
    let agent = agent.code_executor(loud.clone());
    assert_eq!(
        agent.run(talk.next_input("again")).await.unwrap().answer(),
        "done"
    );
}

#[tokio::test(start_paused = true)]
async fn a009_code_that_hangs_is_stopped_and_a_broken_sandbox_ends_the_turn() {
    let (agent, model) = scripted_agent([code("hang"), "too slow".into()]);
    let agent = agent
        .code_executor(Loud::default())
        .tool_timeout(Duration::from_secs(5));
    events(&agent, "go").await;
    assert!(sent_messages(&model)[2].contains("the code was stopped: it ran longer than 5s"));

    let (agent, _) = scripted_agent([code("break")]);
    let agent = agent.code_executor(Loud::default());
    assert_eq!(failure(&agent, "go").await, "the sandbox is gone");
}

#[tokio::test]
async fn a009_of_calls_and_code_in_one_answer_the_first_wins() {
    let both = Reply::from(call("1", "look", json!({}))).and(Part::text(code("hey")));
    let (agent, _) = scripted_agent([both, "done".into()]);
    let loud = Loud::default();
    let agent = agent
        .code_executor(loud.clone())
        .tool(constant_tool("look", json!(1)));
    let (events, _) = events(&agent, "go").await;
    assert_eq!((events.len(), loud.ran.load(SeqCst)), (3, 0));

    // What the provider ran is not run again, and its result is not the last word.
    let ran = Reply::from("so:").and(Part::Code {
        language: "PYTHON".into(),
        code: "1".into(),
        origin: None,
    });
    let ran = ran.and(Part::CodeResult {
        outcome: "OUTCOME_OK".into(),
        output: "1".into(),
        origin: None,
    });
    let (agent, _) = scripted_agent([ran, "one".into()]);
    let (_, talk) = crate::kit::events(&agent.code_executor(loud.clone()), "go").await;
    assert_eq!((talk.answer(), loud.ran.load(SeqCst)), ("one".into(), 0));

    // What the model wants run without saying it in words is run.
    let wanted = Reply::from("so:").and(Part::Code {
        language: "PYTHON".into(),
        code: "one".into(),
        origin: None,
    });
    let (agent, _) = scripted_agent([wanted, "done".into()]);
    crate::kit::events(&agent.code_executor(loud.clone()), "go").await;
    assert_eq!(loud.ran.load(SeqCst), 1);
}

#[tokio::test]
async fn a009_an_agent_that_is_given_a_task_runs_code_as_well() {
    let finish = Reply::from(call("f", "finish_task", json!({"result": "HEY"})));
    let (shouter, _) = scripted_agent([code("hey").into(), finish]);
    let loud = Loud::default();
    let shouter = shouter
        .name("shouter")
        .mode(Mode::Task)
        .code_executor(loud.clone());
    let give = Reply::from(call("1", "shouter", json!({"request": "shout"})));
    let (agent, model) = scripted_agent([give, "done".into()]);
    events(&agent.name("root").sub_agent(shouter), "go").await;
    assert_eq!(loud.ran.load(SeqCst), 1);
    assert_eq!(
        sent_messages(&model).len(),
        3,
        "how it was done is the other's own"
    );
}

#[tokio::test]
async fn a009_code_that_has_run_is_not_run_again_when_the_model_fails() {
    let down = LlmError::new(LlmErrorKind::Connection, "the cable is out");
    let (agent, _) = scripted_agent([code("hey").into(), down.into(), Reply::from("done")]);
    let loud = Loud::default();
    let agent = agent.code_executor(loud.clone());
    let store = petalflow::checkpoint::InMemoryStore::new();
    let thread = agent.store(&store).thread("t");
    thread.run("go").await.unwrap_err();
    let talk = thread.resume(()).await.unwrap().into_finished().unwrap();
    assert_eq!((talk.answer(), loud.ran.load(SeqCst)), ("done".into(), 1));
}
