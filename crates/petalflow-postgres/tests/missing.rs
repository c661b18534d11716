//! Rows that were deleted while a thread waits.

use std::sync::Arc;

use petalflow::checkpoint::{Store, ThreadQuery};
use petalflow_test_servers::fresh_name;
use petalflow_test_servers::missing::{Seen, Waiting};

use crate::{open, shared_server, sql};

/// The rows that belong to the thread, or to none: the table, which rows, and how many there are.
const ROWS: [(&str, &str, u32); 5] = [
    (
        "known_lines",
        "thread = 'essay' AND namespace NOT LIKE '/%'",
        2,
    ),
    ("lines", "thread = 'essay' AND namespace NOT LIKE '/%'", 2),
    (
        "checkpoints",
        "line IN (SELECT id FROM lines WHERE thread = 'essay' AND namespace NOT LIKE '/%')
            AND seq = (SELECT newest FROM lines WHERE id = line)",
        2,
    ),
    (
        "task_writes",
        "line IN (SELECT id FROM lines WHERE thread = 'essay')",
        3,
    ),
    ("threads", "thread IN ('essay', '')", 2),
];

#[tokio::test]
async fn f42_each_row_that_is_deleted_is_noticed() {
    let Some(server) = shared_server() else {
        return;
    };
    for (table, which, count) in ROWS {
        for row in 0..count {
            let schema = fresh_name("missing");
            let store: Arc<dyn Store> = Arc::new(open(&server.url, &schema).await.unwrap());
            let id = format!("essay {schema}");
            let waiting = Waiting::begin(&store, &id).await;
            assert_eq!(store.verify().await.unwrap(), [""; 0]);
            let which = which.replace("'essay'", &format!("'{id}'"));
            let delete = format!(
                "SET search_path = {schema};
                DELETE FROM {table} WHERE ctid = (SELECT ctid FROM {table} WHERE {which} ORDER BY ctid LIMIT 1 OFFSET {row});
                DO $$ BEGIN
                    IF (SELECT n_tup_del FROM pg_stat_xact_user_tables WHERE schemaname = '{schema}' AND relname = '{table}') = 0 THEN
                        RAISE 'nothing is deleted';
                    END IF;
                END $$"
            );
            sql(&server.url, &delete).await;
            let what = format!("row {row} of {table} where {which}");
            let damaged = store.verify().await.unwrap();
            let is_counted = table == "threads" && row == 1;
            assert!(!damaged.is_empty() || is_counted, "{what}");
            let seen = waiting.answer(&store, &what).await;
            assert!(matches!(seen, Seen::Noticed(_)), "{what}: {seen:?}");
        }
    }
}

#[tokio::test]
async fn f42_a_thread_without_its_rows_does_not_vanish_from_a_list() {
    let Some(server) = shared_server() else {
        return;
    };
    for damage in [
        "DELETE FROM lines WHERE thread = 'lost'",
        "DELETE FROM checkpoints
        USING lines WHERE line = lines.id AND thread = 'lost'",
    ] {
        let schema = fresh_name("vanished");
        let store: Arc<dyn Store> = Arc::new(open(&server.url, &schema).await.unwrap());
        Waiting::begin(&store, "lost").await;
        sql(
            &server.url,
            &format!("SET search_path = {schema}; {damage}"),
        )
        .await;
        for limit in [1, 2, 100] {
            let (mut found, mut after) = (Vec::new(), None::<String>);
            loop {
                let page = ThreadQuery {
                    after: after.as_deref(),
                    limit: Some(limit),
                    ..ThreadQuery::default()
                };
                let page = store.threads(page).await.unwrap();
                let Some(last) = page.last() else { break };
                after = Some(last.id.clone());
                found.extend(
                    page.into_iter()
                        .map(|info| (info.id, info.damage.is_some())),
                );
            }
            let expected = [("lost".to_owned(), true), ("lost-other".to_owned(), false)];
            assert_eq!(found, expected, "{damage}, {limit} at once");
        }
    }
}
