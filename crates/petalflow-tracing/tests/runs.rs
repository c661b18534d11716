//! Spans of runs and nodes.

use opentelemetry::Value;
use opentelemetry::trace::{SpanKind, Status};
use petalflow::checkpoint::InMemoryStore;
use petalflow::interrupt::Ask;
use petalflow::prelude::*;
use petalflow::tool::{Tool as _, ToolContext};
use petalflow_llm::{LlmClient, LlmRequest, LlmResponse};
use petalflow_llm_test_support::spans::RecordedSpans;
use petalflow_tracing::{Spans, TraceLaunch, Traced};
use serde_json::json;

use super::{Double, Model, attribute, description, text};

#[state]
struct Essay {
    #[key(input)]
    topic: String,
    draft: String,
    #[key(append)]
    notes: Vec<String>,
}

#[node(Essay)]
async fn write(topic: &str, model: Managed<Traced<Model>>) -> petalflow::Result<EssayDraft> {
    let draft = model.complete(&LlmRequest::prompt(topic)).await?;
    Ok(EssayDraft(draft.text()))
}

#[node(Essay, spawn)]
async fn judge(model: Managed<Traced<Model>>) -> petalflow::Result<EssayNotes> {
    let judged = model.complete(&LlmRequest::prompt("judge")).await?;
    Ok(EssayNotes(vec![judged.text()]))
}

flow!(WriteEssay(Essay) { write -> judge });

fn model() -> Traced<Model> {
    let answers = ["a draft", "a note", "a note", "a note"];
    Traced::new(Model::new(
        answers.map(|text| Ok(LlmResponse::text_only(text))),
    ))
}

fn topic() -> EssayInput {
    EssayInput {
        topic: "petals".into(),
    }
}

#[tokio::test]
async fn the_spans_of_a_run_are_nested() {
    let seen = RecordedSpans::start();
    let launch = WriteEssay::new().manage(model()).traced(Spans::new());
    launch.run(topic()).await.unwrap();
    assert_eq!(
        seen.names(),
        [
            "on the wire",
            "chat",
            "node write",
            "superstep 1",
            "on the wire",
            "chat",
            "node judge",
            "superstep 2",
            "invoke_workflow WriteEssay"
        ]
    );
    assert_eq!(seen.parent("invoke_workflow WriteEssay"), None);
    let run = seen.span("invoke_workflow WriteEssay");
    let chats: Vec<_> = seen
        .finished()
        .into_iter()
        .filter(|span| span.name == "chat")
        .collect();
    // `judge` is spawned, and its call is its child all the same.
    let nodes = ["node write", "node judge"];
    for ((node, step), chat) in nodes
        .into_iter()
        .zip(["superstep 1", "superstep 2"])
        .zip(chats)
    {
        assert_eq!(seen.parent(node).unwrap(), step);
        assert_eq!(seen.parent(step).unwrap(), run.name);
        assert_eq!(chat.parent_span_id, seen.span(node).span_context.span_id());
        assert_eq!(chat.span_context.trace_id(), run.span_context.trace_id());
    }
    assert_eq!(run.span_kind, SpanKind::Internal);
    assert_eq!(
        text(&run, "gen_ai.operation.name").unwrap(),
        "invoke_workflow"
    );
    assert_eq!(text(&run, "gen_ai.workflow.name").unwrap(), "WriteEssay");
    assert_eq!(text(&run, "petalflow.outcome").unwrap(), "finished");
    assert_eq!(attribute(&run, "gen_ai.conversation.id"), None);
    let node = seen.span("node judge");
    assert_eq!(text(&node, "petalflow.node").unwrap(), "judge");
    assert_eq!(attribute(&node, "petalflow.superstep"), Some(Value::I64(2)));
    assert_eq!(attribute(&node, "petalflow.attempt"), Some(Value::I64(1)));
    assert_eq!(attribute(&node, "petalflow.index"), None);
    assert_eq!(text(&node, "petalflow.task.id").unwrap().len(), 32);
}

#[tokio::test]
async fn content_is_recorded_if_the_run_enables_it() {
    for wanted in [false, true] {
        let seen = RecordedSpans::start();
        let spans = Spans::new();
        let spans = if wanted { spans.with_content() } else { spans };
        let launch = WriteEssay::new().manage(model()).traced(spans);
        launch.run(topic()).await.unwrap();
        let all = seen.finished();
        // One of the two is called by a node that is spawned.
        let chats = all.iter().filter(|span| span.name == "chat");
        let recorded: Vec<_> = chats
            .map(|chat| {
                (
                    text(chat, "gen_ai.input.messages"),
                    text(chat, "gen_ai.output.messages"),
                )
            })
            .collect();
        let message = |role: &str, words: &str| {
            format!(r#"[{{"role":"{role}","parts":[{{"type":"text","content":"{words}"}}]}}]"#)
        };
        let sorted = |text: String| {
            let value: serde_json::Value = serde_json::from_str(&text).unwrap();
            value.to_string()
        };
        let expected = |input: &str, output: &str| {
            let input = wanted.then(|| sorted(message("user", input)));
            (input, wanted.then(|| sorted(message("assistant", output))))
        };
        assert_eq!(
            recorded,
            [expected("petals", "a draft"), expected("judge", "a note")]
        );
    }
}

#[tokio::test]
async fn a_run_without_spans_makes_none() {
    let seen = RecordedSpans::start();
    WriteEssay::new()
        .manage(model())
        .run(topic())
        .await
        .unwrap();
    let names = seen.names();
    assert!(
        names
            .iter()
            .all(|name| name == "chat" || name == "on the wire"),
        "{names:?}"
    );
}

#[state]
struct Trial {
    #[key(sum)]
    tries: u32,
}

#[node(Trial, retry = 3)]
async fn attempt(cx: Context) -> petalflow::Result<TrialTries> {
    if cx.attempt() < 3 {
        return Err(format!("attempt {}", cx.attempt()).into());
    }
    Ok(TrialTries(1))
}

flow!(Try(Trial) { attempt });

#[tokio::test(start_paused = true)]
async fn each_attempt_has_a_span_with_its_failure() {
    let seen = RecordedSpans::start();
    Try::new().traced(Spans::new()).run(()).await.unwrap();
    let attempts: Vec<_> = seen
        .finished()
        .into_iter()
        .filter(|span| span.name == "node attempt")
        .collect();
    let numbers: Vec<_> = attempts
        .iter()
        .map(|span| text(span, "petalflow.attempt").unwrap())
        .collect();
    assert_eq!(numbers, ["1", "2", "3"]);
    assert_eq!(description(&attempts[0]), Some("attempt 1"));
    assert_eq!(text(&attempts[1], "error.type").unwrap(), "node");
    assert_eq!(attempts[2].status, Status::Unset);
}

#[node(Trial)]
async fn fail() -> petalflow::Result<()> {
    Err("no luck".into())
}

flow!(Fail(Trial) { fail });

#[node(Trial)]
async fn count() -> petalflow::Result<()> {
    let cx = ToolContext::new("1");
    Double::new().call(json!({ "n": "4,5" }), &cx).await?;
    Ok(())
}

flow!(Count(Trial) { count });

#[tokio::test]
async fn statuses_of_runs_and_nodes_quote_arguments_only_on_request() {
    for content in [false, true] {
        let seen = RecordedSpans::start();
        let spans = Spans::new();
        let spans = if content { spans.with_content() } else { spans };
        Count::new().traced(spans).run(()).await.err().unwrap();
        for name in ["node count", "invoke_workflow Count"] {
            let span = seen.span(name);
            assert!(description(&span).is_some());
            assert_eq!(format!("{span:?}").contains("4,5"), content, "{span:?}");
        }
    }
}

#[tokio::test]
async fn the_span_of_a_failed_run_has_the_error() {
    let seen = RecordedSpans::start();
    let launch = Fail::new().traced(Spans::new());
    let error = launch.run(()).await.err().unwrap();
    let run = seen.span("invoke_workflow Fail");
    assert_eq!(text(&run, "error.type").unwrap(), "node");
    assert_eq!(text(&run, "petalflow.outcome").unwrap(), "failed");
    assert!(description(&run).unwrap().starts_with(&error.to_string()));
}

#[state]
#[derive(Clone, Debug)]
struct Talk {
    reply: String,
}

/// A mood.
#[derive(serde::Serialize, serde::Deserialize, Ask)]
#[ask(answer = String)]
struct Mood {}

#[node(Talk)]
async fn ask(cx: Context) -> petalflow::Result<TalkReply> {
    Ok(TalkReply(cx.ask(Mood {}).await?))
}

flow!(Chat(Talk) { ask });

#[tokio::test]
async fn a_thread_is_a_conversation_and_a_question_is_not_a_failure() {
    let seen = RecordedSpans::start();
    let threads = Chat::new()
        .traced(Spans::new())
        .store(&InMemoryStore::new());
    let thread = threads.thread("ann");
    let outcome = thread.run(()).await.unwrap();
    assert_eq!(outcome.interrupts().len(), 1);
    let run = seen.span("invoke_workflow Chat");
    assert_eq!(text(&run, "gen_ai.conversation.id").unwrap(), "ann");
    assert_eq!(text(&run, "petalflow.outcome").unwrap(), "interrupted");
    assert_eq!(run.status, Status::Unset);
    assert_eq!(attribute(&run, "error.type"), None);
}
