//! The changes that a node makes to an envelope.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    Artifact, Branch, Envelope, EnvelopeArtifacts, EnvelopeBranches, EnvelopeErrors,
    EnvelopeMessages, EnvelopeVars, NodeFailure,
};
use petalflow::node::{Effects, Key, Output, WriteOutput};
use petalflow::state::KeySet;
use petalflow::{BoxError, Overwrite};
use petalflow_llm::ChatMessage;

/// A set of changes to an envelope: variables, and appended or replaced items. For nodes that choose what they write at
/// run time.
///
/// ```
/// use petalflow_documents::{Changes, Envelope};
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
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Changes {
    /// Whether the variables replace all variables.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    replace_vars: bool,
    vars: Map<String, Value>,
    artifacts: Items<Artifact>,
    messages: Items<ChatMessage>,
    errors: Items<NodeFailure>,
    branches: Branches,
}

/// Items that are appended to a list, or replace it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct Items<T> {
    replace: bool,
    items: Vec<T>,
}

impl<T> Default for Items<T> {
    fn default() -> Self {
        Items {
            replace: false,
            items: Vec::new(),
        }
    }
}

impl<T: Clone + PartialEq> Items<T> {
    fn replace(items: Vec<T>) -> Self {
        Items {
            replace: true,
            items,
        }
    }

    /// What leads from `before` to `after`.
    fn between(before: &[T], after: &[T]) -> Self {
        match after.strip_prefix(before) {
            Some(appended) => Items {
                replace: false,
                items: appended.to_vec(),
            },
            None => Items::replace(after.to_vec()),
        }
    }

    fn then(&mut self, next: Self) {
        if next.replace {
            *self = next;
        } else {
            self.items.extend(next.items);
        }
    }

    fn apply_to(self, list: &mut Vec<T>) {
        if self.replace {
            *list = self.items;
        } else {
            list.extend(self.items);
        }
    }

    fn write<K: Key<State = Envelope, Value = Vec<T>>>(
        self,
        effects: &mut Effects<Envelope>,
    ) -> Result<(), BoxError> {
        if self.replace {
            Overwrite(K::new(self.items)).apply(effects)
        } else {
            (!self.items.is_empty())
                .then(|| K::new(self.items))
                .apply(effects)
        }
    }
}

impl Changes {
    /// Creates an empty set of changes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the changes that lead from one envelope to another. A list that only grew has appended items. A list that
    /// changed otherwise is replaced. Variables that are absent in `after` are not removed.
    ///
    /// ```
    /// use petalflow_documents::{Changes, Envelope};
    ///
    /// let before = Envelope::new().with_var("a", 1);
    /// let after = before.clone().with_var("b", 2);
    /// assert_eq!(Changes::between(&before, &after), Changes::new().var("b", 2));
    /// ```
    pub fn between(before: &Envelope, after: &Envelope) -> Self {
        let changed = |(name, value): &(&String, &Value)| before.vars.get(*name) != Some(*value);
        let vars = after.vars.iter().filter(changed);
        Changes {
            replace_vars: false,
            vars: vars
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect(),
            artifacts: Items::between(&before.artifacts, &after.artifacts),
            messages: Items::between(&before.messages, &after.messages),
            errors: Items::between(&before.errors, &after.errors),
            branches: Branches::default(),
        }
    }

    /// Sets a variable.
    #[must_use]
    pub fn var(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.vars.insert(name.into(), value.into());
        self
    }

    /// Replaces all variables.
    ///
    /// ```
    /// use petalflow_documents::{Changes, Envelope};
    /// use serde_json::Map;
    ///
    /// let mut envelope = Envelope::new().with_var("a", 1);
    /// Changes::new().replace_vars(Map::new()).apply_to(&mut envelope);
    /// assert!(envelope.vars.is_empty());
    /// ```
    #[must_use]
    pub fn replace_vars(mut self, vars: Map<String, Value>) -> Self {
        self.replace_vars = true;
        self.vars = vars;
        self
    }

    /// Appends an artifact.
    ///
    /// ```
    /// use petalflow_documents::{Artifact, Changes};
    ///
    /// let changes = Changes::new().artifact(Artifact::new("chunk"));
    /// assert_ne!(changes, Changes::new());
    /// ```
    #[must_use]
    pub fn artifact(mut self, artifact: Artifact) -> Self {
        self.artifacts.items.push(artifact);
        self
    }

    /// Replaces all artifacts.
    ///
    /// ```
    /// use petalflow_documents::{Artifact, Changes, Envelope};
    ///
    /// let mut envelope = Envelope::new();
    /// envelope.append_artifact(Artifact::new("chunk"));
    /// Changes::new().replace_artifacts(vec![]).apply_to(&mut envelope);
    /// assert!(envelope.artifacts.is_empty());
    /// ```
    #[must_use]
    pub fn replace_artifacts(mut self, artifacts: Vec<Artifact>) -> Self {
        self.artifacts = Items::replace(artifacts);
        self
    }

    /// Appends a message.
    ///
    /// ```
    /// use petalflow_documents::Changes;
    /// use petalflow_llm::ChatMessage;
    ///
    /// let changes = Changes::new().message(ChatMessage::user("Hello."));
    /// assert_ne!(changes, Changes::new());
    /// ```
    #[must_use]
    pub fn message(mut self, message: ChatMessage) -> Self {
        self.messages.items.push(message);
        self
    }

    /// Replaces all messages.
    ///
    /// ```
    /// use petalflow_documents::{Changes, Envelope};
    /// use petalflow_llm::ChatMessage;
    ///
    /// let mut envelope = Envelope::new();
    /// envelope.append_message(ChatMessage::user("Hello."));
    /// Changes::new().replace_messages(vec![]).apply_to(&mut envelope);
    /// assert!(envelope.messages.is_empty());
    /// ```
    #[must_use]
    pub fn replace_messages(mut self, messages: Vec<ChatMessage>) -> Self {
        self.messages = Items::replace(messages);
        self
    }

    /// Appends an error record.
    ///
    /// ```
    /// use petalflow_documents::{Changes, NodeFailure};
    ///
    /// let changes = Changes::new().error(NodeFailure::new("fetch", "the line is dead"));
    /// assert_ne!(changes, Changes::new());
    /// ```
    #[must_use]
    pub fn error(mut self, error: NodeFailure) -> Self {
        self.errors.items.push(error);
        self
    }

    /// Stores the result of a branch, for the [`MergeNode`](crate::kinds::MergeNode) after it.
    #[must_use]
    pub(crate) fn branch(mut self, branch: Branch) -> Self {
        self.branches.then(Branches::open(branch));
        self
    }

    /// Stores what the path to a node has changed, for the merge after it.
    #[must_use]
    pub(crate) fn path(mut self, node: &str, changes: Changes) -> Self {
        self.branches.then(Branches::path(node.into(), changes));
        self
    }

    /// Removes the results of these branches.
    #[must_use]
    pub(crate) fn take_branches(mut self, names: Vec<String>) -> Self {
        self.branches.then(Branches::removed(names));
        self
    }

    /// Adds later changes. Where both set a variable, the later value is used.
    ///
    /// ```
    /// use petalflow_documents::Changes;
    ///
    /// let changes = Changes::new().var("a", 1).then(Changes::new().var("a", 2));
    /// assert_eq!(changes, Changes::new().var("a", 2));
    /// ```
    #[must_use]
    pub fn then(mut self, next: Changes) -> Self {
        if next.replace_vars {
            self.replace_vars = true;
            self.vars = next.vars;
        } else {
            self.vars.extend(next.vars);
        }
        self.artifacts.then(next.artifacts);
        self.messages.then(next.messages);
        self.errors.then(next.errors);
        self.branches.then(next.branches);
        self
    }

    /// Applies the changes to an envelope.
    ///
    /// ```
    /// use petalflow_documents::{Changes, Envelope};
    ///
    /// let mut envelope = Envelope::new();
    /// Changes::new().var("a", 1).apply_to(&mut envelope);
    /// assert_eq!(envelope.get_var("a"), Some(&1.into()));
    /// ```
    pub fn apply_to(self, envelope: &mut Envelope) {
        if self.replace_vars {
            envelope.vars = self.vars;
        } else {
            envelope.vars.extend(self.vars);
        }
        self.artifacts.apply_to(&mut envelope.artifacts);
        self.messages.apply_to(&mut envelope.messages);
        self.errors.apply_to(&mut envelope.errors);
        envelope.branches.fold(self.branches);
    }

    /// The variables that are set.
    ///
    /// ```
    /// use petalflow_documents::Changes;
    ///
    /// assert_eq!(Changes::new().var("a", 1).vars()["a"], 1);
    /// ```
    pub fn vars(&self) -> &Map<String, Value> {
        &self.vars
    }

    pub(crate) fn vars_mut(&mut self) -> &mut Map<String, Value> {
        &mut self.vars
    }

    /// The same changes without artifacts and messages.
    #[must_use]
    pub(crate) fn without_items(mut self) -> Self {
        self.artifacts = Items::default();
        self.messages = Items::default();
        self
    }
}

const KEYS: KeySet = KeySet::of(EnvelopeVars::INDEX)
    .union(KeySet::of(EnvelopeArtifacts::INDEX))
    .union(KeySet::of(EnvelopeMessages::INDEX))
    .union(KeySet::of(EnvelopeErrors::INDEX))
    .union(KeySet::of(EnvelopeBranches::INDEX));

impl Output<Envelope> for Changes {
    const MAY_WRITE: KeySet = KEYS;
    const MUST_WRITE: KeySet = KeySet::NONE;
    type Routing = ();

    fn apply(self, effects: &mut Effects<Envelope>) -> Result<(), BoxError> {
        if self.replace_vars {
            Overwrite(EnvelopeVars(self.vars)).apply(effects)?;
        } else {
            (!self.vars.is_empty())
                .then_some(EnvelopeVars(self.vars))
                .apply(effects)?;
        }
        self.artifacts.write::<EnvelopeArtifacts>(effects)?;
        self.messages.write::<EnvelopeMessages>(effects)?;
        self.errors.write::<EnvelopeErrors>(effects)?;
        (!self.branches.is_empty())
            .then_some(EnvelopeBranches(self.branches))
            .apply(effects)
    }
}

impl WriteOutput<Envelope> for Changes {}

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
///
/// ```
/// use petalflow_documents::{Branches, Envelope};
///
/// assert_eq!(Envelope::new().branches, Branches::default());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Branches {
    open: Vec<Branch>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    removed: Vec<String>,
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

    pub(crate) fn removed(names: Vec<String>) -> Self {
        Branches {
            removed: names,
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
    /// use petalflow_documents::Envelope;
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
            !replaced && !write.removed.contains(&branch.name)
        });
        self.paths.retain(|(name, _)| {
            let replaced = write.paths.iter().any(|(new, _)| new == name);
            !replaced && !write.removed.contains(name)
        });
        self.open.extend(write.open);
        self.paths.extend(write.paths);
        self.removed.extend(write.removed);
    }

    /// Removes and adds branches.
    pub(crate) fn fold(&mut self, write: Branches) {
        self.then(write);
        self.removed.clear();
    }
}

/// The reducer of the key `branches`.
pub(crate) fn fold_branches(branches: &mut Branches, write: Branches) {
    branches.fold(write);
}
