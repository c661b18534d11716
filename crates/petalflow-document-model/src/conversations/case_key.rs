//! The text by which a value chooses a case.

use serde_json::Value;

/// Returns the text by which a value of a result chooses a case of a branch, and by which a case is written.
///
/// Truth values are `true` and `false`, in upper or lower case. Numbers and texts are themselves. Lists and
/// objects cannot choose a case.
///
/// ```
/// use petalflow_document_model::conversations::case_key;
/// use serde_json::json;
///
/// assert_eq!(case_key(&json!(true)).as_deref(), Some("true"));
/// assert_eq!(case_key(&json!("TRUE")).as_deref(), Some("true"));
/// assert_eq!(case_key(&json!(3)).as_deref(), Some("3"));
/// assert_eq!(case_key(&json!([])), None);
/// ```
pub fn case_key(value: &Value) -> Option<String> {
    Some(match value {
        Value::Null => "null".into(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => text_key(text),
        Value::Array(_) | Value::Object(_) => return None,
    })
}

/// The key of a case as it is written.
pub(crate) fn text_key(text: &str) -> String {
    let lower = text.to_lowercase();
    match lower.as_str() {
        "true" | "false" => lower,
        _ => text.into(),
    }
}
