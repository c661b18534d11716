//! `petalflow test`.

use crate::program::{document, file, folder, path, petalflow};

#[test]
fn f45_a_file_of_tests_says_what_passed() {
    let ran = petalflow!("test greeting.test.yaml").code(0);
    assert_eq!(
        ran.out,
        "ok      a guest is greeted\nok      a guest needs a name\n"
    );
    assert_eq!(ran.err, "2 passed, 0 failed\n");
    let ran = petalflow!("test greeting.test.yaml --case greeted --quiet").code(0);
    assert_eq!((&*ran.out, &*ran.err), ("", "1 passed, 0 failed\n"));
    let ran = petalflow!("test greeting.test.yaml --case nothing").code(4);
    assert!(ran.err.contains("no case was run"), "{}", ran.err);
}

#[test]
fn f45_a_case_that_differs_fails_with_both_values() {
    let folder = folder();
    let graph = document("greeting.graph.json");
    let tests = format!(
        "document: {graph}
cases:
  - {{ name: other, input: {{ name: Bo }}, expect: {{ greeting: Hi, missing: 1 }} }}
  - {{ name: no failure, input: {{ name: Bo }}, fails: name }}
  - {{ name: another failure, fails: quota }}
  - {{ name: unasked, input: {{ name: Bo }}, replies: [One.], expect: {{ name: Bo }} }}
"
    );
    let tests = file(&folder, "wrong.test.yaml", &tests);
    let ran = petalflow!("test {tests}").code(2);
    for line in [
        "failed  other",
        "        greeting: expected \"Hi\", found \"Hello, Bo!\"",
        "        missing: expected 1, found nothing",
        "        the run has not failed",
        "        1 replies were not asked for",
    ] {
        assert!(
            ran.out.lines().any(|found| found == line),
            "{line} is not in\n{}",
            ran.out
        );
    }
    assert!(
        ran.out.contains("the error does not say `quota`"),
        "{}",
        ran.out
    );
    assert_eq!(ran.err, "0 passed, 4 failed\n");
}

#[test]
fn f45_answers_replies_and_golden_files() {
    let folder = folder();
    let graph = document("review.graph.yaml");
    let tests = format!(
        "document: {graph}
cases:
  - {{ name: approved, input: {{ name: Ann }}, answers: [approve], golden: approved.json, ignore: [sent.responded_at] }}
  - {{ name: unanswered, input: {{ name: Ann }}, fails: 'add it to `answers`' }}
"
    );
    let tests = file(&folder, "review.test.yaml", &tests);
    let ran = petalflow!("test {tests}").code(2);
    assert!(ran.out.contains("`--update` writes it"), "{}", ran.out);
    petalflow!("test {tests} --update").code(0);
    petalflow!("test {tests}").code(0);
    let golden = path(&folder, "approved.json");
    let written = std::fs::read_to_string(&golden).expect("it was written");
    assert!(
        written.contains("\"Ann\"") && written.contains("responded_by"),
        "{written}"
    );
    assert!(!written.contains("responded_at"), "{written}");
    std::fs::write(&golden, written.replace("Ann", "Bo")).expect("it is writable");
    let ran = petalflow!("test {tests}").code(2);
    assert!(
        ran.out.contains("name: expected \"Bo\", found \"Ann\""),
        "{}",
        ran.out
    );

    let replies = format!(
        "document: {}
cases:
  - {{ name: research, input: {{ topic: tulips }}, replies: [One., Two.], expect: {{ topic: tulips }} }}
  - {{ name: too few, input: {{ topic: tulips }}, fails: repl }}
",
        document("research.agent.yaml")
    );
    let replies = file(&folder, "research.test.yaml", &replies);
    petalflow!("test {replies}").code(0);
}

#[test]
fn f45_a_wrong_file_of_tests_is_an_error() {
    let folder = folder();
    for (text, message) in [
        ("cases: []", "missing field `document`"),
        ("document: a.json\ncases: [{ name: x }]", "expects nothing"),
        (
            "document: a.json\ncases: [{ name: x, expects: {} }]",
            "unknown field `expects`",
        ),
        (
            "document: a.json\ncases: [{ name: x, fails: a, golden: b }]",
            "write `fails` alone",
        ),
        (
            "document: a.json\ncases: [{ name: x, expect: { a: 1 }, ignore: [b] }]",
            "`ignore` without `golden`",
        ),
    ] {
        let tests = file(&folder, "wrong.test.yaml", text);
        let ran = petalflow!("test {tests}").code(4);
        assert!(ran.err.contains(message), "{}", ran.err);
    }
}
