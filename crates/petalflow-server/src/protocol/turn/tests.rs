//! Turns of served agents and conversations.

use std::sync::Arc;

use futures_util::{StreamExt, stream};
use petalflow::checkpoint::InMemoryStore;
use petalflow::tool::{FuncTool, ToolSpec};
use petalflow_agent::{Agent, ClientSettings, Pending};
use petalflow_conversations::ConversationFlow;
use petalflow_conversations::document::Conversation;
use petalflow_documents::kinds::TriggerAuth;
use petalflow_llm::response::FinishReason;
use petalflow_llm::stream::{Delta, StreamEvent};
use petalflow_llm::{
    ChatMessage, LlmClient, LlmError, LlmRequest, LlmResponse, LlmStream, Reply, ScriptedModel,
    TokenUsage,
};
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::*;
use crate::Server;
use crate::call_decision::CallDecision;
use crate::served::{Labels, ServedThreads};
use crate::server::Inner;
use crate::threads::start::Starter;

struct Served {
    server: Arc<Inner>,
    flow: Arc<dyn ServedThreads>,
}

fn served(agent: &Agent) -> Served {
    let builder = Server::builder(&InMemoryStore::new()).agent("guide", agent);
    of(&builder.threads(TriggerAuth::None).build().unwrap())
}

fn of(server: &Server) -> Served {
    let server = Arc::clone(server.inner());
    let flow = Arc::clone(&server.settings.flows[0]);
    Served { server, flow }
}

fn says(text: &str) -> TurnInput {
    TurnInput {
        messages: vec![ChatMessage::user(text)],
        ..TurnInput::default()
    }
}

impl Served {
    async fn begin(&self, input: TurnInput) -> Turn {
        let new = NewThread {
            id: None,
            input,
            labels: Labels::new(),
            starter: Starter::anyone(),
        };
        let turn = Turn::begin_thread(&self.server, &self.flow, new).await;
        turn.unwrap()
    }

    async fn go_on(&self, turn: &Turn, input: TurnInput) -> Turn {
        let thread = turn.thread.clone();
        let turn = Turn::begin_on(&self.server, &self.flow, thread, input).await;
        turn.unwrap()
    }

    /// The items of a turn, as text, and its end. A reader that comes later reads the same.
    async fn read(&self, turn: &Turn) -> (Vec<String>, TurnEnd) {
        let first = self.read_once(turn).await;
        let second = self.read_once(turn).await;
        assert_eq!(joined(&first.0), joined(&second.0));
        assert_eq!(first.1, second.1);
        first
    }

    async fn read_once(&self, turn: &Turn) -> (Vec<String>, TurnEnd) {
        let mut items = turn.items(&self.server);
        let mut shown = Vec::new();
        while let Some(item) = items.next().await {
            let item = item.unwrap();
            if let ItemKind::End(end) = item.kind {
                assert!(items.next().await.is_none());
                return (shown, *end);
            }
            let from = if item.voice.is_called() { ">" } else { "" };
            shown.push(format!("{from}{}", text(item.kind)));
        }
        panic!("no end: {shown:?}")
    }
}

fn text(item: ItemKind) -> String {
    match item {
        ItemKind::Text(text) => text,
        ItemKind::Thought(text) => format!("({text})"),
        ItemKind::MessageEnd(end) => end
            .finish
            .map_or("|".into(), |finish| format!("|{finish:?}")),
        ItemKind::Call(call) => format!("{}{}", call.name, call.arguments),
        ItemKind::Result(result) => format!("={}", result.content),
        other => format!("{other:?}"),
    }
}

/// Pieces have other limits for a reader that comes later.
fn joined(items: &[String]) -> String {
    items.concat()
}

#[tokio::test]
async fn pieces_come_once_and_calls_with_their_results() {
    let usage = TokenUsage {
        input: 3,
        output: 2,
        total: 5,
        ..TokenUsage::default()
    };
    let model = ScriptedModel::new([
        Reply::call("look", json!({ "at": "map" })).with_usage(usage),
        Reply::chunks(["Go ", "north."])
            .with_usage(usage)
            .with_finish(FinishReason::Stop),
        Reply::from("Welcome."),
    ]);
    let look = FuncTool::new("look", "Looks.", |_: Value| async { Ok("a river") });
    let served = served(&Agent::new(model).tool(look).streaming());
    let turn = served.begin(says("Where?")).await;
    let (items, end) = served.read(&turn).await;
    assert_eq!(
        items,
        [
            r#"look{"at":"map"}"#,
            "|",
            r#"="a river""#,
            "Go ",
            "north.",
            "|Stop"
        ]
    );
    assert_eq!(end.outcome, TurnOutcome::Finished);
    assert_eq!(end.turn.usage.tokens.total, 10);
    assert!(end.turn.pending.is_empty());
    // The next turn has its own items.
    let turn = served.go_on(&turn, says("Thanks")).await;
    assert!(turn.after > 0);
    assert_eq!(served.read(&turn).await.0, ["Welcome.", "|"]);
}

#[tokio::test]
async fn a_tool_of_the_client_ends_the_turn_until_its_result_comes() {
    let model = ScriptedModel::new([Reply::call("locate", json!({})), Reply::from("In Kyoto.")]);
    let served = served(&Agent::new(model.clone()));
    let spec = ToolSpec::new(
        "locate",
        "Where the person is.",
        json!({ "type": "object" }),
    );
    let client = ClientSettings::default().tool(spec);
    let input = TurnInput {
        client: client.clone(),
        ..says("Where am I?")
    };
    let turn = served.begin(input).await;
    let (items, end) = served.read(&turn).await;
    assert_eq!(items, ["locate{}", "|"]);
    let [Pending::Result { call }] = &end.turn.pending[..] else {
        panic!("{end:?}")
    };
    assert_eq!(call.name, "locate");
    let answer = PersonAnswer::Result {
        id: call.id.clone(),
        content: "Kyoto".into(),
    };
    let turn = served
        .go_on(
            &turn,
            TurnInput {
                client,
                answers: vec![answer],
                ..TurnInput::default()
            },
        )
        .await;
    let (items, end) = served.read(&turn).await;
    assert_eq!(items, ["In Kyoto.", "|"]);
    assert!(end.turn.pending.is_empty());
    assert_eq!(model.last_request().unwrap().tools.len(), 1);
}

#[tokio::test]
async fn a_tool_of_the_client_with_the_name_of_an_own_one_is_refused() {
    let look = FuncTool::new("look", "Looks.", |_: Value| async { Ok("a river") });
    let served = served(&Agent::new(ScriptedModel::new(["hi"])).tool(look));
    let spec = ToolSpec::new("look", "Looks too.", json!({ "type": "object" }));
    let new = NewThread {
        id: None,
        input: TurnInput {
            client: ClientSettings::default().tool(spec),
            ..says("hi")
        },
        labels: Labels::new(),
        starter: Starter::anyone(),
    };
    let begun = Turn::begin_thread(&served.server, &served.flow, new).await;
    let refusal = begun.err().expect("it is refused");
    assert!(
        refusal.text().contains("has a tool `look` of its own"),
        "{refusal:?}"
    );
}

#[tokio::test]
async fn a_person_decides_and_the_turn_goes_on() {
    let model = ScriptedModel::new([Reply::call("wipe", json!({})), Reply::from("Done.")]);
    let wipe = FuncTool::new("wipe", "Deletes.", |_: Value| async { Ok("gone") });
    let agent = Agent::new(model).tool(wipe.confirm_if(|_| Some("Really?".into())));
    let served = served(&agent);
    let turn = served.begin(says("Tidy up")).await;
    let (_, end) = served.read(&turn).await;
    let [Pending::Confirmation { id, hint, call }] = &end.turn.pending[..] else {
        panic!("{end:?}")
    };
    assert_eq!((&**hint, &*call.name), ("Really?", "wipe"));
    let decision = PersonAnswer::Decision(CallDecision {
        id: id.clone(),
        approve: true,
        reason: None,
        arguments: None,
    });
    let turn = served
        .go_on(
            &turn,
            TurnInput {
                answers: vec![decision],
                ..TurnInput::default()
            },
        )
        .await;
    let (items, end) = served.read(&turn).await;
    assert_eq!(items, [r#"="gone""#, "Done.", "|"]);
    assert!(end.turn.pending.is_empty());
}

/// A model that says one word, and the next one once it may.
struct Slow(Arc<Notify>);

#[petalflow::async_trait]
impl LlmClient for Slow {
    fn name(&self) -> &'static str {
        "slow"
    }

    async fn complete(&self, _: &LlmRequest) -> Result<LlmResponse, LlmError> {
        Ok(LlmResponse::text_only("one two"))
    }

    async fn stream(&self, request: &LlmRequest) -> Result<LlmStream, LlmError> {
        let may_go_on = Arc::clone(&self.0);
        let pieces = stream::iter(["one ", "two"]).then(move |piece| {
            let may_go_on = Arc::clone(&may_go_on);
            async move {
                if piece == "two" {
                    may_go_on.notified().await;
                }
                Ok(StreamEvent::Delta(Delta::Text(piece.into())))
            }
        });
        let end = stream::iter([Ok(StreamEvent::End(Box::default()))]);
        Ok(LlmStream::new(request, pieces.chain(end)))
    }
}

#[tokio::test]
async fn pieces_arrive_before_the_model_call_has_ended() {
    let may_go_on = Arc::new(Notify::new());
    let served = served(&Agent::new(Slow(Arc::clone(&may_go_on))).streaming());
    for (number, text) in ["hi", "again"].into_iter().enumerate() {
        let mut turn = served.begin(says(text)).await;
        if number > 0 {
            // Of a thread that had a turn before.
            may_go_on.notify_one();
            served.read(&turn).await;
            turn = served.go_on(&turn, says(text)).await;
        }
        let mut items = turn.items(&served.server);
        let mut next = async || text_of(items.next().await);
        assert_eq!(next().await, "one ");
        may_go_on.notify_one();
        assert_eq!(next().await, "two");
        assert_eq!(next().await, "|");
        assert_eq!(served.read(&turn).await.0.concat(), "one two|");
    }
}

fn text_of(item: Option<Result<TurnItem, crate::refusal::Refusal>>) -> String {
    text(item.expect("it goes on").expect("no refusal").kind)
}

#[tokio::test]
async fn an_answer_of_another_form_is_not_said() {
    let model = ScriptedModel::new([Reply::chunks(["ma", "ny"]), Reply::chunks(["4", "2"])]);
    let served = served(&Agent::new(model).output::<u32>().streaming());
    let turn = served.begin(says("How many?")).await;
    assert_eq!(served.read(&turn).await.0.concat(), "|42|");
}

#[tokio::test]
async fn a_failure_has_its_cause() {
    let model = ScriptedModel::new([Reply::from("").broken(LlmError::request("the key is wrong"))]);
    let served = served(&Agent::new(model));
    let turn = served.begin(says("hi")).await;
    let (_, end) = served.read(&turn).await;
    let TurnOutcome::Failed(error) = end.outcome else {
        panic!("{end:?}")
    };
    assert!(error.contains("the key is wrong"), "{error}");
}

#[tokio::test]
async fn a_turn_is_cancelled() {
    let begun = Arc::new(Notify::new());
    let waits = {
        let begun = Arc::clone(&begun);
        FuncTool::new("wait", "Waits.", move |_: Value| {
            let begun = Arc::clone(&begun);
            async move {
                begun.notify_one();
                std::future::pending::<petalflow::Result<String>>().await
            }
        })
    };
    let served =
        served(&Agent::new(ScriptedModel::new([Reply::call("wait", json!({}))])).tool(waits));
    let turn = served.begin(says("hi")).await;
    begun.notified().await;
    assert!(served.server.cancel(&turn.thread));
    let (_, end) = served.read(&turn).await;
    assert_eq!(end.outcome, TurnOutcome::Cancelled);
}

#[tokio::test]
async fn earlier_messages_of_the_client_are_the_history() {
    let model = ScriptedModel::from_fn(|request| {
        format!("{} after {:?}", request.messages.len(), request.system)
    });
    let served = served(&Agent::new(model));
    let messages = vec![
        ChatMessage::new(
            petalflow_llm::Role::System,
            vec![petalflow_llm::Part::text("Be brief.")],
        ),
        ChatMessage::user("one"),
        ChatMessage::assistant("1"),
        ChatMessage::user("two"),
    ];
    let turn = served
        .begin(TurnInput {
            messages,
            ..TurnInput::default()
        })
        .await;
    let (items, _) = served.read(&turn).await;
    assert_eq!(items, [r#"3 after Some("Be brief.")"#, "|"]);
}

#[tokio::test]
async fn the_words_of_called_agents_are_marked() {
    let model = ScriptedModel::new([
        Reply::call("poet", json!({ "request": "a line" })),
        Reply::from("A line about rain."),
        Reply::from("Here it is."),
    ]);
    let poet = Agent::named("poet")
        .description("Writes.")
        .mode(petalflow_agent::Mode::SingleTurn);
    let served = served(&Agent::new(model).sub_agent(poet));
    let turn = served.begin(says("A poem")).await;
    let (items, _) = served.read(&turn).await;
    assert_eq!(
        items,
        [
            r#"poet{"request":"a line"}"#,
            "|",
            ">A line about rain.",
            ">|",
            r#"={"result":"A line about rain."}"#,
            "Here it is.",
            "|"
        ]
    );
}

#[tokio::test]
async fn a_conversation_of_a_document_speaks() {
    let document = json!({ "initial_node": "a", "nodes": { "a": { "task_messages": [] } } });
    let document = Conversation::from_config(&serde_json::from_value(document).unwrap()).unwrap();
    let model = ScriptedModel::new([Reply::chunks(["Hel", "lo."]), "Bye.".into()]);
    let flow = ConversationFlow::builder(document)
        .model(model)
        .streaming()
        .build()
        .unwrap();
    let builder = Server::builder(&InMemoryStore::new()).conversation("order", &flow);
    let served = of(&builder.threads(TriggerAuth::None).build().unwrap());
    let turn = served.begin(says("hi")).await;
    let (items, end) = served.read(&turn).await;
    assert_eq!(items, ["Hel", "lo.", "|"]);
    assert_eq!(end.outcome, TurnOutcome::Finished);
    let turn = served.go_on(&turn, says("bye")).await;
    assert_eq!(served.read(&turn).await.0, ["Bye.", "|"]);
}
