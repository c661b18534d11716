//! A node of a built graph: the node, its edges and its branches.

use std::borrow::Cow;
use std::error::Error;

use petalflow::event::CustomEvent;
use petalflow::node::Routes;
use petalflow::{BoxError, Context, node};
use serde_json::{Map, Value, json};

use crate::kinds::{AnyNode, Call, EnvelopeNode, changes_of};
use crate::run::{PausePoint, RunControl, RunEventKind, StepGraph, StepPoint, StepResponse};
use crate::{Branch, Branches, Changes, Envelope, NodeFailure, NodeKind, RouteDecision};

/// A node, with its position in the graph.
#[derive(Debug)]
pub(super) struct GraphNode {
    pub(super) id: String,
    pub(super) kind: NodeKind,
    pub(super) node: AnyNode,
    pub(super) graph: StepGraph,
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
pub(super) struct PlainNode(pub(super) GraphNode);

#[node(Envelope)]
impl PlainNode {
    async fn run(&self, envelope: &Envelope, cx: Context) -> petalflow::Result<Changes> {
        Ok(self.0.run(envelope, &cx).await?.0)
    }
}

/// A node that chooses among its edges.
pub(super) struct RouterNode(pub(super) GraphNode);

#[node(Envelope)]
impl RouterNode {
    async fn run(&self, envelope: &Envelope, cx: Context) -> petalflow::Result<(Changes, Routes)> {
        self.0.run(envelope, &cx).await
    }
}

impl GraphNode {
    async fn run(&self, shared: &Envelope, cx: &Context) -> petalflow::Result<(Changes, Routes)> {
        let control = cx.managed::<RunControl>();
        if control.is_none() && self.is_apart() {
            return self.process(shared, cx).await;
        }
        let path = self.path(shared);
        let envelope = self.view(shared, &path);
        let (changes, routes) = match control {
            None => self.process(&envelope, cx).await?,
            Some(control) => self.run_controlled(&control, envelope, cx).await?,
        };
        Ok((self.result(shared, path, changes), routes))
    }

    /// Whether it is in no branch, before no merge and after no branch: it reads and writes the envelope itself.
    fn is_apart(&self) -> bool {
        !self.is_in_branch && self.from.is_empty() && self.fork.is_none() && self.merged.is_none()
    }

    /// Runs the node as the options of the run say.
    async fn run_controlled(
        &self,
        control: &RunControl,
        mut envelope: Cow<'_, Envelope>,
        cx: &Context,
    ) -> Result<(Changes, Routes), BoxError> {
        control.count(&self.id)?;
        let at = |point| PausePoint {
            node: &self.id,
            kind: &self.kind,
            point,
            graph: &self.graph,
        };
        let snapshot = || envelope.clone().into_owned();
        let mut edits = Changes::new();
        match control.pause(at(StepPoint::Before), snapshot, cx).await? {
            StepResponse::Skip => {
                let targets = self.targets.iter().collect();
                return Ok((self.without_merging(&envelope), targets));
            }
            StepResponse::Continue {
                set_vars,
                delete_vars,
            } => {
                edits = controller_changes(&envelope, set_vars, &delete_vars);
                if edits != Changes::default() {
                    edits.clone().apply_to(envelope.to_mut());
                }
            }
            StepResponse::Abort { .. } | StepResponse::RunToBreakpoint => {}
        }
        let done = control.attempt(&self.id, self.process(&envelope, cx)).await;
        let (changes, routes) = match done {
            Err(error) if control.continues_on_error() => {
                let failure = self.failure(&*error, cx);
                RunEventKind::NodeFailed.emit(cx, || json!({ "error": failure.message }));
                let changes = self.without_merging(&envelope).error(failure);
                (changes, Routes::default())
            }
            done => done?,
        };
        let changes = edits.then(changes);
        let snapshot = || with_changes(&envelope, &changes);
        control.pause(at(StepPoint::After), snapshot, cx).await?;
        Ok((changes, routes))
    }

    /// The changes of a node that did not run: none, and for a merge those of its first branch.
    fn without_merging(&self, envelope: &Envelope) -> Changes {
        let first = envelope
            .branches
            .iter()
            .next()
            .filter(|_| self.merged.is_some());
        first.map_or_else(Changes::new, |branch| changes_of(branch, envelope))
    }

    fn failure(&self, error: &(dyn Error + Send + Sync + 'static), cx: &Context) -> NodeFailure {
        let mut failure = NodeFailure::new(&self.id, error.to_string());
        failure.kind = Some(self.kind.clone());
        failure.attempt = cx.attempt();
        match error.source() {
            Some(cause) => failure.with_cause(cause),
            None => failure,
        }
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
                let at_fork = with_changes(shared, &fork);
                let ends = paths.into_iter().map(|path| with_changes(shared, path));
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
            return Cow::Owned(with_changes(shared, path));
        };
        let mut view = with_changes(shared, path);
        let mut branches = Branches::default();
        for side in &merged.sides {
            let end = match shared.branches.path_of(side) {
                Some(path) => with_changes(shared, path),
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

/// The changes of a controller.
fn controller_changes(envelope: &Envelope, set: Map<String, Value>, removed: &[String]) -> Changes {
    if !removed.iter().any(|name| envelope.vars.contains_key(name)) {
        let set = set.into_iter();
        return set.fold(Changes::new(), |changes, (name, value)| {
            changes.var(name, value)
        });
    }
    let mut vars = envelope.vars.clone();
    vars.retain(|name, _| !removed.contains(name));
    vars.extend(set);
    Changes::new().replace_vars(vars)
}

/// The envelope with these changes, without branches.
fn with_changes(envelope: &Envelope, changes: &Changes) -> Envelope {
    let mut applied = Envelope {
        branches: Branches::default(),
        ..envelope.clone()
    };
    changes.clone().apply_to(&mut applied);
    applied
}
