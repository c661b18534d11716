//! `petalflow threads`: runs that outlive the program.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::Command;

use petalflow::checkpoint::Attribute;
use serde_json::json;

use crate::program::{
    Ran, document, file, folder, path, petalflow, program, run_program, start, words,
};

#[test]
fn p209_a_run_pauses_for_a_person_and_resumes_in_another_process() {
    let folder = folder();
    let store = path(&folder, "runs.db");
    let ran = petalflow!("run review.graph.yaml -i name=Ann --store {store} --thread r").code(7);
    assert_eq!(ran.out, "");
    assert!(
        ran.err.contains("Send the letter?") && ran.err.contains("Dear Ann, Bo"),
        "{}",
        ran.err
    );
    let how = format!("petalflow threads resume r --store {store} --answer 'review=approve'");
    assert!(
        ran.err.contains(&how) || ran.err.contains(&how.replace('\'', "")),
        "{}",
        ran.err
    );

    // Without an answer it still waits.
    petalflow!("threads resume r --store {store}").code(7);
    let ran = petalflow!("threads resume r --store {store} --answer maybe").code(4);
    assert!(
        ran.err.contains("neither an approval nor a rejection"),
        "{}",
        ran.err
    );
    let ran = petalflow!("threads resume r --store {store} --answer approve --format text").code(0);
    assert_eq!(ran.out, "Dear Ann, Bo (sent: true)\n");
    // A thread that has ended says its result again.
    let ran = petalflow!("threads resume r --store {store} --format text").code(0);
    assert_eq!(ran.out, "Dear Ann, Bo (sent: true)\n");
}

#[test]
fn p209_a_pause_is_json_for_programs() {
    let folder = folder();
    let store = path(&folder, "runs.db");
    let ran = petalflow!("run questions.graph.yaml --store {store} --thread q --json").code(7);
    let lines = ran.lines();
    let paused = &lines[lines.len() - 1];
    assert_eq!(paused["event"], "run.paused");
    let question = &paused["questions"][0];
    assert_eq!(
        (&question["node"], &question["request"]["type"]),
        (&json!("size"), &json!("choice"))
    );
    assert_eq!(question["request"]["options"][1]["id"], "large");
    let ran = petalflow!("threads resume q --store {store} --answer size=2 --json").code(7);
    assert!(ran.out.contains("\"node\":\"change\""), "{}", ran.out);
}

#[test]
fn f43_threads_are_found_by_their_attributes() {
    let folder = folder();
    let store = path(&folder, "runs.db");
    for id in ["a-1", "a-2"] {
        petalflow!("run review.graph.yaml -i name=Ann --store {store} --thread {id}").code(7);
    }
    // As a program with an indexed key stores it.
    let by_hand = rusqlite::Connection::open(&store).expect("it opens");
    for (id, amount) in [("a-1", 50), ("a-2", 500)] {
        let amount = Attribute::from(amount);
        let row = rusqlite::params![id, amount.as_bytes()];
        let insert = "INSERT INTO attributes (thread, name, value) VALUES (?1, 'amount', ?2)";
        by_hand.execute(insert, row).expect("it is stored");
    }
    drop(by_hand);
    let list = |condition: &str| {
        let fixed = ["threads", "list", "--json", "--store", &store, "--where"];
        run_program(fixed.iter().chain([&condition]))
    };
    let found = list("amount>100").code(0).lines();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(
        (&found[0]["id"], &found[0]["attributes"]),
        (&json!("a-2"), &json!({ "amount": 500 }))
    );
    assert_eq!(list("amount<=500").code(0).lines().len(), 2);
    let none = list("amount>1e9").code(0);
    assert!(
        none.out.is_empty() && none.err.is_empty(),
        "{} {}",
        none.out,
        none.err
    );
    let unknown = list("amuont>1").code(0);
    assert!(
        unknown.out.is_empty() && unknown.err.contains("has the attribute `amuont`"),
        "{}",
        unknown.err
    );
    let wrong = list("amount").code(64);
    assert!(wrong.err.contains("such as `amount>100`"), "{}", wrong.err);
}

#[test]
fn p209_threads_are_listed_and_shown() {
    let folder = folder();
    let store = path(&folder, "runs.db");
    for id in ["a-1", "a-2", "b-1"] {
        petalflow!("run review.graph.yaml -i name=Ann --store {store} --thread {id}").code(7);
    }
    petalflow!("threads resume a-2 --store {store} --answer approve").code(0);
    let list = |arguments: &[&str]| {
        let fixed = ["threads", "list", "--json", "--store", &store];
        let ran = run_program(fixed.iter().chain(arguments)).code(0);
        let ids = ran
            .lines()
            .iter()
            .map(|line| line["id"].as_str().unwrap_or_default().to_owned())
            .collect::<Vec<_>>();
        ids.join(" ")
    };
    assert_eq!(list(&[]), "a-1 a-2 b-1");
    assert_eq!(list(&["--prefix", "a-"]), "a-1 a-2");
    assert_eq!(list(&["--status", "waiting"]), "a-1 b-1");
    assert_eq!(list(&["--graph", "other"]), "");
    assert_eq!(list(&["--limit", "1"]), "a-1");
    assert_eq!(list(&["--newest"]), "b-1 a-2 a-1");
    assert_eq!(list(&["--order", "updated-newest", "--limit", "1"]), "a-2");
    let both = ["--status", "waiting", "--status", "finished"];
    assert_eq!(list(&both), "a-1 a-2 b-1");
    assert_eq!(
        list(&["--created-from", "2020-01-01T00:00:00Z"]),
        "a-1 a-2 b-1"
    );
    assert_eq!(list(&["--updated-before", "2020-01-01T00:00:00Z"]), "");
    assert_eq!(list(&["--label", "user:ann"]), "");
    assert_eq!(list(&["--not-label", "user:ann", "--any-label", "a:b"]), "");
    let cut = petalflow!("threads list --store {store} --newest --limit 2").code(0);
    assert!(cut.out.starts_with("b-1") && cut.err.contains("1 more thread: "));
    let whole = petalflow!("threads list --store {store} --limit 3").code(0);
    assert!(!whole.err.contains("more"), "{}", whole.err);
    let counted = petalflow!("threads list --store {store} --count --json").code(0);
    let counted: Vec<_> = counted
        .lines()
        .iter()
        .map(|line| (line["status"].clone(), line["threads"].clone()))
        .collect();
    assert_eq!(
        counted,
        [(json!("waiting"), json!(2)), (json!("finished"), json!(1))]
    );
    let ran = petalflow!("threads list --store {store}").code(0);
    assert!(
        ran.out
            .lines()
            .next()
            .is_some_and(|line| line.starts_with("a-1  waiting")),
        "{}",
        ran.out
    );

    let shown = petalflow!("threads show a-1 --store {store} --json --history")
        .code(0)
        .json();
    assert_eq!(
        (&shown["status"], &shown["next"]),
        (&json!("waiting"), &json!(["review"]))
    );
    assert_eq!(shown["envelope"]["vars"]["letter"], "Dear Ann");
    assert_eq!(shown["questions"][0]["node"], "review");
    assert_eq!(shown["history"].as_array().map(Vec::len), Some(4));
    let early = petalflow!("threads show a-1 --store {store} --json --checkpoint 1")
        .code(0)
        .json();
    assert_eq!(early["envelope"]["vars"].get("letter"), None);
    let ran = petalflow!("threads show a-1 --store {store}").code(0);
    assert!(
        ran.out.contains("Waits for review: Send the letter?"),
        "{}",
        ran.out
    );
    petalflow!("threads show a-1 --store {store} --checkpoint 99").code(8);
    let ran = petalflow!("threads show a --store {store}").code(8);
    assert!(
        ran.err.contains("there is no thread `a`") && ran.err.contains("threads list"),
        "{}",
        ran.err
    );
}

#[test]
fn p209_a_fork_continues_from_an_old_checkpoint() {
    let folder = folder();
    let store = path(&folder, "runs.db");
    petalflow!("run review.graph.yaml -i name=Ann --store {store} --thread r").code(7);
    petalflow!("threads resume r --store {store} --answer 'reject: too short'").code(0);
    let ran = petalflow!("threads fork r --store {store} --checkpoint 3 --to again --json").code(0);
    assert_eq!(ran.json()["id"], "again");
    let ran =
        petalflow!("threads resume again --store {store} --answer approve --format text").code(0);
    assert_eq!(ran.out, "Dear Ann, Bo (sent: true)\n");
    // The thread itself goes back.
    petalflow!("threads fork r --store {store} --checkpoint 3").code(0);
    let ran = petalflow!("threads resume r --store {store} --answer approve --format text").code(0);
    assert_eq!(ran.out, "Dear Ann, Bo (sent: true)\n");
    petalflow!("threads fork r --store {store} --checkpoint 3 --to again").code(8);
}

#[test]
fn f43_a_thread_that_waits_is_held_and_resumed() {
    let folder = folder();
    let store = path(&folder, "runs.db");
    petalflow!("run review.graph.yaml -i name=Ann --store {store} --thread r").code(7);
    // It has no run.
    let ran = petalflow!("threads drain r --store {store}").code(0);
    assert_eq!(ran.out, "r  waiting\n");
    for command in ["hold", "cancel"] {
        let ran = petalflow!("threads {command} r --store {store} --json").code(0);
        assert_eq!(ran.json(), json!({ "thread": "r", "status": "held" }));
    }
    petalflow!("threads resume r --store {store} --answer approve").code(0);
    let ran = petalflow!("threads cancel r --store {store}").code(0);
    assert_eq!(ran.out, "r  finished\n");
    let ran = petalflow!("threads hold none --store {store}").code(8);
    assert!(ran.err.contains("there is no thread `none`"), "{}", ran.err);
}

#[test]
fn p209_the_store_can_be_a_variable() {
    let folder = folder();
    let store = path(&folder, "runs.db");
    let run = |line: &str| {
        let mut program = program();
        program.env("PETALFLOW_STORE", &store).args(words(line));
        Ran::from_output(&program.output().expect("the program starts"))
    };
    let ran = run("run review.graph.yaml -i name=Ann --thread r").code(7);
    assert!(
        ran.err.contains("petalflow threads resume r --answer"),
        "{}",
        ran.err
    );
    run("threads resume r --answer yes").code(0);
    let ran = petalflow!("threads list").code(64);
    assert!(ran.err.contains("PETALFLOW_STORE"), "{}", ran.err);
}

#[test]
fn p209_a_thread_continues_after_a_failure() {
    let folder = folder();
    let store = path(&folder, "runs.db");
    let ran = petalflow!("run lookup.graph.yaml -i city=Rome --store {store} --thread l --tool find=false --tool count=true").code(2);
    assert!(
        ran.err.contains("petalflow threads resume l"),
        "{}",
        ran.err
    );
    let ran = petalflow!(
        r#"threads resume l --store {store} --tool 'find=echo 5' --tool "count=echo '{{\"n\": 1}}'" --var found.result"#
    ).code(0);
    assert_eq!(ran.out, "5\n");
}

#[test]
fn p209_a_moved_document_is_named_again() {
    let folder = folder();
    let store = path(&folder, "runs.db");
    let text = std::fs::read_to_string(document("review.graph.yaml")).expect("the document");
    let first = file(&folder, "first.yaml", &text);
    petalflow!("run {first} -i name=Ann --store {store} --thread r").code(7);
    std::fs::remove_file(&first).expect("it exists");
    let second = file(&folder, "second.yaml", &text);
    petalflow!("threads resume r --store {store} --answer yes").code(3);
    petalflow!("threads resume r {second} --store {store} --answer yes").code(0);
}

#[cfg(unix)]
#[test]
fn p209_ctrl_c_ends_a_stored_run_which_can_be_resumed() {
    let folder = folder();
    let store = path(&folder, "runs.db");
    let slow = file(&folder, "slow.sh", "read line; touch \"$1\"; sleep 60");
    let mark = path(&folder, "started");
    let mut child = start(&format!(
        r#"run lookup.graph.yaml -i city=Rome --store {store} --thread l --json
           --tool "find=sh '{slow}' '{mark}'" --tool 'count=echo {{}}'"#
    ));
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    assert!(
        lines
            .by_ref()
            .any(|line| line.expect("a line").contains("node.started"))
    );
    let id = child.id().to_string();
    let interrupt = || {
        let sent = Command::new("kill").args(["-INT", &id]).status();
        assert!(sent.expect("`kill` starts").success());
    };
    interrupt();
    let mut errors = BufReader::new(child.stderr.take().expect("a pipe"));
    let mut first = String::new();
    errors.read_line(&mut first).expect("a line");
    assert!(first.contains("press Ctrl-C again"), "{first}");
    interrupt();
    let mut rest = String::new();
    errors.read_to_string(&mut rest).expect("it ends");
    assert_eq!(child.wait().expect("it ends").code(), Some(130), "{rest}");
    assert!(
        rest.contains("was stopped") && rest.contains("petalflow threads resume l"),
        "{rest}"
    );
    let ran = petalflow!("threads resume l --store {store} --tool 'find=echo 5' --tool 'count=echo {{}}' --var found.result").code(0);
    assert_eq!(ran.out, "5\n");
}

#[test]
fn p209_each_answer_is_given_once() {
    let folder = folder();
    let store = path(&folder, "runs.db");
    petalflow!("run questions.graph.yaml --store {store} --thread q").code(7);
    // An answer without a name is for the question that is open, and not for the next one.
    let ran = petalflow!("threads resume q --store {store} --answer small").code(7);
    assert!(ran.err.contains("change"), "{}", ran.err);
    // An answer for another node waits for its question.
    petalflow!("threads resume q --store {store} --answer name=Ann").code(7);
    let ran = petalflow!(
        r#"threads resume q --store {store} --answer name=Ann --answer '{{"a": "b=c"}}'"#
    )
    .code(7);
    assert!(ran.err.contains("notes"), "{}", ran.err);
    let ran =
        petalflow!("threads resume q --store {store} --answer '1 + 1 = 2' --format json").code(0);
    let vars = &ran.json()["vars"];
    assert_eq!(
        (&vars["a"], &vars["name"]["data"], &vars["notes"]["notes"]),
        (&json!("b=c"), &json!("Ann"), &json!("1 + 1 = 2"))
    );
}

#[test]
fn p209_new_input_does_not_discard_a_question() {
    let folder = folder();
    let store = path(&folder, "runs.db");
    let run = || petalflow!("run review.graph.yaml -i name=Ann --store {store} --thread r");
    run().code(7);
    let ran = run().code(7);
    assert!(
        ran.err.contains("petalflow threads resume r"),
        "{}",
        ran.err
    );
    petalflow!("threads resume r --store {store} --answer yes").code(0);
    // After the end, the same thread takes new input.
    run().code(7);
}

#[test]
fn p209_a_store_that_does_not_exist_is_not_created_by_reading() {
    let folder = folder();
    let store = path(&folder, "runs.db");
    let ran = petalflow!("threads list --store {store}").code(8);
    assert!(ran.err.contains("there is no store"), "{}", ran.err);
    assert!(!folder.path().join("runs.db").exists());
    let file = file(&folder, "text.db", &"This is not a database. ".repeat(100));
    let ran = petalflow!("threads list --store {file}").code(8);
    assert!(ran.err.contains("text.db"), "{}", ran.err);
}

#[cfg(unix)]
#[test]
fn p209_a_killed_run_can_be_resumed() {
    let folder = folder();
    let store = path(&folder, "runs.db");
    let mut child = start(&format!(
        "run lookup.graph.yaml -i city=Rome --store {store} --thread l --json --tool 'find=echo 5' --tool 'count=sleep 60'"
    ));
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let is_second = |line: String| line.contains("node.started") && line.contains("\"count\"");
    assert!(lines.by_ref().any(|line| is_second(line.expect("a line"))));
    // A run in progress in another process is not disturbed.
    let ran =
        petalflow!("threads resume l --store {store} --tool find=false --tool 'count=echo {{}}'")
            .code(8);
    assert!(ran.err.contains("is busy"), "{}", ran.err);
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    // The first node does not run again.
    let ran = petalflow!(
        r#"threads resume l --store {store} --tool find=false --tool "count=echo '{{\"n\": 3}}'" --var n"#
    ).code(0);
    assert_eq!(ran.out, "3\n");
}

#[test]
fn p209_several_questions_are_answered_one_after_another() {
    let folder = folder();
    let store = path(&folder, "runs.db");
    let ran = petalflow!("run two.graph.yaml --store {store} --thread t").code(7);
    assert!(
        ran.err.contains("Is it cooked?") && ran.err.contains("Is the table laid?"),
        "{}",
        ran.err
    );
    // Which question is meant is not known.
    let ran = petalflow!("threads resume t --store {store} --answer approve").code(7);
    assert!(ran.err.contains("cook=approve"), "{}", ran.err);
    let ran = petalflow!("threads resume t --store {store} --answer table=approve").code(7);
    assert!(!ran.err.contains("Is the table laid?"), "{}", ran.err);
    let ran = petalflow!("threads resume t --store {store} --answer reject --format json").code(0);
    let vars = &ran.json()["vars"];
    assert_eq!(
        (&vars["cooked_approved"], &vars["laid_approved"]),
        (&json!(false), &json!(true))
    );
}

#[test]
fn new_input_for_a_thread_that_waits_is_a_pause_in_json() {
    let folder = folder();
    let store = path(&folder, "runs.db");
    let review = document("review.graph.yaml");
    let run = [
        "run", &review, "-i", "name=Ann", "--store", &store, "--thread", "r", "--json",
    ];
    let first = run_program(run).code(7).lines();
    let again = run_program(run).code(7).lines();
    let questions = |lines: &[serde_json::Value]| {
        let last = lines.last().expect("a line");
        assert_eq!(last["event"], "run.paused", "{last}");
        last["questions"].clone()
    };
    assert_eq!(questions(&first)[0]["node"], "review");
    assert_eq!(questions(&first)[0]["id"], questions(&again)[0]["id"]);
    let ran = run_program([
        "threads",
        "resume",
        "r",
        "--store",
        &store,
        "--answer",
        "reviw=yes",
    ]);
    assert!(ran.code(4).err.contains("did you mean `review`?"));
}

#[test]
fn a_document_that_changed_under_a_waiting_thread_continues_with_a_note_or_is_refused() {
    let folder = folder();
    let store = path(&folder, "runs.db");
    let text = std::fs::read_to_string(document("review.graph.yaml")).expect("the document");
    let changed = file(&folder, "review.graph.yaml", &text);
    petalflow!("run {changed} -i name=Ann --store {store} --thread r").code(7);
    petalflow!("run {changed} -i name=Ann --store {store} --thread s").code(7);
    let ran = petalflow!("threads resume r --store {store}").code(7);
    assert!(!ran.err.contains("changed:"), "{}", ran.err);

    let newer = text
        .replace("version: \"1.0\"", "version: \"1.1\"")
        .replace("(sent:", "(posted:");
    file(&folder, "review.graph.yaml", &newer);
    let ran = petalflow!("threads resume r --store {store} --answer approve --format text").code(0);
    assert_eq!(ran.out, "Dear Ann, Bo (posted: true)\n");
    assert!(
        ran.err.contains("changed:")
            && ran.err.contains("version 1.0 (")
            && ran.err.contains("version 1.1 ("),
        "{}",
        ran.err
    );

    // The version before is a file of its own.
    let older = file(&folder, "review-1.0.graph.yaml", &text);
    let without = newer.replace("id: review\n    type: human", "id: check\n    type: human");
    file(
        &folder,
        "review.graph.yaml",
        &without
            .replace("target: review", "target: check")
            .replace("source: review", "source: check"),
    );
    let ran = petalflow!("threads resume s --store {store} --answer approve").code(8);
    assert!(!ran.err.contains("continues"), "{}", ran.err);
    for part in [
        "with a file of the version before: `petalflow threads resume s FILE --store",
        "document `review`",
        "version 1.0 (",
        "version 1.1 (",
        "node `review`",
    ] {
        assert!(ran.err.contains(part), "`{part}` is not in {}", ran.err);
    }
    let ran = petalflow!("threads resume s {older} --store {store} --answer approve --format text")
        .code(0);
    assert_eq!(ran.out, "Dear Ann, Bo (sent: true)\n");
    assert!(!ran.err.contains("changed:"), "{}", ran.err);
}

#[test]
fn f42_verify_reports_what_is_damaged_in_a_store() {
    let folder = folder();
    let store = path(&folder, "runs.db");
    for thread in ["a", "b"] {
        petalflow!("run review.graph.yaml -i name=Ann --store {store} --thread {thread}").code(7);
    }
    let ran = petalflow!("threads verify {store}").code(0);
    assert_eq!((&*ran.out, &*ran.err), ("", "0 of 2 threads are damaged\n"));

    let by_hand = rusqlite::Connection::open(&store).expect("it opens");
    let damage = "UPDATE log SET bytes = zeroblob(length(bytes)) WHERE id >> 32 IN
        (SELECT number FROM addresses WHERE thread = 'b' AND namespace = '')";
    assert!(by_hand.execute(damage, ()).expect("it is written") > 0);
    let ran = petalflow!("threads verify --store {store}").code(8);
    assert!(ran.out.starts_with("b  damaged: "), "{}", ran.out);
    assert!(!ran.out.contains("a  damaged"), "{}", ran.out);
    assert_eq!(ran.err, "1 of 2 threads are damaged\n");
    let ran = petalflow!("threads verify {store} --json").code(8);
    for line in ran.lines() {
        assert_eq!(line["thread"], "b");
        assert!(line["damage"].is_string(), "{line}");
    }
    petalflow!("threads verify {store} --prefix a").code(0);
    let ran = petalflow!("threads verify nothing.db").code(8);
    assert!(
        ran.err.contains("there is no store `nothing.db`"),
        "{}",
        ran.err
    );
}
