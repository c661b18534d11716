//! Typed answers while a model writes them.

use std::collections::BTreeMap;
use std::time::Duration;

use petalflow::checkpoint::InMemoryStore;
use petalflow::policy::Retry;
use petalflow::tool::Partial;
use petalflow_agent::guardrail::{self, Verdict};
use petalflow_agent::stream::{AgentEventKind, AgentEvents};
use petalflow_agent::{Agent, Mode};
use petalflow_llm::stream::Delta;
use petalflow_llm::{Capabilities, LlmError, LlmErrorKind, Reply, ScriptedModel};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::kit::{assert_grows, constant_tool, partial_outputs};

#[derive(Debug, PartialEq, Deserialize, schemars::JsonSchema, Partial)]
#[serde(rename_all = "camelCase")]
#[partial(derive(Clone, PartialEq))]
struct Plan {
    title: String,
    cook_minutes: u32,
    risk: Risk,
    steps: Vec<Step>,
    #[serde(rename = "by")]
    author: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Deserialize, schemars::JsonSchema, Partial)]
enum Risk {
    Low,
    Lower,
}

#[derive(Debug, PartialEq, Deserialize, schemars::JsonSchema, Partial)]
#[partial(derive(Clone, PartialEq))]
struct Step {
    text: String,
    minutes: Option<u8>,
}

const PLAN: &str = r#"{"title": "Soup \"à la\" Ann", "cookMinutes": 12, "risk": "Lower",
    "steps": [{"text": "Cut.", "minutes": 5}, {"text": "Boil.", "minutes": null}], "by": "Ann"}"#;

/// The text in pieces of so many bytes, or a few more.
fn pieces(text: &str, size: usize) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let end = (size..=rest.len()).find(|end| rest.is_char_boundary(*end));
        let (piece, after) = rest.split_at(end.unwrap_or(rest.len()));
        pieces.push(piece);
        rest = after;
    }
    pieces
}

/// A call of this tool whose arguments arrive in pieces.
fn streamed_call(tool: &str, arguments: &str, size: usize) -> Reply {
    let chunks = pieces(arguments, size).into_iter().enumerate();
    Reply::chunks(chunks.map(|(number, piece)| Delta::Call {
        index: 0,
        id: (number == 0).then(|| "c1".into()),
        name: (number == 0).then(|| tool.into()),
        arguments: piece.into(),
    }))
}

#[tokio::test]
async fn f44_4_a_typed_answer_grows_in_both_forms_of_output() {
    let whole: Value = serde_json::from_str(PLAN).unwrap();
    let look = || constant_tool("look", json!("soup"));
    let able = Capabilities::default().with_schema_with_tools();
    let native = ScriptedModel::new([Reply::chunks(pieces(PLAN, 3))]).with_capabilities(able);
    let by_tool = ScriptedModel::new([streamed_call("set_model_response", PLAN, 3)]);
    for agent in [
        Agent::new(native).tool(look()),
        Agent::new(by_tool).tool(look()),
    ] {
        let agent = agent.output::<Plan>();
        let (values, finished) = partial_outputs(agent.clone().streaming().events("Soup?")).await;
        assert!(finished && values.len() > 10, "{values:?}");
        assert_grows(&values, &whole);
        let risks = values.iter().filter_map(|value| value.get("risk"));
        assert!(risks.clone().count() > 0);
        assert!(risks.into_iter().all(|risk| risk == "Lower"));
        let minutes = values.iter().filter_map(|value| value.get("cookMinutes"));
        assert!(minutes.into_iter().all(|minutes| *minutes == json!(12)));
    }
}

#[tokio::test(start_paused = true)]
async fn f44_4_the_partial_form_of_a_type_has_its_fields_as_they_come() {
    // Slowly, so that each letter is shown.
    let letters = Reply::chunks(pieces(PLAN, 1)).every(Duration::from_secs(1));
    let model = ScriptedModel::new([letters]);
    let mut plans = Agent::new(model)
        .output::<Plan>()
        .stream_output::<Plan>("Soup?");
    let mut known: Vec<PlanPartial> = Vec::new();
    while let Some(plan) = plans.next().await {
        known.push(plan);
    }
    assert_eq!(known.first(), Some(&PlanPartial::default()));
    assert!(
        known
            .iter()
            .any(|plan| plan.title.as_deref() == Some("Soup")
                && plan.cook_minutes.is_none()
                && plan.steps.is_none())
    );
    assert!(known.iter().any(|plan| {
        let steps = plan.steps.as_deref().unwrap_or_default();
        steps.len() == 2
            && steps[0].minutes == Some(5)
            && steps[1].text.as_deref().is_some_and(|text| text.len() < 5)
    }));
    let plan: Plan = plans.finish().await.unwrap().output().unwrap();
    assert_eq!((plan.cook_minutes, plan.risk), (12, Risk::Lower));
    assert_eq!((plan.steps.len(), plan.author.as_deref()), (2, Some("Ann")));
}

#[tokio::test]
async fn f44_4_a_cut_stream_gives_no_answer_whatever_was_shown() {
    let cut = || LlmError::new(LlmErrorKind::Connection, "cut off");
    // All that is needed is there, and the connection breaks.
    let replies = [Reply::chunks(pieces(PLAN, 5)).broken(cut())];
    let agent = Agent::new(ScriptedModel::new(replies)).output::<Plan>();
    let mut plans = agent.stream_output::<Plan>("Soup?");
    let mut last = None;
    while let Some(plan) = plans.next().await {
        last = Some(plan);
    }
    assert_eq!(last.unwrap().title.as_deref(), Some("Soup \"à la\" Ann"));
    let error = plans.finish().await.unwrap_err();
    assert!(format!("{error:?}").contains("cut off"), "{error:?}");

    // A call of a function is not made with what has arrived of its arguments.
    let function = constant_tool("act", json!("done"));
    let reply = streamed_call("act", r#"{"a": 1}"#, 4).broken(cut());
    let agent = Agent::new(ScriptedModel::new([reply])).output_function(function);
    let (values, finished) = partial_outputs(agent.streaming().events("Act.")).await;
    assert!(!finished && !values.is_empty());
}

#[tokio::test(start_paused = true)]
async fn f44_4_a_retry_and_a_repair_begin_anew() {
    let cut = LlmError::new(LlmErrorKind::Connection, "cut off");
    let model = ScriptedModel::new([
        Reply::chunks([r#"{"title": "Ste"#]).broken(cut),
        Reply::chunks([r#"{"title": "Bread"}"#]),
        Reply::chunks([r#"{"title": "So"#, &PLAN[12..]]),
    ]);
    let retry = Retry::attempts(2).first(Duration::from_millis(1));
    let agent = Agent::new(model).output::<Plan>().retry(retry);
    let (values, finished) = partial_outputs(agent.streaming().events("Soup?")).await;
    assert!(finished);
    let titles: Vec<&Value> = values.iter().map(|value| &value["title"]).collect();
    assert_eq!(titles[..3], ["Ste", "Bread", "So"]);
}

#[tokio::test(start_paused = true)]
async fn f44_4_what_came_last_is_shown_while_the_model_pauses() {
    let slow = |chunks: [&str; 3]| Reply::chunks(chunks).every(Duration::from_mins(1));
    let long = "a".repeat(1_000);
    let begun = format!(r#"{{"title": "{long}"#);
    let model = ScriptedModel::new([
        slow([&begun, "b", "c"]).broken(LlmError::new(LlmErrorKind::Connection, "cut off"))
    ]);
    let (values, _) =
        partial_outputs(Agent::new(model).output::<Plan>().streaming().events("?")).await;
    let lengths: Vec<usize> = values
        .iter()
        .map(|value| value["title"].as_str().unwrap().len())
        .collect();
    assert_eq!(lengths, [1_000, 1_001, 1_002]);
}

#[tokio::test(start_paused = true)]
async fn f44_4_the_cost_of_a_long_answer_is_in_proportion_to_its_length() {
    #[derive(Deserialize, schemars::JsonSchema, Partial)]
    struct Report {
        lines: Vec<String>,
    }
    let lines = vec!["a line of the report"; 4_500];
    let text = json!({ "lines": lines }).to_string();
    assert!(text.len() > 100_000);
    let model = ScriptedModel::new([Reply::chunks(pieces(&text, 4))]);
    let agent = Agent::new(model).output::<Report>().streaming();
    let mut events = agent.events("A report.");
    let (mut count, mut shown) = (0, 0);
    while let Some(item) = events.next().await {
        match item.kind {
            AgentEventKind::PartialOutput(output) => {
                count += 1;
                shown += output.value.to_string().len();
            }
            AgentEventKind::Finished(talk) => {
                assert_eq!(talk.output::<Report>().unwrap().lines.len(), lines.len());
            }
            _ => {}
        }
    }
    // 25,000 pieces. All values together are at most nine times as long as the answer: each is an eighth longer than the one before.
    assert!(
        count > 50 && shown < 10 * text.len(),
        "{count} values with {shown} bytes"
    );
}

#[tokio::test]
async fn f44_4_partial_answers_are_not_stored_and_the_answer_is() {
    let threads = |model: ScriptedModel, store: &InMemoryStore| {
        let agent = Agent::new(model).output::<Plan>().streaming();
        agent.store(store).event_log(10_000)
    };
    let store = InMemoryStore::new();
    let thread =
        threads(ScriptedModel::new([Reply::chunks(pieces(PLAN, 7))]), &store).thread("ann");
    let (values, finished) = partial_outputs(AgentEvents::new(thread.run("Soup?").events())).await;
    assert!(finished && values.len() > 3);
    let texts = |events: &[petalflow::event::LoggedEvent]| -> Vec<String> {
        events.iter().map(|event| event.value.to_string()).collect()
    };
    let stored = texts(&thread.events_since(0).await.unwrap());
    assert!(stored.iter().any(|event| event.contains("agent_event")));
    assert!(stored.iter().all(|event| !event.contains("partial_output")));
    // Another process.
    let again = threads(ScriptedModel::new([""]), &store).thread("ann");
    let state = again.snapshot().await.unwrap().unwrap().state;
    assert_eq!(state.output::<Plan>().unwrap().cook_minutes, 12);
}

#[tokio::test]
async fn f44_4_what_guardrails_hold_back_is_not_shown_as_a_partial_answer() {
    let check = |_: petalflow_llm::ChatMessage| async { Ok(Verdict::Pass) };
    let model = || ScriptedModel::new([Reply::chunks(pieces(PLAN, 9))]);
    let agent = Agent::new(model()).output::<Plan>().streaming();
    let held = agent.clone().guardrail(guardrail::on_output("held", check));
    assert_eq!(
        partial_outputs(held.events("Soup?")).await,
        (Vec::new(), true)
    );
    let (shown, _) = partial_outputs(agent.model(model()).events("Soup?")).await;
    assert!(!shown.is_empty());
}

#[tokio::test]
async fn f44_4_the_answers_of_called_agents_are_not_those_of_the_agent() {
    #[derive(Debug, Serialize, Deserialize, schemars::JsonSchema, Partial)]
    struct Word {
        word: String,
    }
    let model = ScriptedModel::new([
        Reply::call("namer", json!({ "request": "a flower" })),
        Reply::chunks([r#"{"word": "ro"#, r#"se"}"#]),
        streamed_call("set_model_response", r#"{"word": "A rose"}"#, 4),
    ]);
    let namer = Agent::named("namer")
        .mode(Mode::SingleTurn)
        .output::<Word>();
    let agent = Agent::new(model)
        .name("guide")
        .sub_agent(namer)
        .output::<Word>();
    let mut events = agent.clone().streaming().events("A flower?");
    let mut of_agents: BTreeMap<String, Value> = BTreeMap::new();
    while let Some(item) = events.next().await {
        if let AgentEventKind::PartialOutput(output) = item.kind {
            of_agents.insert(output.agent, output.value);
        }
    }
    assert_eq!(of_agents["namer"]["word"], "rose");
    assert_eq!(of_agents["guide"]["word"], "A rose");

    let model = ScriptedModel::new([
        Reply::call("namer", json!({ "request": "a flower" })),
        Reply::chunks([r#"{"word": "ro"#, r#"se"}"#]),
        streamed_call("set_model_response", r#"{"word": "A rose"}"#, 4),
    ]);
    let mut words = agent.model(model).stream_output::<Word>("A flower?");
    let mut known = Vec::new();
    while let Some(word) = words.next().await {
        known.extend(word.word);
    }
    assert!(
        known.iter().all(|word| "A rose".starts_with(word.as_str())),
        "{known:?}"
    );
    assert!(!known.is_empty());
    assert_eq!(
        words.finish().await.unwrap().output::<Word>().unwrap().word,
        "A rose"
    );
}

#[test]
fn f44_4_the_options_of_serde_and_of_the_partial_form_count() {
    #[derive(Debug, Deserialize, Partial)]
    #[serde(
        deny_unknown_fields,
        rename_all(deserialize = "kebab-case", serialize = "lowercase")
    )]
    #[expect(dead_code, reason = "only its partial form is used")]
    struct Outer {
        first_name: String,
        #[serde(rename(deserialize = "n"), default)]
        count: u8,
        #[serde(flatten)]
        inner: Inner,
        #[serde(skip)]
        skipped: u8,
        #[partial(skip)]
        hidden: u8,
        #[partial(whole)]
        time: Duration,
        labels: BTreeMap<String, Vec<u8>>,
        r#type: Option<Box<Inner>>,
    }
    #[derive(Debug, Deserialize, Partial)]
    #[expect(dead_code, reason = "only its partial form is used")]
    struct Inner {
        depth: u8,
    }
    #[derive(Debug, PartialEq, Deserialize, Partial)]
    struct Wrapped(u8);

    let known = json!({
        "first-name": "Ann", "n": 3, "depth": 7, "hidden": 1, "time": { "secs": 2 },
        "labels": { "a": [1], "b": [2, "th"] }, "type": { "depth": 1 },
    });
    let outer: OuterPartial = Outer::partial(&known).unwrap();
    assert_eq!(
        (outer.first_name.as_deref(), outer.count),
        (Some("Ann"), Some(3))
    );
    assert_eq!(outer.inner.unwrap().depth, Some(7));
    assert_eq!(outer.time, None, "it lacks a field");
    assert_eq!(outer.labels.unwrap()["b"], [2]);
    assert_eq!(outer.r#type.unwrap().depth, Some(1));
    assert_eq!(Wrapped::partial(&json!(3)), Some(Wrapped(3)));
    assert!(Inner::partial(&json!([1])).is_none());
}
