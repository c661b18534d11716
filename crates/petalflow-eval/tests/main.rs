//! Evaluations of agents.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use petalflow::checkpoint::InMemoryStore;
use petalflow::thread::Retention;
use petalflow::tool::FuncTool;
use petalflow_agent::Agent;
use petalflow_eval::{
    Case, CaseRun, Evaluation, Report, cases_from_adk, cases_from_json, cases_from_yaml, scorer,
};
use petalflow_llm::{LlmRequest, Reply, ScriptedModel};
use petalflow_testing::Replay;
use serde_json::{Value, json};

/// An agent that answers with these, and has tools that return nothing.
fn agent(replies: impl IntoIterator<Item = impl Into<Reply>>) -> Agent {
    let tool = |name: &str| FuncTool::new(name, "A tool.", |_: Value| async { Ok("done") });
    Agent::new(ScriptedModel::new(replies))
        .tool(tool("a"))
        .tool(tool("b"))
        .tool(tool("c"))
}

/// The means of the scorers of the only case.
fn means(report: &Report) -> Vec<f64> {
    report.cases[0]
        .scorers
        .iter()
        .map(|scorer| scorer.mean)
        .collect()
}

#[tokio::test]
async fn scorers_of_text_compare_the_answer() {
    for (answer, output, expected) in [
        ("Paris", "Paris", [1.0, 1.0, 1.0]),
        (" Paris\n", "Paris ", [1.0, 0.0, 0.0]),
        ("It is paris.", "Paris", [0.0, 1.0, 0.0]),
        ("It is Paris.", "^It is \\w+\\.$", [0.0, 0.0, 1.0]),
    ] {
        let case = Case::new("x").turn("?", |turn| turn.output(output));
        let evaluation = Evaluation::new([case])
            .scorer(scorer::exact())
            .scorer(scorer::contains())
            .scorer(scorer::matches());
        let report = evaluation.run(|_| Ok(agent([answer]))).await;
        assert_eq!(means(&report), expected, "{answer} {output}");
    }
}

#[tokio::test]
async fn fields_of_json_are_compared_within_objects() {
    let wanted = json!({"name": "rose", "size": {"cm": 1, "in": 2}, "tags": ["a", "b"]});
    for (answer, mean) in [
        (json!({"name": "rose", "size": {"cm": 1.0, "in": 2, "more": 3}, "tags": ["a", "b"], "x": 1}).to_string(), 1.0),
        (format!("```json\n{}\n```", json!({"name": "rose", "size": {"cm": 1}, "tags": ["b", "a"]})), 0.5),
        ("a rose".to_string(), 0.0),
    ] {
        let case = Case::new("x").turn("?", |turn| turn.json(wanted.clone()));
        let report = Evaluation::new([case]).scorer(scorer::json_fields()).run(|_| Ok(agent([answer.clone()]))).await;
        assert_eq!(means(&report), [mean], "{report}");
    }
}

#[tokio::test]
async fn calls_are_compared_in_order_in_any_order_and_exactly() {
    let calls = |names: &str| {
        let calls = names
            .chars()
            .map(|name| Reply::call(name.to_string(), json!({"n": 1, "m": 2})));
        calls.chain(["done".into()]).collect::<Vec<_>>()
    };
    for (made, wanted, expected) in [
        ("abc", "abc", [1.0, 1.0, 1.0]),
        ("abc", "ac", [1.0, 1.0, 0.0]),
        ("cab", "abc", [2.0 / 3.0, 1.0, 0.0]),
        ("bcab", "abb", [2.0 / 3.0, 1.0, 0.0]),
        ("a", "bb", [0.0, 0.0, 0.0]),
        ("", "a", [0.0, 0.0, 0.0]),
        ("a", "", [0.0, 0.0, 0.0]),
        ("", "", [1.0, 1.0, 1.0]),
    ] {
        let case = Case::new("x").turn("?", |turn| {
            let turn = turn.no_calls();
            wanted.chars().fold(turn, |turn, name| {
                turn.call(name.to_string(), json!({"n": 1}))
            })
        });
        let evaluation = Evaluation::new([case])
            .scorer(scorer::calls_in_order())
            .scorer(scorer::calls_in_any_order())
            .scorer(scorer::exact_calls());
        let report = evaluation.run(|_| Ok(agent(calls(made)))).await;
        assert_eq!(means(&report), expected, "{made} {wanted}\n{report}");
    }
    let case = Case::new("x").turn("?", |turn| turn.any_call("a").call("a", json!({"n": 1})));
    let evaluation = Evaluation::new([case]).scorer(scorer::calls_in_any_order());
    let call = |n: u32| Reply::call("a", json!({ "n": n }));
    let report = evaluation.run(|_| Ok(agent([call(1), call(2), "done".into()])));
    report.await.assert_passed();
}

#[tokio::test]
async fn a_scorer_skips_turns_without_its_expectation() {
    let case = Case::new("x")
        .turn("hello", |turn| turn)
        .turn("bye", |turn| turn.output("bye"));
    let evaluation = Evaluation::new([case])
        .scorer(scorer::exact())
        .scorer(scorer::exact_calls());
    let report = evaluation.run(|_| Ok(agent(["whatever", "bye"]))).await;
    assert_eq!(report.cases[0].scores.len(), 1);
    assert_eq!((report.cases[0].scores[0].turn, report.passed()), (2, true));
}

#[tokio::test]
async fn turns_are_one_conversation_with_the_state_of_the_case() {
    let model = || {
        ScriptedModel::from_fn(|request: &LlmRequest| {
            format!(
                "{} {}",
                request.system.clone().unwrap_or_default(),
                request.messages.len()
            )
        })
    };
    let case = Case::new("x")
        .state("name", "Ann")
        .turn("1", |turn| turn.output("Ann 1"))
        .turn("2", |turn| turn.output("Ann 3"));
    let report = Evaluation::new([case]).scorer(scorer::exact());
    report
        .run(|_| Ok(Agent::new(model()).instructions("{name}")))
        .await
        .assert_passed();
}

#[tokio::test]
async fn a_judge_scores_by_the_rubric() {
    let judge = Arc::new(ScriptedModel::new([
        "{\"reason\": \"too short\", \"score\": 0.25}",
        "no idea",
        "{\"score\": 7}",
    ]));
    let case = || {
        Case::new("x").turn("Tell me.", |turn| {
            turn.rubric("It is long.").output("a long text")
        })
    };
    let run = |judge: &Arc<ScriptedModel>| {
        let evaluation =
            Evaluation::new([case()]).scorer_at_least(scorer::judged(Arc::clone(judge)), 0.2);
        evaluation.run(|_| Ok(agent(["Yes."])))
    };
    let report = run(&judge).await;
    report.assert_passed();
    assert_eq!(report.cases[0].scores[0].reason, "too short");
    let asked = judge.requests()[0].input_text.clone().unwrap();
    for part in ["It is long.", "Tell me.", "a long text", "Yes."] {
        assert!(asked.contains(part), "{asked}");
    }
    for expected in [
        "did not answer with a reason and a score",
        "which is not from 0 to 1",
    ] {
        let report = run(&judge).await;
        assert!(
            !report.passed() && report.cases[0].errors[0].contains(expected),
            "{report}"
        );
    }
}

#[tokio::test]
async fn similarity_is_the_cosine_of_the_embeddings() {
    let case = Case::new("x").turn("?", |turn| turn.output("bb"));
    let letters = scorer::similar(|texts: Vec<String>| async move {
        let count = |text: &str, letter| text.matches(letter).map(|_| 1.0).sum::<f32>();
        Ok(texts
            .iter()
            .map(|text| vec![count(text, 'a'), count(text, 'b')])
            .collect())
    });
    let report = Evaluation::new([case])
        .scorer_at_least(letters, 0.7)
        .run(|_| Ok(agent(["ab"])))
        .await;
    report.assert_passed();
    assert!((means(&report)[0] - 0.707).abs() < 0.001);
}

#[tokio::test]
async fn repetitions_are_averaged_against_the_threshold() {
    let case = || Case::new("x").turn("?", |turn| turn.output("yes"));
    let answer = |run: CaseRun<'_>| Ok(agent([if run.repetition() == 2 { "no" } else { "yes" }]));
    let report = Evaluation::new([case()])
        .scorer_at_least(scorer::exact(), 0.6)
        .repeat(3)
        .run(answer)
        .await;
    report.assert_passed();
    let scorer = &report.cases[0].scorers[0];
    assert!((scorer.mean - 2.0 / 3.0).abs() < 1e-9 && scorer.lowest < 1e-9);
    let report = Evaluation::new([case()])
        .scorer(scorer::exact())
        .repeat(3)
        .run(answer)
        .await;
    assert!(
        report
            .to_string()
            .contains("x: exact, turn 1, repetition 2: the answer is not `yes`"),
        "{report}"
    );
}

#[tokio::test(start_paused = true)]
async fn cases_run_at_once_up_to_the_limit_and_stay_in_order() {
    let running = Arc::new(AtomicUsize::new(0));
    let most = Arc::new(AtomicUsize::new(0));
    let cases =
        (0..10).map(|number| Case::new(number.to_string()).turn("?", |turn| turn.output("yes")));
    let evaluation = Evaluation::new(cases)
        .scorer(scorer::exact())
        .concurrency(3);
    let report = evaluation
        .run(|run| {
            let (running, most) = (Arc::clone(&running), Arc::clone(&most));
            let wait = 10 - run.case().name.parse::<u64>()?;
            let slow = FuncTool::new("slow", "Waits.", move |_: Value| {
                let (running, most) = (Arc::clone(&running), Arc::clone(&most));
                async move {
                    most.fetch_max(running.fetch_add(1, SeqCst) + 1, SeqCst);
                    tokio::time::sleep(Duration::from_secs(wait)).await;
                    running.fetch_sub(1, SeqCst);
                    Ok(())
                }
            });
            Ok(agent([Reply::call("slow", json!({})), "yes".into()]).tool(slow))
        })
        .await;
    report.assert_passed();
    assert_eq!(most.load(SeqCst), 3);
    let names: Vec<&str> = report.cases.iter().map(|case| &*case.name).collect();
    assert_eq!(names, ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"]);
}

#[tokio::test]
async fn a_failed_run_is_part_of_the_report() {
    let cases =
        ["good", "bad", "worse"].map(|name| Case::new(name).turn("?", |turn| turn.output("yes")));
    let evaluation = Evaluation::new(cases)
        .name("a <b>")
        .scorer(scorer::exact())
        .pass_rate(0.3);
    let report = evaluation
        .run(|run| match &*run.case().name {
            "good" => Ok(agent(["yes"])),
            "bad" => Ok(agent(Vec::<Reply>::new())),
            _ => Err("no \"key\"".into()),
        })
        .await;
    assert!(report.passed(), "a third of the cases has passed");
    let text = report.to_string();
    assert!(
        text.contains("good    1.00       0  passed") && text.contains("1 of 3 cases passed"),
        "{text}"
    );
    assert!(
        text.contains("bad: repetition 1: ") && text.contains("worse: repetition 1: no \"key\""),
        "{text}"
    );
    let json = report.to_json();
    assert_eq!(
        (&json["passed"], &json["cases"][0]["scorers"][0]["mean"]),
        (&json!(true), &json!(1.0))
    );
    let xml = report.to_junit();
    assert!(
        xml.contains("<testsuite name=\"a &lt;b&gt;\" tests=\"3\" failures=\"2\""),
        "{xml}"
    );
    assert!(
        xml.contains("<failure message=\"repetition 1: no &quot;key&quot;\">"),
        "{xml}"
    );
}

#[tokio::test]
#[should_panic(expected = "the answer is not `yes`")]
async fn a_failed_evaluation_fails_a_test_with_its_reasons() {
    let case = Case::new("x").turn("?", |turn| turn.output("yes"));
    Evaluation::new([case])
        .scorer(scorer::exact())
        .run(|_| Ok(agent(["no"])))
        .await
        .assert_passed();
}

#[tokio::test]
async fn cassettes_record_once_for_each_case_and_repetition() {
    let folder = tempfile::tempdir().unwrap();
    let made = AtomicUsize::new(0);
    for _ in 0..2 {
        let cases = ["a/1", "b"].map(|name| Case::new(name).turn("?", |turn| turn.output("yes")));
        let evaluation = Evaluation::new(cases).scorer(scorer::exact()).repeat(2);
        let report = evaluation.run(|run| {
            let model = run.cassette(folder.path(), || {
                made.fetch_add(1, SeqCst);
                Ok(ScriptedModel::new(["yes"]))
            });
            Ok(Agent::new(model?))
        });
        report.await.assert_passed();
    }
    assert_eq!(made.load(SeqCst), 4);
    let files = std::fs::read_dir(folder.path()).unwrap();
    let mut files: Vec<_> = files
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    assert_eq!(files, ["a_1-1.json", "a_1-2.json", "b-1.json", "b-2.json"]);
}

#[test]
fn cases_are_read_from_json_and_yaml() {
    let json = cases_from_json(include_str!("data/cases.json")).unwrap();
    let yaml = cases_from_yaml(include_str!("data/cases.yaml")).unwrap();
    assert_eq!(json, yaml);
    assert_eq!((json.len(), json[1].turns.len()), (2, 2));
    assert_eq!(json[0].state["name"], "Ann");
    let error =
        |text: &str| petalflow::error::message_with_sources(&cases_from_json(text).unwrap_err());
    assert_eq!(
        error(r#"[{"name": "a", "turns": []}]"#),
        "case `a` has no turn: add one with what the user says"
    );
    let twice = r#"[{"name": "a", "input": "x"}, {"name": "a", "input": "y"}]"#;
    assert_eq!(
        error(twice),
        "two cases are called `a`: give one of them another name"
    );
    assert!(
        error(r#"[{"name": "a", "input": "x", "outputs": "y"}]"#)
            .starts_with("the cases cannot be read")
    );
}

#[test]
fn eval_sets_of_adk_are_read() {
    let cases = cases_from_adk(include_str!("data/dice.evalset.json")).unwrap();
    let expected = vec![
        Case::new("roll")
            .state("rolls", json!([]))
            .turn("Roll a die.", |turn| {
                turn.output("You rolled 4.")
                    .call("roll_die", json!({"sides": 6}))
            })
            .turn("Is it prime?", |turn| turn.output("No.").no_calls()),
        Case::new("hello").turn("Hi!", |turn| turn),
    ];
    assert_eq!(cases, expected);
    assert!(cases_from_adk("[]").is_err());
}

#[test]
fn eval_sets_of_adk_with_events_and_rubrics_are_read() {
    let cases = cases_from_adk(include_str!("data/travel.evalset.json")).unwrap();
    let expected = vec![
        Case::new("inspire")
            .state("origin", "")
            .turn("Tell me about Peru.", |turn| {
                turn.output("Peru has mountains.")
                    .call("transfer_to_agent", json!({"agent_name": "inspiration"}))
                    .call("find_places", json!({"country": "Peru"}))
                    .rubric("It names a place.\nIt is polite.")
            })
            .turn("Thanks.", |turn| turn.rubric("It is polite.")),
        Case::new("asks").turn("Book a flight.", |turn| turn.any_call("ask_for_date")),
    ];
    assert_eq!(cases, expected);
}

#[test]
fn cases_of_adk_before_eval_sets_are_read() {
    let turn = |turn: petalflow_eval::CaseTurn| {
        turn.output("You rolled 4.")
            .call("roll_die", json!({"sides": 6}))
    };
    let old = json!({
        "query": "Roll a die.",
        "expected_tool_use": [{"tool_name": "roll_die", "tool_input": {"sides": 6}}],
        "expected_intermediate_agent_responses": [],
        "reference": "You rolled 4."
    });
    let hello = json!({"query": "Hi!"});
    let turns = cases_from_adk(&json!([old, hello]).to_string()).unwrap();
    let expected = Case::new("conversation").turn("Roll a die.", turn);
    assert_eq!(turns, [expected.turn("Hi!", |turn| turn)]);

    let set = json!([
        {"name": "a", "data": [old], "initial_session": {"state": {"n": 1}, "app_name": "dice", "user_id": "u"}},
        {"name": "b", "data": [hello], "initial_session": {}}
    ]);
    let cases = cases_from_adk(&set.to_string()).unwrap();
    let a = Case::new("a").state("n", 1).turn("Roll a die.", turn);
    assert_eq!(cases, [a, Case::new("b").turn("Hi!", |turn| turn)]);
}

#[test]
fn an_eval_set_with_a_scenario_is_refused_by_name() {
    let set = json!({"eval_set_id": "s", "eval_cases": [{
        "eval_id": "CS-1",
        "conversation_scenario": {"starting_prompt": "Hello", "conversation_plan": "Ask for something."},
        "session_input": null
    }]});
    let error = cases_from_adk(&set.to_string()).unwrap_err().to_string();
    assert!(
        error.starts_with("case `CS-1` has a `conversation_scenario`"),
        "{error}"
    );
    // The editor of ADK writes an empty set first.
    let empty = json!({"eval_set_id": "s", "name": "s", "description": null, "eval_cases": []});
    assert_eq!(cases_from_adk(&empty.to_string()).unwrap(), []);
}

/// The eval sets of ADK in the test data, if it has some.
#[test]
fn eval_sets_of_the_test_data_are_read() {
    fn files(folder: &std::path::Path, found: &mut Vec<std::path::PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.to_string_lossy();
            if path.is_dir() {
                files(&path, found);
            } else if name.ends_with(".evalset.json") || name.ends_with(".test.json") {
                found.push(path);
            }
        }
    }
    let Some(folder) = petalflow_test_support::recording("adk") else {
        return;
    };
    let mut found = Vec::new();
    files(&folder, &mut found);
    if found.is_empty() {
        petalflow_test_support::skip(
            petalflow_test_support::Need::Optional,
            format_args!("no eval sets of ADK in {}", folder.display()),
        );
    }
    for file in found {
        let text = std::fs::read_to_string(&file).unwrap();
        let cases = cases_from_adk(&text);
        assert!(cases.is_ok(), "{}: {cases:?}", file.display());
    }
}

/// A thread of production runs on with another model, and both ends are scored.
#[tokio::test]
async fn f44_both_ends_of_a_replay_are_scored_and_nothing_else_is_called() {
    let looked = Arc::new(AtomicUsize::new(0));
    let shop = |replies: Vec<Reply>| {
        let (model, counted) = (ScriptedModel::new(replies), Arc::clone(&looked));
        let stock = FuncTool::new("stock", "What is there.", move |_: Value| {
            let counted = Arc::clone(&counted);
            async move { Ok(counted.fetch_add(1, SeqCst)) }
        });
        Agent::new(model).tool(stock)
    };
    let call = || Reply::call("stock", json!({ "flower": "rose" }));
    let old = shop(vec![call(), "We have tulips.".into()]);
    let threads = old
        .store(&InMemoryStore::new())
        .retention(Retention::ALL.with_results());
    let thread = threads.thread("order-7");
    let question = "Do you have roses?";
    thread.run(question).await.unwrap().into_finished().unwrap();
    let file = thread.export().await.unwrap();
    assert_eq!(looked.load(SeqCst), 1);

    let evaluation = || {
        let case = Case::new("roses").turn(question, |turn| {
            turn.output("roses")
                .call("stock", json!({ "flower": "rose" }))
        });
        let evaluation = Evaluation::new([case]).scorer(scorer::contains());
        evaluation.scorer(scorer::calls_in_order())
    };
    // The answer after the tool call is asked of another model.
    let new = shop(vec!["We have roses.".into()]);
    let replay = Replay::of_file(file.clone()).flow(new.launch());
    let ends = replay.run("ask").from(1, 5).ends().await;
    assert_eq!((ends.ran, &ends.stopped), (1, &None));
    let report = evaluation()
        .score([("recorded", ends.recorded), ("found", ends.found)])
        .await;
    let passed: Vec<_> = report
        .cases
        .iter()
        .map(|case| (&*case.name, case.passed))
        .collect();
    assert_eq!(passed, [("recorded", false), ("found", true)], "{report}");
    assert!(!report.passed());

    // Another model calls the tool with other arguments: it has no recorded result, so the turn stops there.
    let other = Reply::call("stock", json!({ "flower": "tulip" }));
    let new = shop(vec![other, "We have roses.".into()]);
    let replay = Replay::of_file(file).flow(new.launch());
    let ends = replay.run("ask").from(1, 2).ends().await;
    let stopped = ends.stopped.expect("it stops");
    assert!(
        stopped.starts_with("`call` was to run and was not named"),
        "{stopped}"
    );
    assert_eq!(ends.ran, 1);
    assert_eq!(looked.load(SeqCst), 1, "no tool was called");
}
