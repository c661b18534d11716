//! Parameters of requests that an agent decides itself. Those that change nothing for the caller have no effect; others are
//! refused, so that no answer is silently another one.

use serde_json::{Map, Value, json};

use super::error::ApiError;

/// Parameters without an effect on what the answer means: where it is computed, stored or counted, and how hard the model thinks,
/// which the agent has set.
const WITHOUT_EFFECT: [&str; 11] = [
    "include",
    "prompt_cache_key",
    "prompt_cache_options",
    "prompt_cache_retention",
    "reasoning",
    "reasoning_effort",
    "safety_identifier",
    "service_tier",
    "store",
    "truncation",
    "verbosity",
];

/// Checks the parameters that no field of a request has.
pub(super) fn check(rest: &Map<String, Value>) -> Result<(), ApiError> {
    for (name, value) in rest {
        let default = default(name);
        if value.is_null() || WITHOUT_EFFECT.contains(&&**name) || is_same(value, &default) {
            continue;
        }
        let text = match default {
            Value::Null => format!("the parameter `{name}` is not supported: leave it out"),
            only => format!(
                "the parameter `{name}` is decided by the agent: leave it out, or send {only}"
            ),
        };
        return Err(ApiError::param(name, text).with_code("unsupported_parameter"));
    }
    Ok(())
}

/// The value of a parameter that means the same as none. Null: there is none.
fn default(name: &str) -> Value {
    match name {
        "n" => json!(1),
        "logprobs" => json!(false),
        "frequency_penalty" | "presence_penalty" | "top_logprobs" => json!(0),
        "logit_bias" => json!({}),
        "modalities" => json!(["text"]),
        _ => Value::Null,
    }
}

/// Whether two values mean the same: `0` and `0.0` do, and JavaScript can write the first only.
fn is_same(value: &Value, default: &Value) -> bool {
    match (value.as_f64(), default.as_f64()) {
        (Some(value), Some(default)) => (value - default).abs() == 0.0,
        _ => value == default,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f42_a_number_means_the_same_with_and_without_a_point() {
        for same in [
            json!({ "presence_penalty": 0, "frequency_penalty": -0.0, "n": 1.0, "top_logprobs": 0.0 }),
            json!({ "presence_penalty": 0.0, "frequency_penalty": 0, "n": 1, "top_logprobs": 0 }),
        ] {
            assert_eq!(checked(same), Ok(()));
        }
        assert_eq!(
            checked(json!({ "presence_penalty": 0.5 })).unwrap_err(),
            "the parameter `presence_penalty` is decided by the agent: leave it out, or send 0"
        );
    }

    fn checked(rest: Value) -> Result<(), String> {
        let Value::Object(rest) = rest else { panic!() };
        check(&rest).map_err(|error| error.message().to_string())
    }

    #[test]
    fn what_changes_the_answer_is_refused() {
        let usual = json!({ "n": 1, "logprobs": false, "logit_bias": {}, "audio": null, "service_tier": "auto",
            "presence_penalty": 0.0, "modalities": ["text"] });
        assert_eq!(checked(usual), Ok(()));
        assert_eq!(
            checked(json!({ "n": 2 })).unwrap_err(),
            "the parameter `n` is decided by the agent: leave it out, or send 1"
        );
        assert_eq!(
            checked(json!({ "audio": {} })).unwrap_err(),
            "the parameter `audio` is not supported: leave it out"
        );
    }
}
