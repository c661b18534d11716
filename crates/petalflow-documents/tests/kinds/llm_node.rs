//! `LlmNode`, rows P088 to P098.

use std::sync::Arc;
use std::time::Duration;

use petalflow::RunError;
use petalflow::policy::Retry;
use petalflow::prelude::*;
use petalflow::run::{CancelToken, RunErrorKind};
use petalflow_documents::kinds::{LlmConfig, LlmNode};
use petalflow_documents::{Envelope, MissingVariable};
use petalflow_llm::nodes::{Model, NodeOutput};
use petalflow_llm::usage::Budget;
use petalflow_llm::{LlmError, LlmErrorKind, LlmResponse, Reply, Role, ScriptedModel, TokenUsage};
use petalflow_llm_test_support::node_outputs;
use serde_json::{Value, json};
use tokio::time::Instant;

flow!(Ask(Envelope) {
    ask;
    node ask: LlmNode;
});

async fn run(node: LlmNode, envelope: Envelope) -> Result<Envelope, RunError> {
    Ask::new().ask(node).run(envelope).await
}

fn failure(error: &RunError) -> String {
    match error.kind() {
        RunErrorKind::Node(error) => error.message.clone(),
        other => panic!("the node fails, not the run: {other:?}"),
    }
}

fn down() -> LlmError {
    LlmError::new(LlmErrorKind::Connection, "the cable is out")
}

fn prompts(model: &ScriptedModel) -> Vec<String> {
    let asked = model.requests().into_iter();
    asked
        .map(|request| request.input_text.unwrap_or_default())
        .collect()
}

/// A node that asks a scripted model, and the model.
fn scripted_node<R: Into<Reply>>(
    replies: impl IntoIterator<Item = R>,
) -> (LlmNode, Arc<ScriptedModel>) {
    let model = Arc::new(ScriptedModel::new(replies));
    (LlmNode::new().model(Arc::clone(&model)), model)
}

#[tokio::test]
async fn p088_the_answer_goes_to_the_nodes_output() {
    let (node, _) = scripted_node(["hello"]);
    let envelope = run(node, Envelope::new()).await.expect("it answers");
    assert_eq!(envelope.get_var_string("ask_output"), "hello");
    let (node, _) = scripted_node(["hello"]);
    let envelope = run(node.output("greeting"), Envelope::new())
        .await
        .expect("it answers");
    assert_eq!(envelope.get_var_string("greeting"), "hello");
    assert_eq!(envelope.get_var("ask_output"), None);
}

#[tokio::test(start_paused = true)]
async fn p088_three_attempts_and_a_minute() {
    let (node, model) = scripted_node([down(), down(), down(), down()]);
    let begun = Instant::now();
    assert!(run(node, Envelope::new()).await.is_err());
    assert_eq!(model.requests().len(), 3);
    assert_eq!(begun.elapsed(), Duration::from_secs(3), "1 s, then 2 s");

    let (node, _) = scripted_node([Reply::text("late").after(Duration::from_secs(61))]);
    let begun = Instant::now();
    let error = run(node, Envelope::new()).await.expect_err("it is late");
    assert_eq!(begun.elapsed(), Duration::from_mins(1));
    assert_eq!(
        failure(&error),
        "LLM call timed out after 60s: raise `timeout`, or ask for less"
    );
}

#[tokio::test]
async fn p089_the_prompt_is_a_template_or_variables() {
    let envelope = Envelope::new()
        .with_input("the question")
        .with_var("name", "ann")
        .with_var("n", 7)
        .with_var("list", json!([1, { "a": "b" }]));
    let (node, model) = scripted_node(["1", "2", "3"]);
    let template = node
        .clone()
        .template("{{.name}} {{.n}} {{.list}} {{(index .list 1).a}} {{.input}}");
    run(template, envelope.clone()).await.expect("it answers");
    run(
        node.clone().input_vars(["name", "missing", "n", "list"]),
        envelope.clone(),
    )
    .await
    .expect("it answers");
    run(node, envelope).await.expect("it answers");
    assert_eq!(
        prompts(&model),
        [
            r#"ann 7 [1,{"a":"b"}] b the question"#,
            "ann\n7\n[1,{\"a\":\"b\"}]",
            ""
        ]
    );
}

#[tokio::test]
async fn p090_f45_a_missing_variable_is_an_error_empty_or_no_value_by_choice() {
    // Upstream renders `<no value>` into the prompt, as Go's templates do.
    let (node, model) = scripted_node(["ok", "ok"]);
    let node = node.template("Say [{{.nothing}}] [{{.a.b.c}}]");
    let error = run(node.clone(), Envelope::new())
        .await
        .expect_err("it is missing");
    assert!(
        failure(&error).contains("`nothing` has no value"),
        "{error}"
    );
    assert!(model.requests().is_empty());
    run(
        node.clone().missing(MissingVariable::Empty),
        Envelope::new(),
    )
    .await
    .expect("it answers");
    assert_eq!(prompts(&model), ["Say [] []"]);
    run(node.missing(MissingVariable::NoValue), Envelope::new())
        .await
        .expect("it answers");
    assert_eq!(prompts(&model)[1], "Say [<no value>] [<no value>]");
}

#[tokio::test]
async fn a_template_that_cannot_be_read_is_an_error() {
    let (node, _) = scripted_node(["ok"]);
    let error = run(node.template("{{.open"), Envelope::new())
        .await
        .expect_err("it is cut off");
    assert!(failure(&error).contains("template"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn p091_waits_grow_with_each_attempt_and_end_with_the_run() {
    let retry = Retry::attempts(4)
        .first(Duration::from_secs(2))
        .max(Duration::from_secs(6))
        .linear();
    let (node, model) = scripted_node([
        down().into(),
        down().into(),
        down().into(),
        Reply::text("at last"),
    ]);
    let begun = Instant::now();
    let envelope = run(node.retry(retry), Envelope::new())
        .await
        .expect("it answers");
    assert_eq!(envelope.get_var_string("ask_output"), "at last");
    assert_eq!(
        (begun.elapsed().as_secs(), model.requests().len()),
        (2 + 4 + 6, 4)
    );

    let (node, model) = scripted_node([down(), down(), down()]);
    let token = CancelToken::new();
    let launch = Ask::new().ask(node.retry(retry)).cancel_with(&token);
    let begun = Instant::now();
    let (ended, ()) = tokio::join!(launch.run(Envelope::new()), async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        token.cancel();
    });
    let error = ended.expect_err("it is cancelled");
    assert!(matches!(error.kind(), RunErrorKind::Cancelled), "{error}");
    assert_eq!((begun.elapsed().as_secs(), model.requests().len()), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn the_wait_that_a_provider_requests_is_respected() {
    let busy = LlmError::new(
        LlmErrorKind::RateLimited {
            retry_after: Some(Duration::from_secs(20)),
        },
        "slow down",
    );
    let (node, _) = scripted_node([busy.into(), Reply::text("now")]);
    let begun = Instant::now();
    run(node, Envelope::new()).await.expect("it answers");
    assert_eq!(begun.elapsed(), Duration::from_secs(20));
}

#[tokio::test(start_paused = true)]
async fn p092_the_failure_has_the_number_of_attempts() {
    let (node, _) = scripted_node([down(), down(), down()]);
    let error = run(node, Envelope::new()).await.expect_err("it fails");
    assert!(
        failure(&error).starts_with("LLM call failed after 3 attempts: the cable is out"),
        "{error}"
    );
    // What will not pass is not tried again.
    let (node, model) = scripted_node([LlmError::new(LlmErrorKind::Auth, "no key")]);
    let error = run(node, Envelope::new()).await.expect_err("it fails");
    assert!(
        failure(&error).starts_with("LLM call failed after 1 attempt: no key"),
        "{error}"
    );
    assert_eq!(model.requests().len(), 1);
}

fn usage() -> TokenUsage {
    TokenUsage {
        input: 10,
        output: 20,
        total: 30,
        cost: 0.5,
        ..TokenUsage::default()
    }
}

#[tokio::test]
async fn p093_usage_is_written_beside_the_answer() {
    let (node, _) = scripted_node([Reply::text("hello").with_usage(usage())]);
    let envelope = run(node.output("x"), Envelope::new())
        .await
        .expect("it answers");
    let stored = envelope.get_var("x_usage").cloned().expect("it is there");
    assert_eq!(
        serde_json::from_value::<TokenUsage>(stored).expect("it reads"),
        usage()
    );
}

#[tokio::test]
async fn p094_a_budget_is_checked_after_the_call() {
    let over = [
        Budget {
            input: 9,
            ..Budget::UNLIMITED
        },
        Budget {
            output: 19,
            ..Budget::UNLIMITED
        },
        Budget {
            total: 29,
            ..Budget::UNLIMITED
        },
        Budget {
            cost: 0.4,
            ..Budget::UNLIMITED
        },
    ];
    for budget in over {
        let (node, model) = scripted_node([Reply::text("dear").with_usage(usage())]);
        let error = run(node.budget(budget), Envelope::new())
            .await
            .expect_err("it is too much");
        assert!(failure(&error).contains("budget"), "{error}");
        assert_eq!(
            error
                .state::<Envelope>()
                .map(|state| state.get_var("ask_output").is_some()),
            Some(false)
        );
        assert_eq!(model.requests().len(), 1, "more of it would cost more");
    }
    let exact = Budget {
        input: 10,
        output: 20,
        total: 30,
        cost: 0.5,
    };
    for budget in [exact, Budget::UNLIMITED] {
        let (node, _) = scripted_node([Reply::text("fine").with_usage(usage())]);
        run(node.budget(budget), Envelope::new())
            .await
            .expect("it is within it");
    }
}

#[tokio::test]
async fn p095_messages_are_recorded_on_request() {
    let response = LlmResponse {
        model: "m-1".into(),
        provider: "p".into(),
        ..LlmResponse::text_only("hello")
    };
    let (node, _) = scripted_node([Reply::from(response.clone()), response.into()]);
    let envelope = run(node.clone().template("hi"), Envelope::new())
        .await
        .expect("it answers");
    assert!(envelope.messages.is_empty());
    let envelope = run(node.template("hi").record_messages(), Envelope::new())
        .await
        .expect("it answers");
    let [user, assistant] = &envelope.messages[..] else {
        panic!("two messages: {:?}", envelope.messages);
    };
    assert_eq!(
        (user.role, user.text(), user.name.as_deref()),
        (Role::User, "hi".into(), Some("ask"))
    );
    assert_eq!(
        (assistant.role, assistant.text(), assistant.name.as_deref()),
        (Role::Assistant, "hello".into(), Some("ask"))
    );
    assert_eq!(
        (&assistant.meta["model"], &assistant.meta["provider"]),
        (&json!("m-1"), &json!("p"))
    );
}

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": { "stars": { "type": "integer", "minimum": 1 } },
        "required": ["stars"]
    })
}

#[tokio::test]
async fn p096_structured_output_matches_the_schema_or_is_an_error() {
    let (node, _) = scripted_node([Reply::chunks([r#"{"sta"#, r#"rs": 4}"#])]);
    let envelope = run(node.json_schema(schema()), Envelope::new())
        .await
        .expect("it conforms");
    assert_eq!(envelope.get_var("ask_output"), Some(&json!({ "stars": 4 })));
    // What the provider has read itself counts.
    let read = LlmResponse {
        json: Some(json!({ "stars": 5 })),
        ..LlmResponse::text_only("five")
    };
    let (node, _) = scripted_node([Reply::from(read)]);
    let envelope = run(node.json_schema(schema()), Envelope::new())
        .await
        .expect("it conforms");
    assert_eq!(envelope.get_var("ask_output"), Some(&json!({ "stars": 5 })));
    for (text, words) in [
        ("four stars", "something else"),
        ("[1]", "another value"),
        (
            r#"{"stars": "four"}"#,
            "does not conform to the schema at `/stars`",
        ),
        (r#"{"stars": 0}"#, "does not conform"),
        ("{}", "does not conform to the schema at the top"),
    ] {
        let (node, _) = scripted_node([text]);
        let error = run(node.json_schema(schema()), Envelope::new())
            .await
            .expect_err("never raw text");
        assert!(failure(&error).contains(words), "{error}");
    }
    let (node, _) = scripted_node(["{}"]);
    let error = run(node.json_schema(json!({ "type": 7 })), Envelope::new())
        .await
        .expect_err("no schema");
    assert!(failure(&error).contains("not a JSON Schema"), "{error}");
}

#[tokio::test]
async fn p097_deltas_are_emitted_and_then_the_whole_text() {
    let (node, _) = scripted_node([Reply::chunks(["Hel", "lo"])]);
    let outputs = node_outputs(Ask::new().ask(node).run(Envelope::new())).await;
    let delta = |delta: &str, index| NodeOutput::Delta {
        delta: delta.into(),
        index,
        attempt: 1,
    };
    assert_eq!(
        outputs,
        [
            delta("Hel", 0),
            delta("lo", 1),
            NodeOutput::Final {
                text: "Hello".into()
            }
        ]
    );
    let value = serde_json::to_value(&outputs[0]).expect("it is JSON");
    assert_eq!(
        value,
        json!({ "kind": "node.output.delta", "delta": "Hel", "index": 0, "attempt": 1 })
    );
}

#[tokio::test(start_paused = true)]
async fn p097_a_stream_that_stalls_ends_with_the_timeout() {
    let (node, _) = scripted_node([Reply::chunks(["Hel", "lo"]).every(Duration::from_hours(1))]);
    let begun = Instant::now();
    let node = node.timeout(Duration::from_secs(5));
    let error = run(node, Envelope::new()).await.expect_err("it stalls");
    assert!(failure(&error).contains("timed out after 5s"), "{error}");
    assert_eq!(begun.elapsed(), Duration::from_secs(5));
}

#[tokio::test(start_paused = true)]
async fn p098_a_stream_that_ends_early_is_retried() {
    // Upstream does not retry when it streams.
    let (node, _) = scripted_node([
        Reply::chunks(["Hel"]).broken(down()),
        Reply::chunks(["Hello"]),
    ]);
    let outputs = node_outputs(Ask::new().ask(node).run(Envelope::new())).await;
    let delta = |delta: &str, attempt| NodeOutput::Delta {
        delta: delta.into(),
        index: 0,
        attempt,
    };
    assert_eq!(
        outputs,
        [
            delta("Hel", 1),
            delta("Hello", 2),
            NodeOutput::Final {
                text: "Hello".into()
            }
        ]
    );
}

#[tokio::test]
async fn the_model_may_be_a_managed_value_of_the_run() {
    let launch = Ask::new().ask(LlmNode::new());
    let error = launch
        .clone()
        .run(Envelope::new())
        .await
        .expect_err("there is none");
    assert!(failure(&error).contains("has no model"), "{error}");
    let model = Model::new(ScriptedModel::new(["managed"]));
    let envelope = launch
        .manage(model)
        .run(Envelope::new())
        .await
        .expect("it answers");
    assert_eq!(envelope.get_var_string("ask_output"), "managed");
}

#[tokio::test(start_paused = true)]
async fn p088_the_settings_of_a_document_have_these_defaults() {
    let config: LlmConfig = serde_json::from_value(json!({
        "provider": "openai",
        "model": "large",
        "system_prompt": "Be brief.",
        "prompt_template": "Say {{.what}}",
        "temperature": 0.5,
        "max_tokens": 9,
    }))
    .expect("they are settings");
    let model = Arc::new(ScriptedModel::new([down(), down(), down(), down()]));
    let node = LlmNode::from_config(config).expect("it is a node");
    let begun = Instant::now();
    let node = node.model(Arc::clone(&model));
    let error = run(node, Envelope::new().with_var("what", "hello"))
        .await
        .expect_err("the model is down");
    assert!(failure(&error).starts_with("LLM call failed after 3 attempts: "));
    assert_eq!(begun.elapsed(), Duration::from_secs(3));
    let request = &model.requests()[0];
    assert_eq!(request.model.as_deref(), Some("large"));
    assert_eq!(request.system.as_deref(), Some("Be brief."));
    assert_eq!(
        (request.temperature, request.max_tokens),
        (Some(0.5), Some(9))
    );
    assert_eq!(request.input_text.as_deref(), Some("Say hello"));

    assert!(serde_json::from_value::<LlmConfig>(json!({ "tempreature": 1 })).is_err());
    let broken = LlmConfig {
        prompt_template: Some("{{.what".into()),
        ..LlmConfig::default()
    };
    let error = LlmNode::from_config(broken).expect_err("it is not a template");
    assert_eq!(error.field, "prompt_template");
}
