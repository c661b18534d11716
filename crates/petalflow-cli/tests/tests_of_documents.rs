//! `petalflow test`.

use serde_json::json;

use crate::program::{document, file, folder, path, petalflow};

#[test]
fn f45_a_file_of_tests_says_what_passed() {
    let ran = petalflow!("test greeting.test.yaml").code(0);
    assert_eq!(
        ran.out,
        "ok      a guest is greeted\nok      a guest needs a name\n"
    );
    assert_eq!(ran.err, "2 passed, 0 failed\n");
    let ran = petalflow!("test greeting.test.yaml --filter greeted --quiet").code(0);
    assert_eq!((&*ran.out, &*ran.err), ("", "1 passed, 0 failed\n"));
    let ran = petalflow!("test greeting.test.yaml --filter nothing").code(4);
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

#[test]
fn f45_a_conversation_is_tested_with_messages_and_results() {
    let ran = petalflow!("test food_order.test.yaml greeting.test.yaml").code(0);
    assert_eq!(
        ran.out,
        "ok      a dish that is sold out is asked for again\nok      a guest is needed\n\
         ok      a guest is greeted\nok      a guest needs a name\n"
    );
    assert_eq!(ran.err, "4 passed, 0 failed\n");
}

#[test]
fn f45_a_conversation_that_differs_says_how() {
    let folder = folder();
    let order = document("food_order.json");
    let tests = format!(
        "document: {order}
cases:
  - name: other end
    input: {{ guest: Ann }}
    replies: [Hello., Hm.]
    messages: [Soup.]
    texts: [Hello.]
    node: end
    ended: true
    expect: {{ guest.name: Bo }}
  - name: no result
    input: {{ guest: Ann }}
    replies: [Hello., {{ calls: [{{ name: check_order }}] }}, Sorry., One more.]
    messages: [Soup.]
    ended: false
  - name: too many results
    input: {{ guest: Ann }}
    replies: [Hello.]
    results: {{ check_order: [1, 2] }}
    ended: false
  - name: too many messages
    input: {{ guest: Ann }}
    replies: [Hello., {{ calls: [{{ name: check_order }}] }}, Bye.]
    messages: [Soup., More.]
    results: {{ check_order: {{ status: ok }} }}
    ended: true
  - name: no failure
    input: {{ guest: Ann }}
    replies: [Hello.]
    fails: quota
"
    );
    let tests = file(&folder, "wrong.test.yaml", &tests);
    let ran = petalflow!("test {tests}").code(2);
    assert_eq!(
        ran.out,
        "failed  other end
        guest.name: expected \"Bo\", found nothing
        texts: expected [\"Hello.\"], found [\"Hello.\",\"Hm.\"]
        node: expected \"end\", found \"start\"
        ended: expected true, found false
failed  no result
        1 replies were not asked for
        no result for a call of `check_order`: add it to `results`
failed  too many results
        2 results of `check_order` were not asked for
failed  too many messages
        the conversation has ended before `More.`
failed  no failure
        the run has not failed
"
    );
    assert_eq!(ran.err, "0 passed, 5 failed\n");
}

#[test]
fn f45_the_golden_file_of_a_conversation_has_its_values() {
    let folder = folder();
    let tests = format!(
        "document: {}
cases: [{{ name: values, input: {{ guest: Ann }}, replies: [Hello.], golden: values.json }}]
",
        document("food_order.json")
    );
    let tests = file(&folder, "golden.test.yaml", &tests);
    petalflow!("test {tests} --update").code(0);
    let written = std::fs::read_to_string(path(&folder, "values.json")).expect("it was written");
    assert_eq!(written, "{\n  \"guest\": \"Ann\"\n}\n");
    petalflow!("test {tests}").code(0);
}

#[test]
fn f45_the_code_of_functions_can_be_a_program() {
    let folder = folder();
    let tests = format!(
        "document: {}
cases:
  - name: a program decides
    input: {{ guest: Ann }}
    replies: [Hello., {{ calls: [{{ name: check_order }}] }}, Bye.]
    messages: [Soup.]
    ended: true
",
        document("food_order.json")
    );
    let tests = file(&folder, "program.test.yaml", &tests);
    let check = file(
        &folder,
        "check.sh",
        "read line; echo '{\"status\": \"ok\"}'",
    );
    petalflow!("test {tests} --tool \"check_order=sh '{check}'\"").code(0);
    petalflow!("test {tests} greeting.test.yaml --tool \"check_order=sh '{check}'\"").code(0);
    petalflow!("test {tests}").code(2);
}

#[test]
fn f45_tests_print_json_for_programs() {
    let folder = folder();
    let tests = format!(
        "document: {}
cases:
  - {{ name: fits, input: {{ name: Bo }}, expect: {{ greeting: 'Hello, Bo!' }} }}
  - {{ name: differs, input: {{ name: Bo }}, expect: {{ greeting: Hi, missing: 1 }} }}
  - {{ name: fails, expect: {{ greeting: Hi }} }}
",
        document("greeting.graph.json")
    );
    let tests = file(&folder, "three.test.yaml", &tests);
    let ran = petalflow!("test {tests} --json").code(2);
    assert_eq!(ran.err, "");
    let mut report = ran.json();
    let failed = report["cases"][2]["differences"].take();
    let differences = report["cases"][1]["differences"].as_array_mut();
    differences
        .expect("a list")
        .sort_by_key(|difference| difference["path"].to_string());
    assert_eq!(
        report,
        json!({
            "passed": 1,
            "failed": 2,
            "cases": [
                { "file": tests, "name": "fits", "outcome": "passed", "differences": [] },
                {
                    "file": tests,
                    "name": "differs",
                    "outcome": "failed",
                    "differences": [
                        {
                            "message": "greeting: expected \"Hi\", found \"Hello, Bo!\"",
                            "path": "greeting",
                            "expected": "Hi",
                            "found": "Hello, Bo!",
                        },
                        { "message": "missing: expected 1, found nothing", "path": "missing", "expected": 1 },
                    ],
                },
                { "file": tests, "name": "fails", "outcome": "failed", "differences": null },
            ],
        })
    );
    let message = failed[0]["message"].as_str().expect("a text");
    assert!(
        message.contains("name") && failed[0].get("path").is_none(),
        "{failed}"
    );
    let chosen = petalflow!("test {tests} --json --filter fits")
        .code(0)
        .json();
    assert_eq!(
        (&chosen["passed"], &chosen["failed"]),
        (&json!(1), &json!(0))
    );
    // What is wrong with the command itself is a line, as of other commands.
    let wrong = petalflow!("test {tests} --json --filter nothing")
        .code(4)
        .json();
    assert_eq!(
        (&wrong["event"], &wrong["exit"]),
        (&json!("error"), &json!(4))
    );
}

#[test]
fn f45_a_case_of_another_kind_of_document_is_an_error() {
    let folder = folder();
    for (document_name, case, message) in [
        (
            "greeting.graph.json",
            "messages: [a], fails: b",
            "`messages`, which is for conversation flows",
        ),
        (
            "greeting.graph.json",
            "ended: true",
            "`ended`, which is for conversation flows",
        ),
        (
            "food_order.json",
            "answers: [a], ended: true",
            "`answers`, which is for graphs",
        ),
        (
            "food_order.json",
            "results: { chek: 1 }, ended: true",
            "no function `chek`",
        ),
    ] {
        let tests = format!(
            "document: {}\ncases: [{{ name: x, {case} }}]",
            document(document_name)
        );
        let tests = file(&folder, "wrong.test.yaml", &tests);
        let ran = petalflow!("test {tests}").code(4);
        assert!(ran.err.contains(message), "{}", ran.err);
    }
}
