//! `LlmRouter`, rows P110 to P112.

use std::sync::Arc;
use std::time::Duration;

use petalflow_documents::kinds::{LlmRouter, LlmRouterConfig};
use petalflow_llm::{LlmError, LlmErrorKind, Reply, ScriptedModel};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::support::{run, settings, settings_error, var, vars};

fn router(config: Value) -> LlmRouter {
    LlmRouter::new(settings(config)).expect("they are settings")
}

fn targets() -> Value {
    json!({ "allowed_targets": { "Money": "billing", "other": "support" } })
}

/// The decision for an answer of the model.
async fn decide(answer: impl Into<Reply>) -> Result<Value, String> {
    let node = router(targets()).model(ScriptedModel::new([answer]));
    Ok(var(&run(node, vars(json!({}))).await?, "n_decision"))
}

#[tokio::test]
async fn p110_the_request() {
    let mut config = targets();
    config["input_vars"] = json!(["title", "missing", "data"]);
    config["system_prompt"] = json!("Sort letters.");
    let model = Arc::new(ScriptedModel::new([r#"{ "choice": "other" }"#]));
    let node = router(config).model(Arc::clone(&model));
    run(node, vars(json!({ "title": "A", "data": { "b": 1 } })))
        .await
        .expect("it decides");
    let request = &model.requests()[0];
    assert_eq!(request.input_text.as_deref(), Some("A\n\n{\"b\":1}"));
    assert_eq!(request.temperature, Some(0.1));
    let system = request.system.as_deref().expect("there is one");
    assert!(system.starts_with(
        "Sort letters.\n\nYou must choose exactly one of these options: Money, other\n"
    ));
    let schema = request.json_schema.as_deref().expect("there is one");
    assert_eq!(
        schema["properties"]["choice"]["enum"],
        json!(["Money", "other"])
    );
    assert_eq!(schema["required"], json!(["choice"]));
    assert_eq!(schema["properties"]["confidence"]["maximum"], json!(1));
    let error = LlmRouter::new(settings(json!({ "allowed_targets": {} })));
    assert_eq!(error.expect_err("no targets").field, "allowed_targets");
    assert!(settings_error::<LlmRouterConfig>(json!({})).contains("allowed_targets"));
}

#[tokio::test(start_paused = true)]
async fn p110_three_attempts_and_half_a_minute() {
    let down = || LlmError::new(LlmErrorKind::Connection, "the cable is out");
    let model = Arc::new(ScriptedModel::new([down(), down(), down(), down()]));
    let begun = Instant::now();
    let error = run(router(targets()).model(Arc::clone(&model)), vars(json!({}))).await;
    assert!(
        error
            .expect_err("it is down")
            .starts_with("LLM router failed after 3 attempts: ")
    );
    assert_eq!(
        (model.requests().len(), begun.elapsed()),
        (3, Duration::from_secs(3))
    );
    let late = Reply::text("Money").after(Duration::from_secs(31));
    let begun = Instant::now();
    let error = decide(late).await.expect_err("it is late");
    assert!(error.contains("timed out after 30s"), "{error}");
    assert_eq!(begun.elapsed(), Duration::from_secs(30));
}

#[tokio::test]
async fn p111_answers() {
    let decision = decide(r#"{ "choice": "Money", "reason": "a bill", "confidence": 0.5 }"#).await;
    let decision = decision.expect("it decides");
    assert_eq!(decision["targets"], json!(["billing"]));
    assert_eq!(decision["reason"], json!("a bill"));
    assert_eq!(decision["confidence"], json!(0.5));
    let decision = decide("I think it is MONEY.").await.expect("it decides");
    assert_eq!(decision["targets"], json!(["billing"]));
    assert_eq!(decision["reason"], json!("extracted from text"));
    assert_eq!(decision.get("confidence"), None);
    for (answer, problem) in [
        (
            r#"{ "choice": "sales" }"#,
            "the model chose `sales`, which is not one of Money, other",
        ),
        (r#"{ "choice": "money" }"#, "the model chose `money`"),
        ("no idea", "contains no label"),
        ("[1]", "contains no label"),
    ] {
        let error = decide(answer).await.expect_err("it is not a label");
        assert!(error.contains(problem), "{error}");
    }
}

#[tokio::test]
async fn p111_the_longest_label_in_a_text_is_chosen() {
    // Upstream takes one of the labels at random.
    let config = json!({ "allowed_targets": { "refund": "a", "no refund": "b", "fun": "c" } });
    let node = router(config).model(ScriptedModel::new(["It is no refund."]));
    let envelope = run(node, vars(json!({}))).await.expect("it decides");
    assert_eq!(var(&envelope, "n_decision")["targets"], json!(["b"]));
}

#[tokio::test]
async fn p112_the_choice_and_the_model_are_recorded() {
    let decision = decide(r#"{ "choice": "Money" }"#)
        .await
        .expect("it decides");
    assert_eq!(decision["meta"]["choice"], json!("Money"));
    assert!(decision["meta"]["model"].is_string(), "{decision}");
    let mut config = targets();
    config["decision_key"] = json!("way");
    let node = router(config).model(ScriptedModel::new([r#"{ "choice": "other" }"#]));
    let envelope = run(node, vars(json!({}))).await.expect("it decides");
    assert_eq!(var(&envelope, "way")["targets"], json!(["support"]));
    assert_eq!(envelope.get_var("n_decision"), None);
}
