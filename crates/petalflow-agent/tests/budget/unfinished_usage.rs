//! The usage of steps that did not finish is counted.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use petalflow::checkpoint::InMemoryStore;
use petalflow::policy::Retry;
use petalflow::tool::{FuncTool, ToolSpec};
use petalflow::{BoxError, async_trait};
use petalflow_agent::compaction::{CompactionContext, Compactor, ContextSize};
use petalflow_agent::guardrail::{self, Verdict};
use petalflow_agent::limits::{LimitExceeded, LimitKind};
use petalflow_agent::{Agent, AgentError, Conversation, Limits, Mode};
use petalflow_llm::{
    ChatMessage, LlmClient, LlmRequest, LlmResponse, Reply, Role, ScriptedModel, TokenUsage,
};
use serde_json::json;

use crate::kit::{constant_tool, scripted_agent};

fn tokens(reply: impl Into<Reply>) -> Reply {
    reply.into().with_usage(TokenUsage {
        input: 7,
        output: 3,
        total: 10,
        ..TokenUsage::default()
    })
}

fn limit_exceeded(error: &petalflow::RunError) -> &LimitExceeded {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = error.get_ref().map(|e| e as _);
    while let Some(error) = cause {
        if let Some(AgentError::Limit(limit)) = error.downcast_ref() {
            return limit;
        }
        cause = match error.downcast_ref::<petalflow::RunError>() {
            Some(run) => run.get_ref().map(|cause| cause as _),
            None => error.source(),
        };
    }
    panic!("{error:?}")
}

/// A lead whose helpers `one` and `two` make a request, call the tool `wait`, and make another request. The tool hangs for a
/// helper until `works` is set, unless the helper is `quick`.
struct Team {
    works: Arc<AtomicBool>,
    quick: &'static str,
    calls: &'static [&'static str],
}

impl Team {
    fn new(calls: &'static [&'static str], quick: &'static str) -> Self {
        Team {
            works: Arc::default(),
            quick,
            calls,
        }
    }

    fn agent(&self, limits: Limits) -> (Agent, Arc<ScriptedModel>) {
        let calls = self.calls;
        let model = Arc::new(ScriptedModel::from_fn(move |request: &LlmRequest| {
            let is_lead = request.tools.iter().any(|tool| tool.name == "one");
            let messages = &request.messages;
            let last_user = messages.iter().rposition(|one| one.role == Role::User);
            let new = &messages[last_user.unwrap_or(0)..];
            let has_results = new.iter().any(|message| message.role == Role::Tool);
            tokens(match (is_lead, has_results) {
                (true, false) if new[0].text() == "go" => {
                    let call = |name: &str| Reply::call(name, json!({ "request": "x" }));
                    let first = call(calls[0]);
                    let more = calls[1..].iter();
                    more.fold(first, |reply, name| {
                        reply.and_call(*name, json!({ "request": "x" }))
                    })
                }
                (false, false) => Reply::call("wait", json!({})),
                _ => "done".into(),
            })
        }));
        let helper = |name: &'static str| {
            let works = Arc::clone(&self.works);
            let hangs = name != self.quick;
            let spec = ToolSpec::new("wait", "Waits.", json!({ "type": "object" }));
            let wait = FuncTool::untyped(spec, move |_, _| {
                let hangs = hangs && !works.load(SeqCst);
                async move {
                    if hangs {
                        std::future::pending::<()>().await;
                    }
                    Ok(json!("waited"))
                }
            });
            let agent = Agent::named(name).description("Helps.");
            agent.mode(Mode::SingleTurn).tool(wait)
        };
        let lead = Agent::new(Arc::clone(&model)).name("lead");
        let lead = lead.sub_agent(helper("one")).sub_agent(helper("two"));
        (lead.thread_limits(limits), model)
    }

    /// A process that dies while helpers wait.
    async fn crashes(&self, store: &InMemoryStore) {
        let (agent, _) = self.agent(Limits::new());
        let thread = agent.store(store).thread("t");
        let crash = tokio::time::timeout(Duration::from_secs(1), thread.run("go"));
        crash.await.unwrap_err();
    }

    async fn run_turn(&self, store: &InMemoryStore, limits: Limits, text: &str) -> Conversation {
        let (agent, _) = self.agent(limits);
        let done = agent.store(store).thread("t").run(text).await;
        done.unwrap().into_finished().unwrap()
    }
}

fn counts(talk: &Conversation) -> (u64, u64) {
    (talk.usage().requests, talk.usage().tokens.total)
}

#[tokio::test(start_paused = true)]
async fn a_new_message_after_a_crash_counts_what_a_called_agent_had_used() {
    let store = InMemoryStore::new();
    let team = Team::new(&["one"], "");
    team.crashes(&store).await;
    // The lead and the helper have made one request each.
    let talk = team.run_turn(&store, Limits::new(), "hello").await;
    assert_eq!(counts(&talk), (3, 30));
    let talk = team.run_turn(&store, Limits::new(), "hello").await;
    assert_eq!(counts(&talk), (4, 40), "nothing counts twice");
}

#[tokio::test(start_paused = true)]
async fn a_new_message_after_a_crash_counts_agents_that_had_finished_and_others() {
    let store = InMemoryStore::new();
    let team = Team::new(&["one", "two"], "two");
    team.crashes(&store).await;
    // The lead and the helper `one` have made one request each, and the helper `two` two.
    let talk = team.run_turn(&store, Limits::new(), "hello").await;
    assert_eq!(counts(&talk), (5, 50));
}

#[tokio::test(start_paused = true)]
async fn a_limit_of_the_thread_holds_over_turns_that_break_off() {
    let store = InMemoryStore::new();
    let team = Team::new(&["one", "two"], "");
    for _ in 0..3 {
        team.crashes(&store).await;
    }
    // Each turn has made three requests.
    let (agent, model) = team.agent(Limits::new().requests(9));
    let error = agent.store(&store).thread("t").run("hello").await;
    let error = error.unwrap_err();
    let limit = limit_exceeded(&error);
    assert_eq!((limit.kind, limit.used), (LimitKind::Requests, 9.0));
    assert!(model.requests().is_empty());
}

#[tokio::test(start_paused = true)]
async fn agents_whose_calls_resume_know_at_once_what_the_others_had_used() {
    // Three requests were made, and three more are needed.
    for limit in 3..=6 {
        let store = InMemoryStore::new();
        let team = Team::new(&["one", "two"], "");
        team.crashes(&store).await;
        team.works.store(true, SeqCst);
        let (agent, model) = team.agent(Limits::new().requests(limit));
        let resumed = agent.store(&store).thread("t").resume(()).await;
        assert_eq!(model.requests().len() as u64, limit - 3, "{limit}");
        if limit < 6 {
            let error = resumed.unwrap_err();
            assert_eq!(limit_exceeded(&error).limit.to_string(), limit.to_string());
            continue;
        }
        let talk = resumed.unwrap().into_finished().unwrap();
        assert_eq!(counts(&talk), (6, 60));
    }
}

#[tokio::test]
async fn an_answer_that_fails_the_run_is_counted() {
    let store = InMemoryStore::new();
    let no = |agent: Agent| {
        agent.guardrail(guardrail::on_output("no", |_| async {
            Ok(Verdict::fail("never"))
        }))
    };
    let limits = Limits::new().requests(3);
    for _ in 0..3 {
        let (agent, _) = scripted_agent([tokens("secret")]);
        let agent = no(agent).thread_limits(limits.clone());
        let error = agent.store(&store).thread("t").run("go").await;
        assert!(error.unwrap_err().to_string().contains("never"));
    }
    let (agent, model) = scripted_agent(["never asked"]);
    let agent = no(agent).thread_limits(limits.clone());
    let error = agent.store(&store).thread("t").run("go").await;
    assert_eq!(limit_exceeded(&error.unwrap_err()).used.to_string(), "3");
    assert!(model.requests().is_empty());

    // A resume continues the count of the step.
    let store = InMemoryStore::new();
    let (agent, _) = scripted_agent([tokens("secret")]);
    no(agent)
        .store(&store)
        .thread("t")
        .run("go")
        .await
        .unwrap_err();
    let (agent, _) = scripted_agent([tokens("secret")]);
    no(agent)
        .store(&store)
        .thread("t")
        .resume(())
        .await
        .unwrap_err();
    let (agent, _) = scripted_agent([tokens("open")]);
    let talk = agent.store(&store).thread("t").resume(()).await.unwrap();
    assert_eq!(counts(&talk.into_finished().unwrap()), (3, 30));
}

#[tokio::test(start_paused = true)]
async fn attempts_that_fail_after_their_answer_are_counted_and_limited() {
    let agent = |limit| {
        let (agent, model) = scripted_agent([tokens("a"), tokens("b"), tokens("c")]);
        let failures = AtomicUsize::new(0);
        let agent = agent.retry(Retry::attempts(5)).after_model(move |_, _| {
            if failures.fetch_add(1, SeqCst) < 2 {
                return Err(petalflow_llm::LlmError::request("not yet").into());
            }
            Ok(None)
        });
        (agent.turn_limits(Limits::new().requests(limit)), model)
    };
    let (three, _) = agent(3);
    let talk = three.run("go").await.unwrap();
    assert_eq!((talk.answer(), counts(&talk)), ("c".into(), (3, 30)));
    let (two, model) = agent(2);
    let error = two.run("go").await.unwrap_err();
    assert_eq!(
        (limit_exceeded(&error).used, model.requests().len()),
        (2.0, 2)
    );
}

#[tokio::test]
async fn an_answer_that_a_callback_replaces_was_paid_for() {
    let (agent, _) = scripted_agent([tokens("hello")]);
    let agent = agent.after_model(|_, _| Ok(Some(LlmResponse::text_only("censored"))));
    let talk = agent.run("go").await.unwrap();
    assert_eq!((talk.answer(), counts(&talk)), ("censored".into(), (1, 10)));
}

/// Asks a model as often as it is told.
struct Asks(Arc<dyn LlmClient>, usize);

#[async_trait]
impl Compactor for Asks {
    fn is_due(&self, size: ContextSize) -> bool {
        size.messages > 2
    }

    fn messages_to_keep(&self, _: &[ChatMessage]) -> usize {
        1
    }

    async fn replace(
        &self,
        _: &[ChatMessage],
        cx: &CompactionContext<'_>,
    ) -> Result<Vec<ChatMessage>, BoxError> {
        for _ in 0..self.1 {
            cx.ask(&self.0, LlmRequest::default()).await?;
        }
        Err("no summary".into())
    }
}

#[tokio::test]
async fn all_requests_of_a_compaction_are_limited_and_counted_if_it_fails() {
    let small = Arc::new(ScriptedModel::from_fn(|_| tokens("short")));
    let agent = |limits| {
        let client: Arc<dyn LlmClient> = small.clone();
        let agent = Agent::new(ScriptedModel::from_fn(|_| tokens("yes")));
        agent.compaction(Asks(client, 3)).thread_limits(limits)
    };
    let store = InMemoryStore::new();
    let thread = |limits: Limits| agent(limits).store(&store).thread("t");
    thread(Limits::new())
        .run("one")
        .await
        .unwrap()
        .into_finished()
        .unwrap();
    let error = thread(Limits::new().requests(3)).run("two").await;
    assert_eq!(limit_exceeded(&error.unwrap_err()).used.to_string(), "3");
    assert_eq!(small.requests().len(), 2);
    let error = thread(Limits::new()).resume(()).await.unwrap_err();
    assert!(error.to_string().contains("no summary"), "{error}");
    let error = thread(Limits::new().requests(6)).run("three").await;
    assert_eq!(limit_exceeded(&error.unwrap_err()).used.to_string(), "6");
}

#[tokio::test]
async fn calls_of_an_answer_are_counted_once() {
    let (agent, _) = scripted_agent([tokens(Reply::call("t", json!({}))), tokens("done")]);
    let talk = agent
        .tool(constant_tool("t", json!(1)))
        .run("go")
        .await
        .unwrap();
    assert_eq!((talk.usage().tool_calls, counts(&talk)), (1, (2, 20)));
}
