//! Random graphs on the real engine: what the analyses promise of an accepted graph is what happens.

mod case;
mod stored;
mod walker;

use std::cell::Cell;
use std::collections::BTreeSet;

use petalflow::prelude::*;
use petalflow::run::RunErrorKind;
use petalflow_graph::{Graph as Model, NodeIdx, Routes, explore};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use case::{Case, cases};
use walker::{Ran, Walk, WalkBrief, World};

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap()
        .block_on(future)
}

/// Far beyond what chance takes to leave the cycles of a graph that can end.
const LIMIT: u64 = 20_000;

/// How many graphs are tried at most.
const CASES: u32 = 6_000;

/// Runs `check` on random graphs until enough of them were accepted by the builder.
fn on_accepted(
    enough: usize,
    check: impl Fn(&Case, &World, &Graph<Walk>) -> Result<(), TestCaseError>,
) {
    let accepted = Cell::new(0);
    let config = ProptestConfig {
        cases: CASES,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let outcome = TestRunner::new(config).run(&cases(), |case| {
        let world = case.world(0);
        if accepted.get() >= enough {
            return Ok(());
        }
        let Some(graph) = case.build(&world) else {
            return Ok(());
        };
        accepted.set(accepted.get() + 1);
        check(&case, &world, &graph)
    });
    outcome.unwrap_or_else(|failure| panic!("{failure}"));
    assert!(
        accepted.get() >= enough,
        "only {} of {CASES} random graphs were accepted",
        accepted.get()
    );
}

fn concurrent_pairs(ran: &[Ran]) -> BTreeSet<(u32, u32)> {
    let mut pairs = BTreeSet::new();
    for (number, a) in ran.iter().enumerate() {
        for b in ran[number + 1..]
            .iter()
            .filter(|b| b.superstep == a.superstep)
        {
            pairs.insert((a.place.min(b.place), a.place.max(b.place)));
        }
    }
    pairs
}

/// Reads of a key that nothing had written: at all, or, for the ephemeral one, in the superstep before.
fn unwritten_reads(ran: &[Ran]) -> Vec<(Ran, usize)> {
    let had = |reader: &Ran, key: usize| {
        ran.iter().any(|writer| {
            let in_time = if key == WalkBrief::INDEX {
                writer.superstep + 1 == reader.superstep
            } else {
                writer.superstep < reader.superstep
            };
            in_time && writer.wrote.contains(&key)
        })
    };
    ran.iter()
        .flat_map(|reader| {
            reader
                .reads
                .iter()
                .filter(|key| !had(reader, **key))
                .map(|key| (reader.clone(), *key))
        })
        .collect()
}

#[test]
fn an_accepted_graph_has_the_analyzed_properties() {
    on_accepted(300, |_, world, graph| {
        let model: Model = graph.launch().graph();
        let exploration = explore(&model, Routes::PerDelivery);
        let result = block_on(graph.launch().limit(LIMIT).run(()));
        let ran = world.ran.lock().unwrap().clone();
        let shown = || petalflow_graph::mermaid(&model);
        if let Err(error) = &result {
            prop_assert!(false, "{error}\n{}\n{:?}", shown(), error.kind());
        }
        for (a, b) in concurrent_pairs(&ran) {
            prop_assert!(
                exploration.pairs.contains(NodeIdx::new(a), NodeIdx::new(b)),
                "n{a} and n{b} ran together\n{}",
                shown()
            );
        }
        let unwritten = unwritten_reads(&ran);
        prop_assert!(unwritten.is_empty(), "{unwritten:?}\n{}", shown());
        Ok(())
    });
}

#[test]
fn the_result_does_not_depend_on_what_finishes_first() {
    on_accepted(150, |case, world, graph| {
        let first = block_on(graph.launch().limit(LIMIT).run(()));
        let mut tasks = world.ran.lock().unwrap().clone();
        tasks.sort();
        for delays in 1..4 {
            let world = case.world(delays);
            let graph = case.build(&world).expect("it was accepted before");
            let again = block_on(graph.launch().limit(LIMIT).run(()));
            prop_assert_eq!(again.as_ref().ok(), first.as_ref().ok());
            let mut ran = world.ran.lock().unwrap().clone();
            ran.sort();
            prop_assert_eq!(&ran, &tasks);
        }
        Ok(())
    });
}

#[test]
fn the_concurrency_limit_does_not_change_the_result() {
    on_accepted(100, |case, _, graph| {
        let first = block_on(graph.launch().limit(LIMIT).run(()));
        let graph = case.build(&case.world(5)).expect("it was accepted before");
        let capped = block_on(graph.launch().limit(LIMIT).max_concurrency(1).run(()));
        prop_assert_eq!(capped.ok(), first.ok());
        Ok(())
    });
}

#[test]
fn a_run_stopped_by_its_limit_names_the_next_nodes() {
    on_accepted(100, |_, world, graph| {
        let all = block_on(graph.launch().limit(LIMIT).run(()));
        let supersteps = world
            .ran
            .lock()
            .unwrap()
            .iter()
            .map(|ran| ran.superstep)
            .max()
            .unwrap_or(0);
        prop_assert!(all.is_ok());
        // N supersteps need a limit of N.
        prop_assert_eq!(
            block_on(graph.launch().limit(supersteps).run(())).ok(),
            all.ok()
        );
        let next: BTreeSet<String> = world
            .ran
            .lock()
            .unwrap()
            .iter()
            .filter(|ran| ran.superstep == supersteps)
            .map(|ran| format!("n{}", ran.place))
            .collect();
        let error = block_on(graph.launch().limit(supersteps - 1).run(()))
            .expect_err("one superstep too few");
        let RunErrorKind::Limit {
            next: next_in_error,
            ..
        } = error.kind()
        else {
            panic!("{error}")
        };
        prop_assert_eq!(next_in_error.iter().cloned().collect::<BTreeSet<_>>(), next);
        Ok(())
    });
}
