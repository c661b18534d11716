//! Random graphs on the real engine: what the analyses promise of an accepted graph is what happens.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, Mutex};

use petalflow::graph::GraphBuilder;
use petalflow::prelude::*;
use petalflow::{BoxError, Effects, KeySet, Node, NodeError, Output, RunErrorKind, Scope};
use petalflow_graph::{Graph as Model, Routes, explore};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

/// What random nodes read and write. None of the first three has a value before a node has written it.
#[state]
#[derive(Clone, Debug, PartialEq)]
struct Walk {
    #[key(min)]
    x: u32,
    #[key(min, ephemeral)]
    brief: u32,
    z: u32,
    #[key(append)]
    log: Vec<String>,
}

const X: KeySet = KeySet::of(WalkX::INDEX);
const BRIEF: KeySet = KeySet::of(WalkBrief::INDEX);
const Z: KeySet = KeySet::of(WalkZ::INDEX);

/// What a node of each variety reads and writes.
const VARIETIES: [(KeySet, KeySet); 8] = [
    (KeySet::NONE, KeySet::NONE),
    (KeySet::NONE, X),
    (X, KeySet::NONE),
    (KeySet::NONE, BRIEF),
    (BRIEF, KeySet::NONE),
    (KeySet::NONE, Z),
    (Z, X),
    (X, Z),
];

/// One run of a node.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Ran {
    superstep: u64,
    place: u32,
    index: Option<usize>,
    reads: Vec<usize>,
    wrote: Vec<usize>,
}

/// What all nodes of a run share.
#[derive(Clone)]
struct World {
    choices: u64,
    delays: u64,
    ran: Arc<Mutex<Vec<Ran>>>,
}

/// Chance that is the same whenever the same task asks: whatever finishes first, the run is the same.
struct Chance(DefaultHasher);

impl Chance {
    fn of(seed: u64, superstep: u64, place: u32, index: Option<usize>) -> Self {
        let mut hasher = DefaultHasher::new();
        (seed, superstep, place, index).hash(&mut hasher);
        Chance(hasher)
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.0.write_u8(1);
        self.0.clone().finish() % limit
    }
}

/// Where a node of this kind goes.
trait Pick: Output<Walk> + Send {
    fn pick(chance: &mut Chance, superstep: u64) -> Self;
}

impl Pick for () {
    fn pick(_: &mut Chance, _: u64) {}
}

/// Two items at most, and none after a while, or their number could grow without bounds.
fn some(chance: &mut Chance, superstep: u64) -> Vec<u32> {
    let count = if superstep < 12 { chance.below(3) } else { 0 };
    (0..count).map(|_| 7).collect()
}

impl Pick for Each<u32> {
    fn pick(chance: &mut Chance, superstep: u64) -> Self {
        Each(some(chance, superstep))
    }
}

#[derive(Route)]
enum Two {
    P,
    Q,
}

impl Pick for Two {
    fn pick(chance: &mut Chance, _: u64) -> Self {
        if chance.below(2) == 0 { Two::P } else { Two::Q }
    }
}

impl Pick for Vec<Two> {
    fn pick(chance: &mut Chance, _: u64) -> Self {
        [Two::P, Two::Q]
            .into_iter()
            .filter(|_| chance.below(3) > 0)
            .collect()
    }
}

#[derive(Route)]
enum Lists {
    P(Vec<u32>),
    Q(Vec<u32>),
}

impl Pick for Lists {
    fn pick(chance: &mut Chance, superstep: u64) -> Self {
        let items = some(chance, superstep);
        if chance.below(2) == 0 {
            Lists::P(items)
        } else {
            Lists::Q(items)
        }
    }
}

#[derive(Route)]
enum Sends {
    P(u32),
    Q(u32),
}

impl Pick for Sends {
    fn pick(chance: &mut Chance, _: u64) -> Self {
        if chance.below(2) == 0 {
            Sends::P(7)
        } else {
            Sends::Q(7)
        }
    }
}

/// The writes of a variety, and where to go.
struct Wrote<const VARIETY: usize, T> {
    value: u32,
    line: String,
    then: T,
}

impl<const VARIETY: usize, T: Output<Walk>> Output<Walk> for Wrote<VARIETY, T> {
    const MAY: KeySet = VARIETIES[VARIETY].1.union(KeySet::of(WalkLog::INDEX));
    const MUST: KeySet = Self::MAY;
    type Then = T::Then;

    fn apply(self, effects: &mut Effects<Walk>) -> Result<(), BoxError> {
        let writes = VARIETIES[VARIETY].1;
        WalkLog(vec![self.line]).apply(effects)?;
        if writes == X {
            WalkX(self.value).apply(effects)?;
        } else if writes == BRIEF {
            WalkBrief(self.value).apply(effects)?;
        } else if writes == Z {
            WalkZ(self.value).apply(effects)?;
        }
        self.then.apply(effects)
    }
}

/// A node that does as chance says. `ITEM` is what it takes: nothing, an item, a failure.
struct Walker<const VARIETY: usize, const ITEM: u8, T> {
    place: u32,
    may_fail: bool,
    world: World,
    then: std::marker::PhantomData<fn() -> T>,
}

impl<const VARIETY: usize, const ITEM: u8, T: Pick + 'static> Walker<VARIETY, ITEM, T> {
    async fn walk(&self, state: &Walk, cx: Context) -> Result<Wrote<VARIETY, T>, BoxError> {
        let (superstep, place, index) = (cx.superstep(), self.place, cx.index());
        for _ in 0..Chance::of(self.world.delays, superstep, place, index).below(4) {
            tokio::task::yield_now().await;
        }
        // After a while the choices stay the same for some time: chance rarely leads all nodes out of a cycle at once, but a
        // graph that can end does so if each of its nodes keeps to the right way.
        let when = if superstep < 64 {
            superstep
        } else {
            64 + superstep / 16
        };
        let mut chance = Chance::of(self.world.choices, when, place, index);
        let failed = self.may_fail && chance.below(3) == 0;
        let (reads, writes) = VARIETIES[VARIETY];
        let wrote = if failed {
            Vec::new()
        } else {
            writes.iter().collect()
        };
        self.world.ran.lock().unwrap().push(Ran {
            superstep,
            place,
            index,
            reads: reads.iter().collect(),
            wrote,
        });
        if failed {
            return Err("chance".into());
        }
        let seen = u32::try_from(state.log.len()).unwrap();
        let line = format!(
            "{superstep} {} {index:?} saw {seen} {} {}",
            cx.node(),
            state.x,
            state.z
        );
        Ok(Wrote {
            value: seen + place + 1,
            line,
            then: T::pick(&mut chance, superstep),
        })
    }
}

macro_rules! walker {
    ($($item:literal $ty:ty, $takes:literal;)*) => {$(
        impl<const VARIETY: usize, T: Pick + 'static> Node<Walk> for Walker<VARIETY, $item, T> {
            type Output = Result<Wrote<VARIETY, T>, BoxError>;
            type Item = $ty;
            const NAME: &'static str = "walker";
            const READS: KeySet = VARIETIES[VARIETY].0;
            const TAKES: bool = $takes;

            async fn run(&self, state: &Walk, scope: &Scope) -> Self::Output {
                if $takes {
                    scope.item::<$ty>()?;
                }
                self.walk(state, scope.context()).await
            }
        }
    )*};
}

walker!(0 (), false; 1 u32, true; 2 NodeError, true;);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Plain,
    Each,
    Two,
    Many,
    Lists,
    Sends,
}

#[derive(Clone, Debug)]
struct Spec {
    kind: Kind,
    item: u8,
    variety: usize,
    deferred: bool,
    catch: Option<u32>,
    /// The targets by route; for a node that does not choose the plain ones, then those of `each`.
    to: [Vec<u32>; 2],
    leads_to_end: bool,
}

/// A graph to be built.
#[derive(Clone, Debug)]
struct Case {
    nodes: Vec<Spec>,
    starts: Vec<u32>,
    joins: Vec<(Vec<u32>, Option<u32>)>,
    seed: u64,
}

/// Choices read from a tape, so that a failing case shrinks.
struct Tape<'a>(std::slice::Iter<'a, u8>);

impl Tape<'_> {
    fn below(&mut self, limit: usize) -> usize {
        usize::from(*self.0.next().unwrap_or(&0)) % limit
    }

    fn one_in(&mut self, odds: usize) -> bool {
        self.below(odds) == odds - 1
    }

    fn of(&mut self, from: &[u32]) -> Option<u32> {
        if from.is_empty() {
            None
        } else {
            Some(from[self.below(from.len())])
        }
    }
}

fn place(number: usize) -> u32 {
    u32::try_from(number).unwrap()
}

#[allow(clippy::too_many_lines)]
fn case(tape: &mut Tape<'_>, seed: u64) -> Case {
    let count = 2 + tape.below(5);
    let mut nodes: Vec<Spec> = (0..count)
        .map(|number| Spec {
            kind: [
                Kind::Plain,
                Kind::Plain,
                Kind::Plain,
                Kind::Each,
                Kind::Two,
                Kind::Two,
                Kind::Many,
                Kind::Lists,
                Kind::Sends,
                Kind::Sends,
            ][tape.below(10)],
            item: u8::from(number > 0 && tape.one_in(3)),
            variety: if tape.one_in(2) {
                tape.below(VARIETIES.len())
            } else {
                0
            },
            deferred: tape.one_in(10),
            catch: None,
            to: [Vec::new(), Vec::new()],
            leads_to_end: false,
        })
        .collect();
    let plain: Vec<u32> = (0..count)
        .filter(|&number| nodes[number].item == 0)
        .map(place)
        .collect();
    let takes: Vec<u32> = (0..count)
        .filter(|&number| nodes[number].item == 1)
        .map(place)
        .collect();
    for (number, spec) in nodes.iter_mut().enumerate() {
        let own = place(number);
        // Mostly onward; only a node that chooses may lead back.
        let ahead = |of: &[u32]| {
            of.iter()
                .copied()
                .filter(|&to| to > own)
                .collect::<Vec<u32>>()
        };
        let (plain_ahead, takes_ahead) = (ahead(&plain), ahead(&takes));
        match spec.kind {
            Kind::Plain | Kind::Each => {
                for _ in 0..tape.below(3) {
                    let to = tape.of(&plain_ahead);
                    spec.to[0].extend(to);
                    spec.leads_to_end |= to.is_none();
                }
                if spec.kind == Kind::Each {
                    spec.to[1].extend(tape.of(&takes_ahead));
                }
            }
            Kind::Two | Kind::Many => {
                for route in 0..2 {
                    for _ in 0..tape.below(3) {
                        let from = if tape.one_in(3) { &plain } else { &plain_ahead };
                        spec.to[route].extend(tape.of(from));
                    }
                }
            }
            Kind::Lists | Kind::Sends => {
                (0..2).for_each(|route| spec.to[route].extend(tape.of(&takes_ahead)));
            }
        }
        spec.to.iter_mut().for_each(|to| {
            to.sort_unstable();
            to.dedup();
        });
    }
    for number in 0..count {
        if tape.one_in(5) {
            nodes[number].catch = Some(place(nodes.len()));
            let ahead: Vec<u32> = plain
                .iter()
                .copied()
                .filter(|&to| to > place(number))
                .collect();
            let to = [tape.of(&ahead).into_iter().collect(), Vec::new()];
            nodes.push(Spec {
                kind: Kind::Plain,
                item: 2,
                variety: 0,
                deferred: false,
                catch: None,
                to,
                leads_to_end: false,
            });
        }
    }
    let mut starts = vec![0];
    for &number in &plain {
        if number > 0
            && (tape.one_in(4)
                || !nodes
                    .iter()
                    .any(|node| node.to.iter().flatten().any(|to| *to == number)))
        {
            starts.push(number);
        }
    }
    let sides: Vec<u32> = (0..count)
        .filter(|&number| matches!(nodes[number].kind, Kind::Plain | Kind::Each))
        .map(place)
        .collect();
    let joins = (0..tape.below(3)).filter_map(|_| {
        let (a, b) = (tape.of(&sides)?, tape.of(&sides)?);
        let ahead: Vec<u32> = plain.iter().copied().filter(|&to| to > a.max(b)).collect();
        (a != b).then(|| (vec![a.min(b), a.max(b)], tape.of(&ahead)))
    });
    let joins = joins.collect();
    Case {
        nodes,
        starts,
        joins,
        seed,
    }
}

impl Case {
    fn world(&self, delays: u64) -> World {
        World {
            choices: self.seed,
            delays,
            ran: Arc::default(),
        }
    }

    fn build(&self, world: &World) -> Option<Graph<Walk>> {
        let name = |number: u32| format!("n{number}");
        let mut builder = Graph::builder("random");
        for (number, spec) in self.nodes.iter().enumerate() {
            builder = add(builder, place(number), spec, world);
        }
        for &start in &self.starts {
            builder = builder.edge(START, name(start));
        }
        for (number, spec) in self.nodes.iter().enumerate() {
            let from = name(place(number));
            for (way, targets) in spec.to.iter().enumerate() {
                let route = ["P", "Q"][way];
                if targets.is_empty() {
                    builder = match spec.kind {
                        Kind::Two | Kind::Many | Kind::Lists | Kind::Sends => {
                            builder.route(&from, route, END)
                        }
                        Kind::Plain | Kind::Each => builder,
                    };
                }
                for &to in targets {
                    builder = match (spec.kind, way) {
                        (Kind::Plain, _) | (Kind::Each, 0) => builder.edge(&from, name(to)),
                        (Kind::Each, _) => builder.each(&from, name(to)),
                        (Kind::Two | Kind::Many | Kind::Sends, _) => {
                            builder.route(&from, route, name(to))
                        }
                        (Kind::Lists, _) => builder.route_each(&from, route, name(to)),
                    };
                }
            }
            if spec.leads_to_end {
                builder = builder.edge(&from, END);
            }
            if let Some(to) = spec.catch {
                builder = builder.catch(&from, name(to));
            }
            if spec.deferred {
                builder = builder.defer(&from);
            }
        }
        for (sides, to) in &self.joins {
            builder = builder.join(
                sides.iter().map(|side| name(*side)),
                to.map_or_else(|| END.to_string(), name),
            );
        }
        builder.build().ok()
    }
}

fn add(builder: GraphBuilder<Walk>, place: u32, spec: &Spec, world: &World) -> GraphBuilder<Walk> {
    match spec.variety {
        0 => add_variety::<0>(builder, place, spec, world),
        1 => add_variety::<1>(builder, place, spec, world),
        2 => add_variety::<2>(builder, place, spec, world),
        3 => add_variety::<3>(builder, place, spec, world),
        4 => add_variety::<4>(builder, place, spec, world),
        5 => add_variety::<5>(builder, place, spec, world),
        6 => add_variety::<6>(builder, place, spec, world),
        _ => add_variety::<7>(builder, place, spec, world),
    }
}

fn add_variety<const VARIETY: usize>(
    builder: GraphBuilder<Walk>,
    place: u32,
    spec: &Spec,
    world: &World,
) -> GraphBuilder<Walk> {
    match spec.kind {
        Kind::Plain => add_kind::<VARIETY, ()>(builder, place, spec, world),
        Kind::Each => add_kind::<VARIETY, Each<u32>>(builder, place, spec, world),
        Kind::Two => add_kind::<VARIETY, Two>(builder, place, spec, world),
        Kind::Many => add_kind::<VARIETY, Vec<Two>>(builder, place, spec, world),
        Kind::Lists => add_kind::<VARIETY, Lists>(builder, place, spec, world),
        Kind::Sends => add_kind::<VARIETY, Sends>(builder, place, spec, world),
    }
}

fn add_kind<const VARIETY: usize, T: Pick + 'static>(
    builder: GraphBuilder<Walk>,
    place: u32,
    spec: &Spec,
    world: &World,
) -> GraphBuilder<Walk> {
    fn walker<const VARIETY: usize, const ITEM: u8, T>(
        place: u32,
        spec: &Spec,
        world: &World,
    ) -> Walker<VARIETY, ITEM, T> {
        Walker {
            place,
            may_fail: spec.catch.is_some(),
            world: world.clone(),
            then: std::marker::PhantomData,
        }
    }
    let name = format!("n{place}");
    match spec.item {
        0 => builder.node_as(name, walker::<VARIETY, 0, T>(place, spec, world)),
        1 => builder.node_as(name, walker::<VARIETY, 1, T>(place, spec, world)),
        _ => builder.node_as(name, walker::<VARIETY, 2, T>(place, spec, world)),
    }
}

fn cases() -> impl Strategy<Value = Case> {
    (proptest::collection::vec(any::<u8>(), 120), any::<u64>())
        .prop_map(|(tape, seed)| case(&mut Tape(tape.iter()), seed))
}

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

fn together(ran: &[Ran]) -> BTreeSet<(u32, u32)> {
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
fn unwritten(ran: &[Ran]) -> Vec<(Ran, usize)> {
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
fn an_accepted_graph_keeps_what_the_analyses_promise() {
    on_accepted(300, |_, world, graph| {
        let model: Model = graph.launch().graph();
        let exploration = explore(&model, Routes::PerDelivery);
        let result = block_on(graph.launch().limit(LIMIT).run(()));
        let ran = world.ran.lock().unwrap().clone();
        let shown = || petalflow_graph::mermaid(&model);
        if let Err(error) = &result {
            prop_assert!(false, "{error}\n{}\n{:?}", shown(), error.kind());
        }
        for (a, b) in together(&ran) {
            prop_assert!(
                exploration.pairs.contains(a, b),
                "n{a} and n{b} ran together\n{}",
                shown()
            );
        }
        let unwritten = unwritten(&ran);
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
fn the_cap_on_concurrency_changes_nothing_but_the_pace() {
    on_accepted(100, |case, _, graph| {
        let first = block_on(graph.launch().limit(LIMIT).run(()));
        let graph = case.build(&case.world(5)).expect("it was accepted before");
        let capped = block_on(graph.launch().limit(LIMIT).max_concurrency(1).run(()));
        prop_assert_eq!(capped.ok(), first.ok());
        Ok(())
    });
}

#[test]
fn a_run_that_is_refused_by_its_limit_says_what_would_come_next() {
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
        let RunErrorKind::Limit { next: said, .. } = error.kind() else {
            panic!("{error}")
        };
        prop_assert_eq!(said.iter().cloned().collect::<BTreeSet<_>>(), next);
        Ok(())
    });
}
