//! Threads in stores on servers.

use petalflow_test_servers::{Postgres, Redis, found_or_skip, fresh_name};

use crate::program::{folder, path, petalflow};
use crate::replay;

/// Starts, lists, forks, shows and resumes threads in the store, each time in another process.
fn threads_outlive_the_program(store: &str) {
    // Other tests may use the same server.
    let id = fresh_name("cli");
    petalflow!("run review.graph.yaml -i name=Ann --store {store} --thread {id}").code(7);
    let ran = petalflow!("threads list --store {store} --json").code(0);
    let thread = ran.lines().into_iter().find(|line| line["id"] == id);
    assert_eq!(thread.expect("it is listed")["status"], "waiting");
    petalflow!("threads fork {id} --store {store} --checkpoint 3 --to {id}-again").code(0);
    let ran = petalflow!("threads show {id} --store {store} --json").code(0);
    assert_eq!(ran.json()["id"], id);
    petalflow!("threads resume {id} --store {store}").code(7);
    for id in [&id, &format!("{id}-again")] {
        let ran =
            petalflow!("threads resume {id} --store {store} --answer review=approve --format text");
        assert_eq!(ran.code(0).out, "Dear Ann, Bo (sent: true)\n");
    }
}

#[test]
fn p209_threads_in_postgresql_outlive_the_program() {
    if let Some(server) = found_or_skip(Postgres::shared()) {
        threads_outlive_the_program(&server.url);
        replay::exported_and_replayed(&server.url, &fresh_name("replay"));
    }
}

#[test]
fn p209_threads_in_redis_outlive_the_program() {
    if let Some(server) = found_or_skip(Redis::shared()) {
        threads_outlive_the_program(&server.url);
        replay::exported_and_replayed(&server.url, &fresh_name("replay"));
    }
}

/// Copies a thread that waits from a file to the server and from there to another file, and answers it there.
fn threads_are_copied_through(store: &str) {
    let folder = folder();
    let (first, last) = (path(&folder, "first.db"), path(&folder, "last.db"));
    let id = fresh_name("cli-copy");
    petalflow!("run review.graph.yaml -i name=Ann --store {first} --thread {id}").code(7);
    petalflow!("threads label {id} --set team:night --store {first}").code(0);
    petalflow!("threads copy {id} --store {first} --to {store}").code(0);
    petalflow!("threads copy {id} --store {store} --to {last}").code(0);
    petalflow!("threads delete {id} --store {store}").code(0);
    petalflow!("threads show {id} --store {store}").code(8);
    let shown = |store: &str| {
        petalflow!("threads show {id} --store {store} --json")
            .code(0)
            .json()
    };
    let (before, after) = (shown(&first), shown(&last));
    for part in [
        "envelope",
        "questions",
        "labels",
        "status",
        "checkpoint",
        "checkpoints",
    ] {
        assert_eq!(before[part], after[part], "{part}");
    }
    petalflow!("threads verify {last}").code(0);
    let ran = petalflow!("threads resume {id} --store {last} --answer approve --format text");
    assert_eq!(ran.code(0).out, "Dear Ann, Bo (sent: true)\n");
}

#[test]
fn f45_threads_are_copied_to_postgresql_and_back() {
    if let Some(server) = found_or_skip(Postgres::shared()) {
        threads_are_copied_through(&server.url);
    }
}

#[test]
fn f45_threads_are_copied_to_redis_and_back() {
    if let Some(server) = found_or_skip(Redis::shared()) {
        threads_are_copied_through(&server.url);
    }
}

#[test]
fn the_password_of_a_server_is_not_printed() {
    for scheme in ["postgres", "redis"] {
        let ran = petalflow!("threads list --store {scheme}://ann:secret@127.0.0.1:1/0").code(8);
        assert!(!ran.err.contains("secret"), "{}", ran.err);
        assert!(ran.err.contains("cannot be reached"), "{}", ran.err);
    }
}
