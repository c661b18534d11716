//! Variables of an envelope with static types.

use std::collections::BTreeMap;

use petalflow::prelude::*;
use petalflow_documents::{Changes, Envelope, VarKey};
use serde_json::{Value, json};

const NAME: VarKey<String> = VarKey::new("name");
const MAYBE: VarKey<Option<String>> = VarKey::new("name");
const PAIRS: VarKey<BTreeMap<(u8, u8), u8>> = VarKey::new("pairs");
const SCORES: VarKey<BTreeMap<String, f64>> = VarKey::new("scores");

#[test]
fn g009_g013_a_key_of_run_time_has_a_type() {
    let scores = BTreeMap::from([("a".to_owned(), 0.5)]);
    let mut envelope = Envelope::new()
        .with_value(&NAME, &"Ann".to_owned())
        .unwrap();
    Changes::new()
        .set(&SCORES, &scores)
        .unwrap()
        .apply_to(&mut envelope);
    assert_eq!(envelope.vars["scores"], json!({ "a": 0.5 }));
    assert_eq!(envelope.get(&NAME).unwrap().as_deref(), Some("Ann"));
    assert_eq!(envelope.get(&SCORES).unwrap(), Some(scores));
    // A missing variable is the zero of its type, if the caller wants that.
    let missing = VarKey::<Vec<u32>>::named("missing".to_owned() + "_1");
    assert!(
        envelope
            .get(&missing)
            .unwrap()
            .unwrap_or_default()
            .is_empty()
    );
}

#[test]
fn g009_a_value_of_another_type_is_an_error_that_names_both() {
    for (value, message) in [
        (
            json!(7),
            "variable `name` of type number cannot be read as `alloc::string::String`",
        ),
        (Value::Null, "variable `name` of type null cannot be read"),
        (json!({}), "variable `name` of type object cannot be read"),
    ] {
        let error = Envelope::new()
            .with_var("name", value)
            .get(&NAME)
            .unwrap_err();
        assert!(error.to_string().starts_with(message), "{error}");
    }
    let nothing = Envelope::new().with_var("name", Value::Null);
    assert_eq!(nothing.get(&MAYBE).unwrap(), Some(None));
}

#[test]
fn a_value_without_a_json_form_is_an_error() {
    let error = Changes::new()
        .set(&PAIRS, &BTreeMap::from([((1, 2), 3)]))
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "variable `pairs` cannot be written as JSON: key must be a string"
    );
}

const LIST: VarKey<Vec<f64>> = VarKey::new("list");
const BEST: VarKey<f64> = VarKey::new("best");

#[node(Envelope)]
async fn choose(state: &Envelope) -> petalflow::Result<Changes> {
    let scores = state.get(&LIST)?.unwrap_or_default();
    Ok(Changes::new().set(&BEST, &scores.into_iter().fold(0.0, f64::max))?)
}

#[tokio::test]
async fn nodes_read_and_write_keys_of_run_time() {
    let flow = Graph::<Envelope>::builder("choose")
        .node(choose {})
        .build()
        .unwrap();
    let input = Envelope::new().with_value(&LIST, &vec![0.5, 0.75]).unwrap();
    assert_eq!(flow.run(input).await.unwrap().get(&BEST), Ok(Some(0.75)));
}
