//! Questions that are asked, answered and asked no more.

use petalflow::interrupt::{Ask, Resume};
use petalflow::prelude::*;
use petalflow::thread::Durability;
use petalflow_testing::{FaultKind, crashes};
use serde::{Deserialize, Serialize};

use crate::support::{expect_finished, list};

#[derive(Serialize, Deserialize, Debug)]
struct Confirm {
    what: String,
}

impl Ask for Confirm {
    type Answer = String;
    const NAME: &'static str = "confirm";

    fn key(&self) -> String {
        self.what.clone()
    }
}

fn confirm(what: &str) -> Confirm {
    Confirm { what: what.into() }
}

#[expect(clippy::needless_pass_by_value, reason = "as the kit calls it")]
fn person(asked: Confirm) -> String {
    format!("yes to {}", asked.what)
}

#[state]
#[derive(Clone, Debug, PartialEq)]
struct Talk {
    #[key(input, append)]
    topics: Vec<String>,
    #[key(append)]
    answers: Vec<String>,
    #[key(ephemeral, default)]
    hint: Option<String>,
    #[key(ephemeral, append)]
    whispers: Vec<String>,
}

#[node(Talk)]
async fn hint(topics: &[String]) -> (TalkHint, TalkWhispers) {
    (
        TalkHint(topics.last().cloned()),
        TalkWhispers(list(["psst"])),
    )
}

#[node(Talk)]
async fn left(
    hint: &Option<String>,
    whispers: &[String],
    cx: Context,
) -> petalflow::Result<TalkAnswers> {
    let one = cx.ask(confirm("left")).await?;
    let done = cx
        .once("note", async { Ok::<_, petalflow::BoxError>(1) })
        .await?;
    let two = cx.ask(confirm("left again")).await?;
    Ok(TalkAnswers(vec![format!(
        "{one}, {two}, {done}, {hint:?}, {whispers:?}"
    )]))
}

#[node(Talk)]
async fn right(hint: &Option<String>, cx: Context) -> petalflow::Result<TalkAnswers> {
    let one = cx.ask(confirm("right")).await?;
    Ok(TalkAnswers(vec![format!("{one}, {hint:?}")]))
}

#[node(Talk)]
async fn silent() -> TalkAnswers {
    TalkAnswers(list(["silent"]))
}

#[node(Talk)]
async fn close(answers: &[String], hint: &Option<String>) -> TalkAnswers {
    TalkAnswers(vec![format!(
        "closed after {} with {hint:?}",
        answers.len()
    )])
}

flow!(Parallel(Talk) {
    hint -> left & right & silent;
    left & right & silent -> close;
});

#[tokio::test]
async fn questions_of_concurrent_nodes() {
    crashes(Parallel::new, || list(["petals"]))
        .turn(|| list(["roses"]))
        .answer::<Confirm>(person)
        .check()
        .await;
}

#[tokio::test]
async fn one_answer_at_a_time() {
    crashes(Parallel::new, || list(["petals"]))
        .answers(|interrupts| {
            let Some(first) = interrupts.first() else {
                return Resume::new();
            };
            let asked = first
                .question::<Confirm>()
                .expect("it asks for nothing else");
            first
                .answer::<Confirm>(person(asked))
                .expect("a text can be stored")
                .into()
        })
        .check()
        .await;
}

#[tokio::test]
async fn an_answer_with_an_update() {
    crashes(Parallel::new, || list(["petals"]))
        .answers(|interrupts| {
            let asked = interrupts.iter().filter_map(|interrupt| {
                interrupt
                    .answer::<Confirm>(person(interrupt.question()?))
                    .ok()
            });
            let resume = Resume::from(asked.collect::<Vec<_>>());
            resume.update(TalkAnswers(vec![format!("{} answers", interrupts.len())]))
        })
        .check()
        .await;
}

#[node(Talk)]
async fn spread(topics: &[String]) -> Each<String> {
    Each(topics.to_vec())
}

#[node(Talk)]
async fn each_one(#[item] topic: &str, cx: Context) -> petalflow::Result<TalkAnswers> {
    Ok(TalkAnswers(vec![cx.ask(confirm(topic)).await?]))
}

flow!(Items(Talk) { spread -> each each_one; each_one -> close });

#[tokio::test]
async fn questions_by_item() {
    crashes(Items::new, || list(["a", "b", "c"]))
        .answer::<Confirm>(person)
        .check()
        .await;
}

#[state]
#[derive(Clone, Debug, PartialEq)]
struct Outer {
    #[key(input, append)]
    log: Vec<String>,
}

#[node(Outer)]
async fn beside() -> OuterLog {
    OuterLog(list(["beside"]))
}

#[node(Outer)]
async fn asks(cx: Context) -> petalflow::Result<OuterLog> {
    Ok(OuterLog(vec![cx.ask(confirm("outer")).await?]))
}

#[node(Outer)]
async fn last(log: &[String]) -> OuterLog {
    OuterLog(vec![format!("last {}", log.len())])
}

flow!(Nested(Outer) {
    node inner: Parallel { in: |log: &[String]| log.to_vec(), out: |talk: Talk| OuterLog(talk.answers) };
    START -> inner & asks & beside;
    inner & asks & beside -> last;
});

#[tokio::test]
async fn questions_of_nested_flows() {
    crashes(Nested::new, || list(["petals"]))
        .answer::<Confirm>(person)
        .check()
        .await;
    crashes(Nested::new, || list(["petals"]))
        .answer::<Confirm>(person)
        .kinds([FaultKind::KilledAfter])
        .durabilities([Durability::Sync])
        .twice()
        .check()
        .await;
}

#[tokio::test]
async fn a_turn_after_an_unanswered_question() {
    use petalflow::checkpoint::InMemoryStore;
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        let store = InMemoryStore::new();
        let thread = Items::new()
            .store(&store)
            .durability(durability)
            .thread("t");
        let outcome = thread.run(list(["a"])).await.unwrap();
        assert_eq!(outcome.interrupts().len(), 1);
        assert_eq!(
            thread.snapshot().await.unwrap().unwrap().interrupts.len(),
            1,
            "{durability:?}"
        );
        let turn = thread.run(list(["b"])).discard_pending();
        let outcome = turn.await.unwrap();
        assert_eq!(outcome.interrupts().len(), 2, "{durability:?}");
        let answers: Vec<_> = outcome
            .interrupts()
            .iter()
            .map(|interrupt| {
                interrupt
                    .answer::<Confirm>(person(interrupt.question().unwrap()))
                    .unwrap()
            })
            .collect();
        let talk = expect_finished(thread.resume(answers)).await;
        assert_eq!(
            talk.answers,
            ["yes to a", "yes to b", "closed after 2 with None"]
        );
    }
}
