//! Instructions of an agent to its model.

use std::sync::Arc;

use super::template::Template;
use crate::extension::ModelCall;
use petalflow::BoxError;

type Write = dyn Fn(&ModelCall<'_>) -> Result<String, BoxError> + Send + Sync;

/// An instruction to the model.
#[derive(Clone)]
pub(crate) enum Instruction {
    /// A text that is the same for every call, except for its placeholders.
    Text(Arc<Template>),
    /// A text that is written for each call. Placeholders in it are not filled.
    Written(Arc<Write>),
}

impl Instruction {
    pub(crate) fn text(text: &str) -> Self {
        Instruction::Text(Arc::new(Template::parse(text)))
    }
}
