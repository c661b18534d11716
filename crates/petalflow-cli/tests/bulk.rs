//! Commands for one thread or for many: cancel, hold, drain, label, delete, prune, copy.

use crate::program::{Ran, document, file, folder, path, petalflow};
use serde_json::Value;
use tempfile::TempDir;

/// A store with threads that have finished, and with one that waits.
fn store(folder: &TempDir) -> String {
    let store = path(folder, "runs.db");
    let greeting = document("greeting.graph.json");
    for thread in ["a", "b", "c"] {
        petalflow!("run {greeting} -i name=Ann --store {store} --thread {thread}").code(0);
    }
    let review = document("review.graph.yaml");
    petalflow!("run {review} -i name=Ann --store {store} --thread w").code(7);
    store
}

fn ids(ran: &Ran) -> Vec<String> {
    let lines = ran.lines();
    let id = |line: &Value| {
        line["id"]
            .as_str()
            .or(line["thread"].as_str())
            .map(str::to_owned)
    };
    lines.iter().filter_map(id).collect()
}

#[test]
fn f45_threads_are_deleted_by_name_or_by_conditions() {
    let folder = folder();
    let store = store(&folder);
    petalflow!("threads delete a --store {store}").code(0);
    let ran = petalflow!("threads delete a --store {store}").code(8);
    assert!(ran.err.contains("there is no thread `a`"), "{}", ran.err);

    // Nothing happens without a confirmation, and a dry run lists what the command is for.
    let ran = petalflow!("threads delete --status finished --store {store}").code(64);
    assert!(
        ran.err.contains("2 threads") && ran.err.contains("--yes"),
        "{}",
        ran.err
    );
    let ran =
        petalflow!("threads delete --status finished --store {store} --dry-run --json").code(0);
    assert_eq!(ids(&ran), ["b", "c"]);
    assert!(
        ran.err.contains("2 threads would be deleted"),
        "{}",
        ran.err
    );
    let ran = petalflow!("threads list --store {store} --json").code(0);
    assert_eq!(ids(&ran), ["b", "c", "w"]);

    let ran = petalflow!("threads delete --status finished --store {store} --yes --json").code(0);
    assert_eq!(ids(&ran), ["b", "c"]);
    let ran = petalflow!("threads list --store {store} --json").code(0);
    assert_eq!(ids(&ran), ["w"]);
}

#[test]
fn f45_a_command_for_many_says_for_which() {
    let folder = folder();
    let store = store(&folder);
    let ran = petalflow!("threads delete --store {store} --yes").code(64);
    assert!(
        ran.err.contains("no thread and has no condition"),
        "{}",
        ran.err
    );
    let ran = petalflow!("threads delete a --status finished --store {store}").code(64);
    assert!(ran.err.contains("leave one of them out"), "{}", ran.err);
    let ran = petalflow!("threads delete --all --status finished --store {store} --yes").code(64);
    assert!(ran.err.contains("leave `--all` out"), "{}", ran.err);
    let ran = petalflow!("threads delete --status failed --store {store} --yes").code(0);
    assert!(ran.err.contains("there are no such threads"), "{}", ran.err);
    assert_eq!(
        ids(&petalflow!("threads list --store {store} --json").code(0)).len(),
        4
    );
}

#[test]
fn f45_labels_are_set_and_removed_and_the_others_stay() {
    let folder = folder();
    let store = store(&folder);
    petalflow!("threads label a --set team:night --set old:yes --store {store}").code(0);
    let ran =
        petalflow!("threads label a --set team:day --remove old --store {store} --json").code(0);
    let labels = &ran.lines()[0]["labels"];
    assert_eq!(labels["team"], "day");
    assert!(labels["old"].is_null());
    assert!(labels["petalflow.document"].is_string(), "{labels}");
    let ran = petalflow!("threads list --label team:day --store {store} --json").code(0);
    assert_eq!(ids(&ran), ["a"]);
    let ran = petalflow!("threads label a --set petalflow.x:y --store {store}").code(64);
    assert!(ran.err.contains("belong to petalflow"), "{}", ran.err);
    let ran = petalflow!("threads label a --store {store}").code(64);
    assert!(ran.err.contains("--set NAME:VALUE"), "{}", ran.err);
    let ran = petalflow!("threads label --all --set seen:no --yes --store {store} --json").code(0);
    assert_eq!(ids(&ran), ["a", "b", "c", "w"]);
}

#[test]
fn f45_threads_that_wait_are_held_together_and_continue() {
    let folder = folder();
    let store = store(&folder);
    let ran = petalflow!("threads hold --status waiting --yes --store {store} --json").code(0);
    assert_eq!(ids(&ran), ["w"]);
    assert_eq!(ran.lines()[0]["status"], "held");
    petalflow!("threads resume w --answer approve --store {store}").code(0);
}

#[test]
fn f45_old_checkpoints_are_removed_and_the_result_stays() {
    let folder = folder();
    let store = store(&folder);
    let ran = petalflow!("threads prune a --store {store}").code(64);
    assert!(ran.err.contains("--keep CHECKPOINTS"), "{}", ran.err);
    let before = petalflow!("threads show w --store {store} --json")
        .code(0)
        .json();
    petalflow!("threads prune --all --keep 1 --yes --store {store}").code(0);
    let after = petalflow!("threads show w --store {store} --json")
        .code(0)
        .json();
    assert_eq!(before["envelope"], after["envelope"]);
    assert_eq!(before["questions"], after["questions"]);
    petalflow!("threads verify --store {store}").code(0);
    petalflow!("threads resume w --answer approve --store {store}").code(0);
}

#[test]
fn f45_a_copy_in_another_store_has_everything_and_repeats_no_effect() {
    let folder = folder();
    let (store, other) = (path(&folder, "runs.db"), path(&folder, "other.db"));
    let calls = path(&folder, "calls");
    let find = file(&folder, "find.sh", "echo x >> \"$1\"; echo 5");
    let lookup = document("lookup.graph.yaml");
    // The second tool fails, so the first one has finished.
    petalflow!(
        "run {lookup} -i city=Rome --store {store} --thread l --tool \"find=sh '{find}' '{calls}'\" --tool count=false"
    )
    .code(2);
    petalflow!("threads copy l --store {store} --to {other}").code(0);
    let ran = petalflow!("threads copy l --store {store} --to {other}").code(8);
    assert!(
        ran.err.contains("there is a thread `l` already"),
        "{}",
        ran.err
    );
    petalflow!("threads verify {other}").code(0);
    let ids_of = |store: &str| ids(&petalflow!("threads list --store {store} --json").code(0));
    assert_eq!(ids_of(&store), ids_of(&other));
    let ran = petalflow!(
        "threads resume l --store {other} --tool \"find=sh '{find}' '{calls}'\" --tool 'count=echo {{}}' --var found.result"
    )
    .code(0);
    assert_eq!(ran.out, "5\n");
    let calls = std::fs::read_to_string(calls).expect("the tool ran");
    assert_eq!(calls.lines().count(), 1);
    // The thread itself is as before.
    let shown = petalflow!("threads show l --store {store} --json")
        .code(0)
        .json();
    assert_eq!(shown["status"], "failed");
}

#[test]
fn f44_a_thread_is_written_to_a_file_and_to_another_store() {
    let folder = folder();
    let (store, other) = (path(&folder, "runs.db"), path(&folder, "other.db"));
    let exported = path(&folder, "l.thread.json");
    let lookup = document("lookup.graph.yaml");
    petalflow!(
        "run {lookup} -i city=Rome --store {store} --thread l --tool 'find=echo 5' --tool count=false"
    )
    .code(2);
    let refused = petalflow!("threads export l --store {store}").code(64);
    assert!(refused.err.contains("--no-secrets"), "{}", refused.err);
    petalflow!("threads export l --store {store} --no-secrets -o {exported}").code(0);
    let text = std::fs::read_to_string(&exported).expect("the file was written");
    assert!(text.contains("Rome"), "{text}");
    let missing = petalflow!("threads export m --store {store} --no-secrets").code(8);
    assert!(missing.err.contains("`m`"), "{}", missing.err);

    let ran = petalflow!("threads import {exported} --store {other}").code(0);
    assert_eq!(ran.out, "thread l was imported\n");
    petalflow!("threads import {exported} --store {other}").code(8);
    petalflow!("threads verify {other}").code(0);
    let show = |store: &str| {
        petalflow!("threads show l --store {store} --json")
            .code(0)
            .json()
    };
    assert_eq!(show(&other)["status"], show(&store)["status"]);
    assert_eq!(show(&other)["state"], show(&store)["state"]);
    let ran = petalflow!(
        "threads resume l --store {other} --tool find=false --tool 'count=echo {{}}' --var found.result"
    )
    .code(0);
    assert_eq!(ran.out, "5\n", "the recorded effect is not repeated");

    // What is secret is in no place of the file.
    let unknown = petalflow!("threads export l --store {store} --secret var").code(8);
    assert!(
        unknown.err.contains("has no key `var`") && unknown.err.contains("`vars`"),
        "{}",
        unknown.err
    );
    let secret = petalflow!("threads export l --store {store} --secret vars").code(0);
    assert!(!secret.out.contains("Rome"), "{}", secret.out);
    let broken = file(&folder, "broken.json", "{");
    let ran = petalflow!("threads import {broken} --store {other}").code(3);
    assert!(ran.err.contains("broken.json"), "{}", ran.err);
}

#[test]
fn f45_a_limited_list_says_how_many_more_there_are() {
    let folder = folder();
    let store = store(&folder);
    let ran = petalflow!("threads list --limit 1 --store {store}").code(0);
    assert_eq!(ran.out.lines().count(), 1);
    assert!(
        ran.err.contains("3 more threads: set a larger `--limit`"),
        "{}",
        ran.err
    );
    let ran = petalflow!("threads list --limit 4 --store {store}").code(0);
    assert_eq!((ran.out.lines().count(), &*ran.err), (4, ""));
    let ran = petalflow!("threads show w --history --limit 1 --store {store}").code(0);
    assert!(
        ran.err.contains("there are older checkpoints"),
        "{}",
        ran.err
    );
}

#[test]
fn f45_an_answer_that_comes_too_late_is_an_error() {
    let folder = folder();
    let store = store(&folder);
    petalflow!("threads resume w --answer approve --store {store}").code(0);
    let ran =
        petalflow!("threads resume w --answer review=reject --store {store} --var output").code(9);
    // The result is printed.
    assert_eq!(ran.out, "Dear Ann, Bo (sent: true)\n");
    assert!(
        ran.err
            .contains("no question needed the answer `review=reject`"),
        "{}",
        ran.err
    );
    petalflow!("threads resume w --store {store}").code(0);
}
