//! A node in its place in a graph.

use std::borrow::Cow;
use std::sync::Arc;

use petalflow::event::CustomEvent;
use petalflow::node::Routes;
use petalflow::{BoxError, Context, node};

use crate::branch::Branches;
use crate::kinds::{AnyNode, Call, EnvelopeNode};
use crate::{Branch, Changes, Envelope, RouteDecision};

/// A node and what the graph says about it.
#[derive(Debug)]
pub(super) struct Placed {
    pub(super) id: String,
    pub(super) node: AnyNode,
    /// Whether its changes stay in its branch until a merge applies them.
    pub(super) is_in_branch: bool,
    /// The nodes in branches before it.
    pub(super) from: Vec<String>,
    /// The fork of its branch, if the fork is in a branch itself.
    pub(super) fork: Option<String>,
    pub(super) merged: Option<MergedNames>,
    /// The targets of a router, one for each edge.
    pub(super) targets: Vec<String>,
}

/// The branches that a merge ends.
#[derive(Debug)]
pub(super) struct MergedNames {
    pub(super) sides: Vec<String>,
    pub(super) nodes: Vec<String>,
    /// A side that is the fork itself: it has no changes.
    pub(super) fork: Option<String>,
}

/// A node with plain edges.
pub(super) struct PlainNode(pub(super) Arc<Placed>);

#[node(Envelope)]
impl PlainNode {
    async fn run(&self, envelope: &Envelope, cx: Context) -> petalflow::Result<Changes> {
        Ok(self.0.run(envelope, &cx).await?.0)
    }
}

/// A node that chooses among its edges.
pub(super) struct RouterNode(pub(super) Arc<Placed>);

#[node(Envelope)]
impl RouterNode {
    async fn run(&self, envelope: &Envelope, cx: Context) -> petalflow::Result<(Changes, Routes)> {
        self.0.run(envelope, &cx).await
    }
}

impl Placed {
    async fn run(&self, shared: &Envelope, cx: &Context) -> petalflow::Result<(Changes, Routes)> {
        let path = self.path(shared);
        let envelope = self.view(shared, &path);
        let (changes, routes) = self.process(&envelope, cx).await?;
        Ok((self.result(shared, path, changes), routes))
    }

    /// Runs the node itself.
    async fn process(
        &self,
        envelope: &Envelope,
        cx: &Context,
    ) -> Result<(Changes, Routes), BoxError> {
        let call = Call {
            name: &self.id,
            envelope,
            cx,
        };
        let Some(router) = self.node.router().filter(|_| !self.targets.is_empty()) else {
            return Ok((self.node.process(call).await?, Routes::default()));
        };
        let (decision, changes) = router.decide(call).await?;
        let routes = self.routes(&decision, router.redirect());
        cx.emit_with(|| CustomEvent::new(decision));
        Ok((changes, routes))
    }

    /// The routes of a decision.
    fn routes(&self, decision: &RouteDecision, redirect: Option<&str>) -> Routes {
        let Some(redirect) = redirect else {
            return decision.targets.iter().collect();
        };
        let is_redirected = decision.targets == ["Redirect"];
        let targets = self.targets.iter();
        targets
            .filter(|target| (*target == redirect) == is_redirected)
            .collect()
    }

    /// What the path to the node has changed in its branch.
    fn path(&self, shared: &Envelope) -> Changes {
        let fork = self
            .fork
            .as_ref()
            .and_then(|fork| shared.branches.path_of(fork));
        if self.merged.is_some() {
            return fork.cloned().unwrap_or_default();
        }
        let paths = self
            .from
            .iter()
            .filter_map(|node| shared.branches.path_of(node));
        let paths: Vec<&Changes> = paths.collect();
        match paths[..] {
            [] => Changes::new(),
            [path] => path.clone(),
            _ => {
                let fork = fork.cloned().unwrap_or_default();
                let at_fork = applied(shared, &fork);
                let ends = paths.into_iter().map(|path| applied(shared, path));
                ends.fold(fork, |all, end| all.then(Changes::between(&at_fork, &end)))
            }
        }
    }

    /// The envelope that the node sees.
    fn view<'e>(&self, shared: &'e Envelope, path: &Changes) -> Cow<'e, Envelope> {
        let Some(merged) = &self.merged else {
            if *path == Changes::default() {
                return Cow::Borrowed(shared);
            }
            return Cow::Owned(applied(shared, path));
        };
        let mut view = applied(shared, path);
        let mut branches = Branches::default();
        for side in &merged.sides {
            let end = match shared.branches.path_of(side) {
                Some(path) => applied(shared, path),
                None if merged.fork.as_ref() == Some(side) => view.clone(),
                None => continue,
            };
            branches.then(Branches::open(Branch::new(side, end)));
        }
        view.branches = branches;
        Cow::Owned(view)
    }

    /// What the task writes: the changes, or the changes of its path if it is in a branch.
    fn result(&self, shared: &Envelope, path: Changes, changes: Changes) -> Changes {
        let changes = path.then(changes);
        let mut result = if self.is_in_branch {
            Changes::new().path(&self.id, changes)
        } else {
            changes
        };
        if let Some(merged) = &self.merged {
            let is_open = |node: &&String| shared.branches.path_of(node).is_some();
            let ended = merged.nodes.iter().filter(is_open);
            result = result.take_branches(ended.cloned().collect());
        }
        result
    }
}

/// The envelope with these changes, without branches.
fn applied(envelope: &Envelope, changes: &Changes) -> Envelope {
    let mut applied = Envelope {
        branches: Branches::default(),
        ..envelope.clone()
    };
    changes.clone().apply_to(&mut applied);
    applied
}
