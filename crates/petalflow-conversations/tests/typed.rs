//! `conversation!`: handlers as a trait, in each form of documents.

use std::sync::{Arc, Mutex};

use petalflow::tool::ToolContext;
use petalflow::tool::schemars::{self, JsonSchema};
use petalflow::{BoxError, Result};
use petalflow_conversations::{
    ActionCall, BranchResult, ConversationFlow, ConversationStateInput, conversation, go_to,
};
use petalflow_llm::{Reply, ScriptedModel};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{event_texts, message_texts, tool_names, turn};

// A function of it is called `checkTable`, which the editor would not accept.
conversation! { #[allow(deprecated)] pub(crate) Restaurant("documents/restaurant.json") }
conversation! {
    /// Asks for an age.
    AgeTalk("documents/age.flow.yaml")
}
conversation! { pub Movies("documents/movies.json"); }
conversation! { Moods("documents/moods.json",) }
conversation! { Including("documents/include.flow.yaml") }

use restaurant::{CheckTable, CheckTableResult, ConfirmChoose, FullChoose, Help, Node, WaitFor};

/// Records its calls.
#[derive(Clone, Default)]
struct Host(Arc<Mutex<Vec<String>>>);

impl Host {
    fn note(&self, text: impl Into<String>) {
        self.0.lock().unwrap().push(text.into());
    }

    fn notes(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

impl restaurant::Handlers for Host {
    async fn check_table(
        &self,
        arguments: CheckTable,
        cx: &ToolContext,
    ) -> Result<CheckTableResult> {
        cx.set_state("asked", json!(arguments));
        self.note(format!("{arguments:?}"));
        Ok(match arguments.guests {
            1..=4 => CheckTableResult::Free,
            5..=8 => CheckTableResult::Full,
            _ => CheckTableResult::Other(json!("unknown")),
        })
    }

    async fn full_choose(&self, arguments: FullChoose, _: &ToolContext) -> Result<Value> {
        self.note(format!("at {}", arguments.time));
        Ok(Value::Null)
    }

    async fn confirm_choose(&self, arguments: ConfirmChoose, _: &ToolContext) -> Result<Value> {
        self.note(format!("for {}", arguments.guests));
        Ok(json!({ "guests": arguments.guests }))
    }

    async fn is_patient(&self, _: &ToolContext) -> Result<bool> {
        Ok(true)
    }

    async fn wait_for(&self, arguments: WaitFor, _: &ToolContext) -> Result<f64> {
        arguments.minutes.ok_or_else(|| BoxError::from("how long?"))
    }

    async fn help(&self, arguments: Help, cx: &ToolContext) -> Result<Value> {
        if arguments.topic.as_deref() == Some("end") {
            go_to(cx, Node::End);
        }
        Ok(json!("Ask for a table."))
    }

    async fn look_up(&self, call: ActionCall) -> Result<()> {
        self.note(format!("look up at {}", call.node));
        Ok(())
    }

    async fn beep(&self, call: ActionCall) -> Result<()> {
        self.note(format!("beep {}", call.action.extra["times"]));
        Ok(())
    }
}

/// The conversation, and what the handlers and the model have seen.
fn restaurant(
    replies: impl IntoIterator<Item = Reply>,
) -> (ConversationFlow, Host, Arc<ScriptedModel>) {
    let host = Host::default();
    let model = Arc::new(ScriptedModel::new(replies));
    let flow = Restaurant::builder(host.clone()).model(Arc::clone(&model));
    (flow.build().unwrap(), host, model)
}

#[tokio::test]
async fn f093_each_function_and_action_is_a_method() {
    let (flow, host, model) = restaurant([
        Reply::call(
            "checkTable",
            json!({
                "time": "18:30", "guests": 2.0, "place": "on the terrace", "type": "round", "self": true, "deposit": 9.5,
                "dishes": [{ "name": "soup", "spice": "A", "count": 4 }], "notes": { "dog": true },
            }),
        ),
        "Done.".into(),
    ]);
    let (state, events) = turn(&flow, ConversationStateInput::start()).await;
    assert_eq!(
        event_texts(&events),
        ["action function", "at table", "at confirm", "Done."]
    );
    assert_eq!(tool_names(&model.requests()[0]), ["help", "checkTable"]);
    assert_eq!(
        state.values["asked"],
        json!({
            "time": "18:30", "guests": 2, "place": "on the terrace", "type": "round", "self": true, "deposit": 9.5,
            "dishes": [{ "name": "soup", "spice": "A", "count": 4 }], "notes": { "dog": true },
        }),
        "what is missing stays missing"
    );
    let notes = host.notes();
    assert_eq!(notes[0], "look up at table");
    for part in [
        "place: Some(OnTheTerrace)",
        "type_: Some(\"round\")",
        "self_: Some(true)",
        "spice: Some(Value2)",
    ] {
        assert!(notes[1].contains(part), "{part} in {}", notes[1]);
    }
}

#[tokio::test]
async fn f029_a_typed_result_chooses_by_the_conditions_of_a_decision() {
    for (guests, node, result) in [
        (2, Node::Confirm, "free"),
        (5, Node::Full, "full"),
        (9, Node::Table, "unknown"),
    ] {
        let call = Reply::call("checkTable", json!({ "time": "18:30", "guests": guests }));
        let (flow, _, model) = restaurant([call, "Done.".into()]);
        let (state, _) = turn(&flow, ConversationStateInput::start()).await;
        let name = state.position.node.unwrap();
        assert_eq!(Node::from_name(&name), Some(node));
        let seen = message_texts(&model.requests()[1]);
        assert!(seen.contains(&format!("result: \"{result}\"")), "{seen:?}");
    }
}

#[tokio::test]
async fn f045_functions_of_one_name_with_other_parameters_are_two_methods() {
    let (flow, host, model) = restaurant([
        Reply::call("checkTable", json!({ "time": "18:30", "guests": 6 })),
        Reply::call("choose", json!({ "time": "20:00" })),
        Reply::call("choose", json!({ "guests": 3 })),
        "Goodbye.".into(),
    ]);
    let (state, events) = turn(&flow, ConversationStateInput::start()).await;
    assert_eq!(
        event_texts(&events),
        [
            "action function",
            "at table",
            "at full",
            "at confirm",
            "at end",
            "Goodbye.",
            "action beep",
            "ended"
        ]
    );
    assert_eq!(host.notes()[2..], ["at 20:00", "for 3", "beep 2"]);
    assert!(state.has_ended());
    assert_eq!(
        tool_names(&model.requests()[2]),
        ["help", "choose"],
        "the model reads the document's name"
    );
}

#[tokio::test]
async fn results_are_truth_values_and_numbers_where_the_conditions_compare_with_them() {
    let ask = |call: Reply| {
        [
            Reply::call("checkTable", json!({ "time": "18:30", "guests": 6 })),
            call,
            "Done.".into(),
        ]
    };
    for (call, node) in [
        (Reply::call("is_patient", json!({})), Node::Table),
        (
            Reply::call("wait_for", json!({ "minutes": 45 })),
            Node::Table,
        ),
        (
            Reply::call("wait_for", json!({ "minutes": 29.5 })),
            Node::End,
        ),
    ] {
        let (flow, ..) = restaurant(ask(call));
        let (state, _) = turn(&flow, ConversationStateInput::start()).await;
        assert_eq!(state.position.node, Some(node.into()));
    }
    let (flow, _, model) = restaurant(ask(Reply::call("wait_for", json!({}))));
    let (state, _) = turn(&flow, ConversationStateInput::start()).await;
    assert_eq!(
        state.position.node.as_deref(),
        Some("full"),
        "an error leads nowhere"
    );
    assert!(
        message_texts(&model.requests()[2])
            .last()
            .unwrap()
            .contains("how long?")
    );
}

#[tokio::test]
async fn a_method_chooses_a_node_by_its_variant() {
    let (flow, ..) = restaurant([
        Reply::call("help", json!({ "topic": "end" })),
        "Goodbye.".into(),
    ]);
    let (state, _) = turn(&flow, ConversationStateInput::start()).await;
    assert_eq!(state.position.node.as_deref(), Some(Node::End.as_str()));
}

#[test]
fn nodes_are_an_enum() {
    assert_eq!(
        Node::ALL.map(Node::as_str),
        ["table", "full", "confirm", "end"]
    );
    assert_eq!(Node::from_name("full"), Some(Node::Full));
    assert_eq!(Node::from_name("Full"), None);
    assert_eq!(Node::Table.to_string(), "table");
    assert_eq!(moods::Node::ALL.len(), 2);
    assert!(Restaurant::SOURCE.contains("checkTable"));
    assert!(
        Restaurant::WARNINGS[0].contains("CV-014"),
        "{:?}",
        Restaurant::WARNINGS
    );
}

/// The caller gives an age.
#[derive(Deserialize, JsonSchema)]
struct Age {
    /// In years.
    age: u32,
}

/// The caller answers.
#[derive(Deserialize, JsonSchema)]
struct Answer {
    words: String,
}

/// The caller wants help.
#[derive(Deserialize, JsonSchema)]
struct NoWords {}

struct Insurer;

impl age_talk::Handlers for Insurer {
    type SetAge = Age;
    type Answer = Answer;
    type Help = NoWords;

    async fn set_age(&self, arguments: Age, cx: &ToolContext) -> Result<BranchResult<bool>> {
        cx.set_state("age", arguments.age);
        Ok(BranchResult::new(arguments.age >= 18).with("age", arguments.age))
    }

    async fn answer(
        &self,
        arguments: Answer,
        _: &ToolContext,
    ) -> Result<BranchResult<age_talk::AnswerResult>> {
        use age_talk::AnswerResult;

        let result = match arguments.words.as_str() {
            "yes" => AnswerResult::Accepted,
            "no" => AnswerResult::Declined,
            "again" => AnswerResult::Other,
            other => AnswerResult::AnyOther(other.into()),
        };
        Ok(result.into())
    }

    async fn help(&self, _: NoWords, _: &ToolContext) -> Result<Value> {
        Ok(json!({ "help": "none" }))
    }
}

async fn run_talk(
    replies: impl IntoIterator<Item = Reply>,
) -> (Option<age_talk::Node>, Vec<String>, Arc<ScriptedModel>) {
    let model = Arc::new(ScriptedModel::new(replies));
    let flow = AgeTalk::builder(Insurer)
        .model(Arc::clone(&model))
        .build()
        .unwrap();
    let (state, _) = turn(&flow, ConversationStateInput::start()).await;
    let seen = message_texts(model.requests().last().unwrap());
    (
        state
            .position
            .node
            .as_deref()
            .and_then(age_talk::Node::from_name),
        seen,
        model,
    )
}

#[tokio::test]
async fn f088_the_result_of_a_branch_has_the_type_of_its_cases() {
    use age_talk::Node;

    let age = |age: u32| Reply::call("set_age", json!({ "age": age }));
    let (node, seen, model) = run_talk([age(17), "Sorry.".into()]).await;
    assert_eq!(node, Some(Node::Sorry));
    assert!(
        seen.contains(&"result: {\"age\":17,\"insurable\":false}".into()),
        "{seen:?}"
    );
    let tool = &model.requests()[0].tools[1];
    assert_eq!(
        (tool.name.as_str(), tool.description.as_str()),
        ("set_age", "The caller gives an age.")
    );
    assert_eq!(
        tool.parameters["properties"]["age"]["description"],
        "In years."
    );
    for (words, expected) in [
        ("yes", Node::Bye),
        ("no", Node::Sorry),
        ("again", Node::Age),
        ("maybe", Node::Offer),
    ] {
        let answer = Reply::call("answer", json!({ "words": words }));
        let (node, ..) = run_talk([age(18), answer, "Done.".into()]).await;
        assert_eq!(node, Some(expected), "{words}");
    }
}

#[tokio::test]
async fn arguments_that_do_not_fit_are_told_to_the_model() {
    let (node, seen, _) = run_talk([
        Reply::call("set_age", json!({ "age": "old" })),
        "Again.".into(),
    ])
    .await;
    assert_eq!(node, Some(age_talk::Node::Age));
    assert!(
        seen.last().unwrap().contains("do not fit at `age`"),
        "{seen:?}"
    );

    let call = Reply::call(
        "checkTable",
        json!({ "time": "18:30", "guests": 2, "place": "outside" }),
    );
    let (flow, host, model) = restaurant([call, "Again.".into()]);
    turn(&flow, ConversationStateInput::start()).await;
    let seen = message_texts(&model.requests()[1]);
    assert!(seen.last().unwrap().contains("place"), "{seen:?}");
    assert_eq!(
        host.notes(),
        ["look up at table"],
        "the method was not called"
    );
}

#[tokio::test]
async fn f007_ranges_and_patterns_are_checked_before_a_method_is_called() {
    for (wrong, words) in [
        (json!({ "time": "noon", "guests": 2 }), "time"),
        (json!({ "time": "18:30", "guests": 13 }), "12"),
        (
            json!({ "time": "18:30", "guests": 2, "deposit": 0 }),
            "deposit",
        ),
        (
            json!({ "time": "18:30", "guests": 2, "dishes": [{ "name": "x" }] }),
            "name",
        ),
        (
            json!({ "time": "18:30", "guests": 2, "dishes": [{ "name": "soup", "count": 3 }] }),
            "count",
        ),
        (
            json!({ "time": "18:30", "guests": 2, "dishes": [{ "name": "a1" }, { "name": "a2" }, { "name": "a3" }] }),
            "2",
        ),
        (json!({ "time": "18:30" }), "guests"),
    ] {
        let call = Reply::call("checkTable", wrong.clone());
        let (flow, host, model) = restaurant([call, "Again.".into()]);
        let (state, _) = turn(&flow, ConversationStateInput::start()).await;
        assert_eq!(state.position.node.as_deref(), Some("table"));
        assert_eq!(host.notes(), ["look up at table"], "{wrong}");
        let seen = message_texts(&model.requests()[1]);
        let last = seen.last().unwrap();
        assert!(
            last.contains("error") && last.contains(words),
            "{wrong}: {last}"
        );
    }
}

struct Films;

impl movies::Handlers for Films {
    async fn get_movies(&self, arguments: movies::GetMovies, _: &ToolContext) -> Result<Value> {
        let movies::GetMoviesCountry::Fr = arguments.country.unwrap() else {
            return Err("only French films".into());
        };
        assert_eq!((arguments.title, arguments.any), (None, Some(json!(3))));
        Ok(json!([arguments.year]))
    }
}

#[tokio::test]
async fn static_forms_have_methods_named_like_their_handlers_or_none() {
    let model = ScriptedModel::new([
        Reply::call(
            "find",
            json!({ "year": 1999, "title": null, "any": 3, "country": "fr" }),
        ),
        "Many.".into(),
    ]);
    let flow = Movies::builder(Films).model(model).build().unwrap();
    let (state, _) = turn(&flow, ConversationStateInput::start()).await;
    assert_eq!(state.position.node.as_deref(), Some("explore"));

    let model = ScriptedModel::new([Reply::call("sad", json!({})), "Oh.".into()]);
    let flow = Moods::builder().model(model).build().unwrap();
    let (state, _) = turn(&flow, ConversationStateInput::start()).await;
    assert_eq!(state.position.node.as_deref(), Some("sad"));
}

#[test]
fn a_file_that_the_document_includes_is_part_of_the_program() {
    let flow = Including::builder()
        .model(ScriptedModel::new(["How old are you?"]))
        .build()
        .unwrap();
    let message = &flow.conversation().nodes["start"].task_messages[0];
    assert_eq!(message.content, "Ask the caller for the age, and be brief.");
}
