//! Guardrails on inputs, answers and tool calls.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use petalflow::checkpoint::InMemoryStore;
use petalflow::tool::ToolCall;
use petalflow::tool::schemars::{self, JsonSchema};
use petalflow::{BoxError, async_trait};
use petalflow_agent::guardrail::{
    ClosureGuardrail, Guardrail, GuardrailAction, GuardrailContext, GuardrailEvent, GuardrailStage,
    Verdict, on_input, on_output, on_tool_call,
};
use petalflow_agent::stream::AgentEventKind;
use petalflow_agent::{Agent, AgentError, AgentEvent, Conversation, ConversationInput, Mode};
use petalflow_llm::{
    ChatMessage, LlmClient, LlmError, LlmRequest, LlmResponse, LlmStream, Reply, ScriptedModel,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::kit::{constant_tool, results, scripted_agent, sent_messages, tool};

/// Blocks inputs with this word.
fn no(word: &'static str) -> ClosureGuardrail {
    on_input(format!("no {word}"), move |message| async move {
        let found = message.text().contains(word);
        Ok(if found {
            Verdict::block("Not that.")
        } else {
            Verdict::Pass
        })
    })
}

fn guardrail_event(event: &AgentEvent) -> (&str, &GuardrailStage, &GuardrailAction) {
    let [event] = &event.guardrails[..] else {
        panic!("{event:?}")
    };
    (&event.guardrail, &event.stage, &event.action)
}

/// The error of the agent, and its cause.
fn failure(error: &petalflow::RunError) -> (String, String) {
    let error = error
        .get_ref()
        .unwrap()
        .downcast_ref::<AgentError>()
        .unwrap();
    (error.to_string(), error.source().unwrap().to_string())
}

#[tokio::test]
async fn a_blocked_input_is_answered_without_the_model_and_never_read_by_it() {
    let (agent, model) = scripted_agent(["fine", "fine"]);
    let agent = agent.guardrail(no("secret"));
    let talk = agent.run("hello").await.unwrap();
    let talk = agent.run(talk.next_input("tell the secret")).await.unwrap();
    assert_eq!(
        (talk.answer(), model.requests().len()),
        ("Not that.".into(), 1)
    );
    let action = GuardrailAction::Blocked("Not that.".into());
    assert_eq!(
        guardrail_event(&talk.events[3]),
        ("no secret", &GuardrailStage::Input, &action)
    );
    assert_eq!(talk.turn_usage().requests, 0);
    let talk = agent.run(talk.next_input("thanks")).await.unwrap();
    assert_eq!(
        sent_messages(&model),
        ["user: hello", "assistant: fine", "user: thanks"]
    );
    assert_eq!(talk.events.len(), 6, "the conversation has what was said");
}

#[tokio::test]
async fn an_input_is_rewritten_before_it_is_stored() {
    let (agent, model) = scripted_agent(["fine"]);
    let mask = on_input("mask", |message| async move {
        Ok(Verdict::Rewrite(ChatMessage::user(
            message.text().replace("1234", "****"),
        )))
    });
    let then = on_input("sees it", |message: ChatMessage| async move {
        assert_eq!(message.text(), "my pin is ****");
        Ok(Verdict::Pass)
    });
    let talk = agent
        .guardrail(mask)
        .guardrail(then)
        .run("my pin is 1234")
        .await
        .unwrap();
    assert_eq!(sent_messages(&model), ["user: my pin is ****"]);
    assert_eq!(
        guardrail_event(&talk.events[0]),
        ("mask", &GuardrailStage::Input, &GuardrailAction::Rewritten)
    );
    assert!(
        !serde_json::to_string(&talk.events)
            .unwrap()
            .contains("1234")
    );
    assert_eq!(talk.message.unwrap().text(), "my pin is ****");
}

#[tokio::test]
async fn a_guardrail_can_fail_the_run_and_its_error_fails_it_too() {
    for (guardrail, cause) in [
        (
            on_input("strict", |_| async {
                Ok(Verdict::fail("closed on Sundays"))
            }),
            "closed on Sundays",
        ),
        (
            on_input("strict", |_| async { Err("no connection".into()) }),
            "no connection",
        ),
        (
            on_input("strict", |_| async { Err("no connection".into()) }).beside_model(),
            "no connection",
        ),
    ] {
        let (agent, _) = scripted_agent(["fine"]);
        let error = agent.guardrail(guardrail).run("hello").await.unwrap_err();
        let expected = "guardrail `strict` stopped agent `agent` at the input".to_string();
        assert_eq!(failure(&error), (expected, cause.into()));
    }
}

/// A model that never answers, and notes when its request or its stream is dropped.
struct Hanging(Arc<AtomicUsize>, Arc<AtomicBool>);

struct NotesDrop(Arc<AtomicBool>);

impl Drop for NotesDrop {
    fn drop(&mut self) {
        self.0.store(true, SeqCst);
    }
}

#[async_trait]
impl LlmClient for Hanging {
    fn name(&self) -> &'static str {
        "hanging"
    }

    async fn complete(&self, _: &LlmRequest) -> Result<LlmResponse, LlmError> {
        let _dropped = NotesDrop(Arc::clone(&self.1));
        self.0.fetch_add(1, SeqCst);
        std::future::pending().await
    }

    async fn stream(&self, request: &LlmRequest) -> Result<LlmStream, LlmError> {
        self.0.fetch_add(1, SeqCst);
        let first =
            ScriptedModel::new([Reply::chunks(["a", "b", "c"]).every(Duration::from_mins(1))]);
        let dropped = NotesDrop(Arc::clone(&self.1));
        let stream = first.stream(request).await?;
        Ok(stream.with_observer(move |_| {
            let _ = &dropped;
        }))
    }
}

#[tokio::test(start_paused = true)]
async fn a_guardrail_beside_the_model_cancels_the_request_and_the_stream() {
    for streaming in [false, true] {
        let (asked, dropped) = (Arc::default(), Arc::default());
        let agent = Agent::new(Hanging(Arc::clone(&asked), Arc::clone(&dropped)));
        let agent = if streaming { agent.streaming() } else { agent };
        let slow = on_input("slow", |_| async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            Ok(Verdict::block("stopped"))
        });
        let mut events = agent.guardrail(slow.beside_model()).events("hello");
        let mut seen = Vec::new();
        let talk = loop {
            match events.next().await.unwrap().kind {
                AgentEventKind::Guardrail(event) => seen.push(event),
                AgentEventKind::Finished(talk) => break talk,
                _ => {}
            }
        };
        assert_eq!(
            (asked.load(SeqCst), dropped.load(SeqCst)),
            (1, true),
            "the model was asked and dropped"
        );
        assert_eq!(
            (talk.answer(), talk.usage().requests),
            ("stopped".into(), 1)
        );
        let [
            GuardrailEvent {
                guardrail,
                agent,
                stage: GuardrailStage::Input,
                ..
            },
        ] = &seen[..]
        else {
            panic!("{seen:?}")
        };
        assert_eq!((&**guardrail, &**agent), ("slow", "agent"));
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_waits_for_the_guardrails_beside_it() {
    let (agent, model) = scripted_agent(["quick", "later"]);
    let checks = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&checks);
    let slow = on_input("slow", move |_| {
        let count = Arc::clone(&count);
        async move {
            tokio::time::sleep(Duration::from_secs(5)).await;
            count.fetch_add(1, SeqCst);
            Ok(Verdict::Pass)
        }
    });
    let started = tokio::time::Instant::now();
    let agent = agent.guardrail(slow.beside_model());
    assert_eq!(agent.run("hello").await.unwrap().answer(), "quick");
    assert_eq!(
        (
            started.elapsed().as_secs(),
            checks.load(SeqCst),
            model.requests().len()
        ),
        (5, 1, 1)
    );
}

#[tokio::test]
async fn a_turn_that_was_blocked_beside_the_model_is_not_read_later() {
    let (agent, model) = scripted_agent(["fine", "never used", "again"]);
    let agent = agent.guardrail(no("secret").beside_model());
    let talk = agent.run("hello").await.unwrap();
    let talk = agent.run(talk.next_input("the secret")).await.unwrap();
    assert_eq!(talk.answer(), "Not that.");
    agent.run(talk.next_input("thanks")).await.unwrap();
    assert_eq!(
        sent_messages(&model),
        ["user: hello", "assistant: fine", "user: thanks"]
    );
}

#[tokio::test]
async fn a_guardrail_beside_the_model_cannot_rewrite_the_input() {
    let (agent, _) = scripted_agent(["fine"]);
    let mask = on_input("mask", |_| async {
        Ok(Verdict::Rewrite(ChatMessage::user("x")))
    });
    let error = agent
        .guardrail(mask.beside_model())
        .run("hello")
        .await
        .unwrap_err();
    assert!(failure(&error).1.ends_with("cannot rewrite it"));
}

#[tokio::test]
async fn answers_are_blocked_and_rewritten() {
    let hides = || {
        on_output("hides", |message: ChatMessage| async move {
            Ok(match &*message.text() {
                "bad" => Verdict::block("I cannot say."),
                text => {
                    Verdict::Rewrite(ChatMessage::assistant(text.replace("Tulip", "a project")))
                }
            })
        })
    };
    let (agent, _) = scripted_agent(["It is Tulip."]);
    let talk = agent.guardrail(hides()).run("what?").await.unwrap();
    assert_eq!(talk.answer(), "It is a project.");
    assert_eq!(
        guardrail_event(&talk.events[1]),
        (
            "hides",
            &GuardrailStage::Output,
            &GuardrailAction::Rewritten
        )
    );

    // The calls of a blocked answer are not made.
    let (agent, model) = scripted_agent([Reply::text("bad").and_call("t", json!({}))]);
    let agent = agent
        .tool(tool("t", |_, _| panic!("it is not called")))
        .guardrail(hides());
    let talk = agent.run("what?").await.unwrap();
    assert_eq!(
        (talk.answer(), model.requests().len()),
        ("I cannot say.".into(), 1)
    );
}

#[tokio::test]
async fn pieces_reach_no_listener_before_the_answer_was_checked() {
    let pieces = |guardrail: ClosureGuardrail| async move {
        let (agent, _) = scripted_agent([Reply::chunks(["It ", "is ", "Tulip", "."])]);
        let events = agent.streaming().guardrail(guardrail).events("what?");
        let (pieces, _, talk) = crate::kit::collect_stream(events).await;
        (
            pieces.iter().map(AgentEvent::text).collect::<String>(),
            talk.answer(),
        )
    };
    let hides = || {
        on_output("hides", |message: ChatMessage| async move {
            let found = message.text().contains("Tulip");
            Ok(if found {
                Verdict::block("no")
            } else {
                Verdict::Pass
            })
        })
    };
    assert_eq!(pieces(hides()).await, (String::new(), "no".into()));
    assert_eq!(
        pieces(hides().beside_model()).await,
        ("It is ".into(), "no".into()),
        "the stream was stopped"
    );
    assert_eq!(
        pieces(no("x")).await,
        ("It is Tulip.".into(), "It is Tulip.".into())
    );
}

#[tokio::test]
async fn tool_calls_are_blocked_rewritten_and_named() {
    let guardrail = on_tool_call("paths", |call: ToolCall| async move {
        Ok(match call.arguments["path"].as_str() {
            Some("/etc") => Verdict::block("only files here"),
            Some("old") => Verdict::Rewrite(json!({"path": "new"})),
            _ => Verdict::Pass,
        })
    });
    let read = |path: &str| json!({ "path": path });
    let call = Reply::call("read", read("/etc"))
        .and_call("read", read("old"))
        .and_call("read", read("x"));
    let (agent, _) = scripted_agent([call, "done".into()]);
    let agent = agent
        .tool(tool("read", |arguments, _| Ok(arguments["path"].clone())))
        .guardrail(guardrail);
    let talk = agent.run("go").await.unwrap();
    assert_eq!(
        results(&talk),
        [
            json!({"error": "only files here"}),
            json!("new"),
            json!("x")
        ]
    );
    let done: Vec<_> = talk.events[2]
        .guardrails
        .iter()
        .map(|event| (&event.stage, &event.action))
        .collect();
    assert_eq!(done.len(), 2);
    assert!(
        matches!(done[0], (GuardrailStage::ToolCall { tool, .. }, GuardrailAction::Blocked(_)) if tool == "read")
    );
    assert_eq!(done[1].1, &GuardrailAction::Rewritten);
}

#[tokio::test]
async fn a_failed_guardrail_of_a_tool_call_ends_the_run() {
    let (agent, _) = scripted_agent([Reply::call("t", json!({})), "never".into()]);
    let guardrail = on_tool_call("strict", |_| async { Ok(Verdict::fail("never")) });
    let error = agent
        .tool(constant_tool("t", json!(1)))
        .guardrail(guardrail)
        .run("go")
        .await
        .unwrap_err();
    let expected = "guardrail `strict` stopped agent `agent` at a call of the tool `t`";
    assert_eq!(failure(&error), (expected.into(), "never".into()));
}

/// Counts its checks.
struct Counts(Arc<[AtomicUsize; 3]>);

#[async_trait]
impl Guardrail for Counts {
    fn name(&self) -> &'static str {
        "counts"
    }

    async fn check_input(
        &self,
        _: &ChatMessage,
        cx: &GuardrailContext<'_>,
    ) -> Result<Verdict<ChatMessage>, BoxError> {
        assert!(!cx.agent().is_empty() && !cx.is_partial());
        self.0[0].fetch_add(1, SeqCst);
        Ok(Verdict::Pass)
    }

    async fn check_output(
        &self,
        _: &ChatMessage,
        _: &GuardrailContext<'_>,
    ) -> Result<Verdict<ChatMessage>, BoxError> {
        self.0[1].fetch_add(1, SeqCst);
        Ok(Verdict::Pass)
    }

    async fn check_tool_call(
        &self,
        _: &ToolCall,
        _: &GuardrailContext<'_>,
    ) -> Result<Verdict<Value>, BoxError> {
        self.0[2].fetch_add(1, SeqCst);
        Ok(Verdict::Pass)
    }
}

#[tokio::test]
async fn guardrails_hold_for_the_agents_below() {
    let counts: Arc<[AtomicUsize; 3]> = Arc::default();
    let (agent, _) = scripted_agent([
        Reply::call("helper", json!({"request": "x"})),
        "helped".into(),
        "done".into(),
    ]);
    let helper = Agent::named("helper").mode(Mode::SingleTurn);
    let agent = agent
        .sub_agent(helper)
        .guardrail(Counts(Arc::clone(&counts)));
    agent.run("go").await.unwrap();
    let counted: Vec<usize> = counts.iter().map(|count| count.load(SeqCst)).collect();
    assert_eq!(
        counted,
        [2, 2, 1],
        "two messages begin a turn, two answers have text, one call is made"
    );
}

#[tokio::test]
async fn a_decision_of_a_person_is_not_an_input_to_check() {
    let counts: Arc<[AtomicUsize; 3]> = Arc::default();
    let (agent, _) = scripted_agent([Reply::call("t", json!({})), "done".into()]);
    let asks = constant_tool("t", json!("deleted")).confirm_if(|_| Some("sure?".into()));
    let agent = agent.tool(asks).guardrail(Counts(Arc::clone(&counts)));
    let store = InMemoryStore::new();
    let thread = agent.store(&store).thread("t");
    let talk: Conversation = thread.run("go").await.unwrap().into_finished().unwrap();
    let input = ConversationInput::default().confirm(talk.pending()[0].id(), true);
    let talk = thread.run(input).await.unwrap().into_finished().unwrap();
    assert_eq!(talk.answer(), "done");
    assert_eq!(counts[0].load(SeqCst), 1);
}

#[derive(Deserialize, JsonSchema)]
struct Word {
    word: String,
}

/// A structured answer that a model gives with a tool is an answer.
#[tokio::test]
async fn an_answer_that_is_given_with_a_tool_is_checked() {
    let asks = |guard: ClosureGuardrail| {
        let answer = Reply::call("set_model_response", json!({ "word": "secret" }));
        let (agent, _) = scripted_agent([answer]);
        let agent = agent.tool(constant_tool("t", json!(1))).output::<Word>();
        agent.guardrail(guard)
    };
    let blocks = on_output("no secrets", |message: ChatMessage| async move {
        let leaks = message.text().contains("secret");
        Ok(if leaks {
            Verdict::block("I cannot tell.")
        } else {
            Verdict::Pass
        })
    });
    let talk = asks(blocks).run("go").await.unwrap();
    assert_eq!(talk.answer(), "I cannot tell.");
    let rewrites = on_output("no secrets", |message: ChatMessage| async move {
        let text = message.text().replace("secret", "***");
        Ok(Verdict::Rewrite(ChatMessage::assistant(text)))
    });
    let talk = asks(rewrites).run("go").await.unwrap();
    assert_eq!(talk.output::<Word>().unwrap().word, "***");
    let (guardrail, stage, _) = guardrail_event(&talk.events[2]);
    assert_eq!((guardrail, stage), ("no secrets", &GuardrailStage::Output));
    let fails = on_output("no secrets", |_| async { Ok(Verdict::fail("leak")) });
    let error = asks(fails).run("go").await.unwrap_err();
    assert!(
        format!("{error:?}").contains("guardrail `no secrets` stopped"),
        "{error:?}"
    );
}

/// The result of a task is an answer, as text or as JSON.
#[tokio::test]
async fn the_result_of_a_task_is_checked() {
    let team = |typed: bool, guard: ClosureGuardrail| {
        let result = if typed {
            json!({ "word": "secret" })
        } else {
            json!({ "result": "a secret" })
        };
        let (worker, _) = scripted_agent([Reply::call("finish_task", result)]);
        let worker = worker.name("worker").mode(Mode::Task).guardrail(guard);
        let worker = if typed {
            worker.output::<Word>()
        } else {
            worker
        };
        let give = Reply::call("worker", json!({ "request": "go" }));
        let (agent, model) = scripted_agent([give, "done".into()]);
        (agent.name("root").sub_agent(worker), model)
    };
    let seen = |text: &str, new: &str| {
        let (text, new) = (text.to_string(), new.to_string());
        on_output("no secrets", move |message: ChatMessage| {
            assert_eq!(message.text(), text);
            let verdict = match &*new {
                "" => Verdict::block("I cannot tell."),
                new => Verdict::Rewrite(ChatMessage::assistant(new)),
            };
            async move { Ok(verdict) }
        })
    };
    let (text, json) = ("a secret", r#"{"word":"secret"}"#);
    for (typed, guard, expected) in [
        (false, seen(text, "a ***"), json!({ "result": "a ***" })),
        (false, seen(text, ""), json!({ "result": "I cannot tell." })),
        (
            true,
            seen(json, r#"{"word":"***"}"#),
            json!({ "word": "***" }),
        ),
        (true, seen(json, ""), json!({ "result": "I cannot tell." })),
    ] {
        let (agent, model) = team(typed, guard);
        let talk = agent.run("go").await.unwrap();
        assert_eq!(talk.answer(), "done");
        let read = model.requests().pop().unwrap();
        let result = read.messages.last().unwrap().tool_results().next().unwrap();
        assert_eq!((&*result.name, &result.content), ("worker", &expected));
        let finished = talk.events.iter().find(|event| event.output.is_some());
        let finished = finished.unwrap();
        assert_eq!(finished.output, Some(expected));
        let (guardrail, stage, _) = guardrail_event(finished);
        assert_eq!((guardrail, stage), ("no secrets", &GuardrailStage::Output));
    }
    let fails = on_output("no secrets", |_| async { Ok(Verdict::fail("leak")) });
    let error = team(false, fails).0.run("go").await.unwrap_err();
    assert_eq!(failure(&error).1, "leak");
}

/// What a callback makes of the arguments is checked, and is the answer.
#[tokio::test]
async fn an_answer_that_a_callback_has_changed_is_checked_and_used() {
    let sees = on_output("no secrets", |message: ChatMessage| async move {
        assert_eq!(message.text(), r#"{"word":"open"}"#);
        Ok(Verdict::Pass)
    });
    let answer = Reply::call("set_model_response", json!({ "word": "secret" }));
    let (agent, _) = scripted_agent([answer]);
    let agent = agent
        .tool(constant_tool("t", json!(1)))
        .output::<Word>()
        .guardrail(sees)
        .before_tool(|step| {
            step.arguments = json!({ "word": "open" });
            Ok(None)
        });
    let talk = agent.run("go").await.unwrap();
    assert_eq!(talk.output::<Word>().unwrap().word, "open");
}
