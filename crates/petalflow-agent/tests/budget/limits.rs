//! Limits on requests, tokens, money and tool calls.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use petalflow::RunError;
use petalflow::checkpoint::InMemoryStore;
use petalflow_agent::limits::{LimitExceeded, LimitKind, LimitScope};
use petalflow_agent::{Agent, AgentError, Conversation, Limits, Mode};
use petalflow_llm::usage::{Price, Prices};
use petalflow_llm::{
    LlmClient, LlmError, LlmRequest, LlmResponse, Reply, Role, ScriptedModel, TokenUsage,
};
use serde_json::{Map, Value, json};

use crate::kit::{scripted_agent, tool};

fn limit_exceeded(error: &RunError) -> LimitExceeded {
    match cause(error) {
        AgentError::Limit(exceeded) => exceeded.clone(),
        other => panic!("{other:?}"),
    }
}

/// The error of the agent among the causes.
fn cause(error: &RunError) -> &AgentError {
    let mut cause: Option<&(dyn Error + 'static)> = error.get_ref().map(|cause| cause as _);
    while let Some(error) = cause {
        if let Some(found) = error.downcast_ref() {
            return found;
        }
        cause = match error.downcast_ref::<RunError>() {
            Some(run) => run.get_ref().map(|cause| cause as _),
            None => error.source(),
        };
    }
    panic!("{error:?}")
}

fn token_usage(input: u64, output: u64) -> TokenUsage {
    TokenUsage {
        input,
        output,
        total: input + output,
        ..TokenUsage::default()
    }
}

#[tokio::test]
async fn the_request_beyond_the_limit_is_not_made_and_a_raised_limit_resumes() {
    let store = InMemoryStore::new();
    let call = || Reply::call("t", json!({}));
    let (agent, model) = scripted_agent([call(), call()]);
    let agent = agent.tool(crate::kit::constant_tool("t", json!(1)));
    let limited = agent.clone().turn_limits(Limits::new().requests(2));
    let error = limited
        .store(&store)
        .thread("t")
        .run("go")
        .await
        .unwrap_err();
    assert_eq!(model.requests().len(), 2);
    let expected = "agent `agent` stopped at its limit of 2 requests to models in one turn: 2 are used, and the next step needs 1 more; \
         raise `requests` in `.turn_limits(..)`";
    assert_eq!(limit_exceeded(&error).to_string(), expected);
    let snapshot = limited
        .store(&store)
        .thread("t")
        .snapshot()
        .await
        .unwrap()
        .unwrap();
    assert_eq!(snapshot.state.usage().requests, 2, "the count is stored");

    let raised = agent
        .model(ScriptedModel::new(["done"]))
        .turn_limits(Limits::new().requests(3));
    let talk = raised.store(&store).thread("t").resume(()).await.unwrap();
    let talk = talk.into_finished().unwrap();
    assert_eq!(
        (talk.answer(), talk.turn_usage().requests),
        ("done".into(), 3)
    );
}

#[tokio::test]
async fn a_turn_is_counted_anew_and_a_thread_is_not() {
    let store = InMemoryStore::new();
    let agent = |replies: &[&'static str]| {
        Agent::new(ScriptedModel::new(replies.iter().copied()))
            .turn_limits(Limits::new().requests(1))
            .thread_limits(Limits::new().requests(2))
    };
    for (turn, count) in [("one", 1), ("two", 2)] {
        // A new process.
        let thread = agent(&["hi"]).store(&store).thread("t");
        let talk = thread.run(turn).await.unwrap().into_finished().unwrap();
        assert_eq!(
            (talk.turn_usage().requests, talk.usage().requests),
            (1, count)
        );
    }
    let error = agent(&["hi"])
        .store(&store)
        .thread("t")
        .run("three")
        .await
        .unwrap_err();
    let exceeded = limit_exceeded(&error);
    assert_eq!(
        (exceeded.scope, exceeded.kind),
        (LimitScope::Thread, LimitKind::Requests)
    );
    assert!(
        exceeded
            .to_string()
            .ends_with("raise `requests` in `.thread_limits(..)`")
    );
}

#[tokio::test]
async fn without_a_store_the_count_continues_with_the_next_input() {
    let (agent, _) = scripted_agent([
        Reply::text("a").with_usage(token_usage(3, 1)),
        Reply::text("b").with_usage(token_usage(5, 1)),
    ]);
    let talk = agent.run("one").await.unwrap();
    let talk = agent.run(talk.next_input("two")).await.unwrap();
    assert_eq!(
        (talk.usage().tokens.total, talk.turn_usage().tokens.total),
        (10, 6)
    );
    assert_eq!(talk.usage().requests, 2);
}

#[tokio::test]
async fn no_call_of_an_answer_with_too_many_calls_is_made() {
    let count = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&count);
    let counts = move || {
        let counter = Arc::clone(&counter);
        tool("t", move |_, _| Ok(json!(counter.fetch_add(1, SeqCst))))
    };
    let two = || Reply::call("t", json!({})).and_call("t", json!({}));
    let store = InMemoryStore::new();
    let (agent, _) = scripted_agent([two(), two()]);
    let agent = agent.tool(counts());
    let limited = agent.clone().turn_limits(Limits::new().tool_calls(3));
    let error = limited
        .store(&store)
        .thread("t")
        .run("go")
        .await
        .unwrap_err();
    assert_eq!(count.load(SeqCst), 2);
    let limit = limit_exceeded(&error);
    assert_eq!(
        (limit.kind, limit.limit, limit.used, limit.needed),
        (LimitKind::ToolCalls, 3.0, 2.0, 2.0)
    );

    // The answer that was paid for is stored, and its calls are made now.
    let (raised, model) = scripted_agent(["done"]);
    let raised = raised
        .tool(counts())
        .turn_limits(Limits::new().tool_calls(4));
    let talk = raised
        .store(&store)
        .thread("t")
        .resume(())
        .await
        .unwrap()
        .into_finished()
        .unwrap();
    assert_eq!(
        (
            count.load(SeqCst),
            model.requests().len(),
            talk.usage().tool_calls
        ),
        (4, 1, 4)
    );
}

#[tokio::test]
async fn the_tools_of_the_loop_itself_are_not_counted() {
    let (agent, _) = scripted_agent([
        Reply::call("transfer_to_agent", json!({"agent_name": "b"})),
        "here".into(),
    ]);
    let agent = agent
        .name("a")
        .sub_agent(Agent::named("b"))
        .turn_limits(Limits::new().tool_calls(0));
    let talk = agent.run("go").await.unwrap();
    assert_eq!(
        (
            talk.answer(),
            talk.usage().tool_calls,
            talk.usage().requests
        ),
        ("here".into(), 0, 2)
    );
}

#[tokio::test]
async fn tokens_are_limited_before_the_request_by_an_estimate() {
    for (limits, kind) in [
        (Limits::new().input_tokens(50), LimitKind::InputTokens),
        (Limits::new().total_tokens(50), LimitKind::TotalTokens),
        (Limits::new().output_tokens(0), LimitKind::OutputTokens),
    ] {
        let (agent, model) = scripted_agent(["never"]);
        let agent = agent.instructions("word ".repeat(100)).turn_limits(limits);
        let error = agent.run("go").await.unwrap_err();
        assert_eq!(limit_exceeded(&error).kind, kind);
        assert!(model.requests().is_empty(), "{kind:?}");
    }
}

#[tokio::test]
async fn a_request_asks_for_no_more_than_the_tokens_that_are_left() {
    let first = Reply::call("t", json!({})).with_usage(token_usage(10, 60));
    let (agent, model) =
        scripted_agent([first, Reply::text("done").with_usage(token_usage(10, 40))]);
    let agent = agent.tool(crate::kit::constant_tool("t", json!(1)));
    let limited = agent.clone().turn_limits(Limits::new().output_tokens(100));
    limited.run("go").await.unwrap();
    let asked: Vec<_> = model
        .requests()
        .iter()
        .map(|request| request.max_tokens)
        .collect();
    assert_eq!(asked, [Some(100), Some(40)]);

    let (agent, model) = scripted_agent(["hi"]);
    let own = agent.request(|request| request.max_tokens = Some(7));
    own.turn_limits(Limits::new().output_tokens(100))
        .run("go")
        .await
        .unwrap();
    assert_eq!(
        model.requests()[0].max_tokens,
        Some(7),
        "a smaller number of the agent stays"
    );
}

#[tokio::test]
async fn money_is_counted_with_the_prices_and_limited() {
    let price = Price {
        input: 1.0,
        cached: 0.0,
        output: 10.0,
        ..Price::default()
    };
    let reply = |text: &str| {
        let response = LlmResponse {
            model: "m-1".into(),
            usage: token_usage(1_000, 100),
            ..LlmResponse::text_only(text)
        };
        Reply::from(response)
    };
    let (agent, model) = scripted_agent([reply("a"), reply("b"), reply("c")]);
    let agent = agent
        .request(|request| request.model = Some("m-1".into()))
        .prices(Prices::new().with("m", price));
    let agent = agent.thread_limits(Limits::new().cost(0.0041));
    let talk = agent.run("one").await.unwrap();
    assert!((talk.usage().tokens.cost - 0.002).abs() < 1e-9);
    assert!((talk.events[1].usage.unwrap().cost - 0.002).abs() < 1e-9);
    let talk = agent.run(talk.next_input("two")).await.unwrap();
    let left = model.requests()[1].max_tokens.unwrap();
    assert!(
        (180..210).contains(&left),
        "0.0021 dollars buy {left} tokens"
    );
    let error = agent
        .run(talk.next_input(&*"three ".repeat(200)))
        .await
        .unwrap_err();
    let limit = limit_exceeded(&error);
    assert_eq!(
        (limit.kind, limit.scope, model.requests().len()),
        (LimitKind::Cost, LimitScope::Thread, 2)
    );
}

#[tokio::test]
async fn a_limit_of_money_needs_a_price_before_the_first_request() {
    let money = Limits::new().cost(1.0);
    let (agent, model) = scripted_agent(["never"]);
    let error = agent.turn_limits(money.clone()).run("go").await;
    let expected = "the cost of agent `agent` is limited, and its model has no price: add it with `.prices(..)`";
    assert_eq!(cause(&error.unwrap_err()).to_string(), expected);
    assert!(model.requests().is_empty());

    // The client has a name, and no price.
    let named = Agent::new(Named(ScriptedModel::new(["never"])));
    let others = Prices::new().with("m-3", Price::default());
    let error = named
        .prices(others)
        .turn_limits(money.clone())
        .run("go")
        .await;
    let expected = "the cost of agent `agent` is limited, and model `m-2` has no price: add it with `.prices(..)`";
    assert_eq!(cause(&error.unwrap_err()).to_string(), expected);

    // The answer is from another model than the one that was asked.
    let answer = Reply::from(LlmResponse {
        model: "n-1".into(),
        usage: token_usage(1, 1),
        ..LlmResponse::text_only("hi")
    });
    let prices = Prices::new().with("m-2", Price::default());
    let agent = Agent::new(Named(ScriptedModel::new([answer])))
        .prices(prices)
        .turn_limits(money);
    assert_eq!(agent.run("go").await.unwrap().answer(), "hi");
}

#[tokio::test]
async fn a_limit_of_money_needs_the_prices_of_all_agents_before_the_first_request() {
    for mode in [Mode::Chat, Mode::Task, Mode::SingleTurn] {
        let (agent, model) = scripted_agent([Reply::call(
            "transfer_to_agent",
            json!({"agent_name": "writer"}),
        )]);
        let writer = Agent::new(Named(ScriptedModel::new(["never"])))
            .name("writer")
            .mode(mode);
        let error = agent
            .request(|request| request.model = Some("m-1".into()))
            .sub_agent(writer)
            .prices(Prices::new().with("m-1", Price::default()))
            .thread_limits(Limits::new().cost(1.0))
            .run("go")
            .await;
        let expected = "the cost of agent `writer` is limited, and model `m-2` has no price: add it with `.prices(..)`";
        assert_eq!(cause(&error.unwrap_err()).to_string(), expected);
        assert!(model.requests().is_empty());
    }
}

#[tokio::test]
async fn the_prices_of_an_agent_are_its_own_or_those_of_the_agents_above_it() {
    let transfer = Reply::call("transfer_to_agent", json!({"agent_name": "writer"}));
    let (agent, _) = scripted_agent([transfer]);
    let answer = Reply::from(LlmResponse {
        usage: token_usage(1_000_000, 0),
        ..LlmResponse::text_only("hi")
    });
    let price = |input| Price {
        input,
        ..Price::default()
    };
    let writer = Agent::new(Named(ScriptedModel::new([answer])))
        .name("writer")
        .prices(Prices::new().with("m-2", price(2.0)));
    let talk = agent
        .request(|request| request.model = Some("m-1".into()))
        .sub_agent(writer)
        .prices(
            Prices::new()
                .with("m-1", price(0.0))
                .with("m-2", price(1.0)),
        )
        .thread_limits(Limits::new().cost(10.0))
        .run("go")
        .await
        .unwrap();
    assert!((talk.usage().tokens.cost - 2.0).abs() < 1e-9);
}

fn last_meta(talk: &Conversation) -> &Map<String, Value> {
    &talk.events.last().unwrap().meta
}

/// A client of model `m-2` without prices, with one answer.
struct Named(ScriptedModel);

#[petalflow::async_trait]
impl LlmClient for Named {
    fn name(&self) -> &'static str {
        "named"
    }

    fn model(&self) -> Option<&str> {
        Some("m-2")
    }

    async fn complete(&self, request: &LlmRequest) -> Result<LlmResponse, LlmError> {
        self.0.complete(request).await
    }
}

#[tokio::test]
async fn usage_that_a_server_does_not_report_is_estimated_for_limits() {
    let price = Price {
        input: 1_000.0,
        output: 1_000.0,
        ..Price::default()
    };
    let agent = || {
        let model = Named(ScriptedModel::from_fn(|_| "a".repeat(400)));
        Agent::new(model).prices(Prices::new().with("m-2", price))
    };
    // Without limits nothing is estimated.
    let free = agent().run("go").await.unwrap();
    assert_eq!(free.usage().tokens, TokenUsage::default());
    assert!(
        !last_meta(&free).contains_key("estimated_usage"),
        "{free:?}"
    );

    let talk = agent()
        .turn_limits(Limits::new().cost(1.0))
        .run("go")
        .await
        .unwrap();
    let tokens = talk.usage().tokens;
    assert!((100..110).contains(&tokens.output), "{tokens:?}");
    assert_eq!(tokens.total, tokens.input + tokens.output);
    assert!(tokens.cost > 0.1, "{tokens:?}");
    assert_eq!(
        last_meta(&talk).get("estimated_usage"),
        Some(&json!(true)),
        "{talk:?}"
    );

    // A model without a name, as in most tests, costs as much as the most expensive one may.
    let (unnamed, _) = scripted_agent(["hi"]);
    let unnamed = unnamed.prices(
        Prices::new()
            .with("m-1", Price::default())
            .with("m-2", price),
    );
    let talk = unnamed.turn_limits(Limits::new().cost(1.0)).run("go").await;
    assert!(talk.unwrap().usage().tokens.cost > 0.0);

    // The next turn of the conversation does not fit.
    let agent = agent().thread_limits(Limits::new().cost(0.15));
    let talk = agent.run("go").await.unwrap();
    let error = agent.run(talk.next_input("again")).await.unwrap_err();
    assert_eq!(limit_exceeded(&error).kind, LimitKind::Cost);
}

/// A lead that asks two researchers at once, each of which makes two requests.
fn team(limits: Limits) -> (Agent, Arc<ScriptedModel>) {
    let model = Arc::new(ScriptedModel::from_fn(|request: &LlmRequest| {
        let is_lead = request.tools.iter().any(|tool| tool.name == "one");
        let has_results = request
            .messages
            .iter()
            .any(|message| message.role == Role::Tool);
        let reply = match (is_lead, has_results) {
            (_, true) => Reply::text("done"),
            (true, _) => {
                Reply::call("one", json!({"request": "x"})).and_call("two", json!({"request": "y"}))
            }
            (false, _) => Reply::call("look", json!({})),
        };
        reply.with_usage(token_usage(10, 10))
    }));
    let researcher = |name: &str| {
        let agent = Agent::named(name)
            .description("Looks things up.")
            .mode(Mode::SingleTurn);
        agent.tool(crate::kit::constant_tool("look", json!("found")))
    };
    let lead = Agent::new(Arc::clone(&model))
        .name("lead")
        .turn_limits(limits);
    (
        lead.sub_agent(researcher("one"))
            .sub_agent(researcher("two")),
        model,
    )
}

#[tokio::test]
async fn the_usage_of_called_agents_counts_for_their_caller() {
    let (lead, model) = team(Limits::new());
    let talk = lead.run("go").await.unwrap();
    assert_eq!((talk.answer(), model.requests().len()), ("done".into(), 6));
    let usage = talk.usage();
    assert_eq!(
        (usage.requests, usage.tool_calls, usage.tokens.total),
        (6, 4, 120)
    );
}

#[tokio::test]
async fn agents_that_are_called_at_once_share_the_limits_of_their_caller() {
    for limit in 1..6 {
        let (lead, model) = team(Limits::new().requests(limit));
        let error = lead.run("go").await.unwrap_err();
        assert_eq!(limit_exceeded(&error).kind, LimitKind::Requests, "{limit}");
        assert_eq!(
            model.requests().len() as u64,
            limit,
            "each allowed request was made, and none more"
        );
    }
    let (lead, _) = team(Limits::new().requests(6).tool_calls(4));
    lead.run("go").await.unwrap();
    let (lead, _) = team(Limits::new().tool_calls(3));
    assert_eq!(
        limit_exceeded(&lead.run("go").await.unwrap_err()).kind,
        LimitKind::ToolCalls
    );
}

#[tokio::test]
async fn limits_of_an_agent_below_another_are_refused() {
    let (agent, _) = scripted_agent(["hi"]);
    let below = Agent::named("below").turn_limits(Limits::new().requests(1));
    let error = agent.sub_agent(below).run("go").await.unwrap_err();
    assert!(matches!(cause(&error), AgentError::LimitsOfSubAgent(name) if name == "below"));
}

#[tokio::test]
async fn a_callback_that_answers_makes_no_request() {
    let (agent, _) = scripted_agent(["never"]);
    let agent = agent.before_model(|_| Ok(Some(LlmResponse::text_only("cached"))));
    let talk = agent
        .turn_limits(Limits::new().requests(0))
        .run("go")
        .await
        .unwrap();
    assert_eq!((talk.answer(), talk.usage().requests), ("cached".into(), 0));
}

#[tokio::test]
async fn a_cost_limit_that_is_nan_allows_nothing() {
    let (agent, model) = scripted_agent(["never"]);
    let agent = agent.prices(Prices::new().with("", Price::default()));
    let agent = agent.turn_limits(Limits::new().cost(f64::NAN));
    let error = agent.run("go").await.unwrap_err();
    assert_eq!(limit_exceeded(&error).kind, LimitKind::Cost);
    assert!(model.requests().is_empty());
}

/// A client that knows its price, and answers with as many tokens as it may.
struct Priced(ScriptedModel);

#[petalflow::async_trait]
impl LlmClient for Priced {
    fn name(&self) -> &'static str {
        "priced"
    }

    fn model(&self) -> Option<&str> {
        Some("m-1")
    }

    fn price(&self, _: &str) -> Option<Price> {
        Some(Price {
            output: 1_000.0,
            ..Price::default()
        })
    }

    async fn complete(&self, request: &LlmRequest) -> Result<LlmResponse, LlmError> {
        let tokens = u64::from(request.max_tokens.unwrap_or(60));
        let mut usage = token_usage(0, tokens);
        usage.cost = self.price("m-1").unwrap().cost(&usage);
        let response = self.0.complete(request).await?;
        Ok(LlmResponse { usage, ..response })
    }
}

#[tokio::test]
async fn a_limit_of_money_holds_with_the_prices_of_the_client() {
    let agent = Agent::new(Priced(ScriptedModel::new(["hi"])));
    let talk = agent
        .turn_limits(Limits::new().cost(0.05))
        .run("go")
        .await
        .unwrap();
    let cost = talk.usage().tokens.cost;
    assert!(cost <= 0.05 && cost > 0.0, "{cost} of 0.05");
}
