//! What all settings have in common: unknown fields, durations (row P207), schemas.

use std::time::Duration;

use petalflow_documents::Period;
use petalflow_documents::kinds::{
    CacheConfig, ConditionalConfig, FilterConfig, GateConfig, GuardianConfig, HumanConfig,
    LlmConfig, LlmRouterConfig, MapConfig, MergeConfig, RuleRouterConfig, ToolConfig,
    TransformConfig, WebhookCallConfig, WebhookTriggerConfig,
};
use schemars::{JsonSchema, schema_for};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::support::{settings, settings_error};

/// Checks the smallest settings of a kind: they read, their written form reads as the same, an unknown field is refused,
/// and they conform to their schema.
fn kind<T: DeserializeOwned + Serialize + JsonSchema + PartialEq + std::fmt::Debug>(
    smallest: Value,
) {
    let name = std::any::type_name::<T>();
    let read: T = settings(smallest.clone());
    let written = serde_json::to_value(&read).expect("it is JSON");
    assert_eq!(settings::<T>(written.clone()), read, "{name}");
    let mut unknown = smallest.clone();
    unknown["no_such_field"] = json!(1);
    assert!(
        settings_error::<T>(unknown.clone()).contains("no_such_field"),
        "{name}"
    );
    let schema = jsonschema::validator_for(&schema_for!(T).to_value()).expect("it is a schema");
    for valid in [smallest, written] {
        let errors: Vec<String> = schema
            .iter_errors(&valid)
            .map(|error| error.to_string())
            .collect();
        assert!(errors.is_empty(), "{name}: {valid}: {errors:?}");
    }
    assert!(
        !schema.is_valid(&unknown),
        "{name}: the schema refuses unknown fields too"
    );
}

#[test]
fn all_kinds_refuse_unknown_fields_and_have_a_schema() {
    kind::<LlmConfig>(json!({}));
    kind::<ToolConfig>(json!({ "tool_name": "t" }));
    kind::<RuleRouterConfig>(
        json!({ "rules": [{ "target": "t", "conditions": [{ "var_path": "a", "op": "exists" }] }] }),
    );
    kind::<LlmRouterConfig>(json!({ "allowed_targets": { "a": "b" } }));
    kind::<MergeConfig>(json!({ "strategy": "concat" }));
    kind::<MapConfig>(json!({ "input_var": "x" }));
    kind::<GateConfig>(json!({}));
    kind::<FilterConfig>(json!({ "filters": [{ "type": "top_n", "n": 1 }] }));
    kind::<TransformConfig>(json!({ "transform": "parse", "input_var": "x", "output_var": "y" }));
    kind::<GuardianConfig>(json!({ "checks": [{ "type": "pii" }] }));
    kind::<CacheConfig>(json!({ "ttl": "30s" }));
    kind::<WebhookCallConfig>(json!({ "url": "https://example.com", "timeout": 1.5 }));
    kind::<WebhookTriggerConfig>(json!({ "auth": { "type": "header_token", "token": "t" } }));
    kind::<HumanConfig>(json!({ "timeout": "1h30m" }));
    kind::<ConditionalConfig>(json!({ "conditions": [{ "name": "a", "expression": "b" }] }));
}

#[test]
fn p207_durations_are_texts_or_seconds() {
    for (value, millis) in [
        (json!("30s"), 30_000),
        (json!("5m"), 300_000),
        (json!("1h30m"), 5_400_000),
        (json!("1.5s"), 1_500),
        (json!("250ms"), 250),
        (json!("0s"), 0),
        (json!(7), 7_000),
        (json!(0.25), 250),
    ] {
        let period: Period = settings(value.clone());
        assert_eq!(period.0, Duration::from_millis(millis), "{value}");
        let written = serde_json::to_value(period).expect("it is JSON");
        assert_eq!(settings::<Period>(written), period, "{value}");
    }
    for value in [
        json!("soon"),
        json!(""),
        json!("-1s"),
        json!(-1),
        json!(1e300),
        json!(null),
        json!(true),
        json!([]),
    ] {
        let error = settings_error::<Period>(value.clone());
        assert!(error.contains("a text such as `1m30s`"), "{value}: {error}");
    }
}

#[test]
fn p207_integers_are_numbers_without_a_fraction() {
    let config: MapConfig = settings(json!({ "input_var": "x", "concurrency": 4 }));
    assert_eq!(config.concurrency, 4);
    assert!(
        settings_error::<MapConfig>(json!({ "input_var": "x", "concurrency": 1.5 }))
            .contains("1.5")
    );
    assert!(
        settings_error::<MapConfig>(json!({ "input_var": "x", "concurrency": "4" }))
            .contains("string")
    );
    assert!(
        settings_error::<MapConfig>(json!({ "input_var": "x", "concurrency": -1 })).contains("-1")
    );
}
