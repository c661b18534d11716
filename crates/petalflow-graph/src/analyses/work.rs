//! The limit of the analyses.
//!
//! The work of an analysis can grow much faster than the graph: with the number of states, or with the cube of the number of edges.
//! Such an analysis counts its steps, and after too many of them its caller takes a coarser answer that is sound.

/// The maximum number of steps of one analysis. A step reads or builds one element of a set.
///
/// Ten million steps take about a tenth of a second with optimization, and a second in a macro without it.
const MAX_STEPS: usize = 10_000_000;

/// The maximum number of steps of an analysis of more than the declared choices. Every flow with a route pays for it, and few flows
/// use its result.
const MAX_STEPS_OF_MORE: usize = 100_000;

/// The steps that an analysis has taken. They depend on the graph only, never on the machine or the time.
pub(crate) struct Work {
    steps: usize,
    limit: usize,
}

impl Default for Work {
    fn default() -> Self {
        Work {
            steps: 0,
            limit: MAX_STEPS,
        }
    }
}

/// An analysis has reached the limit.
#[derive(Debug)]
pub(crate) struct TooMuchWork;

impl Work {
    /// The work of an analysis of more than the declared choices.
    pub(crate) fn of_more() -> Self {
        Work {
            steps: 0,
            limit: MAX_STEPS_OF_MORE,
        }
    }

    /// Counts these steps, and one more for the call.
    pub(crate) fn spend(&mut self, steps: usize) -> Result<(), TooMuchWork> {
        self.steps = self.steps.saturating_add(steps).saturating_add(1);
        if self.steps > self.limit {
            return Err(TooMuchWork);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyses::exploration::{by_states, pairs_of_edges};
    use crate::analyses::superstep::Routes;
    use crate::analyses::{explore, join_deadlock};
    use crate::graph::{Edge, Graph, Target, Via};
    use crate::idx::NodeIdx;
    use crate::testing::{catch, end, graph, join, node, plain, side, start};

    const NODES: u32 = 250;

    /// A graph in which each node has an edge to each later node.
    fn forward(edge: impl Fn(u32, u32) -> Edge, more: Vec<Edge>) -> Graph {
        let names: Vec<String> = (0..NODES).map(|node| format!("n{node}")).collect();
        let mut edges = vec![start(0)];
        edges.extend(
            (0..NODES)
                .flat_map(|to| (0..to).map(move |from| (from, to)))
                .map(|(from, to)| edge(from, to)),
        );
        edges.extend(more);
        graph(&names.join(" "), edges)
    }

    fn joined() -> Graph {
        let ends = (1..NODES).map(|to| join(to, node(to)));
        forward(
            |from, to| plain(from, side(to)),
            ends.chain([join(0, end())]).collect(),
        )
    }

    fn merged() -> Graph {
        let mut graph = joined();
        graph
            .nodes
            .to_mut()
            .iter_mut()
            .for_each(|node| node.merge = true);
        graph
    }

    fn routed(to: impl Fn(u32) -> Target) -> impl Fn(u32, u32) -> Edge {
        move |from, at| Edge {
            via: Via::Route(format!("R{at}").into()),
            ..plain(from, to(at))
        }
    }

    /// The limits are those of the graphs as they are. Without them, the work of one analysis can grow with the cube of the
    /// number of edges.
    #[test]
    fn graphs_with_all_forward_edges_take_few_steps() {
        let joins = (1..NODES).map(|to| join(to, node(to)));
        let ends = (2..NODES).map(|to| join(to, node(to)));
        let caught = |from, to| match to - from {
            1 => catch(from, to),
            _ => plain(from, side(to)),
        };
        for (name, graph, states, pairs, stuck) in [
            (
                "plain",
                forward(|from, to| plain(from, node(to)), vec![]),
                3_000_000,
                4_000_000,
                0,
            ),
            ("joined", joined(), 6_000_000, 4_000_000, 0),
            ("routed", forward(routed(node), vec![]), 400_000, 900_000, 0),
            (
                "routed joins",
                forward(routed(side), joins.collect()),
                100_000,
                900_000,
                3_000,
            ),
            (
                "caught",
                forward(caught, ends.collect()),
                1_000_000,
                4_000_000,
                1_000,
            ),
        ] {
            let works = [Work::default(), Work::default(), Work::default()];
            let [mut by_state, mut by_pair, mut by_join] = works;
            let exploration = by_states(&graph, Routes::AsDeclared, &mut by_state);
            assert!(exploration.is_ok_and(|it| it.exact), "{name}");
            assert!(
                pairs_of_edges(&graph, Routes::Any, &mut by_pair).is_ok(),
                "{name}"
            );
            join_deadlock::suspect_stuck(&graph, &mut by_join);
            let steps = [by_state, by_pair, by_join].map(|work| work.steps);
            let within = steps[0] <= states && steps[1] <= pairs && steps[2] <= stuck;
            assert!(within, "{name}: {steps:?}");
        }
    }

    /// A chain has a state more than it has nodes. The limit of the states lies between these two chains.
    #[test]
    fn f45_the_steps_of_a_long_chain_are_in_proportion_to_it() {
        for nodes in [19_000, 21_000] {
            let names: Vec<String> = (0..nodes).map(|node| format!("n{node}")).collect();
            let mut edges = vec![start(0)];
            edges.extend((1..nodes).map(|to| plain(to - 1, node(to))));
            let graph = graph(&names.join(" "), edges);
            let mut work = Work::default();
            let exploration = by_states(&graph, Routes::AsDeclared, &mut work);
            let is_small = nodes < 20_000;
            assert_eq!(exploration.is_ok(), is_small, "{nodes}");
            assert!(work.steps <= 10 * nodes as usize, "{nodes}: {}", work.steps);
            let mut work = Work::default();
            let pairs = pairs_of_edges(&graph, Routes::AsDeclared, &mut work).ok();
            assert_eq!(pairs.map(|pairs| pairs.iter().count()), Some(0), "{nodes}");
            assert!(work.steps <= 16 * nodes as usize, "{nodes}: {}", work.steps);
            let exploration = explore(&graph, Routes::AsDeclared);
            assert_eq!(
                (exploration.exact, exploration.pairs.iter().next()),
                (is_small, None)
            );
            assert!(exploration.stuck.is_empty());
        }
    }

    #[test]
    fn an_analysis_with_too_much_work_stops_and_stays_sound() {
        // The exploration of the merges visits each side in each state.
        let graph = merged();
        let mut work = Work::default();
        assert!(by_states(&graph, Routes::AsDeclared, &mut work).is_err());
        assert!(
            work.steps < MAX_STEPS + (NODES * NODES) as usize,
            "{}",
            work.steps
        );
        let exploration = explore(&graph, Routes::AsDeclared);
        assert!(!exploration.exact && exploration.stuck.is_empty());
        let (first, last) = (NodeIdx::new(0), NodeIdx::new(NODES - 1));
        assert!(exploration.pairs.contains(first, last));
    }
}
