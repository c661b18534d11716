//! What tools want done beside their results, merged as ADK merges it.

use petalflow::tool::{Actions, Confirmation, merge};
use serde_json::{Value, json};

fn state(value: Value) -> Actions {
    let Value::Object(state_delta) = value else {
        panic!("an object");
    };
    Actions {
        state_delta,
        ..Actions::default()
    }
}

fn artifacts(versions: &[(&str, i64)]) -> Actions {
    Actions {
        artifact_delta: versions
            .iter()
            .map(|(name, version)| ((*name).into(), *version))
            .collect(),
        ..Actions::default()
    }
}

#[test]
fn a040_flags_are_combined_with_or_and_the_last_transfer_wins() {
    let to = |agent: &str| {
        Some(Actions {
            transfer_to_agent: Some(agent.into()),
            ..Actions::default()
        })
    };
    let flags = |skip_summarization, escalate| {
        Some(Actions {
            skip_summarization,
            escalate,
            ..Actions::default()
        })
    };
    let all = merge([
        flags(true, false),
        to("a"),
        flags(false, true),
        to("b"),
        to(""),
    ])
    .unwrap();
    assert!(all.skip_summarization && all.escalate);
    assert_eq!(all.transfer_to_agent.as_deref(), Some("b"));
    let none = merge([flags(false, false), flags(false, false)]).unwrap();
    assert!(none.is_empty());
}

#[test]
fn a041_state_is_merged_deeply_and_the_later_leaf_wins() {
    let deltas = [
        json!({ "user": { "name": "Ada", "likes": { "tea": 1, "rain": 1 } }, "n": 1, "list": [1] }),
        json!({ "user": { "likes": { "tea": 2 } }, "n": { "now": "an object" }, "list": [3] }),
        json!({ "user": { "age": 36 } }),
    ];
    let all = merge(deltas.map(state).map(Some));
    assert_eq!(
        Value::Object(all.unwrap().state_delta),
        json!({
            "user": { "name": "Ada", "likes": { "tea": 2, "rain": 1 }, "age": 36 },
            "n": { "now": "an object" },
            "list": [3],
        })
    );
}

#[test]
fn a042_the_highest_version_of_an_artifact_wins_and_negative_versions_are_valid() {
    let all = merge([
        Some(artifacts(&[("report", 3), ("draft", -2), ("old", -1)])),
        Some(artifacts(&[("report", 2), ("draft", -5), ("new", 0)])),
    ]);
    let expected = artifacts(&[("report", 3), ("draft", -2), ("old", -1), ("new", 0)]);
    assert_eq!(all, Some(expected));
}

#[test]
fn a043_all_requested_confirmations_are_stored() {
    let ask = |id: &str, hint: &str| {
        Some(Actions {
            requested_confirmations: [(id.into(), Confirmation::ask(hint))].into(),
            ..Actions::default()
        })
    };
    let all = merge([ask("1", "first"), ask("2", "second"), ask("1", "again")]).unwrap();
    let asked: Vec<_> = all
        .requested_confirmations
        .iter()
        .map(|(id, asked)| (id.as_str(), asked.hint.as_str()))
        .collect();
    assert_eq!(asked, [("1", "again"), ("2", "second")]);
}

#[test]
fn a044_an_absent_action_leaves_the_other() {
    let one = Some(state(json!({ "a": 1 })));
    assert_eq!(merge([None, None]), None);
    assert_eq!(merge([]), None);
    assert_eq!(merge([one.clone(), None]), one);
    assert_eq!(merge([None, one.clone()]), one);
}

#[test]
fn actions_are_stored_and_read_as_they_were() {
    let actions = Actions {
        requested_confirmations: [("1".into(), Confirmation::ask("really?"))].into(),
        escalate: true,
        ..Actions::default()
    };
    let text = serde_json::to_string(&actions).unwrap();
    assert_eq!(serde_json::from_str::<Actions>(&text).unwrap(), actions);
    assert_eq!(
        serde_json::from_str::<Actions>("{}").unwrap(),
        Actions::default()
    );
}
