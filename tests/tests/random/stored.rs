//! Random graphs that crash at random moments.

use std::cell::Cell;

use petalflow::thread::Durability;
use petalflow_testing::{Fault, FaultKind, crashes};
use proptest::prelude::*;

use super::walker::{Chance, Walk};
use super::{LIMIT, block_on, on_accepted};

/// A few things that go wrong, one after the other.
fn faults(chance: &mut Chance) -> Vec<Fault> {
    let count = 1 + chance.below(3);
    (0..count)
        .map(|_| {
            let window = chance.below(FaultKind::ALL.len() as u64);
            Fault {
                kind: FaultKind::ALL[usize::try_from(window).unwrap()],
                nth: 1 + chance.below(12),
            }
        })
        .collect()
}

#[test]
fn a_random_graph_has_the_same_result_after_any_crash() {
    let trials = Cell::new(0);
    on_accepted(120, |case, _, graph| {
        let launch = graph.launch().limit(LIMIT);
        let unbroken: Walk = block_on(launch.clone().run(())).expect("it runs");
        let mut chance = Chance::of(case.seed, 0, 0, None);
        let durability = [
            Durability::Sync,
            Durability::Async,
            Durability::Exit,
            Durability::Interval(3.try_into().unwrap()),
        ][usize::try_from(chance.below(4)).unwrap()];
        // As it is after a superstep: what is ephemeral is stored, too.
        let crashes = crashes(move || launch.clone(), || ())
            .durabilities([durability])
            .faults((0..4).map(|_| faults(&mut chance)))
            .after(move |walk, crashed| assert_eq!(*walk, unbroken, "{crashed}"));
        match block_on(crashes.try_check()) {
            Ok(crashed) => trials.set(trials.get() + crashed.trials),
            Err(problem) => prop_assert!(false, "{problem}"),
        }
        Ok(())
    });
    assert!(trials.get() > 50, "only {} crashes", trials.get());
}
