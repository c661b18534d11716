//! The kinds of nodes.

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident = $name:literal,)*) => {
        /// The kind of a node, by its name in documents.
        ///
        /// An unknown name is preserved.
        ///
        /// ```
        /// use petalflow_documents::NodeKind;
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
            /// A kind that petalflow does not know.
            Other(String),
        }

        impl NodeKind {
            /// All known kinds.
            pub const ALL: &[NodeKind] = &[$(NodeKind::$kind),*];

            /// Returns the kind with this name.
            pub fn parse(name: &str) -> Self {
                match name {
                    $($name => NodeKind::$kind,)*
                    other => NodeKind::Other(other.into()),
                }
            }

            /// Returns the name.
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
    /// Calls a model.
    Llm = "llm",
    /// Calls a tool.
    Tool = "tool",
    /// Chooses the next nodes.
    Router = "router",
    /// Joins branches.
    Merge = "merge",
    /// Processes each item of a list.
    Map = "map",
    /// Continues or blocks a path.
    Gate = "gate",
    /// Does nothing.
    Noop = "noop",
    /// Removes values that do not match.
    Filter = "filter",
    /// Reshapes values.
    Transform = "transform",
    /// Validates values.
    Guardian = "guardian",
    /// Caches results.
    Cache = "cache",
    /// Calls a webhook.
    WebhookCall = "webhook_call",
    /// Starts when a webhook is called.
    WebhookTrigger = "webhook_trigger",
    /// Asks a person.
    Human = "human",
    /// Chooses by an expression.
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
