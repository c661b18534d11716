//! What a node does.

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident = $name:literal,)*) => {
        /// What a node does, by its name in documents.
        ///
        /// A name that is not known is kept as it is.
        ///
        /// ```
        /// use petalflow_envelope::NodeKind;
        ///
        /// assert_eq!(NodeKind::parse("webhook_call"), NodeKind::WebhookCall);
        /// assert_eq!(NodeKind::parse("oracle").as_str(), "oracle");
        /// assert_eq!(NodeKind::Llm.to_string(), "llm");
        /// ```
        #[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(from = "String", into = "String")]
        #[non_exhaustive]
        pub enum NodeKind {
            $($(#[$doc])* $kind,)*
            /// Something that petalflow does not know.
            Other(String),
        }

        impl NodeKind {
            /// All kinds that are known.
            pub const ALL: &[NodeKind] = &[$(NodeKind::$kind),*];

            /// The kind of this name.
            pub fn parse(name: &str) -> Self {
                match name {
                    $($name => NodeKind::$kind,)*
                    other => NodeKind::Other(other.into()),
                }
            }

            /// Its name.
            pub fn as_str(&self) -> &str {
                match self {
                    $(NodeKind::$kind => $name,)*
                    NodeKind::Other(name) => name,
                }
            }
        }
    };
}

kinds! {
    /// Asks a model.
    Llm = "llm",
    /// Calls a tool.
    Tool = "tool",
    /// Decides where to go.
    Router = "router",
    /// Joins branches.
    Merge = "merge",
    /// Does something to each item of a list.
    Map = "map",
    /// Lets pass or blocks.
    Gate = "gate",
    /// Does nothing.
    Noop = "noop",
    /// Drops what does not fit.
    Filter = "filter",
    /// Reshapes values.
    Transform = "transform",
    /// Checks values.
    Guardian = "guardian",
    /// Keeps results.
    Cache = "cache",
    /// Calls a webhook.
    WebhookCall = "webhook_call",
    /// Is called as a webhook.
    WebhookTrigger = "webhook_trigger",
    /// Asks a person.
    Human = "human",
    /// Decides by an expression.
    Conditional = "conditional",
}

impl fmt::Display for NodeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl From<String> for NodeKind {
    fn from(name: String) -> Self {
        NodeKind::parse(&name)
    }
}

impl From<NodeKind> for String {
    fn from(kind: NodeKind) -> Self {
        kind.as_str().into()
    }
}

impl FromStr for NodeKind {
    type Err = Infallible;

    fn from_str(name: &str) -> Result<Self, Infallible> {
        Ok(NodeKind::parse(name))
    }
}
