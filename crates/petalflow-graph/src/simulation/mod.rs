//! Compares the analyses with an independent simulator, which runs every execution of small random graphs.

mod flow;
mod simulator;

use std::collections::BTreeSet;

use proptest::prelude::*;

use self::flow::{Flow, flow};
use self::simulator::Simulator;
use crate::analyses::concurrency::by_pairs;
use crate::analyses::pairs_of_edges;
use crate::analyses::work::Work;
use crate::edges::batches;
use crate::graph::{Edge, Target, Via};
use crate::graph_rules::check_with;
use crate::idx::{JoinIdx, NodeIdx};
use crate::{Analysis, Routes, Rule, Tables, explore, verdicts_of};

fn different(pairs: &crate::Pairs) -> BTreeSet<(NodeIdx, NodeIdx)> {
    pairs.iter().filter(|(a, b)| a != b).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn exploration_equals_simulation(Flow { graph, keys, nodes, .. } in flow()) {
        for routes in [Routes::AsDeclared, Routes::PerDelivery, Routes::Any] {
            let simulator = Simulator { graph: &graph, all_many: routes == Routes::Any, all_take: routes != Routes::AsDeclared, keys: &keys, nodes: &nodes };
            let Some(seen) = simulator.run() else { return Ok(()) };
            let exploration = explore(&graph, routes);
            if !exploration.exact {
                // More choices than the declared ones are explored within fewer steps.
                prop_assert!(routes != Routes::AsDeclared);
                continue;
            }
            let stuck: BTreeSet<JoinIdx> = exploration.stuck.iter().map(|stuck| stuck.join).collect();
            let several = crate::analyses::delivered_several(&graph, &exploration.pairs, &batches(&graph), routes);
            if routes == Routes::AsDeclared || several.is_empty() {
                prop_assert_eq!(different(&exploration.pairs), seen.pairs.clone());
                prop_assert_eq!(stuck, seen.stuck.clone());
            } else {
                // The exploration assumes that a node that can run several times always does.
                prop_assert!(seen.pairs.is_subset(&different(&exploration.pairs)), "{:?}", seen.pairs);
                prop_assert!(seen.stuck.is_subset(&stuck), "{:?} {:?}", seen.stuck, stuck);
            }
            prop_assert!(seen.several.iter().all(|&node| exploration.pairs.contains(node, node)));
            for edge in graph.edges.iter().filter(|edge| edge.sends_list()) {
                let Target::Node(to) = edge.to else { unreachable!("a list goes to a node") };
                prop_assert!(!seen.ran.contains(&to) || exploration.pairs.contains(to, to));
            }
            // Without visiting the states, more can be said to happen, but not less.
            let pairs = pairs_of_edges(&graph, routes, &mut Work::default()).expect("the graph is small");
            let (_, ran) = by_pairs(&graph, routes, &batches(&graph), &mut Work::default()).expect("the graph is small");
            prop_assert!(seen.ran.iter().all(|node| ran.contains(node.index())));
            prop_assert!(seen.pairs.is_subset(&different(&pairs)), "{:?} {:?}", seen.pairs, different(&pairs));
            let simple = graph.joins == 0 && !graph.nodes.iter().any(|node| node.deferred) && !graph.edges.iter().any(Edge::sends_list);
            if simple && (routes == Routes::AsDeclared || several.is_empty()) {
                prop_assert_eq!(different(&pairs), seen.pairs.clone());
            }
            let suspected: BTreeSet<JoinIdx> = crate::analyses::join_deadlock::suspect_stuck(&graph, &mut Work::default()).iter().map(|stuck| stuck.join).collect();
            prop_assert!(seen.stuck.is_subset(&suspected), "{:?} {:?}", seen.stuck, suspected);
        }
    }

    #[test]
    fn reads_and_outputs_are_judged_as_they_happen(Flow { graph, keys, nodes, .. } in flow()) {
        let Some(seen) = (Simulator { graph: &graph, all_many: false, all_take: false, keys: &keys, nodes: &nodes }).run() else { return Ok(()) };
        let analysis = Analysis::declared(&graph);
        let unmet: BTreeSet<NodeIdx> = seen.unmet.iter().map(|(node, _)| *node).collect();
        if analysis.declared.frontiers.is_some() {
            let verdicts = verdicts_of(&analysis.tables(), &keys, &nodes);
            let refused: BTreeSet<(NodeIdx, usize)> = NodeIdx::all(verdicts.len()).zip(&verdicts).filter_map(|(node, verdict)| Some((node, verdict.unwritten_read?.key as usize))).collect();
            prop_assert!(refused.is_subset(&seen.unmet), "{:?} {:?}", refused, seen.unmet);
            prop_assert_eq!(refused.iter().map(|(node, _)| *node).collect::<BTreeSet<_>>(), unmet.clone());
            let outputs: BTreeSet<usize> = verdicts.iter().filter_map(|verdict| Some(verdict.missing_output? as usize)).collect();
            prop_assert!(outputs.is_subset(&seen.missing) && outputs.is_empty() == seen.missing.is_empty(), "{:?} {:?}", outputs, seen.missing);
        }
        // By the edges alone good graphs may be refused, but no bad ones accepted.
        let accepted = analysis.declared.stuck.is_empty() && check_with(&graph, &analysis.declared).iter().all(|diagnostic| matches!(diagnostic.rule, Rule::UnusedNode | Rule::UnreachableNode | Rule::DuplicateEdge));
        let verdicts = verdicts_of(&Tables { frontiers: None, ..analysis.tables() }, &keys, &nodes);
        if accepted {
            prop_assert!(unmet.iter().all(|&node| verdicts[node.index()].unwritten_read.is_some()), "{:?} {:?}", unmet, verdicts);
            let outputs = verdicts.iter().any(|verdict| verdict.missing_output.is_some());
            prop_assert!(outputs || seen.missing.is_empty(), "{:?} {:?}", verdicts, seen.missing);
        }
    }

    #[test]
    fn a_node_that_turns_out_to_pick_several_routes_or_to_take_items_is_judged_soundly(Flow { graph, keys, mut nodes, takes } in flow(), taking in any::<bool>()) {
        nodes.iter_mut().zip(takes).for_each(|(node, takes)| node.takes_item = takes && taking);
        let Some(seen) = (Simulator { graph: &graph, all_many: false, all_take: false, keys: &keys, nodes: &nodes }).run() else { return Ok(()) };
        // A macro does not see in a type what it says.
        let mut written = graph.clone();
        written.nodes.to_mut().iter_mut().for_each(|node| node.many = false);
        for analysis in [Analysis::of(&written), Analysis::declared(&graph)] {
            let verdicts = verdicts_of(&analysis.tables(), &keys, &nodes);
            let any = analysis.any.as_ref().filter(|_| nodes.iter().any(|node| node.many));
            let delivered = analysis.delivered.as_ref().filter(|(places, _)| places.iter().any(|&place| nodes[place.index()].takes_item));
            let any = any.or(delivered.map(|(_, any)| any));
            let table = any.map_or(&analysis.together, |any| &any.together).view();
            prop_assert!(seen.pairs.iter().all(|&(a, b)| table.contains(a, b)));
            prop_assert!(seen.several.iter().all(|&node| table.contains(node, node)));
            let told = !analysis.declared.stuck.is_empty() || verdicts.iter().any(|verdict| verdict.stuck_join);
            prop_assert!(told || seen.stuck.is_empty(), "{:?}", seen.stuck);
            if !told {
                prop_assert!(seen.unmet.iter().all(|&(node, _)| verdicts[node.index()].unwritten_read.is_some()), "{:?} {:?}", seen.unmet, verdicts);
            }
            let diagnostics = check_with(&graph, &analysis.declared);
            let fine = |rule| matches!(rule, Rule::UnusedNode | Rule::UnreachableNode | Rule::DuplicateEdge);
            if !told && any.is_some() && diagnostics.iter().all(|diagnostic| fine(diagnostic.rule)) {
                let outputs = verdicts.iter().any(|verdict| verdict.missing_output.is_some());
                prop_assert!(outputs || seen.missing.is_empty(), "{:?} {:?}", verdicts, seen.missing);
            }
            // What has no joins is refused exactly if there is a way into something that never ends.
            let refused = diagnostics.iter().any(|diagnostic| diagnostic.rule == Rule::EndlessCycle)
                || verdicts.iter().any(|verdict| verdict.endless_cycle);
            if graph.joins == 0 {
                prop_assert_eq!(refused, seen.endless);
            }
            // With joins too nothing is refused for its states that can always end, and nothing is missed where no node chooses
            // or fails.
            prop_assert!(analysis.declared.endless.is_empty() || seen.endless, "{:?}", analysis.declared.endless);
            let sure = graph.edges.iter().all(|edge| matches!(edge.via, Via::Plain | Via::Each));
            prop_assert!(refused || !seen.endless || !sure);
        }
    }
}
