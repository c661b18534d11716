//! The ids of tasks are in stores, so they stay the same in each version.

use petalflow_store::ids::{TaskId, task_id};

#[test]
fn f44_the_ids_of_tasks_stay() {
    let first = task_id("ann", 0, "", 4, "write", None);
    assert_eq!(first.to_string(), "8977633767779f026bf10d1cf94d3fbc");
    let nested = task_id("ann", 3, "inner@1", 4, "write", Some(2));
    assert_eq!(nested.to_string(), "745cb91bdbbb4358ca686a80eb8b2738");
    // Parts that are the same text together differ.
    assert_ne!(TaskId::of(&[b"ab", b"c"]), TaskId::of(&[b"a", b"bc"]));
}
