//! Clients that run tools, add settings to a turn, and keep the messages themselves.

use petalflow::tool::{ToolSet, ToolSource, ToolSpec};
use petalflow::{BoxError, async_trait};
use petalflow_agent::{Agent, AgentError, ClientSettings, ConversationInput, Mode, Pending};
use petalflow_llm::request::ToolChoice;
use petalflow_llm::{ChatMessage, LlmRequest, Part, Reply, Role, ScriptedModel};
use petalflow_testing::crashes;
use serde_json::{Value, json};

use crate::kit::{call, constant_tool, scripted_agent};

fn locate() -> ToolSpec {
    ToolSpec::new(
        "locate",
        "Where the person is.",
        json!({ "type": "object" }),
    )
}

fn client() -> ClientSettings {
    ClientSettings::default().tool(locate())
}

fn tools(request: &LlmRequest) -> Vec<&str> {
    request.tools.iter().map(|tool| &*tool.name).collect()
}

#[tokio::test]
async fn the_model_waits_for_the_client_also_if_it_called_its_own_tools() {
    let both = Reply::call("locate", json!({})).and_call("look", json!({}));
    let (agent, model) = scripted_agent([both, Reply::from("In Kyoto, at a river.")]);
    let agent = agent.tool(constant_tool("look", json!("a river")));
    let input = ConversationInput::from("Where am I?").with_client(client());
    let talk = agent.run(input).await.unwrap();
    assert_eq!(tools(&model.last_request().unwrap()), ["look", "locate"]);
    assert_eq!(model.requests().len(), 1, "it waits");
    let pending = talk.pending();
    let [Pending::Result { call }] = &pending[..] else {
        panic!("{pending:?}")
    };
    let found = ConversationInput::default()
        .result(&*call.id, "Kyoto")
        .with_client(client());
    let talk = agent.run(talk.next_input(found)).await.unwrap();
    assert_eq!(talk.answer(), "In Kyoto, at a river.");
    let request = model.last_request().unwrap();
    let results = request.messages.last().unwrap().tool_results();
    let results: Vec<(&str, &Value)> = results
        .map(|result| (&*result.name, &result.content))
        .collect();
    assert_eq!(
        results,
        [("locate", &json!("Kyoto")), ("look", &json!("a river"))]
    );
}

#[tokio::test]
async fn the_settings_are_those_of_one_turn() {
    let (agent, model) = scripted_agent(["one", "two"]);
    let agent = agent
        .instructions("You guide.")
        .request(|request| request.max_tokens = Some(5));
    let mut settings = client().instruct("Be brief.");
    settings.temperature = Some(0.5);
    settings.max_tokens = Some(100);
    settings.stop = vec!["END".into()];
    settings.tool_choice = ToolChoice::Required;
    let talk = agent
        .run(ConversationInput::from("hi").with_client(settings))
        .await
        .unwrap();
    let request = model.last_request().unwrap();
    assert_eq!(request.system.as_deref(), Some("You guide.\n\nBe brief."));
    assert_eq!(
        (request.temperature, request.max_tokens),
        (Some(0.5), Some(5)),
        "the lower limit holds"
    );
    assert_eq!(
        (&*request.stop, &request.tool_choice),
        (&["END".to_string()][..], &ToolChoice::Required)
    );
    agent.run(talk.next_input("again")).await.unwrap();
    let request = model.last_request().unwrap();
    assert_eq!(request.system.as_deref(), Some("You guide."));
    assert_eq!(
        (tools(&request).len(), &request.tool_choice),
        (0, &ToolChoice::Auto)
    );
}

#[tokio::test]
async fn a_required_call_is_required_once() {
    let (agent, model) = scripted_agent([Reply::call("look", json!({})), "done".into()]);
    let mut settings = client();
    settings.tool_choice = ToolChoice::Required;
    let agent = agent.tool(constant_tool("look", json!("a river")));
    agent
        .run(ConversationInput::from("hi").with_client(settings))
        .await
        .unwrap();
    assert_eq!(model.last_request().unwrap().tool_choice, ToolChoice::Auto);
}

#[tokio::test]
async fn a_name_belongs_to_one_tool() {
    struct Found;

    #[async_trait]
    impl ToolSource for Found {
        async fn tools(&self) -> Result<ToolSet, BoxError> {
            Ok(ToolSet::new().with(constant_tool("locate", json!(1))))
        }
    }

    let (agent, model) = scripted_agent(["hi"]);
    let agent = agent.tool_source(Found);
    agent
        .check_client(&client())
        .expect("the tools of sources are known in the turn");
    let error = agent
        .run(ConversationInput::from("hi").with_client(client()))
        .await
        .unwrap_err();
    assert!(
        matches!(error.get_ref().unwrap().downcast_ref(), Some(AgentError::ClientTool { tool, .. }) if tool == "locate")
    );
    assert_eq!(model.requests().len(), 0);
    let helper = Agent::named("locate")
        .description("Finds.")
        .mode(Mode::SingleTurn);
    let error = Agent::new(ScriptedModel::new(["hi"]))
        .sub_agent(helper)
        .check_client(&client());
    assert!(matches!(error, Err(AgentError::ClientTool { .. })));
    let twice = client().tool(locate());
    assert!(matches!(
        Agent::new(ScriptedModel::new(["hi"])).check_client(&twice),
        Err(AgentError::ClientSettings(_))
    ));
}

#[tokio::test]
async fn messages_of_a_client_are_the_history() {
    let (agent, model) = scripted_agent(["It rains."]);
    let asked = ChatMessage::new(
        Role::Assistant,
        vec![Part::Call(call("c1", "locate", json!({})))],
    );
    let result = petalflow::tool::ToolResult {
        call_id: "c1".into(),
        content: "Kyoto".into(),
        ..Default::default()
    };
    let messages = [
        ChatMessage::new(Role::System, vec![Part::text("Be brief.")]),
        ChatMessage::user("How is the weather?"),
        asked,
        ChatMessage::results([result.clone()]),
    ];
    let input = agent.input_from(messages).unwrap();
    assert_eq!(agent.run(input).await.unwrap().answer(), "It rains.");
    let request = model.last_request().unwrap();
    assert_eq!(request.system.as_deref(), Some("Be brief."));
    let roles: Vec<Role> = request
        .messages
        .iter()
        .map(|message| message.role)
        .collect();
    assert_eq!(roles, [Role::User, Role::Assistant, Role::Tool]);
    let named = request.messages[2].tool_results().next().unwrap();
    assert_eq!((&*named.name, &named.content), ("locate", &json!("Kyoto")));
    let error = agent
        .input_from([ChatMessage::results([result])])
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "no call `c1` comes before its result: send the message with the call too"
    );
    assert!(matches!(agent.input_from([]), Err(AgentError::NoMessage)));
}

#[tokio::test]
async fn a_turn_that_resumes_has_the_same_tools_after_any_crash() {
    let agent = || {
        let model = ScriptedModel::from_fn(|request| {
            assert!(tools(request).contains(&"locate"));
            match request.messages.last().unwrap().tool_results().count() {
                0 => Reply::call("look", json!({})),
                _ => Reply::call("locate", json!({})),
            }
        });
        Agent::new(model).tool(constant_tool("look", json!("a river")))
    };
    let input = || ConversationInput::from("Where am I?").with_client(client());
    let crashed = crashes(move || agent().launch(), input)
        .after(|talk, what| {
            let pending = talk.pending();
            assert!(
                matches!(&pending[..], [Pending::Result { call }] if call.name == "locate"),
                "{what}"
            );
        })
        .check()
        .await;
    assert!(crashed.trials > 10);
}
