//! The commands of threads with a server: they print what they print with its store.

use serde_json::Value;

use crate::program::{Ran, document, folder, path, petalflow, program, words};
use crate::serve::Server;

/// A server with the graph `review`, and one of its threads, which waits.
struct Place {
    _folder: tempfile::TempDir,
    server: Server,
    store: String,
}

impl Place {
    fn new() -> Self {
        let folder = folder();
        let store = path(&folder, "runs.db");
        let review = document("review.graph.yaml");
        let server = Server::start(&[&review, "--store", &store, "--threads"]);
        let place = Place {
            _folder: folder,
            server,
            store,
        };
        place.begin("one");
        place
    }

    fn begin(&self, id: &str) {
        let body = format!(r#"{{"id": "{id}", "input": {{"vars": {{"name": "Ann"}}}}}}"#);
        self.server.json("POST", "/flows/review/threads", &body);
        let path = format!("/threads/review:{id}/wait?seconds=60");
        let waits = self.server.json("GET", &path, "");
        assert_eq!(waits["status"], "waiting", "{waits}");
    }

    /// Runs a command with the server.
    fn served(&self, line: &str) -> Ran {
        self.served_with("secret", line)
    }

    fn served_with(&self, token: &str, line: &str) -> Ran {
        let ran = program()
            .args(words(line))
            .args(["--server", &format!("http://{}", self.server.address)])
            .env("PETALFLOW_TOKEN", token)
            .output();
        Ran::from_output(&ran.expect("the program starts"))
    }

    /// Runs a command with the store of the server.
    fn stored(&self, line: &str) -> Ran {
        petalflow!("{line} --store {}", self.store)
    }

    /// Runs a command in both places, which must print the same.
    #[track_caller]
    fn same(&self, line: &str, code: i32) -> Ran {
        let (served, stored) = (self.served(line).code(code), self.stored(line).code(code));
        assert_eq!(lines(&served.out), lines(&stored.out), "{line}");
        served
    }
}

/// The lines of an output. An object is read, because a server writes its fields in another order.
fn lines(output: &str) -> Vec<Value> {
    let read = |line: &str| serde_json::from_str(line).unwrap_or_else(|_| line.into());
    output.lines().map(read).collect()
}

#[test]
fn f45_lists_are_the_same_with_a_server_and_with_its_store() {
    let place = Place::new();
    place.begin("two");
    for line in [
        "threads list",
        "threads list --json --newest --limit 1",
        "threads list --json --status waiting --prefix review:t",
        "threads list --json --order updated-oldest",
        "threads list --status finished",
        "threads list --count",
        "threads list --count --json",
        "threads delete --prefix review: --dry-run",
    ] {
        place.same(line, 0);
    }
    let ran = place.served("threads list --limit 1").code(0);
    assert!(ran.err.contains("1 more thread: "), "{}", ran.err);
}

#[test]
fn f45_a_thread_of_a_server_is_shown_as_one_of_its_store() {
    let place = Place::new();
    let review = document("review.graph.yaml");
    for line in [
        "threads show review:one",
        "threads show review:one --json",
        "threads show review:one --history",
        "threads show review:one --history --json --checkpoint 2",
    ] {
        let served = place.served(line).code(0);
        let stored = place.stored(&format!("{line} {review}")).code(0);
        assert_eq!(lines(&served.out), lines(&stored.out), "{line}");
    }
    let ran = place.same("threads show review:none", 8);
    assert_eq!(ran.out, "");
    place.same("threads follow review:one --json", 0);
    let ran = place.same("threads follow review:one", 0);
    assert!(ran.out.contains("interrupted"), "{}", ran.out);
}

#[test]
fn f45_a_thread_of_a_server_is_answered_and_has_a_result() {
    let place = Place::new();
    let ran = place.served("threads resume review:one").code(7);
    assert!(
        ran.err.contains("Send the letter?") && ran.err.contains("--answer 'review=approve'"),
        "{}",
        ran.err
    );
    let ran = place.served("threads resume review:one --json").code(7);
    assert_eq!(ran.lines()[0]["questions"][0]["node"], "review");
    let ran = place
        .served("threads resume review:one --answer approve --var output")
        .code(0);
    assert_eq!(ran.out, "Dear Ann, Bo (sent: true)\n");
    let ran = place
        .served("threads resume review:one --answer review=reject --var output")
        .code(9);
    assert_eq!(ran.out, "Dear Ann, Bo (sent: true)\n");
    let ran = place.served("threads resume review:one --json").code(0);
    assert_eq!(ran.lines()[0]["envelope"]["vars"]["sent_approved"], true);
}

#[test]
fn f45_threads_of_a_server_are_changed() {
    let place = Place::new();
    place.begin("two");
    let ran = place
        .served("threads label review:one --set team:night --json")
        .code(0);
    assert_eq!(ran.lines()[0]["labels"]["team"], "night");
    place.same("threads list --label team:night --json", 0);
    let ran = place
        .served("threads fork review:one --checkpoint 1 --to three --json")
        .code(0);
    assert_eq!(ran.json()["id"], "review:three");
    let ran = place.served("threads hold review:two --json").code(0);
    assert_eq!(ran.lines()[0]["status"], "held");
    let ran = place.served("threads cancel review:two").code(0);
    assert_eq!(ran.out, "review:two  held\n");
    let ran = place
        .served("threads delete --prefix review: --yes --json")
        .code(0);
    assert_eq!(ran.lines().len(), 3);
    place.same("threads list", 0);
    assert_eq!(place.stored("threads list").code(0).out, "");
    for line in [
        "threads prune --all --keep 1 --yes",
        "threads copy --all --to x.db --yes",
    ] {
        let ran = place.served(line).code(64);
        assert!(
            ran.err.contains("name the store of the server"),
            "{}",
            ran.err
        );
    }
}

#[test]
fn f45_a_server_that_refuses_or_is_away_is_an_error_with_what_to_do() {
    let place = Place::new();
    let ran = place.served_with("wrong", "threads list").code(8);
    assert!(
        ran.err.contains("refuses the token") && ran.err.contains("PETALFLOW_TOKEN"),
        "{}",
        ran.err
    );
    assert!(!ran.err.contains("wrong"), "{}", ran.err);
    let ran = petalflow!("threads list --server http://127.0.0.1:1").code(8);
    assert!(ran.err.contains("cannot be reached"), "{}", ran.err);
    let ran = petalflow!("threads list --server ftp://x").code(64);
    assert!(ran.err.contains("no address of a server"), "{}", ran.err);
    let ran = place.served("threads list --store runs.db").code(64);
    assert!(ran.err.contains("two places"), "{}", ran.err);
    // An option goes before a variable.
    let listed = program()
        .args(["threads", "list", "--store", &place.store])
        .env("PETALFLOW_SERVER", "http://127.0.0.1:1")
        .output();
    let listed = Ran::from_output(&listed.expect("the program starts")).code(0);
    assert_eq!(listed.out, place.stored("threads list").code(0).out);
}

#[test]
fn f45_schedules_of_a_server_are_defined_changed_and_deleted() {
    let place = Place::new();
    let ran = place.served("schedules list").code(0);
    assert!(ran.err.contains("there are no schedules"), "{}", ran.err);
    let set =
        r#"schedules set morning review '0 9 * * *' --input '{"vars": {"name": "Bo"}}' --json"#;
    let ran = place.served(set).code(0);
    assert_eq!(ran.json()["cron"], "0 9 * * *");
    let ran = place
        .served("schedules set morning review '0 8 * * *' --zone Europe/Berlin")
        .code(0);
    assert!(
        ran.out
            .starts_with("morning  0 8 * * *  Europe/Berlin  review  next "),
        "{}",
        ran.out
    );
    let ran = place.served("schedules pause morning").code(0);
    assert!(ran.out.ends_with("  paused\n"), "{}", ran.out);
    place.served("schedules unpause morning").code(0);
    let ran = place.served("schedules run morning --json").code(0);
    let thread = ran.json()["thread"].as_str().expect("a thread").to_owned();
    assert!(thread.starts_with("review:"), "{thread}");
    let ran = place
        .served("schedules backfill morning --from 2026-01-01T00:00:00Z --to 2026-01-02T23:00:00Z --json")
        .code(0);
    assert_eq!(ran.json()["times"], 2);
    let ran = place.served("schedules list --json").code(0);
    assert_eq!(ran.lines()[0]["zone"], "Europe/Berlin");
    place.served("schedules delete morning").code(0);
    let ran = place.served("schedules show morning").code(8);
    assert!(ran.err.contains("morning"), "{}", ran.err);
    let ran = petalflow!("schedules list").code(64);
    assert!(ran.err.contains("--server URL"), "{}", ran.err);
}

#[test]
fn f44_a_thread_of_a_server_is_exported_as_that_of_its_store() {
    let place = Place::new();
    let stored = place
        .stored("threads export review:one --no-secrets")
        .code(0);
    let served = place.served("threads export review:one").code(0);
    assert_eq!(served.json(), stored.json());
    assert_eq!(served.json()["thread"], "review:one");
    let ran = place.served("threads export review:none").code(8);
    assert!(ran.out.is_empty() && !ran.err.is_empty(), "{}", ran.err);
    for option in ["--no-secrets", "--secret vars"] {
        let ran = place
            .served(&format!("threads export review:one {option}"))
            .code(64);
        assert!(
            ran.err.contains("a server knows which keys are secret"),
            "{}",
            ran.err
        );
    }
}
