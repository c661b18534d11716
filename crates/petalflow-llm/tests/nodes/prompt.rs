//! `Prompt` over a state of one's own.

use std::sync::Arc;

use petalflow::prelude::*;
use petalflow::tool::schemars::JsonSchema;
use petalflow_llm::nodes::{Model, Prompt};
use petalflow_llm::{LlmError, LlmErrorKind, Reply, ScriptedModel};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(crate = "petalflow::tool::schemars")]
struct Review {
    stars: u8,
    because: String,
}

#[state]
#[derive(Debug)]
struct Essay {
    #[key(input)]
    topic: String,
    draft: String,
    review: Review,
}

flow! {
    WriteAndReview(Essay) {
        write -> review;
        node write: Prompt<EssayTopic, EssayDraft> = Prompt::new("You write.").request(|request| request.max_tokens = Some(9));
        node review: Prompt<EssayDraft, EssayReview> = Prompt::structured("You review.");
        with review { retry: 2 };
    }
}

#[tokio::test(start_paused = true)]
async fn answers_are_texts_and_types() {
    let model = Arc::new(ScriptedModel::new([
        "On petals.",
        "four stars",
        r#"{ "stars": 4, "because": "short" }"#,
    ]));
    let launch = WriteAndReview::new().manage(Model::new(Arc::clone(&model)));
    let essay = launch.run("petals".to_string()).await.expect("it runs");
    assert_eq!(
        essay.review,
        Review {
            stars: 4,
            because: "short".into()
        }
    );
    let asked = model.requests();
    let texts: Vec<_> = asked
        .iter()
        .map(|request| request.input_text.as_deref())
        .collect();
    assert_eq!(
        texts,
        [Some("petals"), Some("On petals."), Some("On petals.")]
    );
    assert_eq!(
        (asked[0].system.as_deref(), asked[0].max_tokens),
        (Some("You write."), Some(9))
    );
    let schema = asked[1].json_schema.as_ref().expect("it is asked for");
    assert_eq!(schema["properties"]["stars"]["type"], "integer");
}

#[tokio::test]
async fn an_error_of_the_model_fails_the_node() {
    let model = ScriptedModel::new([Reply::from(LlmError::new(LlmErrorKind::Auth, "no key"))]);
    let launch = WriteAndReview::new().manage(Model::new(model));
    let error = launch
        .run("petals".to_string())
        .await
        .expect_err("it fails");
    assert!(error.to_string().contains("no key"), "{error}");
}
