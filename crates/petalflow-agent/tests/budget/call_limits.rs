//! Limits of one call of an agent by another.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Duration;

use petalflow::checkpoint::InMemoryStore;
use petalflow::thread::Durability;
use petalflow::tool::{FuncTool, ToolSpec};
use petalflow_agent::deep::DeepAgent;
use petalflow_agent::{Agent, Conversation, ConversationInput, Limits, Mode};
use petalflow_llm::usage::{Price, Prices};
use petalflow_llm::{LlmRequest, Reply, Role, ScriptedModel, TokenUsage};
use petalflow_testing::{FaultKind, crashes};
use serde_json::{Value, json};

use crate::kit::{constant_tool, results, tool};

/// Each answer has used 100 tokens, of which 10 are those of the answer.
fn priced(reply: impl Into<Reply>) -> Reply {
    reply.into().with_usage(TokenUsage {
        input: 90,
        output: 10,
        total: 100,
        ..TokenUsage::default()
    })
}

fn prices() -> Prices {
    // An answer costs 0.0001 dollars.
    let price = Price {
        input: 1.0,
        output: 1.0,
        ..Price::default()
    };
    Prices::new().with("m", price)
}

/// How many results the conversation of this request has.
fn steps(request: &LlmRequest) -> usize {
    let messages = request.messages.iter();
    messages
        .filter(|message| message.role == Role::Tool)
        .count()
}

/// A lead that calls `reader` once for each of these texts, all at once. A reader looks as often as its text says.
fn lead_and_reader(texts: &'static [&'static str]) -> (Agent, Agent, Arc<ScriptedModel>) {
    let model = Arc::new(ScriptedModel::from_fn(move |request: &LlmRequest| {
        let is_lead = request.tools.iter().any(|tool| tool.name == "reader");
        if is_lead {
            return priced(match steps(request) {
                0 => {
                    let mut calls = texts.iter().map(|text| json!({ "request": text }));
                    let first = Reply::call("reader", calls.next().unwrap());
                    calls.fold(first, |reply, call| reply.and_call("reader", call))
                }
                _ => "done".into(),
            });
        }
        let text = request.messages[0].text();
        let wanted = texts.iter().find(|one| text.contains(**one)).unwrap();
        let wanted: usize = wanted.split(' ').next().unwrap().parse().unwrap();
        priced(if steps(request) < wanted {
            Reply::call("look", json!({}))
        } else {
            format!("looked {wanted} times").into()
        })
    }));
    let reader = Agent::named("reader")
        .description("Reads.")
        .mode(Mode::SingleTurn)
        .tool(constant_tool("look", json!("found")));
    let lead = Agent::new(Arc::clone(&model)).name("lead").prices(prices());
    (
        lead.request(|request| request.model = Some("m".into())),
        reader,
        model,
    )
}

fn error_of(result: &Value) -> &str {
    result["error"]
        .as_str()
        .unwrap_or_else(|| panic!("{result}"))
}

fn total(talk: &Conversation) -> (u64, u64) {
    (talk.usage().requests, talk.usage().tokens.total)
}

#[tokio::test]
async fn f44_3_a_call_that_reaches_its_limit_has_a_result_that_says_so() {
    for (limits, words, method) in [
        (
            Limits::new().total_tokens(250),
            "250 tokens",
            "total_tokens",
        ),
        (
            Limits::new().input_tokens(190),
            "190 input tokens",
            "input_tokens",
        ),
        (
            Limits::new().output_tokens(20),
            "20 output tokens",
            "output_tokens",
        ),
        (Limits::new().cost(0.000_22), "0.00022 US dollars", "cost"),
        (
            Limits::new().requests(2),
            "2 requests to models",
            "requests",
        ),
        (Limits::new().tool_calls(1), "1 tool calls", "tool_calls"),
    ] {
        let (lead, reader, model) = lead_and_reader(&["5 looks"]);
        let reader = reader.request(|request| request.model = Some("m".into()));
        let talk = lead.sub_agent(reader.call_limits(limits)).run("go").await;
        let talk = talk.unwrap_or_else(|error| panic!("{method}: {error:?}"));
        assert_eq!(talk.answer(), "done", "{method}");
        let results = results(&talk);
        let error = error_of(results.last().unwrap());
        let begin = format!("agent `reader` stopped at its limit of {words} in one call: ");
        assert!(error.starts_with(&begin), "{error}");
        let end = format!(
            " more; give it a smaller part of the work, or raise `{method}` in `.call_limits(..)`"
        );
        assert!(error.ends_with(&end), "{error}");
        // What it has used counts for the whole: two requests of the reader, and two of the lead.
        assert_eq!(total(&talk), (4, 400), "{method}");
        assert_eq!(model.requests().len(), 4);
    }
}

#[tokio::test]
async fn f44_3_a_request_of_a_call_asks_for_no_more_tokens_than_the_call_has_left() {
    let (lead, reader, model) = lead_and_reader(&["1 look"]);
    let limited = reader.call_limits(Limits::new().output_tokens(100));
    let lead = lead.turn_limits(Limits::new().output_tokens(105));
    lead.sub_agent(limited).run("go").await.unwrap();
    let asked: Vec<_> = model.requests().iter().map(|it| it.max_tokens).collect();
    // The lead, the reader twice, the lead. The least of both limits is asked for.
    assert_eq!(asked, [Some(105), Some(95), Some(85), Some(75)]);
}

#[tokio::test]
async fn f44_3_calls_at_the_same_time_have_counts_of_their_own() {
    let (lead, reader, model) = lead_and_reader(&["1 look", "9 looks", "2 looks"]);
    let limited = reader.call_limits(Limits::new().total_tokens(350));
    let talk = lead.sub_agent(limited).run("go").await.unwrap();
    let results = results(&talk);
    let [.., first, second, third] = &results[..] else {
        panic!("{results:?}")
    };
    assert_eq!(first["result"], "looked 1 times");
    assert!(error_of(second).contains("300 are used"), "{second}");
    assert_eq!(third["result"], "looked 2 times");
    assert_eq!(total(&talk), (2 + 2 + 3 + 3, 1_000));
    assert_eq!(model.requests().len(), 10);
    // The limits of the whole end the run, as before.
    let (lead, reader, model) = lead_and_reader(&["1 look", "9 looks", "2 looks"]);
    let limited = reader.call_limits(Limits::new().total_tokens(350));
    let whole = lead.turn_limits(Limits::new().requests(5));
    let error = whole.sub_agent(limited).run("go").await.unwrap_err();
    assert!(
        error
            .to_string()
            .contains("limit of 5 requests to models in one turn"),
        "{error}"
    );
    assert_eq!(model.requests().len(), 5);
}

/// A lead whose `reader` calls `one` and `two` at once, each of which looks twice.
fn three_levels(limits: Limits, hangs: Arc<AtomicBool>) -> (Agent, Arc<ScriptedModel>) {
    let model = Arc::new(ScriptedModel::from_fn(move |request: &LlmRequest| {
        let has = |name: &str| request.tools.iter().any(|tool| tool.name == name);
        priced(match steps(request) {
            0 if has("reader") => Reply::call("reader", json!({ "request": "x" })),
            0 if has("one") => {
                let call = |name: &str| (name.to_string(), json!({ "request": "x" }));
                let [(one, first), (two, second)] = [call("one"), call("two")];
                Reply::call(one, first).and_call(two, second)
            }
            step if step < 2 && has("look") => Reply::call("look", json!({})),
            _ => "done".into(),
        })
    }));
    let helper = |name: &str| {
        let hangs = Arc::clone(&hangs);
        let spec = ToolSpec::new("look", "Looks.", json!({ "type": "object" }));
        let look = FuncTool::untyped(spec, move |_, _| {
            let hangs = hangs.load(SeqCst);
            async move {
                if hangs {
                    std::future::pending::<()>().await;
                }
                Ok(json!("found"))
            }
        });
        Agent::named(name)
            .description("Helps.")
            .mode(Mode::SingleTurn)
            .tool(look)
    };
    let reader = Agent::named("reader")
        .description("Reads.")
        .mode(Mode::SingleTurn);
    let reader = reader.sub_agent(helper("one")).sub_agent(helper("two"));
    let lead = Agent::new(Arc::clone(&model)).name("lead");
    (lead.sub_agent(reader.call_limits(limits)), model)
}

#[tokio::test]
async fn f44_3_a_call_counts_what_agents_below_it_use() {
    // The reader makes two requests, and each helper three.
    for limit in 1..=8 {
        let (lead, model) = three_levels(Limits::new().requests(limit), Arc::default());
        let talk = lead.run("go").await.unwrap();
        let results = results(&talk);
        let last = results.last().unwrap();
        if limit == 8 {
            assert_eq!(last["result"], "done");
        } else {
            let begin = format!("agent `reader` stopped at its limit of {limit} requests");
            assert!(error_of(last).starts_with(&begin), "{last}");
        }
        let of_lead = 2;
        assert_eq!(model.requests().len() as u64, limit + of_lead, "{limit}");
        assert_eq!(total(&talk), (limit + of_lead, 100 * (limit + of_lead)));
    }
}

#[tokio::test(start_paused = true)]
async fn f44_3_a_call_that_resumes_knows_what_agents_below_it_had_used() {
    // At the crash the reader and both helpers have made one request each.
    for limit in 3..=8 {
        let store = InMemoryStore::new();
        let hangs = Arc::new(AtomicBool::new(true));
        let (lead, _) = three_levels(Limits::new().requests(limit), Arc::clone(&hangs));
        let thread = lead.store(&store).thread("t");
        let crash = tokio::time::timeout(Duration::from_secs(1), thread.run("go"));
        crash.await.unwrap_err();
        hangs.store(false, SeqCst);
        let (lead, model) = three_levels(Limits::new().requests(limit), hangs);
        let talk = lead.store(&store).thread("t").resume(()).await.unwrap();
        let talk = talk.into_finished().unwrap();
        let after_crash = limit - 3;
        let of_lead = 1;
        assert_eq!(
            model.requests().len() as u64,
            after_crash + of_lead,
            "{limit}"
        );
        let all = limit + 2;
        assert_eq!(total(&talk), (all, 100 * all), "{limit}");
    }
}

#[tokio::test]
async fn f44_3_a_call_that_waits_for_a_person_continues_its_count() {
    for limit in 1..=3 {
        let model = Arc::new(ScriptedModel::from_fn(|request: &LlmRequest| {
            let is_lead = request.tools.iter().any(|tool| tool.name == "cleaner");
            priced(match (is_lead, steps(request)) {
                (true, 0) => Reply::call("cleaner", json!({ "request": "x" })),
                (false, 0) => Reply::call("remove", json!({})),
                (false, 1) => Reply::call("look", json!({})),
                _ => "done".into(),
            })
        }));
        let remove = tool("remove", |_, _| Ok(json!("removed")));
        let remove = remove.confirm_if(|_| Some("Remove it?".to_string()));
        let cleaner = Agent::named("cleaner")
            .description("Cleans.")
            .mode(Mode::SingleTurn);
        let cleaner = cleaner
            .tool(remove)
            .tool(constant_tool("look", json!("clean")));
        let lead = Agent::new(Arc::clone(&model));
        let lead = lead.sub_agent(cleaner.call_limits(Limits::new().requests(limit)));
        let talk = lead.run("clean").await.unwrap();
        let id = talk.pending()[0].id().to_string();
        let answer = ConversationInput::default().confirm(id, true);
        let talk = lead.run(talk.next_input(answer)).await.unwrap();
        assert_eq!(talk.answer(), "done", "{limit}");
        let results = results(&talk);
        let result = results.last().unwrap();
        if limit < 3 {
            let words =
                format!("limit of {limit} requests to models in one call: {limit} are used");
            assert!(error_of(result).contains(&words), "{result}");
        } else {
            assert_eq!(result["result"], "done");
        }
        assert_eq!(total(&talk), (limit + 2, 100 * (limit + 2)));
    }
}

#[tokio::test(start_paused = true)]
async fn f44_3_limited_calls_have_the_same_results_after_every_crash() {
    let agent = || {
        let (lead, reader, _) = lead_and_reader(&["1 look", "9 looks"]);
        lead.sub_agent(reader.call_limits(Limits::new().requests(2)))
    };
    // If the store fails once while it records the failure of a called agent, for people, the run goes on.
    let kinds = [
        FaultKind::KilledBefore,
        FaultKind::KilledAfter,
        FaultKind::OutageAfter,
    ];
    let crashed = crashes(move || agent().launch(), || "go")
        .kinds(kinds)
        .durabilities([Durability::Sync])
        .after(|talk, what| {
            let results = results(talk);
            assert!(
                error_of(results.last().unwrap()).contains("2 are used"),
                "{what}"
            );
            assert_eq!(talk.answer(), "done", "{what}");
        })
        .check()
        .await;
    assert!(crashed.trials > 50, "{}", crashed.trials);
}

#[tokio::test]
async fn f44_3_the_worker_of_a_deep_agent_can_be_limited() {
    let model = Arc::new(ScriptedModel::from_fn(|request: &LlmRequest| {
        let is_lead = request.tools.iter().any(|tool| tool.name == "worker");
        priced(match (is_lead, steps(request)) {
            (true, 0) => Reply::call("worker", json!({ "request": "x" })),
            (true, _) => "done".into(),
            (false, _) => Reply::call("ls", json!({})),
        })
    }));
    let limits = Limits::new().total_tokens(100_000).requests(3);
    let agent = DeepAgent::new(Arc::clone(&model))
        .worker_limits(limits)
        .build();
    let talk = agent.run("go").await.unwrap();
    let results = results(&talk);
    let error = error_of(results.last().unwrap());
    assert!(
        error.starts_with("agent `worker` stopped at its limit of 3 requests"),
        "{error}"
    );
    assert_eq!((talk.answer(), model.requests().len()), ("done".into(), 5));
}

#[tokio::test]
async fn f44_3_limits_of_calls_that_cannot_hold_are_refused_before_the_first_request() {
    for mode in [Mode::Chat, Mode::Task] {
        let (lead, reader, model) = lead_and_reader(&["1 look"]);
        let limited = reader.mode(mode).call_limits(Limits::new().requests(1));
        let error = lead.sub_agent(limited).run("go").await.unwrap_err();
        let expected = "agent `reader` has limits of its calls, and its calls have no conversation of their own: set \
                        `.mode(Mode::SingleTurn)`, or set limits at the agent above all others";
        assert!(error.to_string().contains(expected), "{error}");
        assert!(model.requests().is_empty());
    }
    // A model whose money is limited has a price. The lead itself needs none.
    let (lead, reader, model) = lead_and_reader(&["1 look"]);
    let limited = reader.request(|request| request.model = Some("other".into()));
    let limited = limited.call_limits(Limits::new().cost(1.0));
    let error = lead.sub_agent(limited).run("go").await.unwrap_err();
    let expected = "the cost of agent `reader` is limited, and model `other` has no price: add it with `.prices(..)`";
    assert!(error.to_string().contains(expected), "{error}");
    assert!(model.requests().is_empty());
    // The program runs the agent itself: this is no call.
    let (_, reader, model) = lead_and_reader(&["2 looks"]);
    let alone = reader
        .model(Arc::clone(&model))
        .call_limits(Limits::new().requests(1));
    assert_eq!(
        alone.run("2 looks").await.unwrap().answer(),
        "looked 2 times"
    );
}
