//! For the code of `#[tool]` and `tools!`.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use ::schemars::JsonSchema;
use petalflow_graph::{Rule, messages};

use crate::error::BoxError;
use crate::policy::Retry;
use crate::tool::{Tool, ToolContext, ToolError, ToolSet, ToolSpec, schema};

pub use crate::tool::{
    ConfirmByReference, ConfirmByValue, ConfirmFunction, ConfirmOtherwise, Entry, ToolConfirm,
    ToolFails, ToolHandle, question, schemars,
};
pub use serde;
pub use serde::de::DeserializeOwned;
pub use serde_json::Value;

/// The schema of a state: a key may have no value yet.
pub fn state_schema<T: JsonSchema>() -> Value {
    let mut schema = schema::of::<T>();
    if let Some(schema) = schema.as_object_mut() {
        schema.remove("required");
    }
    schema
}

/// The schema of an input: some keys of a state.
pub fn input_schema(state: &Value, keys: &[&str], required: &[&str]) -> Value {
    let of_state = |key: &&str| Some(((*key).to_string(), state["properties"].get(*key)?.clone()));
    let properties: serde_json::Map<String, Value> = keys.iter().filter_map(of_state).collect();
    let mut schema = state.clone();
    schema["properties"] = properties.into();
    schema["required"] = required.into();
    schema["additionalProperties"] = false.into();
    schema
}

/// The schema and the decoder of the arguments. Generated code creates it once, so that a type that cannot be an argument is
/// one error.
#[derive(Debug)]
pub struct Arguments<T> {
    schema: fn() -> Value,
    read: fn(&ToolSpec, Value) -> Result<T, ToolError>,
}

/// This constant has precedence over that of [`NoArguments`].
impl<T: DeserializeOwned + JsonSchema> Arguments<T> {
    pub const NEW: Self = Arguments {
        schema: schema::of::<T>,
        read: crate::tool::read::<T>,
    };
}

/// The arguments of a tool whose derives have failed.
pub trait NoArguments: Sized {
    const NEW: Self;
}

impl<T> NoArguments for Arguments<T> {
    const NEW: Self = Arguments {
        schema: || unreachable!("such a program does not compile"),
        read: |_, _| unreachable!("such a program does not compile"),
    };
}

impl<T> Arguments<T> {
    /// The specification of a tool from a function. `doc` has the lines of its doc comment.
    pub fn spec(
        &self,
        name: &str,
        doc: &[&str],
        long_running: bool,
        deferred: bool,
    ) -> Arc<ToolSpec> {
        let mut spec = ToolSpec::new(name, text(doc), (self.schema)());
        spec.long_running = long_running;
        spec.deferred = deferred;
        spec.into()
    }

    pub fn read(&self, tool: &impl Tool, arguments: Value) -> Result<T, ToolError> {
        (self.read)(tool.spec(), arguments)
    }

    /// Decodes a copy of the arguments. `None` if they are invalid; the call then reports the error.
    pub fn peek(&self, tool: &impl Tool, arguments: &Value) -> Option<T> {
        self.read(tool, arguments.clone()).ok()
    }
}

/// The text of a doc comment, without the space before each line.
fn text(doc: &[&str]) -> String {
    let lines = doc.iter().flat_map(|line| line.split('\n'));
    let lines: Vec<_> = lines
        .map(|line| line.strip_prefix(' ').unwrap_or(line).trim_end())
        .collect();
    lines.join("\n").trim().into()
}

/// A parameter of a tool from its context.
pub fn extracted<T>(tool: &str, value: Result<T, BoxError>) -> Result<T, ToolError> {
    value.map_err(|error| {
        ToolError::Failed(format!("tool `{tool}` cannot be called here: {error}").into())
    })
}

/// Runs blocking code on another thread.
pub async fn blocking<R: Send + 'static>(
    work: impl FnOnce() -> R + Send + 'static,
) -> Result<R, ToolError> {
    let done = super::blocking(move || Ok(work())).await;
    done.map_err(ToolError::Failed)
}

pub async fn attempts<F: Future<Output = Result<Value, ToolError>>>(
    tool: &str,
    retry: &[Retry],
    timeout: Option<Duration>,
    arguments: Value,
    cx: &ToolContext,
    attempt: impl Fn(Value) -> F,
) -> Result<Value, ToolError> {
    crate::tool::attempts(tool, retry, timeout, arguments, cx, attempt).await
}

/// Fails if an earlier tool has the same name.
#[track_caller]
pub const fn told_apart(tools: &[Entry], index: usize) {
    let name = tools[index].name;
    let mut before = 0;
    while before < index {
        if petalflow_graph::same(tools[before].name, name) {
            let text = messages::tool_twice(name);
            panic!(
                "{}",
                messages::with_code(Rule::DuplicateTool, &text).as_str()
            );
        }
        before += 1;
    }
}

pub fn set(tools: &[Entry]) -> ToolSet {
    tools.iter().map(|tool| (tool.make)()).collect()
}
