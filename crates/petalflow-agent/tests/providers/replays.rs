//! Recordings of real models, replayed through the real provider's code.

use std::sync::Arc;

use petalflow::tool::{FuncTool, ToolSpec};
use petalflow_agent::Agent;
use petalflow_agent::extension::{Callbacks, ModelCall};
use petalflow_llm::{LlmResponse, Part};
use serde_json::{Map, Value, json};

use crate::kit::{collect_stream, constant_tool, events, results, shape, tool};
use petalflow_llm_test_support::replay::Replay;

const FLASH: &str = "gemini-2.5-flash";

fn sum() -> FuncTool {
    tool("sum", |arguments, _| {
        let number = |key: &str| arguments[key].as_i64().ok_or("numbers only");
        Ok(json!({ "sum": number("a")? + number("b")? }))
    })
}

#[tokio::test]
async fn a066_a_model_calls_a_tool_and_answers_with_its_result() {
    let path = "adk/agent/llmagent/testdata/TestFunctionTool.httprr";
    let Some(replay) = Replay::of(path).await else {
        return;
    };
    let agent = Agent::new(replay.model(FLASH))
        .name("agent")
        .description("math agent")
        .instructions("IMPORTANT: output ONLY the result computed by the provided function, if the result of 10 + 32 is 42 print only 42")
        .tool(sum());
    let (events, talk) = events(&agent, "what is the sum of 1 + 2?").await;
    assert_eq!(
        shape(&events),
        [r#"sum{"a":1,"b":2}"#, r#"sum = {"sum":3}"#, "3"]
    );
    assert_eq!(replay.remaining(), 0);
    let call = events[0].message.as_ref().unwrap().calls().next().unwrap();
    assert!(
        call.signature.is_some(),
        "what the model thought is sent back signed"
    );
    // What we send means the same as what was recorded, to the word.
    let recorded = petalflow_test_support::recording(path)
        .map(|file| petalflow_llm_test_support::httprr::read(&file));
    for (asked, pair) in replay.server.requests().iter().zip(recorded.unwrap()) {
        let words = |body: &Value| body["systemInstruction"]["parts"][0]["text"].clone();
        assert_eq!(words(&asked.body), words(&pair.request.body));
    }
    assert!(talk.usage().tokens.total > 223);
}

#[tokio::test]
async fn a067_the_results_of_parallel_calls_have_the_order_of_the_calls() {
    for model in [FLASH, "gemini-3-flash-preview"] {
        let path = format!(
            "adk/internal/llminternal/testdata/TestParallelFunctionCalls_test_parallel_function_calls_{model}.httprr"
        );
        let Some(replay) = Replay::of(&path).await else {
            return;
        };
        let agent = Agent::new(replay.model(model))
            .name("calculator")
            .description("A calculator that can add two integers.")
            .instructions("You are a calculator assistant. You will recieve requests to add two integers. Respond with the sum of the two integers and you must use the sum tool to calculate the sum.")
            .streaming()
            .tool(sum());
        let first = agent.events("Can you add 2 and 3? Also 4 and 5? And 6 and 7?");
        let (pieces, events, talk) = collect_stream(first).await;
        assert_eq!(events.len(), 3, "{:?}", shape(&events));
        assert!(!pieces.is_empty());
        let second = "Great, now can you add 10 and 20? Also 40 and 50? And 60 and 70?";
        let (_, _, talk) = collect_stream(agent.events(talk.next_input(second))).await;
        let sums: Vec<i64> = results(&talk)
            .iter()
            .map(|result| result["sum"].as_i64().unwrap())
            .collect();
        assert_eq!(sums, [5, 9, 13, 30, 90, 130]);
        assert!(talk.answer().contains("130"), "{}", talk.answer());
        assert_eq!(replay.remaining(), 0);
    }
}

/// The answer of the recorded model of a test of callbacks around `rand_number`.
async fn random(test: &str, build: impl FnOnce(Agent) -> Agent) -> Option<String> {
    let path = format!("adk/agent/llmagent/testdata/TestToolCallback_{test}.httprr");
    let replay = Replay::of(&path).await?;
    let agent = Agent::new(replay.model(FLASH))
        .name("agent")
        .description("random agent")
        .instructions("IMPORTANT: output ONLY the result computed by the provided function, if the result is number:42 print only 42")
        .tool(constant_tool("rand_number", json!({ "number": "1" })));
    let (_, talk) = events(&build(agent), "Generate random number with 5 as a seed.").await;
    assert_eq!(replay.remaining(), 0);
    // The model got the result of the callback, not of the tool.
    let asked = replay.server.requests();
    let result = &asked[1].body["contents"][2]["parts"][0]["functionResponse"]["response"];
    let result = result.to_string().replace('\\', "");
    assert!(
        result.contains(&format!("\"number\":\"{}\"", talk.answer())),
        "{result}"
    );
    Some(talk.answer())
}

#[tokio::test]
async fn a068_callbacks_around_tools_in_their_order() {
    let number = |number: &str| Ok(Some(json!({ "number": number })));
    let before = random("before_callback_response_used", |agent| {
        agent.before_tool(move |_| number("7"))
    });
    let Some(before) = before.await else {
        return;
    };
    assert_eq!(before, "7");
    let after = random("after_callback_response_used", |agent| {
        agent.after_tool(move |_, _| number("7"))
    });
    assert_eq!(after.await.unwrap(), "7");
    let both = random(
        "after_callback_returned_when_used_with_before_callback",
        |agent| {
            agent
                .before_tool(move |_| number("3"))
                .after_tool(move |_, outcome| {
                    assert_eq!(outcome.as_ref().unwrap()["number"], "3");
                    number("7")
                })
        },
    );
    assert_eq!(both.await.unwrap(), "7");
    let skipped = random("extra_before_callback_skipped", |agent| {
        agent
            .before_tool(move |_| number("3"))
            .before_tool(move |_| number("7"))
    });
    assert_eq!(skipped.await.unwrap(), "3");
}

/// Asks the model for more arguments than a tool takes, and takes them off its calls again.
struct Rationale;

const MORE: [&str; 2] = ["skill_id", "rationale"];

#[petalflow::async_trait]
impl Callbacks for Rationale {
    async fn before_model(
        &self,
        call: &mut ModelCall<'_>,
    ) -> Result<Option<LlmResponse>, petalflow::BoxError> {
        let tools = call.request.tools.iter().map(|spec| {
            let mut spec = ToolSpec::clone(spec);
            if spec.name == "calculator" {
                for name in MORE {
                    spec.parameters["properties"][name] = json!({ "type": "string" });
                }
            }
            Arc::new(spec)
        });
        call.request.tools = tools.collect();
        Ok(None)
    }

    async fn after_model(
        &self,
        _: &mut ModelCall<'_>,
        response: &LlmResponse,
    ) -> Result<Option<LlmResponse>, petalflow::BoxError> {
        let mut response = response.clone();
        for part in response
            .message
            .iter_mut()
            .flat_map(|message| &mut message.parts)
        {
            if let Part::Call(call) = part
                && let Value::Object(arguments) = &mut call.arguments
            {
                arguments.retain(|name, _| !MORE.contains(&&**name));
            }
        }
        Ok(Some(response))
    }
}

fn transfer_agent(replay: &Replay) -> Agent {
    Agent::new(replay.model(FLASH))
        .name("transfer_agent")
        .description("transfer agent")
        .instructions(
            "You are a transfer agent. You can transfer to other agents using your tools.",
        )
        .plugin(Rationale)
}

#[tokio::test]
async fn a068_a_plugin_changes_what_is_declared_and_what_is_called() {
    let path = "adk/plugin/functioncallmodifier/testdata/TestPluginCallbackIntegration_agent_tool_default_schema.httprr";
    let Some(replay) = Replay::of(path).await else {
        return;
    };
    let calculator = Agent::new(replay.model(FLASH))
        .name("calculator")
        .description("calculator agent\n Skills: add, subtract, multiply, divide")
        .instructions("You are a calculator agent. You can calculate numbers.")
        .streaming();
    let schema = json!({
        "type": "object",
        "properties": { "request": { "type": "string" } },
        "required": ["request"]
    });
    let spec = ToolSpec::new("calculator", "calculator agent", schema);
    let calculator = FuncTool::untyped(spec, move |arguments: Value, cx| {
        let calculator = calculator.clone();
        async move {
            let given = arguments.as_object().map(Map::len);
            assert_eq!(given, Some(1), "the plugin took the others off");
            let request = arguments["request"].as_str().ok_or("a request")?;
            let cx = cx.context().ok_or("only within a run")?;
            let talk = calculator.run_in(&cx, request).await?;
            match talk.error() {
                Some(error) => Err(format!("error from sub-agent \"calculator\": {error}").into()),
                None => Ok(json!(talk.answer())),
            }
        }
    });
    let (events, talk) = events(
        &transfer_agent(&replay).tool(calculator),
        "Can you add 2 and 2?",
    )
    .await;
    assert_eq!(events.len(), 10, "{:?}", shape(&events));
    for error in results(&talk) {
        assert_eq!(
            error["error"],
            "error from sub-agent \"calculator\": the model stopped: UNEXPECTED_TOOL_CALL"
        );
    }
    assert!(talk.answer().starts_with("I am sorry"), "{}", talk.answer());
    assert_eq!(replay.remaining(), 0);
    let declared = &replay.server.requests()[0].body["tools"][0]["functionDeclarations"][0];
    assert!(declared.to_string().contains("rationale"), "{declared}");
}

#[tokio::test]
async fn a068_a_plugin_without_anything_to_change() {
    let path = "adk/plugin/functioncallmodifier/testdata/TestPluginCallbackIntegration_no_relevant_tools.httprr";
    let Some(replay) = Replay::of(path).await else {
        return;
    };
    let agent = transfer_agent(&replay).tool(constant_tool("other_tool", json!(1)));
    let (_, talk) = events(&agent, "Can you add 2 and 2?").await;
    assert_eq!(talk.answer(), "2 + 2 = 4");
}
