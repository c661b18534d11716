//! What providers may say beside what is recorded, from the wire to the conversation: the real provider's code and a whole agent.

use std::sync::Arc;

use petalflow::async_trait;
use petalflow::tool::schemars::{self, JsonSchema};
use petalflow::{BoxError, Context};
use petalflow_agent::extension::{CodeExecutor, CodeOutput};
use petalflow_agent::{Agent, AgentEvent, Conversation, ConversationInput, Mode};
use petalflow_llm::{ChatMessage, LlmResponse, Part, ProviderModel};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::kit::{collect_stream, constant_tool, events, results, shape, tool};
use petalflow_llm_test_support::server::{self, Server, Step, chunk, end, event};
use petalflow_test_support::{assert_contains, assert_starts_with};

/// A Gemini that answers with these, one after the other, each a list of chunks. Who does not ask for a stream gets them in one.
async fn gemini(answers: Vec<Vec<Value>>) -> (Server, ProviderModel) {
    let answers = Arc::new(answers);
    let server = Server::start(move |number, asked| {
        let Some(chunks) = answers.get(number) else {
            let body = json!({ "error": { "message": "nothing is left to say" } }).to_string();
            return server::answer("500 Internal Server Error", "application/json", &body);
        };
        if asked.path.ends_with(":streamGenerateContent") {
            let chunks = chunks.iter().map(event);
            return [server::events()]
                .into_iter()
                .chain(chunks)
                .chain([end()])
                .collect();
        }
        server::answer(
            "200 OK",
            "application/json",
            &join_chunks(chunks).to_string(),
        )
    })
    .await;
    let model = ProviderModel::new("gemini-2.5-flash").unwrap();
    let model = model
        .with_base_url(server.url("/v1beta"))
        .with_key("test-key");
    (server, model)
}

/// The chunks as one answer: all parts, and of the rest the last.
fn join_chunks(chunks: &[Value]) -> Value {
    let parts = chunks.iter().filter_map(|chunk| {
        let parts = chunk.pointer("/candidates/0/content/parts")?;
        parts.as_array()
    });
    let parts: Vec<Value> = parts.flatten().cloned().collect();
    let mut whole = chunks.last().unwrap().clone();
    if whole.pointer("/candidates/0/content").is_some() {
        whole["candidates"][0]["content"]["parts"] = parts.into();
    }
    whole
}

/// A chunk of these parts that is not the last.
fn piece(parts: Value) -> Value {
    json!({ "candidates": [{ "content": { "role": "model", "parts": parts } }], "modelVersion": "gemini-2.5-flash" })
}

/// The last chunk.
fn last(parts: Value) -> Value {
    let mut chunk = piece(parts);
    chunk["candidates"][0]["finishReason"] = "STOP".into();
    chunk["usageMetadata"] =
        json!({ "promptTokenCount": 3, "candidatesTokenCount": 4, "totalTokenCount": 7 });
    chunk
}

fn text_chunks(text: &str) -> Vec<Value> {
    vec![last(json!([{ "text": text }]))]
}

fn calls(name: &str, args: Value) -> Vec<Value> {
    vec![last(
        json!([{ "functionCall": { "name": name, "args": args } }]),
    )]
}

/// The agent with and without streaming: both must come to the same.
async fn run_whole_and_streamed(
    answers: Vec<Vec<Value>>,
    agent: impl Fn(ProviderModel) -> Agent,
) -> (Vec<AgentEvent>, Conversation, Server) {
    let (server, model) = gemini(answers.clone()).await;
    let (whole, _) = events(&agent(model), "go").await;
    let bodies: Vec<Value> = server
        .requests()
        .into_iter()
        .map(|asked| asked.body)
        .collect();
    let (server, model) = gemini(answers).await;
    let (_, streamed, talk) = collect_stream(agent(model).streaming().events("go")).await;
    assert_eq!(shape(&streamed), shape(&whole));
    let streamed_bodies: Vec<Value> = server
        .requests()
        .into_iter()
        .map(|asked| asked.body)
        .collect();
    assert_eq!(
        without_ids(&bodies),
        without_ids(&streamed_bodies),
        "the same was asked"
    );
    (streamed, talk, server)
}

/// What was asked, without the ids that agents make of their tasks.
fn without_ids(asked: &[Value]) -> Value {
    fn walk(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                fields.remove("id");
                fields.values_mut().for_each(walk);
            }
            Value::Array(items) => items.iter_mut().for_each(walk),
            _ => {}
        }
    }
    let mut asked = Value::from(asked.to_vec());
    walk(&mut asked);
    asked
}

#[tokio::test]
async fn a022_a037_a045_parallel_calls_with_a_long_running_call() {
    let answers = vec![
        vec![
            piece(json!([{ "text": "Both, then." }])),
            last(json!([
                { "functionCall": { "name": "build", "args": {} }, "thoughtSignature": "c2ln" },
                { "functionCall": { "name": "look" } },
            ])),
        ],
        text_chunks("It is begun."),
    ];
    let (events, talk, server) = run_whole_and_streamed(answers, |model| {
        Agent::new(model)
            .tool(constant_tool("build", json!({ "status": "pending" })).long_running())
            .tool(constant_tool("look", json!("fine")))
    })
    .await;
    assert_eq!(
        shape(&events)[1],
        r#"build = {"status":"pending"} & look = "fine""#
    );
    let calls: Vec<_> = events[0]
        .message
        .iter()
        .flat_map(ChatMessage::calls)
        .collect();
    assert!(calls.iter().all(|call| !call.id.is_empty()) && calls[0].id != calls[1].id);
    assert_eq!(events[0].long_running, [calls[0].id.clone()]);
    // The signature goes back with its call, and no other has one.
    let parts = &server.requests()[1].body["contents"][1]["parts"];
    let signed = parts
        .as_array()
        .unwrap()
        .iter()
        .filter(|part| part.get("thoughtSignature").is_some());
    let signed: Vec<&Value> = signed.collect();
    assert_eq!(
        (signed.len(), &signed[0]["functionCall"]["name"]),
        (1, &json!("build"))
    );

    // The result comes later.
    let (server, model) = gemini(vec![text_chunks("It is built.")]).await;
    let agent = Agent::new(model).tool(constant_tool("build", Value::Null).long_running());
    let built = ConversationInput::default().result(&*calls[0].id, "four rooms");
    let talk = agent.run(talk.next_input(built)).await.unwrap();
    assert_eq!(talk.answer(), "It is built.");
    let contents = server.requests()[0].body["contents"].to_string();
    assert!(
        contents.contains("four rooms") && !contents.contains("pending"),
        "{contents}"
    );
}

#[tokio::test]
async fn a053_a054_a056_agents_transfer_the_conversation_to_each_other() {
    let to = |name: &str| calls("transfer_to_agent", json!({ "agent_name": name }));
    let answers = vec![
        to("dogs"),
        to("cats"),
        to("root"),
        text_chunks("Ask a vet."),
    ];
    let (events, talk, server) = run_whole_and_streamed(answers, |model| {
        Agent::new(model)
            .name("root")
            .sub_agent(Agent::named("dogs").description("Knows dogs."))
            .sub_agent(Agent::named("cats").description("Knows cats."))
    })
    .await;
    let authors: Vec<&str> = events.iter().map(|event| &*event.author).collect();
    assert_eq!(
        authors,
        ["root", "root", "dogs", "dogs", "cats", "cats", "root"]
    );
    assert_eq!(talk.answer(), "Ask a vet.");
    let turns = server.requests()[2].body["contents"]
        .as_array()
        .unwrap()
        .clone();
    assert!(
        turns.iter().all(|turn| turn["role"] == "user"),
        "others' doings are told: {turns:?}"
    );
    assert!(
        turns
            .last()
            .unwrap()
            .to_string()
            .contains("[dogs] `transfer_to_agent` tool returned")
    );
    let own = server.requests()[3].body["contents"]
        .as_array()
        .unwrap()
        .clone();
    assert_eq!(own[1]["role"], "model", "its own are its own");
}

#[expect(dead_code, reason = "only its schema is of interest")]
#[derive(Deserialize, JsonSchema)]
struct Flower {
    name: String,
    petals: u32,
}

#[tokio::test]
async fn a051_a_task_ends_only_with_a_matching_result() {
    let answers = vec![
        calls("botanist", json!({ "request": "a rose" })),
        calls("finish_task", json!({ "name": "rose", "petals": "five" })),
        calls("finish_task", json!({ "name": "rose", "petals": 5 })),
        text_chunks("It has five."),
    ];
    let (events, talk, _) = run_whole_and_streamed(answers, |model| {
        let botanist = Agent::named("botanist").mode(Mode::Task).output::<Flower>();
        Agent::new(model).name("root").sub_agent(botanist)
    })
    .await;
    let error = results(&talk)[0]["error"].as_str().unwrap().to_string();
    assert_contains(&error, "`petals`");
    assert_eq!(
        events[4].output,
        Some(json!({ "name": "rose", "petals": 5 }))
    );
    assert_eq!(talk.answer(), "It has five.");
}

#[tokio::test]
async fn a051_a_schema_is_enforced_beside_tools() {
    let answers = vec![
        calls("look", json!({})),
        calls("set_model_response", json!({ "name": "rose", "petals": 5 })),
    ];
    let (server, model) = gemini(answers).await;
    let agent = Agent::new(model).tool(constant_tool("look", json!("a rose")));
    let (_, talk) = events(&agent.output::<Flower>(), "what is it?").await;
    assert_eq!(talk.answer(), r#"{"name":"rose","petals":5}"#);
    let asked = &server.requests()[0].body;
    assert!(asked["tools"].to_string().contains("set_model_response"));
    assert_eq!(asked.pointer("/generationConfig/responseJsonSchema"), None);
}

#[tokio::test]
async fn a_chain_of_tools_in_a_single_turn_agent() {
    let answers = vec![
        calls("clerk", json!({ "request": "the price of two roses" })),
        calls("price", json!({ "of": "rose" })),
        calls("times", json!({ "price": 3, "count": 2 })),
        text_chunks("6"),
        text_chunks("They are 6."),
    ];
    let (events, talk, _) = run_whole_and_streamed(answers, |model| {
        let clerk = Agent::named("clerk")
            .mode(Mode::SingleTurn)
            .tool(constant_tool("price", json!({ "price": 3 })))
            .tool(tool("times", |arguments, _| {
                let number = |key: &str| arguments[key].as_i64().ok_or("numbers only");
                Ok(json!({ "total": number("price")? * number("count")? }))
            }));
        Agent::new(model).name("root").sub_agent(clerk)
    })
    .await;
    let authors: Vec<&str> = events.iter().map(|event| &*event.author).collect();
    assert_eq!(
        authors,
        [
            "root", "clerk", "clerk", "clerk", "clerk", "clerk", "root", "root"
        ]
    );
    assert_eq!(results(&talk).last().unwrap(), &json!({ "result": "6" }));
}

#[tokio::test]
async fn a021_a064_streamed_thoughts_text_and_calls() {
    let argument = |path: &str, value: &str| json!([{ "functionCall": { "partialArgs": [{ "jsonPath": path, "stringValue": value }], "willContinue": true } }]);
    let chunks = vec![
        piece(json!([{ "text": "Hm. ", "thought": true }])),
        piece(json!([{ "text": "Let me ", }])),
        piece(json!([{ "text": "see." }])),
        piece(json!([{ "functionCall": { "name": "look", "willContinue": true } }])),
        piece(argument("$.at", "the ro")),
        piece(argument("$.at", "se")),
        piece(json!([{ "functionCall": {} }])),
        last(json!([{ "text": "" }])),
    ];
    let (_server, model) = gemini(vec![chunks, text_chunks("A rose.")]).await;
    let look = tool("look", |arguments, _| Ok(arguments["at"].clone()));
    let (pieces, events, talk) =
        collect_stream(Agent::new(model).tool(look).streaming().events("go")).await;
    assert_eq!(
        shape(&events)[0],
        r#"(Hm. ) & Let me see. & look{"at":"the rose"}"#
    );
    assert_eq!(results(&talk), ["the rose"], "it is called once");
    let heard: String = pieces.iter().map(AgentEvent::text).collect();
    assert_eq!(heard, "Let me see.A rose.");
    assert!(pieces.iter().all(|piece| piece.partial));
    assert_eq!(talk.usage().tokens.total, 14);
}

#[tokio::test]
async fn a004_after_an_answer_of_only_thoughts_the_model_is_asked_again() {
    let thinks = vec![last(json!([{ "text": "Hm.", "thought": true }]))];
    let (events, talk, server) =
        run_whole_and_streamed(vec![thinks, text_chunks("Yes.")], Agent::new).await;
    assert_eq!(shape(&events), ["(Hm.)", "Yes."]);
    assert_eq!((server.requests().len(), talk.answer()), (2, "Yes.".into()));
}

#[tokio::test]
async fn a003_a020_empty_answers_and_their_reasons() {
    let nothing = |reason: &str| {
        vec![json!({ "candidates": [{ "content": { "role": "model" }, "finishReason": reason }] })]
    };
    let (events, talk, _) = run_whole_and_streamed(vec![nothing("STOP")], Agent::new).await;
    assert!(events.is_empty() && talk.error().is_none());
    for reason in [
        "SAFETY",
        "MAX_TOKENS",
        "RECITATION",
        "MALFORMED_FUNCTION_CALL",
        "OTHER",
    ] {
        let (events, talk, _) = run_whole_and_streamed(vec![nothing(reason)], Agent::new).await;
        assert_eq!(events.len(), 1, "{reason}");
        let error = talk.error().unwrap_or_default();
        assert!(
            error.starts_with("the model stopped: "),
            "{reason}: {error}"
        );
    }
    let blocked = vec![json!({ "promptFeedback": { "blockReason": "PROHIBITED_CONTENT" } })];
    let (_, talk, _) = run_whole_and_streamed(vec![blocked], Agent::new).await;
    let expected = "the provider blocked the prompt: PROHIBITED_CONTENT";
    assert_eq!(talk.error(), Some(expected));
    // What was cut short is still an answer.
    let mut cut = text_chunks("Once upon a");
    cut[0]["candidates"][0]["finishReason"] = "MAX_TOKENS".into();
    let (events, talk, _) = run_whole_and_streamed(vec![cut], Agent::new).await;
    assert_eq!((talk.answer(), talk.error()), ("Once upon a".into(), None));
    assert_eq!(json!(events[0].finish), "length");
}

#[tokio::test]
async fn a015_a016_errors_in_the_middle_of_a_stream() {
    let broken: [Vec<Step>; 3] = [
        // An error in place of a piece.
        vec![
            server::events(),
            event(&piece(json!([{ "text": "Once" }]))),
            event(
                &json!({ "error": { "code": 503, "message": "overloaded", "status": "UNAVAILABLE" } }),
            ),
            end(),
        ],
        // Cut off within a piece.
        vec![
            server::events(),
            event(&piece(json!([{ "text": "Once" }]))),
            chunk("data: {\"candidates\": [{\"content\": {\"par"),
        ],
        // Over, but not at its end.
        vec![
            server::events(),
            event(&piece(json!([{ "text": "Once" }]))),
            end(),
        ],
    ];
    for steps in broken {
        let server = Server::always(steps).await;
        let model = ProviderModel::new("gemini-2.5-flash").unwrap();
        let model = model
            .with_base_url(server.url("/v1beta"))
            .with_key("test-key");
        let agent = Agent::new(model).streaming();
        agent
            .run("a story")
            .await
            .expect_err("half an answer is none");
        let agent = agent.on_model_error(|_, error| {
            assert_starts_with(&error, "provider `gemini` failed: ");
            Ok(Some(LlmResponse::text_only("no story today")))
        });
        let (pieces, events, talk) = collect_stream(agent.events("a story")).await;
        assert_eq!(shape(&pieces), ["Once"]);
        assert_eq!((events.len(), talk.answer()), (1, "no story today".into()));
    }
}

#[tokio::test]
async fn a007_code_that_the_provider_ran() {
    let ran = json!([
        { "text": "Let me compute." },
        { "executableCode": { "language": "PYTHON", "code": "print(2+2)" } },
        { "codeExecutionResult": { "outcome": "OUTCOME_OK", "output": "4\n" } },
    ]);
    let mut whole = ran.clone();
    whole
        .as_array_mut()
        .unwrap()
        .push(json!({ "text": "It is 4." }));
    let (events, talk, _) = run_whole_and_streamed(vec![vec![last(whole)]], Agent::new).await;
    let parts = &events[0].message.as_ref().unwrap().parts;
    assert!(
        matches!(&parts[1], Part::Code { code, .. } if code == "print(2+2)"),
        "{parts:?}"
    );
    assert!(matches!(&parts[2], Part::CodeResult { outcome, .. } if outcome == "OUTCOME_OK"));
    assert_eq!(talk.answer(), "Let me compute.It is 4.");
    // Its result is not the last word.
    let (events, talk, server) =
        run_whole_and_streamed(vec![vec![last(ran)], text_chunks("It is 4.")], Agent::new).await;
    assert_eq!((events.len(), talk.answer()), (2, "It is 4.".into()));
    // Gemini takes back what it ran itself.
    let content = &server.requests()[1].body["contents"][1];
    assert_eq!(content["role"], "model");
    assert_eq!(content["parts"][2]["codeExecutionResult"]["output"], "4\n");
}

/// Runs nothing: the output is given.
struct Knows;

#[async_trait]
impl CodeExecutor for Knows {
    async fn execute(&self, code: &str, _: &Context) -> Result<CodeOutput, BoxError> {
        assert_eq!(code, "print(2+2)");
        Ok(CodeOutput::printed("4"))
    }
}

#[tokio::test]
async fn a009_code_that_the_program_ran_is_sent_as_text() {
    let code = text_chunks("So:\n```tool_code\nprint(2+2)\n```");
    let native = last(json!([
        { "executableCode": { "language": "PYTHON", "code": "print(2+2)" } },
    ]));
    let answers = vec![code, vec![native], text_chunks("It is 4.")];
    let (events, talk, server) =
        run_whole_and_streamed(answers, |model| Agent::new(model).code_executor(Knows)).await;
    assert_eq!((events.len(), talk.answer()), (5, "It is 4.".into()));
    let contents = &server.requests()[2].body["contents"];
    assert!(
        !contents.to_string().contains("executableCode"),
        "{contents}"
    );
    let turns: Vec<(&Value, &Value)> = contents
        .as_array()
        .unwrap()
        .iter()
        .map(|turn| (&turn["role"], &turn["parts"][0]["text"]))
        .collect();
    let (model, user) = (json!("model"), json!("user"));
    let printed = json!("```tool_output\n4\n```");
    assert_eq!(turns[2], (&user, &printed));
    assert_eq!(turns[3], (&model, &json!("```tool_code\nprint(2+2)\n```")));
    assert_eq!(turns[4], (&user, &printed));
}

#[tokio::test]
async fn grounding_is_stored_and_unknown_fields_are_ignored() {
    let sources = json!({ "webSearchQueries": ["petals"], "groundingChunks": [{ "web": { "uri": "https://petals.example" } }] });
    let mut answer = last(json!([{ "text": "They are leaves." }, { "somethingNew": { "x": 1 } }]));
    answer["candidates"][0]["groundingMetadata"] = sources.clone();
    answer["candidates"][0]["citationMetadata"] = json!({ "citations": [] });
    answer["candidates"][0]["avgLogprobs"] = json!(-0.1);
    let (events, talk, _) = run_whole_and_streamed(vec![vec![answer]], Agent::new).await;
    assert_eq!(talk.answer(), "They are leaves.");
    assert_eq!(events[0].meta["groundingMetadata"], sources);
    assert_eq!(
        events[0].meta["citationMetadata"],
        json!({ "citations": [] })
    );
}

#[tokio::test]
async fn a013_a017_callbacks_replace_requests_and_responses() {
    let (server, model) = gemini(vec![text_chunks("secret: 42")]).await;
    let agent = Agent::new(model)
        .before_model(|call| {
            let asked = call.request.messages.last().map(ChatMessage::text);
            call.instruct("Keep it short.");
            let known = asked.as_deref() == Some("known?");
            Ok(known.then(|| LlmResponse::text_only("from memory")))
        })
        .after_model(|_, response| {
            let clean = response.text().replace("42", "***");
            Ok(Some(LlmResponse::text_only(clean)))
        });
    let talk = agent.run("known?").await.unwrap();
    assert_eq!(
        (talk.answer(), server.requests().len()),
        ("from memory".into(), 0)
    );
    let talk = agent.run(talk.next_input("and now?")).await.unwrap();
    assert_eq!(talk.answer(), "secret: ***");
    let body = &server.requests()[0].body;
    assert!(
        body["systemInstruction"]
            .to_string()
            .contains("Keep it short.")
    );
    assert!(body["contents"].to_string().contains("from memory"));
}
