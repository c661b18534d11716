//! From what the tasks of a superstep chose to the tasks of the next.

use petalflow_graph::index;

use super::{Joins, Task};
use crate::delivery::Delivery;
use crate::node::{Effects, RouteChoice};
use crate::plan::{EdgeTarget, ExecutionPlan};
use crate::state::State;

/// How a task ended, as far as the next superstep is concerned.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Outcome<'a> {
    /// It ran; its choice and what it sends.
    Done {
        chosen: RouteChoice,
        routes: &'a [u32],
        sends: &'a [(Option<u32>, Delivery)],
    },
    /// It failed for good, and its `catch` edge takes the failure.
    Caught { to: u32, failure: &'a Delivery },
    /// It failed for good, and the run goes on: its plain edges fire, as if it had sent nothing.
    Ignored,
}

impl<'a> Outcome<'a> {
    /// The outcome of a task that ran.
    pub(crate) fn done<S: State>(effects: &'a Effects<S>) -> Self {
        Outcome::Done {
            chosen: effects.chosen(),
            routes: effects.routes(),
            sends: effects.deliveries(),
        }
    }
}

/// A route without an edge.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NoEdge {
    pub(crate) node: u32,
    pub(crate) route: u32,
}

/// Collects the next frontier. Kept by the run, so that planning allocates only while it grows.
#[derive(Debug)]
pub(crate) struct Planner {
    /// The last round in which each node was activated.
    activated: Vec<u64>,
    /// The last round in which each node was skipped for want of items.
    skipped: Vec<u64>,
    round: u64,
    joins: Joins,
    deferred: Vec<Task>,
    /// The next frontier, while it is collected.
    next: Vec<Task>,
    /// Targets of `each` that were sent an empty list.
    empty: Vec<u32>,
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

    /// The joins that hold an arrival.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = usize> {
        self.joins.waiting()
    }

    /// The sides of a join that have arrived.
    pub(crate) fn arrived(&self, join: usize) -> impl Iterator<Item = usize> {
        self.joins.arrived(join)
    }

    /// What waits until nothing else is active.
    pub(crate) fn deferred(&self) -> &[Task] {
        &self.deferred
    }

    /// Goes on where another planner stopped.
    #[inline]
    pub(crate) fn restore(&mut self, deferred: Vec<Task>, arrived: &[(u32, u32)]) {
        self.round += 1;
        self.deferred = deferred;
        for (join, side) in arrived {
            // Not all sides have arrived, or the join would be empty.
            self.joins.arrive(*join, *side, self.round);
        }
    }

    /// The frontier of the first superstep.
    pub(crate) fn start(&mut self, plan: &ExecutionPlan, frontier: &mut Vec<Task>) {
        self.round += 1;
        for target in &plan.entry {
            self.take(plan, *target, None);
        }
        self.finish(plan, frontier);
    }

    /// The frontier after these outcomes, which come in the order of their tasks: by the node's place, then send index.
    pub(crate) fn advance<'a>(
        &mut self,
        plan: &ExecutionPlan,
        outcomes: impl Iterator<Item = (u32, Outcome<'a>)>,
        frontier: &mut Vec<Task>,
    ) -> Result<(), NoEdge> {
        self.round += 1;
        for (node, outcome) in outcomes {
            self.follow(plan, node, outcome)?;
        }
        self.finish(plan, frontier);
        Ok(())
    }

    fn follow(
        &mut self,
        plan: &ExecutionPlan,
        node: u32,
        outcome: Outcome<'_>,
    ) -> Result<(), NoEdge> {
        let ways = &plan.out_edges[node as usize];
        match outcome {
            // Most tasks send nothing and leave by their edges.
            Outcome::Done {
                chosen: RouteChoice::Edges,
                sends: [],
                ..
            }
            | Outcome::Ignored => ways
                .plain
                .iter()
                .for_each(|target| self.take(plan, *target, None)),
            Outcome::Done {
                chosen,
                routes,
                sends,
            } => {
                let sent = |route: Option<u32>| {
                    sends
                        .iter()
                        .find(|(by, _)| *by == route)
                        .map(|(_, delivery)| delivery)
                };
                let take_route = |planner: &mut Self, route: u32| {
                    let targets = ways
                        .routes
                        .get(route as usize)
                        .filter(|targets| !targets.is_empty())
                        .ok_or(NoEdge { node, route })?;
                    targets
                        .iter()
                        .for_each(|target| planner.take(plan, *target, sent(Some(route))));
                    Ok(())
                };
                match chosen {
                    RouteChoice::Edges => ways
                        .plain
                        .iter()
                        .for_each(|target| self.take(plan, *target, sent(None))),
                    RouteChoice::One(route) => take_route(self, route)?,
                    RouteChoice::Many => routes
                        .iter()
                        .try_for_each(|route| take_route(self, *route))?,
                }
            }
            Outcome::Caught { to, failure } => self.take(plan, EdgeTarget::Node(to), Some(failure)),
        }
        Ok(())
    }

    /// Takes one edge.
    #[inline]
    fn take(&mut self, plan: &ExecutionPlan, target: EdgeTarget, delivery: Option<&Delivery>) {
        match (target, delivery) {
            (EdgeTarget::End, _) => {}
            (EdgeTarget::Node(node), Some(delivery)) if plan.takes_item[node as usize] => {
                self.send(node, None, delivery);
            }
            (EdgeTarget::Node(node), _) => {
                if self.activated[node as usize] != self.round {
                    self.activated[node as usize] = self.round;
                    self.next.push(Task::plain(node));
                }
            }
            (EdgeTarget::Each(node), Some(delivery)) if !delivery.is_empty() => {
                (0..index(delivery.len())).for_each(|item| self.send(node, Some(item), delivery));
            }
            (EdgeTarget::Each(node), _) => self.empty.push(node),
            (EdgeTarget::Join { join, side }, _) => {
                if self.joins.arrive(join, side, self.round) {
                    self.leave(plan, join);
                }
            }
        }
    }

    /// All sides of a join have arrived.
    #[inline(never)]
    fn leave(&mut self, plan: &ExecutionPlan, join: u32) {
        let targets = &plan.joins[join as usize].out;
        targets
            .iter()
            .for_each(|target| self.take(plan, *target, None));
    }

    fn send(&mut self, node: u32, item: Option<u32>, delivery: &Delivery) {
        self.activated[node as usize] = self.round;
        self.next.push(Task {
            node,
            send: Some(0),
            item,
            delivery: Some(delivery.clone()),
        });
    }

    /// Completes the round: batches without items, deferred nodes, order.
    fn finish(&mut self, plan: &ExecutionPlan, frontier: &mut Vec<Task>) {
        // A batch without items is done at once, so the edges out of its target fire; those may be empty batches again.
        while let Some(node) = self.empty.pop() {
            let place = node as usize;
            // Items that were sent before and are still deferred make it a batch, too.
            let waits = self.deferred.iter().any(|task| task.node == node);
            if !waits && self.activated[place] != self.round && self.skipped[place] != self.round {
                self.skipped[place] = self.round;
                plan.out_edges[place]
                    .plain
                    .iter()
                    .for_each(|target| self.take(plan, *target, None));
            }
        }
        // What was deferred by an older program waits all the same.
        if plan.has_deferred || !self.deferred.is_empty() {
            let deferred = |task: &Task| plan.out_edges[task.node as usize].deferred;
            for task in self.next.extract_if(.., |task| deferred(task)) {
                if task.send.is_some()
                    || !self
                        .deferred
                        .iter()
                        .any(|waiting| waiting.node == task.node)
                {
                    self.deferred.push(task);
                }
            }
            if self.next.is_empty() {
                self.next.append(&mut self.deferred);
            }
        }
        // Stable, so that what was sent to one node keeps the order of its senders.
        self.next.sort_by_key(|task| task.node);
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
        std::mem::swap(frontier, &mut self.next);
        self.next.clear();
    }
}
