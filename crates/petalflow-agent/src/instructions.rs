//! Instructions of an agent to its model.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::placeholders::Template;
use super::{AgentError, ModelCall};
use petalflow::BoxError;

type Write = dyn Fn(&ModelCall<'_>) -> Result<String, BoxError> + Send + Sync;

/// An instruction to the model.
#[derive(Clone)]
pub(super) enum Instruction {
    /// A text that is the same for every call, except for its placeholders.
    Text(Arc<Template>),
    /// A text that is written for each call. Placeholders in it are not filled.
    Written(Arc<Write>),
}

impl Instruction {
    pub(super) fn text(text: &str) -> Self {
        Instruction::Text(Arc::new(Template::parse(text)))
    }

    /// The text for this call.
    pub(super) async fn words(&self, call: &ModelCall<'_>) -> Result<String, BoxError> {
        match self {
            Instruction::Written(write) => write(call),
            Instruction::Text(template) => {
                let mut artifacts = BTreeMap::new();
                for name in template.artifacts() {
                    let source = call.at.agent().artifacts.as_ref();
                    let Some(source) = source.or(call.at.root().artifacts.as_ref()) else {
                        return Err(AgentError::Request(format!(
                            "the instructions of agent `{}` need the artifact `{name}`, but it has no artifacts: give it some with `.artifacts(..)`",
                            call.agent()
                        ))
                        .into());
                    };
                    if let Some(text) = source.text(name).await? {
                        artifacts.insert(name.to_string(), text);
                    }
                }
                let filled = template.fill(|key| call.state(key), &artifacts);
                Ok(filled.map_err(|unfilled| AgentError::Request(unfilled.to_string()))?)
            }
        }
    }
}
