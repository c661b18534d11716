//! The changes that a node makes to an envelope.

use serde_json::{Map, Value};

use super::{
    Artifact, Envelope, EnvelopeArtifacts, EnvelopeErrors, EnvelopeMessages, EnvelopeVars,
    NodeFailure,
};
use petalflow::BoxError;
use petalflow::node::{Effects, Key, Output, WriteOutput};
use petalflow::state::KeySet;
use petalflow_llm::ChatMessage;

/// A set of changes to an envelope: variables and appended items. For nodes that choose what they write at run time.
///
/// ```
/// use petalflow_envelope::{Changes, Envelope};
/// use petalflow::prelude::*;
///
/// #[node(Envelope)]
/// async fn count(vars: &serde_json::Map<String, serde_json::Value>) -> Changes {
///     Changes::new().var("count", vars.len())
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let flow = Graph::<Envelope>::builder("count").node(count {}).build()?;
/// let envelope = flow.run(Envelope::new().with_var("a", true)).await?;
/// assert_eq!(envelope.get_var("count"), Some(&1.into()));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changes {
    vars: Map<String, Value>,
    artifacts: Vec<Artifact>,
    messages: Vec<ChatMessage>,
    errors: Vec<NodeFailure>,
}

impl Changes {
    /// Creates an empty set of changes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets a variable.
    #[must_use]
    pub fn var(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.vars.insert(name.into(), value.into());
        self
    }

    /// Appends an artifact.
    ///
    /// ```
    /// use petalflow_envelope::{Artifact, Changes};
    ///
    /// let changes = Changes::new().artifact(Artifact::new("chunk"));
    /// assert_ne!(changes, Changes::new());
    /// ```
    #[must_use]
    pub fn artifact(mut self, artifact: Artifact) -> Self {
        self.artifacts.push(artifact);
        self
    }

    /// Appends a message.
    ///
    /// ```
    /// use petalflow_envelope::Changes;
    /// use petalflow_llm::ChatMessage;
    ///
    /// let changes = Changes::new().message(ChatMessage::user("Hello."));
    /// assert_ne!(changes, Changes::new());
    /// ```
    #[must_use]
    pub fn message(mut self, message: ChatMessage) -> Self {
        self.messages.push(message);
        self
    }

    /// Appends an error record.
    ///
    /// ```
    /// use petalflow_envelope::{Changes, NodeFailure};
    ///
    /// let changes = Changes::new().error(NodeFailure::new("fetch", "the line is dead"));
    /// assert_ne!(changes, Changes::new());
    /// ```
    #[must_use]
    pub fn error(mut self, error: NodeFailure) -> Self {
        self.errors.push(error);
        self
    }
}

const KEYS: KeySet = KeySet::of(EnvelopeVars::INDEX)
    .union(KeySet::of(EnvelopeArtifacts::INDEX))
    .union(KeySet::of(EnvelopeMessages::INDEX))
    .union(KeySet::of(EnvelopeErrors::INDEX));

impl Output<Envelope> for Changes {
    const MAY_WRITE: KeySet = KEYS;
    const MUST_WRITE: KeySet = KeySet::NONE;
    type Routing = ();

    fn apply(self, effects: &mut Effects<Envelope>) -> Result<(), BoxError> {
        let Changes {
            vars,
            artifacts,
            messages,
            errors,
        } = self;
        let writes = (
            (!vars.is_empty()).then_some(EnvelopeVars(vars)),
            (!artifacts.is_empty()).then_some(EnvelopeArtifacts(artifacts)),
            (!messages.is_empty()).then_some(EnvelopeMessages(messages)),
            (!errors.is_empty()).then_some(EnvelopeErrors(errors)),
        );
        writes.apply(effects)
    }
}

impl WriteOutput<Envelope> for Changes {}
