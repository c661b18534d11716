//! Models that answer from a file.

use std::path::Path;

use petalflow_llm::{Reply, ScriptedModel};
use serde::Deserialize;
use serde_json::Value;

use crate::document::File;
use crate::exit::{Exit, Failure, Result};

/// A reply: a text, or calls of functions with or without a text.
#[derive(Deserialize)]
#[serde(untagged)]
enum Entry {
    Text(String),
    Calls(Calls),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Calls {
    #[serde(default)]
    text: String,
    calls: Vec<Call>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Call {
    name: String,
    #[serde(default)]
    arguments: Option<Value>,
}

/// Reads a script.
pub(crate) fn read(path: &Path) -> Result<ScriptedModel> {
    let file = File::read(path)?;
    model(file.value()?, file.name())
}

/// The model of a script. `name` is that of its file, for errors.
pub(crate) fn model(script: Value, name: &str) -> Result<ScriptedModel> {
    let wrong = |problem: String| {
        Failure::new(Exit::Input, format_args!("the script `{name}` cannot be used: {problem}")).hint(
            "a script is a list of replies, each a text or `{\"text\": .., \"calls\": [{\"name\": .., \"arguments\": {..}}]}`",
        )
    };
    let Value::Array(entries) = script else {
        return Err(wrong("it is not a list".into()));
    };
    let mut replies = Vec::with_capacity(entries.len());
    for (index, entry) in entries.into_iter().enumerate() {
        let entry: Entry = serde_json::from_value(entry)
            .map_err(|_| wrong(format!("reply {} has the wrong form", index + 1)))?;
        replies.push(match entry {
            Entry::Text(text) => Reply::text(text),
            Entry::Calls(entry) => {
                entry
                    .calls
                    .into_iter()
                    .fold(Reply::text(entry.text), |reply, call| {
                        reply.and_call(
                            call.name,
                            call.arguments
                                .unwrap_or_else(|| Value::Object(serde_json::Map::new())),
                        )
                    })
            }
        });
    }
    Ok(ScriptedModel::new(replies))
}
