//! The results of branches.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{Artifact, Changes, Envelope, EnvelopeBranches, NodeFailure};
use petalflow::BoxError;
use petalflow::node::{Effects, Output, WriteOutput};
use petalflow::state::KeySet;
use petalflow_llm::ChatMessage;

/// The result of a branch: what an envelope contains at its end. A [`MergeNode`](crate::kinds::MergeNode) merges the
/// branches that are open when it runs.
///
/// A sub-flow is a branch if it returns one, as here. For a single node use [`BranchNode`](crate::kinds::BranchNode).
///
/// ```
/// use petalflow::prelude::*;
/// use petalflow_envelope::kinds::{MergeConfig, MergeNode};
/// use petalflow_envelope::{Branch, Changes, Envelope};
///
/// #[node(Envelope)]
/// async fn one() -> Changes {
///     Changes::new().var("n", 1)
/// }
///
/// #[node(Envelope)]
/// async fn two() -> Changes {
///     Changes::new().var("n", 2)
/// }
///
/// flow!(Left(Envelope) { one });
/// flow!(Right(Envelope) { two });
///
/// flow! {
///     Both(Envelope) {
///         START -> left & right;
///         left & right -> merge;
///         node left: Left { in: |e: &Envelope| e.clone(), out: |e: Envelope| Branch::new("left", e) };
///         node right: Right { in: |e: &Envelope| e.clone(), out: |e: Envelope| Branch::new("right", e) };
///         node merge: MergeNode = MergeNode::new(MergeConfig::default());
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// assert_eq!(Both::run(Envelope::new()).await?.get_var("n"), Some(&2.into()));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Branch {
    /// The name of the branch.
    pub name: String,
    /// The variables.
    pub vars: Map<String, Value>,
    /// The artifacts.
    pub artifacts: Vec<Artifact>,
    /// The messages.
    pub messages: Vec<ChatMessage>,
    /// The error records.
    pub errors: Vec<NodeFailure>,
}

impl Branch {
    /// Creates a branch from the envelope at its end.
    pub fn new(name: impl Into<String>, envelope: Envelope) -> Self {
        Branch {
            name: name.into(),
            vars: envelope.vars,
            artifacts: envelope.artifacts,
            messages: envelope.messages,
            errors: envelope.errors,
        }
    }
}

/// A node that returns a branch stores it for the merge. It writes nothing else.
impl Output<Envelope> for Branch {
    const MAY_WRITE: KeySet = <EnvelopeBranches as Output<Envelope>>::MAY_WRITE;
    const MUST_WRITE: KeySet = KeySet::NONE;
    type Routing = ();

    fn apply(self, effects: &mut Effects<Envelope>) -> Result<(), BoxError> {
        EnvelopeBranches(Branches::open(self)).apply(effects)
    }
}

impl WriteOutput<Envelope> for Branch {}

/// The branches that wait for their merge, in the order of their nodes. As a write: branches to add and to remove.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Branches {
    open: Vec<Branch>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    taken: Vec<String>,
    /// By node: what its path has changed since the fork, on the way to a merge.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    paths: Vec<(String, Changes)>,
}

impl Branches {
    pub(crate) fn open(branch: Branch) -> Self {
        Branches {
            open: vec![branch],
            ..Branches::default()
        }
    }

    pub(crate) fn taken(names: Vec<String>) -> Self {
        Branches {
            taken: names,
            ..Branches::default()
        }
    }

    /// What the path to this node has changed.
    pub(crate) fn path(node: String, changes: Changes) -> Self {
        Branches {
            paths: vec![(node, changes)],
            ..Branches::default()
        }
    }

    pub(crate) fn path_of(&self, node: &str) -> Option<&Changes> {
        let path = self.paths.iter().find(|(name, _)| name == node);
        path.map(|(_, changes)| changes)
    }

    /// The branches.
    ///
    /// ```
    /// use petalflow_envelope::Envelope;
    ///
    /// assert_eq!(Envelope::new().branches.iter().count(), 0);
    /// ```
    pub fn iter(&self) -> impl Iterator<Item = &Branch> {
        self.open.iter()
    }

    pub(crate) fn is_empty(&self) -> bool {
        *self == Branches::default()
    }

    /// Adds a later write. A branch replaces one of the same name.
    pub(crate) fn then(&mut self, write: Branches) {
        self.open.retain(|branch| {
            let replaced = write.open.iter().any(|new| new.name == branch.name);
            !replaced && !write.taken.contains(&branch.name)
        });
        self.paths.retain(|(name, _)| {
            let replaced = write.paths.iter().any(|(new, _)| new == name);
            !replaced && !write.taken.contains(name)
        });
        self.open.extend(write.open);
        self.paths.extend(write.paths);
        self.taken.extend(write.taken);
    }

    /// Removes and adds branches.
    pub(crate) fn fold(&mut self, write: Branches) {
        self.then(write);
        self.taken.clear();
    }
}

/// The reducer of the key `branches`.
pub(crate) fn fold(branches: &mut Branches, write: Branches) {
    branches.fold(write);
}
