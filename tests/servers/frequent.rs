//! Conditions on threads of which there are so many that a store answers in another way than for few.

use std::collections::BTreeMap;

use petalflow::checkpoint::{
    Store, StoreChange, StoredCheckpoint, ThreadChange, ThreadCount, ThreadFilter, ThreadOrder,
    ThreadQuery, ThreadStatus,
};

const ORDERS: [ThreadOrder; 5] = [
    ThreadOrder::Id,
    ThreadOrder::CreatedNewest,
    ThreadOrder::CreatedOldest,
    ThreadOrder::UpdatedNewest,
    ThreadOrder::UpdatedOldest,
];

/// Compares what each order lists with a list of all threads, for conditions that many, few and no threads meet.
pub async fn conditions_list_and_count_the_same(store: &dyn Store) {
    use ThreadFilter::{All, Any, Flow, Label, Not, Prefix, Status};
    fill(store).await;
    let all = store.threads(ThreadQuery::default()).await;
    let all = all.expect("they are listed");
    assert_eq!(all.len(), 2_500);
    let of = |query: &ThreadQuery<'_>| {
        let covered = all.iter().filter(|it| query.covers(it));
        covered.cloned().collect::<Vec<_>>()
    };
    let waiting = Status(ThreadStatus::Waiting);
    let filters = [
        Flow("Talk"),
        Flow("Write"),
        Flow("None"),
        Flow(""),
        Not(&Flow("Talk")),
        waiting,
        Status(ThreadStatus::Running),
        Not(&Status(ThreadStatus::Running)),
        All(&[Flow("Write"), waiting]),
        All(&[Flow("Talk"), waiting]),
        Label("team", "day"),
        Label("kind", "rare"),
        All(&[Label("team", "night"), Label("kind", "rare")]),
        All(&[Label("team", "night"), Label("team", "day")]),
        All(&[Label("team", "day"), Flow("Talk"), Not(&Prefix("1-"))]),
        All(&[Label("team", "day"), Flow("None")]),
        Any(&[Label("kind", "rare"), waiting]),
        All(&[]),
    ];
    let queries = filters.iter().flat_map(|filter| {
        let query = ThreadQuery {
            filter: Some(*filter),
            ..ThreadQuery::default()
        };
        [
            query,
            ThreadQuery {
                prefix: "1-0",
                ..query
            },
            ThreadQuery {
                prefix: "2",
                created_from_ms: Some(1_500),
                ..query
            },
            ThreadQuery {
                updated_before_ms: Some(6_100),
                created_before_ms: Some(2_100),
                ..query
            },
            ThreadQuery {
                due_by_ms: Some(5),
                ..query
            },
            ThreadQuery {
                after: Some("1-2"),
                after_ms: 2_000,
                ..query
            },
        ]
    });
    for query in queries {
        for order in ORDERS {
            for limit in [None, Some(30)] {
                let query = ThreadQuery {
                    order,
                    limit,
                    ..query
                };
                let expected = query.page(of(&query));
                if limit.is_none() && expected.len() > 100 {
                    continue;
                }
                let found = store.threads(query).await.expect("they are listed");
                assert_eq!(found, expected, "{query:?}");
            }
        }
        let counted_too = ThreadQuery {
            after: None,
            ..query
        };
        let counted = store.thread_counts(query).await.expect("they are counted");
        assert_eq!(counted, ThreadCount::of(&of(&counted_too)), "{query:?}");
    }
}

/// 2,500 threads: more than a store reads one by one for each page.
async fn fill(store: &dyn Store) {
    for number in 0..2_500_u64 {
        let (flow, status) = match number {
            // The oldest.
            0..20 => ("Write", ThreadStatus::Waiting),
            20..25 => ("", ThreadStatus::Finished),
            _ if number % 5 == 0 => ("Write", ThreadStatus::Finished),
            _ if number % 5 == 1 => ("Talk", ThreadStatus::Running),
            _ if number % 5 == 2 => ("Talk", ThreadStatus::Failed),
            _ => ("Talk", ThreadStatus::Finished),
        };
        let id = format!("{}-{:04}", number % 3, number * 7 % 2_500);
        let append = |seq: u64, created_ms| StoreChange::Append {
            namespace: String::new(),
            checkpoint: StoredCheckpoint {
                seq,
                base: seq,
                created_ms,
                bytes: vec![7; 20],
            },
            after: Some(seq - 1).filter(|after| *after > 0),
            settled: 0..0,
        };
        let mut changes = vec![
            append(1, 1_000 + number / 2),
            append(2, 9_000 - number * 11 % 4_000),
        ];
        if status != ThreadStatus::Running {
            changes.push(StoreChange::Status {
                flow: flow.into(),
                status,
                due_ms: (number < 10).then_some(number),
            });
        }
        let applied = store.apply(&id, &changes, None).await;
        applied.expect("it is stored");
        let team = if number % 2 == 0 { "day" } else { "night" };
        let mut labels = BTreeMap::from([("team".into(), team.into())]);
        if number % 500 == 0 {
            labels.insert("kind".into(), "rare".into());
        }
        let labels = ThreadChange::Labels(&labels);
        let described = store.describe(&id, labels, None).await;
        described.expect("it is stored");
    }
}
