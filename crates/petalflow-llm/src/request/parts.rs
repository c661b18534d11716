//! A request as parts that a replay compares.

use serde_json::{Value, json};

use crate::LlmRequest;
use petalflow::node::RequestParts;

impl LlmRequest {
    /// The request as parts that a replay of a thread compares, in this order: the model, the instructions, the settings, the form of the
    /// answer, the tools, and the messages. Instructions and settings are whole. Of schemas, descriptions, messages and `extra`, the
    /// thread stores digests.
    ///
    /// ```
    /// use petalflow_llm::{ChatMessage, LlmRequest};
    ///
    /// let request = LlmRequest {
    ///     system: Some("You answer in one word.".into()),
    ///     temperature: Some(0.5),
    ///     ..LlmRequest::new(vec![ChatMessage::user("What is the capital of Japan?")])
    /// };
    /// let parts = request.parts();
    /// assert_eq!(parts.names().collect::<Vec<_>>(), ["system", "temperature", "message 1 (user)"]);
    /// ```
    pub fn parts(&self) -> RequestParts {
        let mut parts = RequestParts::new();
        for (name, value) in settings(self) {
            parts = parts.whole(name, value);
        }
        // The order of a map depends on how the program was built.
        let extra: std::collections::BTreeMap<_, _> = self.extra.iter().collect();
        for (name, value) in extra {
            parts = parts.digest(format!("extra {name}"), value.clone());
        }
        if let Some(schema) = &self.json_schema {
            parts = parts.digest("output schema", Value::clone(schema));
        }
        let searchable = self.searchable_tools.iter();
        let searchable = searchable.map(|tool| ("searchable tool", tool));
        let listed = self.tools.iter().map(|tool| ("tool", tool));
        for (kind, tool) in listed.chain(searchable) {
            let name = |part| format!("{kind} {} {part}", tool.name);
            parts = parts
                .digest(name("description"), &*tool.description)
                .digest(name("schema"), tool.parameters.clone());
        }
        for (index, tool) in self.native_tools.iter().enumerate() {
            parts = parts.digest(format!("native tool {}", index + 1), form(tool));
        }
        for (index, message) in self.messages.iter().enumerate() {
            let role = form(&message.role);
            let role = role.as_str().unwrap_or("message");
            let name = format!("message {} ({role})", index + 1);
            parts = parts.digest(name, form(message));
        }
        match &self.input_text {
            Some(text) => parts.digest("input text", &**text),
            None => parts,
        }
    }
}

/// The settings that are not those of every request, with their values.
fn settings(request: &LlmRequest) -> impl Iterator<Item = (&'static str, Value)> + use<> {
    let LlmRequest {
        model,
        system,
        instructions,
        messages: _,
        input_text: _,
        json_schema: _,
        typed_output,
        tools: _,
        searchable_tools: _,
        native_tools: _,
        tool_choice,
        parallel_calls,
        temperature,
        top_p,
        max_tokens,
        stop,
        seed,
        effort,
        prompt_cache,
        on_pause: _,
        extra: _,
    } = request;
    let usual = LlmRequest::default();
    let settings = [
        ("model", json!(model.as_deref())),
        ("system", json!(system)),
        ("instructions", json!(instructions)),
        ("temperature", decimal(*temperature)),
        ("top_p", decimal(*top_p)),
        ("max_tokens", json!(max_tokens)),
        ("seed", json!(seed)),
        ("effort", form(effort)),
        ("parallel_calls", json!(parallel_calls)),
        ("typed_output", form(typed_output)),
        (
            "stop",
            if stop.is_empty() {
                Value::Null
            } else {
                json!(stop)
            },
        ),
        (
            "tool_choice",
            if *tool_choice == usual.tool_choice {
                Value::Null
            } else {
                form(tool_choice)
            },
        ),
        (
            "prompt_cache",
            if *prompt_cache == usual.prompt_cache {
                Value::Null
            } else {
                form(prompt_cache)
            },
        ),
    ];
    settings.into_iter().filter(|(_, value)| !value.is_null())
}

/// A number as it is written: 0.2 and not 0.20000000298.
fn decimal(number: Option<f32>) -> Value {
    let text = number.map(|number| number.to_string());
    let parsed = text.map(|text| serde_json::from_str(&text).unwrap_or(Value::String(text)));
    parsed.unwrap_or_default()
}

/// A value as JSON. All of these have a form.
fn form(value: &impl serde::Serialize) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}
