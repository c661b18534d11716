//! All ways in which writes fold, through crashes and long histories.

use std::collections::BTreeMap;

use petalflow::Overwrite;
use petalflow::prelude::*;
use petalflow::state::{Message, Remove};
use petalflow::thread::Durability;
use petalflow_testing::{FaultKind, crashes};
use serde::{Deserialize, Serialize};

use crate::support::expect_finished;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Line {
    id: Option<String>,
    text: String,
}

impl Message for Line {
    fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    fn set_id(&mut self, id: String) {
        self.id = Some(id);
    }

    fn removes(&self) -> Option<Remove<'_>> {
        match (&*self.text, &self.id) {
            ("remove", Some(id)) => Some(Remove::One(id)),
            ("remove", None) => Some(Remove::All),
            _ => None,
        }
    }
}

fn line(id: &str, text: &str) -> Line {
    Line {
        id: Some(id.into()),
        text: text.into(),
    }
}

fn longest(current: &mut String, new: String) {
    if new.len() >= current.len() {
        *current = new;
    }
}

#[state]
#[derive(Clone, Debug, PartialEq)]
struct All {
    #[key(input)]
    wanted: u64,
    #[key(default)]
    round: u64,
    #[key(append)]
    list: Vec<u64>,
    #[key(prepend)]
    back: Vec<u64>,
    #[key(merge)]
    map: BTreeMap<u64, String>,
    #[key(messages)]
    chat: Vec<Line>,
    #[key(sum)]
    sum: u64,
    #[key(min)]
    min: u64,
    #[key(max)]
    max: u64,
    #[key(first)]
    first: Option<u64>,
    #[key(reduce = longest)]
    longest: String,
    #[key(ephemeral, default)]
    brief: Option<u64>,
    #[key(ephemeral, append)]
    briefs: Vec<u64>,
    #[key(turn, append)]
    turn: Vec<u64>,
    #[key(untracked)]
    secret: u64,
    #[key(sum, skip_zero)]
    skipped: u64,
    #[key(append, id = "renamed")]
    named: Vec<u64>,
}

#[node(All)]
async fn lists(
    round: &u64,
    brief: &Option<u64>,
    briefs: &[u64],
) -> (AllList, AllBack, AllMap, AllChat, AllNamed, AllTurn) {
    let n = *round;
    let mut lines = vec![line(&format!("m{}", n % 7), &format!("round {n}"))];
    lines.push(Line {
        id: None,
        text: format!("without a name {n}"),
    });
    if n % 5 == 4 {
        // It was written in this round, so it is present.
        lines.push(line(&format!("m{}", n % 7), "remove"));
    }
    if n % 11 == 10 {
        lines.push(Line {
            id: None,
            text: "remove".into(),
        });
        lines.push(line("new", "start"));
    }
    (
        AllList(vec![n, brief.unwrap_or(99), briefs.len() as u64]),
        AllBack(vec![n, n + 100]),
        AllMap(BTreeMap::from([(n % 6, format!("v{n}"))])),
        AllChat(lines),
        AllNamed(vec![n]),
        AllTurn(vec![n]),
    )
}

#[node(All)]
async fn numbers(
    round: &u64,
) -> (
    AllSum,
    AllMin,
    AllMax,
    AllFirst,
    AllLongest,
    AllSecret,
    AllSkipped,
) {
    let n = *round;
    (
        AllSum(n),
        AllMin(50_u64.saturating_sub(n)),
        AllMax(n * 3 % 17),
        AllFirst(Some(n + 7)),
        AllLongest("x".repeat(usize::try_from(n * 5 % 13).unwrap())),
        AllSecret(n),
        AllSkipped(n % 2),
    )
}

#[node(All)]
async fn step(round: &u64) -> (AllRound, AllBrief, AllBriefs) {
    (
        AllRound(*round + 1),
        AllBrief(Some(*round)),
        AllBriefs(vec![*round; usize::try_from(*round % 3).unwrap()]),
    )
}

#[node(All)]
async fn replace(round: &u64, list: &[u64]) -> Overwrites {
    Overwrites {
        round: *round,
        list: list.to_vec(),
    }
}

/// Overwrites of some keys in some rounds.
struct Overwrites {
    round: u64,
    list: Vec<u64>,
}

impl node::Output<All> for Overwrites {
    const MAY_WRITE: state::KeySet =
        state::KeySet::of(AllList::INDEX).union(state::KeySet::of(AllSum::INDEX));
    const MUST_WRITE: state::KeySet = state::KeySet::NONE;
    type Routing = ();

    fn apply(self, effects: &mut node::Effects<All>) -> Result<(), petalflow::BoxError> {
        if self.round % 9 == 8 {
            let kept = self.list.iter().rev().take(2).copied().collect();
            Overwrite(AllList(kept)).apply(effects)?;
        }
        if self.round % 4 == 3 {
            Overwrite(AllSum(self.round)).apply(effects)?;
        }
        Ok(())
    }
}

#[node(All)]
async fn more(round: &u64, wanted: &u64) -> bool {
    round < wanted
}

flow!(Rounds(All) {
    START -> step;
    step -> lists & numbers & replace;
    lists & numbers & replace -> more;
    more -> match { true => step, false => END };
});

#[tokio::test]
async fn every_reducer() {
    crashes(Rounds::new, || 3_u64).turn(|| 5_u64).check().await;
}

#[tokio::test]
async fn a_long_history_with_snapshots_in_between() {
    for durability in [
        Durability::Sync,
        Durability::Async,
        Durability::Interval(7.try_into().unwrap()),
    ] {
        let launch = || Rounds::new().limit(10_000);
        let store = petalflow::checkpoint::InMemoryStore::new();
        let thread = launch().store(&store).durability(durability).thread("t");
        let all = expect_finished(thread.run(400_u64)).await;
        let unstored = launch().run(400_u64).await.unwrap();
        assert_eq!(all, unstored);
        let stored = thread.snapshot().await.unwrap().unwrap().state;
        assert_eq!(
            All {
                secret: all.secret,
                ..stored
            },
            all
        );
        // Each checkpoint can be read, and a run resumed from it has the same result.
        for info in thread
            .history(petalflow::thread::HistoryQuery::all())
            .await
            .unwrap()
            .iter()
            .step_by(37)
        {
            let at = thread.snapshot_at(info.checkpoint).await.unwrap();
            let again = thread
                .fork_to(info.checkpoint, format!("copy {}", info.checkpoint))
                .await
                .unwrap();
            assert_eq!(again.snapshot().await.unwrap().unwrap().state, at.state);
            let end = expect_finished(again.resume(())).await;
            assert_eq!(
                All {
                    secret: all.secret,
                    ..end
                },
                all,
                "from {}",
                info.checkpoint
            );
        }
    }
    crashes(|| Rounds::new().limit(10_000), || 60_u64)
        .kinds([FaultKind::KilledAfter])
        .durabilities([
            Durability::Sync,
            Durability::Interval(7.try_into().unwrap()),
        ])
        .check()
        .await;
}
