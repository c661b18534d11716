//! Schemas of the results of tools.

use petalflow::tool::schema;
use rmcp::model::CallToolResult;
use serde_json::Value;

/// What of a result does not fit the schema of its tool. Errors of the tool have no schema.
pub(super) fn mistakes(schema: &Value, result: &CallToolResult) -> Option<String> {
    if result.is_error == Some(true) {
        return None;
    }
    let Some(structured) = &result.structured_content else {
        return Some("`structuredContent` is missing".into());
    };
    let mistakes = schema::check(schema, structured);
    (!mistakes.is_empty()).then(|| mistakes.to_string())
}

/// The text for a model.
pub(super) fn described(description: &str, schema: &Value) -> String {
    let between = if description.is_empty() { "" } else { "\n\n" };
    format!("{description}{between}The result fits this JSON Schema: {schema}")
}
