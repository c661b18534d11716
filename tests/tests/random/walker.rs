//! Nodes that act at random and record what they did.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, Mutex};

use petalflow::node::{Effects, ItemCodec, Node, Output, Scope};
use petalflow::prelude::*;
use petalflow::state::KeySet;
use petalflow::{BoxError, NodeError};

/// What random nodes read and write. None of the first three has a value before a node has written it.
#[state]
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Walk {
    #[key(min)]
    pub(super) x: u32,
    #[key(min, ephemeral)]
    pub(super) brief: u32,
    pub(super) z: u32,
    #[key(append)]
    pub(super) log: Vec<String>,
}

pub(super) const X: KeySet = KeySet::of(WalkX::INDEX);
pub(super) const BRIEF: KeySet = KeySet::of(WalkBrief::INDEX);
pub(super) const Z: KeySet = KeySet::of(WalkZ::INDEX);

/// What a node of each variety reads and writes.
pub(super) const VARIETIES: [(KeySet, KeySet); 8] = [
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
pub(super) struct Ran {
    pub(super) superstep: u64,
    pub(super) place: u32,
    pub(super) index: Option<usize>,
    pub(super) reads: Vec<usize>,
    pub(super) wrote: Vec<usize>,
}

/// What all nodes of a run share.
#[derive(Clone)]
pub(super) struct World {
    pub(super) choices: u64,
    pub(super) delays: u64,
    pub(super) ran: Arc<Mutex<Vec<Ran>>>,
}

/// Chance that is the same whenever the same task asks: whatever finishes first, the run is the same.
pub(super) struct Chance(pub(super) DefaultHasher);

impl Chance {
    pub(super) fn of(seed: u64, superstep: u64, place: u32, index: Option<usize>) -> Self {
        let mut hasher = DefaultHasher::new();
        (seed, superstep, place, index).hash(&mut hasher);
        Chance(hasher)
    }

    pub(super) fn below(&mut self, limit: u64) -> u64 {
        self.0.write_u8(1);
        self.0.clone().finish() % limit
    }
}

/// Where a node of this kind goes.
pub(super) trait Pick: Output<Walk> + Send {
    fn pick(chance: &mut Chance, superstep: u64) -> Self;
}

impl Pick for () {
    fn pick(_: &mut Chance, _: u64) {}
}

/// Two items at most, and none after a while, or their number could grow without bounds.
pub(super) fn random_items(chance: &mut Chance, superstep: u64) -> Vec<u32> {
    let count = if superstep < 12 { chance.below(3) } else { 0 };
    (0..count).map(|_| 7).collect()
}

impl Pick for Each<u32> {
    fn pick(chance: &mut Chance, superstep: u64) -> Self {
        Each(random_items(chance, superstep))
    }
}

#[derive(Route)]
pub(super) enum Two {
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
pub(super) enum Lists {
    P(Vec<u32>),
    Q(Vec<u32>),
}

impl Pick for Lists {
    fn pick(chance: &mut Chance, superstep: u64) -> Self {
        let items = random_items(chance, superstep);
        if chance.below(2) == 0 {
            Lists::P(items)
        } else {
            Lists::Q(items)
        }
    }
}

#[derive(Route)]
pub(super) enum Sends {
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
pub(super) struct Wrote<const VARIETY: usize, T> {
    pub(super) value: u32,
    pub(super) line: String,
    pub(super) then: T,
}

impl<const VARIETY: usize, T: Output<Walk>> Output<Walk> for Wrote<VARIETY, T> {
    const MAY_WRITE: KeySet = VARIETIES[VARIETY].1.union(KeySet::of(WalkLog::INDEX));
    const MUST_WRITE: KeySet = Self::MAY_WRITE;
    type Routing = T::Routing;

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

/// A node that acts at random. `ITEM` is what it takes: nothing, an item, a failure.
pub(super) struct Walker<const VARIETY: usize, const ITEM: u8, T> {
    pub(super) place: u32,
    pub(super) may_fail: bool,
    pub(super) world: World,
    pub(super) then: std::marker::PhantomData<fn() -> T>,
}

impl<const VARIETY: usize, const ITEM: u8, T: Pick + 'static> Walker<VARIETY, ITEM, T> {
    pub(super) async fn walk(
        &self,
        state: &Walk,
        cx: Context,
    ) -> Result<Wrote<VARIETY, T>, BoxError> {
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
            const TAKES_ITEM: bool = $takes;
            const ITEM_CODEC: Option<ItemCodec> = Some(ItemCodec::of::<$ty>());

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
