//! The prebuilt flows.

use std::sync::Arc;

use petalflow::RunError;
use petalflow::checkpoint::InMemoryStore;
use petalflow::event::EventKind;
use petalflow::prelude::*;
use petalflow::run::RunErrorKind;
use petalflow_agent::Agent;
use petalflow_agent::prebuilt::{
    AskExpert, DecisionEvent, ReadDocuments, ReadingInput, Reflect, ReflectionInput, Supervise,
    Team, ThinkAndAct,
};
use petalflow_llm::nodes::Model;
use petalflow_llm::{ChatMessage, LlmError, LlmErrorKind, Reply, ScriptedModel};
use serde_json::json;

fn scripted_model<R: Into<Reply>>(replies: impl IntoIterator<Item = R>) -> Model {
    Model::new(ScriptedModel::new(replies))
}

fn agent(answer: &str) -> Agent {
    Agent::new(ScriptedModel::new([answer]))
}

/// What is decided in a run: the node, the attempt, and what.
async fn decisions<F: Flow>(run: petalflow::Run<F>) -> Vec<(String, u32, DecisionEvent)> {
    let mut events = run.events();
    let mut decided = Vec::new();
    while let Some(event) = events.next().await {
        if let EventKind::Custom(custom) = &event.kind
            && let Some(what) = custom.downcast_ref::<DecisionEvent>()
        {
            let task = event.task.as_ref().expect("a node decides");
            decided.push((task.node.to_string(), task.attempt, what.clone()));
        }
    }
    decided
}

fn failure(error: &RunError) -> String {
    match error.kind() {
        RunErrorKind::Node(error) => format!("{}: {}", error.node, error.message),
        other => panic!("a node fails, not the run: {other:?}"),
    }
}

/// Counts letters.
#[tool]
fn count(
    /// In what.
    word: String,
) -> usize {
    word.len()
}

#[tokio::test]
async fn react_calls_tools_until_it_answers() {
    let model = scripted_model([
        Reply::call("count", json!({ "word": "tulip" })),
        Reply::call("count", json!({ "word": "rose" })).and_call("count", json!({ "wrong": 1 })),
        "5 and 4.".into(),
    ]);
    let launch = ThinkAndAct::new().manage(model).manage(tools![count]);
    let talk = launch
        .run(vec![ChatMessage::user("?")])
        .await
        .expect("it answers");
    assert_eq!(talk.answer(), "5 and 4.");
    let errors = talk.messages.iter().flat_map(ChatMessage::tool_results);
    let errors: Vec<_> = errors.map(|result| result.is_error).collect();
    assert_eq!(errors, [false, false, true]);
}

#[tokio::test]
async fn react_without_an_answer_reaches_the_limit() {
    let model = Model::new(ScriptedModel::from_fn(|_| {
        Reply::call("count", json!({ "word": "a" }))
    }));
    let launch = ThinkAndAct::new()
        .manage(model)
        .manage(tools![count])
        .limit(20);
    let error = launch
        .run(vec![ChatMessage::user("?")])
        .await
        .expect_err("it goes round");
    assert!(
        matches!(error.kind(), RunErrorKind::Limit { .. }),
        "{error}"
    );
}

#[tokio::test]
async fn react_resumes_after_a_crash() {
    let down = LlmError::new(LlmErrorKind::Connection, "the cable is out");
    let model = Arc::new(ScriptedModel::new([
        Reply::call("count", json!({ "word": "tulip" })),
        down.into(),
        "5.".into(),
    ]));
    let store = InMemoryStore::new();
    let launch = ThinkAndAct::new()
        .manage(Model::new(Arc::clone(&model)))
        .manage(tools![count]);
    let thread = launch.launch().store(&store).thread("t");
    thread
        .run(vec![ChatMessage::user("?")])
        .await
        .expect_err("the model is away");
    let talk = thread
        .resume(())
        .await
        .expect("it goes on")
        .into_finished()
        .expect("it ends");
    assert_eq!(talk.answer(), "5.");
    assert_eq!(
        (talk.messages.len(), model.requests().len()),
        (4, 3),
        "the tool was not called again"
    );
}

#[tokio::test]
async fn a_supervisor_delegates_work_and_gets_the_results() {
    let model = Arc::new(ScriptedModel::new([
        r#"{ "next": "ghost", "text": "haunt" }"#,
        r#"{ "next": "writer", "text": "Write." }"#,
        r#"{ "next": "critic", "text": "Read." }"#,
        r#"{ "next": "finish", "text": "A poem." }"#,
    ]));
    let team = Team::new()
        .member("writer", "writes", agent("Roses are red."))
        .member("critic", "reads", agent("Fine."));
    let launch = Supervise::new()
        .manage(Model::new(Arc::clone(&model)))
        .manage(team);
    let project = launch.run("A poem!".to_string()).await.expect("it is done");
    assert_eq!(project.result, "A poem.");
    let answers: Vec<_> = project
        .notes
        .iter()
        .map(|note| (note.member.as_str(), note.answer.as_str()))
        .collect();
    assert_eq!(
        answers,
        [
            (
                "ghost",
                "there is no `ghost`; choose one of: writer, critic, or `finish`"
            ),
            ("writer", "Roses are red."),
            ("critic", "Fine.")
        ]
    );
    let last = model
        .requests()
        .pop()
        .and_then(|request| request.input_text)
        .expect("it is asked");
    assert!(
        last.contains("- writer: writes")
            && last.contains("writer (instructions: Write.): Roses are red."),
        "{last}"
    );
}

#[tokio::test]
async fn an_invalid_decision_goes_back_to_the_model_twice_and_then_fails_the_node() {
    let finish = r#"{ "next": "finish", "text": "A poem." }"#;
    let model = ScriptedModel::new(["I think the writer.", "The writer!", finish]);
    let launch = Supervise::new()
        .manage(Model::new(model.clone()))
        .manage(Team::new());
    let project = launch.run("A poem!".to_string()).await.expect("it decides");
    assert_eq!(project.result, "A poem.");
    let asked = model.last_request().unwrap().transcript();
    assert_eq!(asked.len(), 5, "{asked:?}");
    assert_eq!(asked[1], "assistant: I think the writer.");
    assert!(
        asked[4].starts_with("user: Your answer does not have the requested form: expected value")
    );

    let launch = Supervise::new()
        .manage(scripted_model(["I think the writer."; 3]))
        .manage(Team::new());
    let error = launch
        .run("A poem!".to_string())
        .await
        .expect_err("it is not a decision");
    let error = failure(&error);
    let begins = "assign: the model `scripted` was asked for a decision and answered 3 times with something else: expected";
    assert!(error.starts_with(begins), "{error}");
    assert!(
        error.ends_with("its last answer is `I think the writer.`"),
        "{error}"
    );
}

#[tokio::test]
async fn reflection_ends_with_the_critic_or_the_last_draft() {
    let no = r#"{ "accept": false, "advice": "shorter" }"#;
    let model = Arc::new(ScriptedModel::new(["one", no, "two", no, "three"]));
    let input = ReflectionInput {
        task: "Write.".into(),
        ..ReflectionInput::default()
    };
    let launch = Reflect::new().manage(Model::new(Arc::clone(&model)));
    let text = launch.run(input).await.expect("it ends");
    assert_eq!(
        (text.draft.as_str(), text.drafts, text.criticism.len()),
        ("three", 3, 2)
    );
    let asked = model
        .requests()
        .pop()
        .and_then(|request| request.input_text)
        .expect("it is asked");
    assert_eq!(
        asked,
        "Write.\n\nYour last draft:\ntwo\n\nWhat should be better:\nshorter"
    );
}

#[tokio::test]
async fn a_question_goes_to_the_chosen_expert() {
    let team = || {
        Team::new().member("billing", "money", agent("42.")).member(
            "support",
            "help",
            agent("Off and on."),
        )
    };
    let picked = |name: &str| scripted_model([json!({ "name": name, "reason": "so" }).to_string()]);
    for (name, expert, answer) in [
        (" Billing", Some("billing"), "42."),
        ("nobody", None, ""),
        ("ghost", None, ""),
    ] {
        let launch = AskExpert::new().manage(picked(name)).manage(team());
        let inquiry = launch.run("How much?".to_string()).await.expect("it ends");
        assert_eq!(inquiry.expert.map(|choice| choice.name).as_deref(), expert);
        assert_eq!(inquiry.answer, answer);
    }
}

#[tokio::test]
async fn documents_are_read_in_parallel_and_joined_in_order() {
    let model = Arc::new(ScriptedModel::from_fn(|request| {
        let text = request.input_text.clone().unwrap_or_default();
        text.lines().last().unwrap_or_default().to_uppercase()
    }));
    let launch = ReadDocuments::new().manage(Model::new(Arc::clone(&model)));
    let documents = ["a", "b", "c"].map(String::from).to_vec();
    let input = ReadingInput {
        question: "What?".into(),
        documents,
    };
    let reading = launch.clone().run(input).await.expect("it is read");
    assert_eq!(reading.findings, ["A", "B", "C"]);
    assert_eq!(reading.answer, "[3] C");
    assert_eq!(model.requests().len(), 4);
    let none = ReadingInput {
        question: "What?".into(),
        documents: Vec::new(),
    };
    let reading = launch.run(none).await.expect("nothing is read");
    assert!(reading.findings.is_empty());
}

#[tokio::test]
async fn a_decision_is_emitted_with_the_node_and_the_attempt() {
    let model = scripted_model([
        r#"{ "next": "writer", "text": "Write." }"#,
        r#"{ "next": "finish", "text": "A poem." }"#,
    ]);
    let team = || Team::new().member("writer", "writes", agent("Roses are red."));
    let launch = Supervise::new().manage(model).manage(team());
    let work = DecisionEvent::Work {
        member: "writer".into(),
        instructions: "Write.".into(),
    };
    let finish = DecisionEvent::Finish {
        result: "A poem.".into(),
    };
    assert_eq!(
        decisions(launch.run("A poem!".to_string())).await,
        [("assign".into(), 1, work), ("assign".into(), 1, finish)]
    );

    let no = r#"{ "accept": false, "advice": "shorter" }"#;
    let yes = r#"{ "accept": true, "advice": "" }"#;
    let input = |max_drafts| ReflectionInput {
        task: "Write.".into(),
        max_drafts,
    };
    let revise = || DecisionEvent::Revise {
        draft: 1,
        advice: "shorter".into(),
    };
    let heard = |model, most| async move {
        let launch = Reflect::new().manage(model);
        let decided = decisions(launch.run(input(most))).await;
        let decided = decided.into_iter().map(|(node, _, what)| (node, what));
        decided.collect::<Vec<_>>()
    };
    assert_eq!(
        heard(scripted_model(["one", no, "two", yes]), 3).await,
        [
            ("criticize".into(), revise()),
            ("criticize".into(), DecisionEvent::Accept { draft: 2 })
        ]
    );
    assert_eq!(
        heard(scripted_model(["one", no, "two"]), 2).await[1].1,
        DecisionEvent::LastDraft { draft: 2 }
    );

    for (name, what) in [
        (
            "Writer",
            DecisionEvent::Expert {
                name: "writer".into(),
                reason: "so".into(),
            },
        ),
        (
            "ghost",
            DecisionEvent::NoExpert {
                reason: "so".into(),
            },
        ),
    ] {
        let model = scripted_model([json!({ "name": name, "reason": "so" }).to_string()]);
        let launch = AskExpert::new().manage(model).manage(team());
        let decided = decisions(launch.run("How?".to_string())).await;
        assert_eq!(decided, [("choose".into(), 1, what)]);
    }
}
