//! Typed answers. The server makes a grammar of the schema: so a model that knows nothing writes valid JSON.

use petalflow::tool::Partial;
use petalflow_agent::stream::AgentEventKind;
use petalflow_test_support::assert_contains;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::local_model;
use crate::kit::{assert_grows, failure};

/// Each value has a maximum length, because the model would go on and on.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema, Partial)]
struct Place {
    #[schemars(length(max = 8))]
    name: String,
    size: Size,
    #[schemars(length(min = 1, max = 2))]
    sights: Vec<Sight>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Partial)]
enum Size {
    Small,
    Large,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema, Partial)]
struct Sight {
    #[schemars(length(max = 6))]
    name: String,
}

const MAX_TOKENS: u32 = 200;

fn check(place: &Place) {
    assert!(place.name.chars().count() <= 8, "{place:?}");
    assert!((1..=2).contains(&place.sights.len()), "{place:?}");
}

#[tokio::test]
async fn f44_10_an_agent_answers_in_a_type() {
    let Some(local) = local_model().await else {
        return;
    };
    let agent = local.agent(MAX_TOKENS).output::<Place>();
    let talk = agent.run("Where is Paris?").await.unwrap();
    check(&talk.output().unwrap());
    assert_eq!(talk.error(), None);
    // Without a repair.
    let usage = talk.usage();
    assert_eq!((usage.requests, talk.events.len()), (1, 2));
    assert!(usage.tokens.input > 5, "{usage:?}");
    assert!(
        (10..u64::from(MAX_TOKENS)).contains(&usage.tokens.output),
        "{usage:?}"
    );
}

#[tokio::test]
async fn f44_10_a_typed_answer_grows_while_the_model_writes() {
    let Some(local) = local_model().await else {
        return;
    };
    let agent = local.agent(MAX_TOKENS).output::<Place>();
    let mut events = agent.streaming().events("Where is Paris?");
    let (mut pieces, mut outputs, mut end) = (Vec::new(), Vec::new(), None);
    while let Some(item) = events.next().await {
        match item.kind {
            AgentEventKind::Partial(piece) => pieces.push(piece.text()),
            AgentEventKind::PartialOutput(output) => outputs.push(output.value),
            AgentEventKind::Finished(talk) => end = Some(talk),
            AgentEventKind::Failed(error) => panic!("{error:?}"),
            _ => {}
        }
    }
    let talk = end.expect("the turn ends");
    check(&talk.output().unwrap());
    assert!(pieces.len() > 10, "{pieces:?}");
    assert_eq!(pieces.concat(), talk.answer());
    assert!(outputs.len() > 3, "{outputs:?}");
    let whole = talk.output().unwrap();
    assert_grows(&outputs, &whole);
    for pair in outputs.windows(2) {
        assert_grows(&pair[..1], &pair[1]);
    }
    assert_eq!(talk.usage().requests, 1);
    let tokens = usize::try_from(talk.usage().tokens.output).unwrap();
    assert!(
        tokens >= pieces.len(),
        "{tokens} tokens in {} pieces",
        pieces.len()
    );
}

#[tokio::test]
async fn f44_10_a_typed_answer_that_was_cut_says_so() {
    let Some(local) = local_model().await else {
        return;
    };
    let agent = local.agent(6).output::<Place>().max_repairs(0);
    let error = failure(&agent, "Where is Paris?").await;
    assert_contains(&error, "it was cut off at the maximum number of tokens");
}
