//! Plans the next frontier from the outcomes of a superstep.

use petalflow_graph::{ItemIdx, JoinIdx, NodeIdx, RouteIdx};

use super::{Joins, Task};
use crate::delivery::Delivery;
use crate::erased::AnyEffects;
use crate::node::RouteChoice;
use crate::plan::{EdgeTarget, ExecutionPlan, OutEdges};

/// How a task ended, as far as the next superstep is concerned.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Outcome<'a> {
    /// It ran: the routes that it chose and what it sends.
    Done {
        chosen: RouteChoice,
        routes: &'a [RouteIdx],
        sends: &'a [(Option<RouteIdx>, Delivery)],
    },
    /// It failed for good, and its `catch` edge delivers the failure to this node.
    Caught { to: NodeIdx, failure: &'a Delivery },
    /// It has not decided yet what follows, so it runs next. Only an edit has this outcome.
    Undecided,
    /// Its plain edges fire, and it has sent nothing: most tasks, and one that failed for good in a run that continues.
    Plain,
}

impl<'a> Outcome<'a> {
    /// The outcome of a task that ran.
    pub(crate) fn done(effects: &'a dyn AnyEffects) -> Self {
        if effects.chosen() == RouteChoice::Edges && effects.deliveries().is_empty() {
            return Outcome::Plain;
        }
        Outcome::Done {
            chosen: effects.chosen(),
            routes: effects.routes(),
            sends: effects.deliveries(),
        }
    }
}

/// A node chose a route that has no edge.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NoEdge {
    pub(crate) node: NodeIdx,
    pub(crate) route: RouteIdx,
}

/// Plans one frontier after another. Its memory is reused, so planning allocates only while a frontier grows.
#[derive(Debug)]
pub(crate) struct Planner {
    /// The last round in which each node was activated.
    activated: Vec<u64>,
    /// The last round in which each node was skipped because its batch had no items.
    skipped: Vec<u64>,
    /// The number of the plan that is being made.
    round: u64,
    joins: Joins,
    /// Tasks that wait until nothing else is active.
    deferred: Vec<Task>,
    /// The next frontier, while it is planned.
    next: Vec<Task>,
    /// Targets of `each` that were sent an empty list.
    empty: Vec<NodeIdx>,
}

impl Planner {
    pub(crate) fn new(plan: &ExecutionPlan) -> Self {
        Planner {
            activated: vec![0; plan.out_edges.len()],
            skipped: vec![0; plan.out_edges.len()],
            round: 0,
            joins: Joins::new(plan),
            deferred: Vec::new(),
            next: Vec::new(),
            empty: Vec::new(),
        }
    }

    /// The joins at which some sides have arrived.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = JoinIdx> {
        self.joins.waiting()
    }

    /// The sides of a join that have arrived.
    pub(crate) fn arrived(&self, join: JoinIdx) -> impl Iterator<Item = usize> {
        self.joins.arrived(join)
    }

    /// The tasks that wait until nothing else is active.
    pub(crate) fn deferred(&self) -> &[Task] {
        &self.deferred
    }

    /// Continues from the deferred tasks and the arrivals of another planner.
    pub(crate) fn restore(&mut self, deferred: Vec<Task>, arrived: &[(JoinIdx, u32)]) {
        self.round += 1;
        self.deferred = deferred;
        for (join, side) in arrived {
            // This never completes the join: with all sides arrived, it would have been empty.
            self.joins.arrive(*join, *side, self.round);
        }
    }

    /// Plans the first superstep.
    pub(crate) fn start(&mut self, plan: &ExecutionPlan, frontier: &mut Vec<Task>) {
        self.round += 1;
        for target in &plan.entry {
            self.take(plan, *target);
        }
        self.finish(plan, frontier);
    }

    /// Plans the next superstep. The outcomes are in the order of their tasks: by node, then by send index.
    pub(crate) fn advance<'a>(
        &mut self,
        plan: &ExecutionPlan,
        outcomes: impl Iterator<Item = (NodeIdx, Outcome<'a>)>,
        frontier: &mut Vec<Task>,
    ) -> Result<(), NoEdge> {
        self.round += 1;
        for (node, outcome) in outcomes {
            match outcome {
                Outcome::Plain => self.take_all(plan, &plan.out_edges[node.index()].plain),
                outcome => self.follow(plan, node, outcome)?,
            }
        }
        self.finish(plan, frontier);
        Ok(())
    }

    /// Takes the edges that fire after a task.
    fn follow(
        &mut self,
        plan: &ExecutionPlan,
        node: NodeIdx,
        outcome: Outcome<'_>,
    ) -> Result<(), NoEdge> {
        let edges = &plan.out_edges[node.index()];
        match outcome {
            Outcome::Plain => self.take_all(plan, &edges.plain),
            Outcome::Undecided => self.take(plan, EdgeTarget::Node(node)),
            Outcome::Done {
                chosen,
                routes,
                sends,
            } => match chosen {
                RouteChoice::Edges => self.deliver(plan, &edges.plain, None, sends),
                RouteChoice::One(route) => {
                    let targets = route_targets(edges, node, route)?;
                    self.deliver(plan, targets, Some(route), sends);
                }
                RouteChoice::Many => self.take_routes(plan, node, routes, sends)?,
            },
            Outcome::Caught { to, failure } => {
                self.deliver_to(plan, EdgeTarget::Node(to), failure);
            }
        }
        Ok(())
    }

    /// Takes several routes. The payloads are delivered in the order in which they were sent, also if two routes lead to one
    /// node.
    fn take_routes(
        &mut self,
        plan: &ExecutionPlan,
        node: NodeIdx,
        routes: &[RouteIdx],
        sends: &[(Option<RouteIdx>, Delivery)],
    ) -> Result<(), NoEdge> {
        let edges = &plan.out_edges[node.index()];
        for route in routes {
            let targets = route_targets(edges, node, *route)?;
            if !sends.iter().any(|(by, _)| *by == Some(*route)) {
                self.take_all(plan, targets);
            }
        }
        for (by, delivery) in sends {
            if let Some(route) = by.filter(|by| routes.contains(by)) {
                let targets = route_targets(edges, node, route)?;
                self.deliver_to_all(plan, targets, delivery);
            }
        }
        Ok(())
    }

    /// Takes the edges of one route, or the plain edges, with everything that was sent along them.
    fn deliver(
        &mut self,
        plan: &ExecutionPlan,
        targets: &[EdgeTarget],
        route: Option<RouteIdx>,
        sends: &[(Option<RouteIdx>, Delivery)],
    ) {
        let mut deliveries = sends.iter().filter(|(by, _)| *by == route).peekable();
        if deliveries.peek().is_none() {
            self.take_all(plan, targets);
        }
        for (_, delivery) in deliveries {
            self.deliver_to_all(plan, targets, delivery);
        }
    }

    fn take_all(&mut self, plan: &ExecutionPlan, targets: &[EdgeTarget]) {
        for target in targets {
            self.take(plan, *target);
        }
    }

    fn deliver_to_all(
        &mut self,
        plan: &ExecutionPlan,
        targets: &[EdgeTarget],
        delivery: &Delivery,
    ) {
        for target in targets {
            self.deliver_to(plan, *target, delivery);
        }
    }

    /// Takes one edge, along which nothing was sent.
    fn take(&mut self, plan: &ExecutionPlan, target: EdgeTarget) {
        match target {
            EdgeTarget::End => {}
            EdgeTarget::Node(node) => {
                let activated = &mut self.activated[node.index()];
                if *activated != self.round {
                    *activated = self.round;
                    self.next.push(Task::plain(node));
                }
            }
            EdgeTarget::Each(node) => self.empty.push(node),
            EdgeTarget::Join { join, side } => {
                if self.joins.arrive(join, side, self.round) {
                    self.leave_join(plan, join);
                }
            }
        }
    }

    /// Takes one edge, along which this was sent.
    fn deliver_to(&mut self, plan: &ExecutionPlan, target: EdgeTarget, delivery: &Delivery) {
        match target {
            EdgeTarget::Node(node) if plan.takes_item(node) => {
                self.send(node, None, delivery);
            }
            EdgeTarget::Each(node) if !delivery.is_empty() => {
                ItemIdx::all(delivery.len()).for_each(|item| self.send(node, Some(item), delivery));
            }
            target => self.take(plan, target),
        }
    }

    /// Takes the edges out of a join whose sides have all arrived.
    #[inline(never)]
    fn leave_join(&mut self, plan: &ExecutionPlan, join: JoinIdx) {
        self.take_all(plan, &plan.joins[join.index()].out);
    }

    fn send(&mut self, node: NodeIdx, item: Option<ItemIdx>, delivery: &Delivery) {
        self.activated[node.index()] = self.round;
        self.next.push(Task {
            node,
            send: Some(0),
            item,
            delivery: Some(delivery.clone()),
        });
    }

    /// Completes the round: empty batches, deferred nodes, order, send indices.
    fn finish(&mut self, plan: &ExecutionPlan, frontier: &mut Vec<Task>) {
        self.skip_empty_batches(plan);
        #[cfg(feature = "builder")]
        if !plan.skippable.is_empty() {
            self.skip_missing_sides(plan);
        }
        // Tasks that an older program deferred wait even if this program defers no node.
        if plan.has_deferred || !self.deferred.is_empty() {
            self.defer(plan);
        }
        // Stable, so that the items for one node retain the order of their senders.
        self.next.sort_by_key(|task| task.node);
        self.number_sends();
        std::mem::swap(frontier, &mut self.next);
        self.next.clear();
    }

    /// A batch without items is complete at once, so the edges out of its target fire. These may lead to empty batches again.
    fn skip_empty_batches(&mut self, plan: &ExecutionPlan) {
        while let Some(node) = self.empty.pop() {
            let index = node.index();
            // Items that were sent before and are still deferred belong to the batch as well.
            let has_deferred = self.deferred.iter().any(|task| task.node == node);
            let is_active = self.activated[index] == self.round;
            if !has_deferred && !is_active && self.skipped[index] != self.round {
                self.skipped[index] = self.round;
                self.take_all(plan, &plan.out_edges[index].plain);
            }
        }
    }

    /// Completes the joins of merges whose missing sides nothing can reach any more.
    #[cfg(feature = "builder")]
    fn skip_missing_sides(&mut self, plan: &ExecutionPlan) {
        loop {
            let active = self.next.iter().chain(&self.deferred).map(|task| task.node);
            let arrived = |join| self.joins.partial(join);
            let Some(join) = petalflow_graph::SkippableJoin::next(&plan.skippable, arrived, active)
            else {
                return;
            };
            self.joins.skip_missing(join, self.round);
            self.leave_join(plan, join);
        }
    }

    /// Moves the tasks of deferred nodes aside, and back once nothing else is active.
    fn defer(&mut self, plan: &ExecutionPlan) {
        let is_deferred = |task: &Task| plan.out_edges[task.node.index()].deferred;
        for task in self.next.extract_if(.., |task| is_deferred(task)) {
            let waits = |waiting: &Task| waiting.node == task.node;
            if task.send.is_some() || !self.deferred.iter().any(waits) {
                self.deferred.push(task);
            }
        }
        if self.next.is_empty() {
            self.next.append(&mut self.deferred);
        }
    }

    /// Numbers what was sent to each node, in the order of the senders.
    fn number_sends(&mut self) {
        let mut previous = None;
        for task in &mut self.next {
            if task.send.is_some() {
                let send = previous
                    .filter(|(node, _)| *node == task.node)
                    .map_or(0, |(_, send)| send + 1);
                task.send = Some(send);
                previous = Some((task.node, send));
            }
        }
    }
}

/// The targets of a route.
fn route_targets(
    edges: &OutEdges,
    node: NodeIdx,
    route: RouteIdx,
) -> Result<&[EdgeTarget], NoEdge> {
    edges
        .routes
        .get(route.index())
        .filter(|targets| !targets.is_empty())
        .map(|targets| &**targets)
        .ok_or(NoEdge { node, route })
}
