//! Tools that the model searches for.

use std::sync::Arc;

use petalflow::BoxError;
use petalflow::async_trait;
use petalflow::checkpoint::InMemoryStore;
use petalflow::tool::{FuncTool, ToolSet, ToolSource, ToolSpec};
use petalflow_agent::{Agent, AgentError, ClientSettings, ConversationInput};
use petalflow_llm::usage::TokenCount;
use petalflow_llm::{Capabilities, ChatMessage, LlmRequest, Reply, ScriptedModel};
use serde_json::{Value, json};

use crate::kit::{constant_tool, scripted_agent};

/// A tool with a description and arguments of usual length.
fn described(name: &str, description: &str) -> FuncTool {
    let properties = json!({
        "order": { "type": "integer", "description": "The number of the order, as the customer sees it." },
        "reason": { "type": "string", "description": "Why this is done, in one sentence for the records." },
        "notify": { "type": "boolean", "description": "Whether the customer gets a message about it." }
    });
    let schema = json!({ "type": "object", "properties": properties, "required": ["order"] });
    let done = json!(format!("{name} is done"));
    let spec = ToolSpec::new(name, description, schema);
    FuncTool::untyped(spec, move |_, _| {
        let done = done.clone();
        async move { Ok(done) }
    })
}

/// As many tools as several MCP servers have.
fn three_hundred() -> ToolSet {
    let others = (0..298).map(|number| {
        let about = format!(
            "Changes the setting number {number} of the shop, which only its owner may do."
        );
        described(&format!("change_setting_{number}"), &about)
    });
    let all = others.chain([
        described(
            "refund_order",
            "Pays the money of an order back to the customer.",
        ),
        described("cancel_delivery", "Stops a delivery that is on its way."),
    ]);
    all.fold(ToolSet::new(), ToolSet::with)
}

fn search(query: &str) -> Reply {
    Reply::call("search_tools", json!({ "query": query }))
}

fn refund() -> Reply {
    Reply::call("refund_order", json!({ "order": 7 }))
}

/// The names of the tools that the model reads.
fn tools(request: &LlmRequest) -> Vec<&str> {
    request.tools.iter().map(|tool| &*tool.name).collect()
}

/// The last result that the model reads.
fn last_result(request: &LlmRequest) -> Value {
    let results = request.messages.iter().flat_map(ChatMessage::tool_results);
    results.last().expect("there is a result").content.clone()
}

#[tokio::test]
async fn f44_a_tool_is_read_once_it_was_found_and_stays_found() {
    let store = InMemoryStore::new();
    let replies = || [search("pay the money back"), refund(), "done".into()];
    let (agent, model) = scripted_agent(replies());
    let agent = agent
        .tool(constant_tool("look", json!("a river")))
        .searchable_tools(three_hundred());
    let thread = agent.store(&store).thread("ann");
    let talk = thread
        .run("Order 7 was late.")
        .await
        .unwrap()
        .into_finished()
        .unwrap();
    assert_eq!(talk.answer(), "done");
    let requests = model.requests();
    assert_eq!(requests.len(), 3);
    assert_eq!(tools(&requests[0]), ["look", "search_tools"]);
    let found = last_result(&requests[1]);
    let found = found["tools"].as_array().unwrap();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(
        found[0],
        json!({ "name": "refund_order", "description": "Pays the money of an order back to the customer." })
    );
    assert_eq!(
        tools(&requests[1]),
        ["look", "search_tools", "refund_order"]
    );
    assert!(requests[1].tools[2].parameters["properties"]["order"].is_object());
    assert_eq!(last_result(&requests[2]), json!("refund_order is done"));
    assert!(
        requests
            .iter()
            .all(|request| request.searchable_tools.is_empty())
    );

    // Another process has only what is stored. What is found next comes after it.
    let (agent, model) = scripted_agent([search("stop a delivery"), "stopped".into()]);
    let agent = agent
        .tool(constant_tool("look", json!("a river")))
        .searchable_tools(three_hundred());
    let talk = agent
        .store(&store)
        .thread("ann")
        .run("And stop it.")
        .await
        .unwrap();
    assert_eq!(talk.into_finished().unwrap().answer(), "stopped");
    let requests = model.requests();
    assert_eq!(
        tools(&requests[0]),
        ["look", "search_tools", "refund_order"]
    );
    assert_eq!(
        tools(&requests[1]),
        ["look", "search_tools", "refund_order", "cancel_delivery"]
    );
}

#[tokio::test]
async fn f44_three_hundred_tools_cost_a_fiftieth_of_their_tokens() {
    let mut tokens = Vec::new();
    for searches in [false, true] {
        let found = searches.then(|| search("pay the money back"));
        let (agent, model) = scripted_agent(found.into_iter().chain([refund(), "done".into()]));
        let agent = if searches {
            agent.searchable_tools(three_hundred())
        } else {
            agent.tool_source(three_hundred())
        };
        agent.run("Order 7 was late.").await.unwrap();
        let requests = model.requests();
        let counts = requests
            .iter()
            .map(|request| TokenCount::estimate(request).tokens);
        tokens.push(counts.sum::<u64>());
    }
    println!(
        "input tokens of the turn: {} with all tools, {} with a search",
        tokens[0], tokens[1]
    );
    assert!(tokens[1] * 50 < tokens[0], "{tokens:?}");
}

#[tokio::test]
async fn f44_a_provider_with_a_tool_search_gets_all_searchable_tools() {
    let mut able = Capabilities::default();
    able.tool_search = true;
    let model = Arc::new(ScriptedModel::new([refund(), "done".into()]).with_capabilities(able));
    let agent = Agent::new(Arc::clone(&model))
        .tool(constant_tool("look", json!("a river")))
        .searchable_tools(three_hundred());
    assert_eq!(
        agent.run("Order 7 was late.").await.unwrap().answer(),
        "done"
    );
    let requests = model.requests();
    for request in &requests {
        assert_eq!(tools(request), ["look"]);
        assert_eq!(request.searchable_tools.len(), 300);
    }
    assert_eq!(last_result(&requests[1]), json!("refund_order is done"));
}

#[tokio::test]
async fn f44_a_search_says_what_it_does_not_find() {
    struct Down;

    #[async_trait]
    impl ToolSource for Down {
        async fn tools(&self) -> Result<ToolSet, BoxError> {
            Err("the shop is closed".into())
        }
    }

    let empty = Reply::call("search_tools", json!({ "query": " " }));
    let (agent, model) = scripted_agent([search("weather"), empty, refund(), "done".into()]);
    let agent = agent
        .searchable_tools(three_hundred())
        .searchable_tools(Down);
    // A tool can be called without a search.
    assert_eq!(agent.run("hello").await.unwrap().answer(), "done");
    let requests = model.requests();
    assert_eq!(
        last_result(&requests[1]),
        json!({
            "hint": "no tool has one of these words: search with other words",
            "tools": [],
            "unavailable": ["the shop is closed"]
        })
    );
    let problem = "`search_tools` needs the argument `query`: words for what the tool does";
    assert!(
        last_result(&requests[2])["error"]
            .as_str()
            .unwrap()
            .contains(problem)
    );
    assert_eq!(last_result(&requests[3]), json!("refund_order is done"));
    let system = requests[0]
        .instructions
        .clone()
        .or_else(|| requests[0].system.clone());
    assert!(
        system
            .unwrap()
            .contains("not available now: the shop is closed")
    );

    let (agent, _) = scripted_agent(["never"]);
    let error = agent.searchable_tools(Down).run("hello").await.unwrap_err();
    assert!(petalflow::error::message_with_sources(&error).contains("the shop is closed"));
}

#[tokio::test]
async fn f44_names_of_searchable_tools_are_taken() {
    let (agent, _) = scripted_agent(["never"]);
    let own = agent
        .tool(constant_tool("search_tools", json!(1)))
        .searchable_tools(three_hundred());
    let error = own.run("hello").await.unwrap_err();
    let error = error.get_ref().unwrap().downcast_ref::<AgentError>();
    assert!(
        matches!(error, Some(AgentError::DuplicateTool { tool, .. }) if tool == "search_tools")
    );

    let (agent, model) = scripted_agent(["never"]);
    let spec = ToolSpec::new(
        "refund_order",
        "Of the client.",
        json!({ "type": "object" }),
    );
    let client = ClientSettings::default().tool(spec);
    let input = ConversationInput::from("hello").with_client(client);
    let error = agent
        .searchable_tools(three_hundred())
        .run(input)
        .await
        .unwrap_err();
    let error = error.get_ref().unwrap().downcast_ref::<AgentError>();
    assert!(matches!(error, Some(AgentError::ClientTool { tool, .. }) if tool == "refund_order"));
    assert_eq!(model.requests().len(), 0);
}
