//! The JSON Schemas of the settings of nodes.

use petalflow_document_model::source::schema::without_examples;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::kinds::{
    CacheConfig, ConditionalConfig, FilterConfig, GateConfig, GuardianConfig, HumanConfig,
    LlmConfig, LlmRouterConfig, MapConfig, MergeConfig, RuleRouterConfig, ToolConfig,
    TransformConfig, WebhookTriggerConfig,
};

/// The JSON Schemas of the settings by node type, made from the types of [`kinds`](crate::kinds). `petalflow-document-model`
/// has them in a file, because it checks documents without the types.
///
/// ```
/// use petalflow_documents::document::SETTINGS_SCHEMAS;
/// use petalflow_documents::settings_schemas;
///
/// let stored: serde_json::Value = serde_json::from_str(SETTINGS_SCHEMAS)?;
/// assert!(settings_schemas()["transform"].is_object() && stored["transform"].is_object());
/// # Ok::<(), serde_json::Error>(())
/// ```
pub fn settings_schemas() -> Value {
    let mut all = Map::new();
    all.insert("cache".into(), of::<CacheConfig>());
    all.insert("conditional".into(), of::<ConditionalConfig>());
    all.insert("filter".into(), of::<FilterConfig>());
    all.insert("gate".into(), of::<GateConfig>());
    all.insert("guardian".into(), of::<GuardianConfig>());
    let mut human = of::<HumanConfig>();
    human["properties"]["task_id"] =
        json!({ "type": "string", "description": "The task that is reviewed." });
    all.insert("human".into(), human);
    let mut llm = of::<LlmConfig>();
    llm["properties"]["tools"] = json!({ "type": "array", "items": { "type": "string" }, "description": "The tools of the model." });
    llm["properties"]["tool_config"] =
        json!({ "type": "object", "description": "Settings of tools, by tool." });
    all.insert("llm_prompt".into(), llm);
    all.insert("llm_router".into(), of::<LlmRouterConfig>());
    all.insert("map".into(), of::<MapConfig>());
    all.insert("merge".into(), of::<MergeConfig>());
    all.insert("rule_router".into(), of::<RuleRouterConfig>());
    let mut tool = of::<ToolConfig>();
    tool["properties"]["action_name"] =
        json!({ "type": "string", "description": "The action of the tool." });
    tool["properties"]["tool_config"] = json!({ "type": "object", "description": "Settings of the tool. The program that supplies the tool has them." });
    all.insert("tool".into(), tool);
    all.insert("transform".into(), of::<TransformConfig>());
    all.insert("webhook_trigger".into(), of::<WebhookTriggerConfig>());
    #[cfg(feature = "http")]
    all.insert(
        "webhook_call".into(),
        of::<crate::kinds::WebhookCallConfig>(),
    );
    for name in ["noop", "func"] {
        all.insert(
            name.into(),
            json!({ "type": "object", "additionalProperties": false }),
        );
    }
    Value::Object(all)
}

/// A schema with its own definitions.
fn of<T: JsonSchema>() -> Value {
    let schema = SchemaGenerator::default().into_root_schema_for::<T>();
    let mut schema = without_examples(schema.to_value());
    if let Value::Object(schema) = &mut schema {
        schema.remove("$schema");
    }
    schema
}
