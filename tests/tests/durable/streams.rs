//! Some of a run's events: what the field calls stream modes.

use futures_util::StreamExt as _;
use petalflow::Event;
use petalflow::checkpoint::InMemoryStore;
use petalflow::event::EventKind;
use petalflow::interrupt::Ask;
use petalflow::prelude::*;
use serde::{Deserialize, Serialize};

use crate::support::{Log, LogXs, appending, flow_and_graph, list, run_both};

appending! { a b }

#[state]
#[derive(Clone, Debug, PartialEq)]
struct Talk {
    #[key(default)]
    robot_input: String,
    #[key(default)]
    human_input: String,
}

#[derive(Serialize, Deserialize)]
struct Interrupt;

impl Ask for Interrupt {
    type Answer = String;
    const NAME: &'static str = "interrupt";
}

#[node(Talk)]
async fn robot() -> TalkRobotInput {
    TalkRobotInput("beep boop i am a robot".into())
}

#[node(Talk)]
async fn human(cx: Context) -> petalflow::Result<TalkHumanInput> {
    Ok(TalkHumanInput(cx.ask(Interrupt).await?))
}

flow_and_graph!(Talking(Talk) { robot -> human } nodes: robot, human);

/// The modes that an event is in, and its text.
fn line(event: &Event<Talk>) -> String {
    let node = event.node().unwrap_or_default();
    match &event.kind {
        EventKind::NodeFinished { .. } => format!("updates {node}"),
        EventKind::Values { state } => {
            format!(
                "values {:?}",
                (state.robot_input.len(), state.human_input.len())
            )
        }
        EventKind::Interrupted {
            interrupts, state, ..
        } => {
            let known = (state.robot_input.len(), state.human_input.len());
            format!(
                "updates and values {known:?} interrupt {}",
                interrupts.len()
            )
        }
        _ => String::new(),
    }
}

#[tokio::test]
async fn c72_questions_in_updates_and_values() {
    run_both!(Talking, |launch| {
        let thread = launch.store(&InMemoryStore::new()).thread("t");
        let lines = |event: Event<Talk>| {
            std::future::ready(Some(line(&event)).filter(|line| !line.is_empty()))
        };
        let run = thread.run(()).events().with_values();
        let run: Vec<_> = run.filter_map(lines).collect().await;
        // LangGraph's fourth is its third once more, in the other mode.
        assert_eq!(
            run,
            [
                "updates robot",
                "values (22, 0)",
                "updates and values (22, 0) interrupt 1"
            ]
        );
        let asked = thread.snapshot().await.unwrap().unwrap().interrupts;
        let answer = asked[0].answer::<Interrupt>("i am a human".into()).unwrap();
        let resume: Vec<_> = thread
            .resume(answer)
            .events()
            .with_values()
            .filter_map(lines)
            .collect()
            .await;
        assert_eq!(
            resume,
            ["values (22, 0)", "updates human", "values (22, 12)"]
        );
        (run, resume)
    });
}

#[node(Log)]
async fn reports(cx: Context) -> petalflow::Result<LogXs> {
    cx.emit("half");
    Ok(LogXs(list(["reports"])))
}

#[node(Log)]
async fn fails() -> petalflow::Result<()> {
    Err("broken".into())
}

flow_and_graph!(Modes(Log) { a -> reports -> b } nodes: a, reports, b);
flow_and_graph!(Broken(Log) { a -> fails } nodes: a, fails);

fn names<S: State>(events: &[Event<S>]) -> Vec<&'static str> {
    events.iter().map(|event| event.kind.name()).collect()
}

#[tokio::test]
async fn each_mode_is_a_part_of_the_full_stream() {
    run_both!(Modes, |launch| {
        let events = || launch.clone().run(list(["i"])).events();
        let updates: Vec<_> = events().updates().collect().await;
        let nodes: Vec<_> = updates.iter().filter_map(Event::node).collect();
        assert_eq!(nodes, ["a", "reports", "b"]);
        let values: Vec<_> = events().values().collect().await;
        let lengths: Vec<_> = values
            .iter()
            .map(|event| match &event.kind {
                EventKind::Values { state } => (event.superstep, state.xs.len()),
                _ => panic!("{event:?}"),
            })
            .collect();
        assert_eq!(lengths, [(0, 1), (1, 2), (2, 3), (3, 4)]);
        let custom: Vec<_> = events().custom().collect().await;
        assert!(matches!(&custom[..], [event] if event.node() == Some("reports")));
        let tasks: Vec<_> = events().tasks().collect().await;
        assert_eq!(names(&tasks), ["node_started", "node_finished"].repeat(3));
        assert!(
            events().checkpoints().next().await.is_none(),
            "there is no thread"
        );
        let thread = launch.store(&InMemoryStore::new()).thread("t");
        let made: Vec<_> = thread.run(list([])).events().checkpoints().collect().await;
        let made: Vec<_> = made
            .iter()
            .map(|event| match event.kind {
                EventKind::Checkpoint { checkpoint } => checkpoint,
                _ => panic!("{event:?}"),
            })
            .collect();
        assert_eq!(made, [0, 1, 2, 3]);
        lengths
    });
}

#[tokio::test]
async fn a_failure_is_reported_in_every_mode() {
    run_both!(Broken, |launch| {
        let events = || launch.clone().run(list([])).events();
        for modes in [
            events().updates(),
            events().values(),
            events().custom(),
            events().checkpoints(),
        ] {
            let events: Vec<_> = modes.collect().await;
            assert_eq!(names(&events).last(), Some(&"failed"));
        }
    });
}

#[tokio::test]
async fn the_state_is_copied_only_on_request() {
    // `Plain` cannot even be copied.
    #[state]
    struct Plain {
        #[key(append)]
        xs: Vec<String>,
    }

    #[node(Plain)]
    async fn only() -> PlainXs {
        PlainXs(vec!["x".into()])
    }

    flow!(Once(Plain) { only });

    let events: Vec<_> = Once::run(()).events().collect().await;
    assert!(names(&events).iter().all(|name| *name != "values"));
}

#[state]
#[derive(Clone, Debug, PartialEq)]
struct Job {
    #[key(input)]
    given: String,
    #[key(default)]
    whole: String,
}

/// A functional run: one node that reports each of its steps once.
#[node(Job)]
async fn graph(given: &str, cx: Context) -> petalflow::Result<JobWhole> {
    type Step = petalflow::Result<(String, String)>;
    let step = async |name: &str, text: String, with: &str| -> Step {
        let done = cx
            .once(name, async {
                Ok::<_, petalflow::BoxError>((text + name, with.to_string()))
            })
            .await?;
        cx.emit((name.to_string(), done.clone()));
        Ok(done)
    };
    let first = step("foo", given.to_string(), "bar").await?;
    let second = step("bar", first.0, "bark").await?;
    let third = step("baz", second.0, "something else").await?;
    Ok(JobWhole(format!("{} {}", third.0, third.1)))
}

flow_and_graph!(Functional(Job) { graph } nodes: graph);

#[tokio::test]
async fn c99_a_functional_run_reports_each_step_and_then_the_result() {
    run_both!(Functional, |launch| {
        let thread = launch.store(&InMemoryStore::new()).thread("t");
        let events = thread.run("0".to_string()).events();
        let told = events.filter_map(|event| {
            std::future::ready(match event.kind {
                EventKind::Custom(custom) => Some(custom.to_string()),
                EventKind::NodeFinished { update, .. } => {
                    Some(format!("graph {:?}", update.of::<JobWhole>().only()))
                }
                _ => None,
            })
        });
        let told: Vec<_> = told.collect().await;
        assert_eq!(
            told,
            [
                r#"["foo",["0foo","bar"]]"#,
                r#"["bar",["0foobar","bark"]]"#,
                r#"["baz",["0foobarbaz","something else"]]"#,
                r#"graph Some("0foobarbaz something else")"#,
            ]
        );
        told
    });
}

#[state]
#[derive(Clone, Debug, PartialEq)]
struct Chapter {
    #[key(append)]
    lines: Vec<String>,
}

#[node(Chapter)]
async fn draft() -> ChapterLines {
    ChapterLines(list(["draft"]))
}

#[node(Chapter)]
async fn polish() -> ChapterLines {
    ChapterLines(list(["polish"]))
}

/// A state that is not `Clone`, between two that are. It is copied key by key.
#[state]
struct Section {
    #[key(default)]
    lines: usize,
}

flow!(WriteChapter(Chapter) { draft -> polish });
flow! {
    WriteSection(Section) {
        node chapter: WriteChapter { in: || (), out: |chapter: Chapter| SectionLines(chapter.lines.len()) };
        chapter;
    }
}

flow_and_graph! {
    Book(Log) {
        node section: WriteSection { in: || (), out: |section: Section| LogXs(vec![section.lines.to_string()]) };
        a -> section;
    }
    nodes: a, section = |b| b.subflow("section", WriteSection, |_: &Log| ().into(), |section: Section| LogXs(vec![section.lines.to_string()]))
}

#[tokio::test]
async fn c81_the_values_of_subflows_are_reported_under_their_namespace() {
    run_both!(Book, |launch| {
        let lines = |event: Event<Log>| {
            let told = match (&event.kind, event.nested::<Chapter>()) {
                (EventKind::Values { state }, _) => state.xs.join(" "),
                (_, Some(inner)) => match &inner.kind {
                    EventKind::Values { state } => state.lines.join(" "),
                    kind => kind.name().into(),
                },
                _ => match event.nested::<Section>().map(|inner| &inner.kind) {
                    Some(EventKind::Values { state }) => format!("{} lines", state.lines),
                    _ => panic!("{event:?}"),
                },
            };
            std::future::ready(format!("{} `{}` {told}", event.superstep, event.namespace))
        };
        let expected = [
            "0 `` i",
            "1 `` i a",
            "1 `section/chapter` draft",
            "2 `section/chapter` draft polish",
            "1 `section` 2 lines",
            "2 `` i a 2",
        ];
        let run = launch.clone().run(list(["i"])).events().values();
        let unstored: Vec<_> = run.then(lines).collect().await;
        assert_eq!(unstored, expected);
        let thread = launch.clone().store(&InMemoryStore::new()).thread("t");
        let stored = thread.run(list(["i"])).events().values();
        assert_eq!(stored.then(lines).collect::<Vec<_>>().await, expected);
        // Without the mode for states there are none, of subflows neither.
        let all: Vec<_> = launch.run(list(["i"])).events().collect().await;
        let states = all.iter().filter(|event| match &event.kind {
            EventKind::Nested(nested) => nested.name() == "values",
            kind => kind.name() == "values",
        });
        assert_eq!(states.count(), 0);
        unstored
    });
}
