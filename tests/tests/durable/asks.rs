//! Questions to people.

use petalflow::checkpoint::MemoryStore;
use petalflow::interrupt::{Answer, Ask};
use petalflow::prelude::*;
use petalflow::thread::{Outcome, Threads};
use serde::{Deserialize, Serialize};

use crate::support::{both, list, twin};

#[derive(Serialize, Deserialize, Debug, PartialEq)]
struct Prompt {
    key: String,
}

impl Ask for Prompt {
    type Answer = String;
    const NAME: &'static str = "prompt";

    fn key(&self) -> String {
        self.key.clone()
    }
}

fn prompt(key: &str) -> Prompt {
    Prompt { key: key.into() }
}

#[state]
#[derive(Clone, Debug, PartialEq)]
struct Texts {
    #[key(input, append)]
    xs: Vec<String>,
}

#[node(Texts)]
async fn twice(cx: Context) -> petalflow::Result<TextsXs> {
    let a = cx.ask(prompt("1")).await?;
    let b = cx.ask(prompt("2")).await?;
    Ok(TextsXs(vec![format!("{a} {b}")]))
}

twin!(Twice(Texts) { twice } nodes: twice);

#[tokio::test]
async fn c62_a_node_runs_again_from_its_top_and_answers_are_found_by_name() {
    both!(Twice, |launch| {
        let thread = launch.store(&MemoryStore::new()).thread("t");
        let Outcome::Paused(paused) = thread.run(list(["DE"])).await.unwrap() else {
            panic!("asked nothing")
        };
        assert_eq!(paused.state.xs, ["DE"]);
        let [interrupt] = &paused.interrupts[..] else {
            panic!("{paused:?}")
        };
        assert_eq!(interrupt.question::<Prompt>(), Some(prompt("1")));
        let resume = petalflow::interrupt::Resume::new()
            .answer(interrupt.answer::<Prompt>("answer 1".into()).unwrap())
            .update(TextsXs(list(["foofoo"])));
        let outcome = thread.resume(resume).await.unwrap();
        // C64: no writes before the node returns.
        assert_eq!(outcome.state().xs, ["DE", "foofoo"]);
        assert_eq!(
            outcome.interrupts()[0].question::<Prompt>(),
            Some(prompt("2"))
        );
        let outcome = thread.answer::<Prompt>("answer 2".into()).await.unwrap();
        let texts = outcome.finished().unwrap();
        assert_eq!(texts.xs, ["DE", "foofoo", "answer 1 answer 2"]);
        texts
    });
}

#[node(Texts)]
async fn spread(xs: &[String]) -> Each<String> {
    Each(xs.to_vec())
}

#[node(Texts)]
async fn one(#[item] text: &str, cx: Context) -> petalflow::Result<TextsXs> {
    Ok(TextsXs(vec![cx.ask(prompt(text)).await?]))
}

twin!(Many(Texts) { spread -> each one } nodes: spread, one);

#[tokio::test]
async fn c67_c68_several_questions_are_answered_by_id_and_keep_their_order() {
    both!(Many, |launch| {
        let thread = launch.store(&MemoryStore::new()).thread("t");
        let outcome = thread.run(list(["a", "b", "c", "d", "e"])).await.unwrap();
        let interrupts = outcome.interrupts().to_vec();
        assert_eq!(interrupts.len(), 5);
        let error = thread.answer::<Prompt>("x".into()).await.unwrap_err();
        assert!(error.to_string().contains("say which by its id"), "{error}");
        let mut answers: Vec<Answer> = interrupts
            .iter()
            .map(|interrupt| {
                let Prompt { key } = interrupt.question().unwrap();
                interrupt.answer::<Prompt>(format!("human {key}")).unwrap()
            })
            .collect();
        answers.reverse();
        let late = answers.split_off(3);
        // Some first: the others still wait.
        let outcome = thread.resume(answers).await.unwrap();
        assert_eq!(outcome.interrupts().len(), 2);
        let again = late[0].clone();
        let texts = thread.resume(late).await.unwrap().finished().unwrap();
        assert_eq!(
            texts.xs[5..],
            ["human a", "human b", "human c", "human d", "human e"]
        );
        let error = thread.resume(again).await.unwrap_err();
        assert!(
            error.to_string().contains("it waits for nothing"),
            "{error}"
        );
        texts
    });
}

#[state]
#[derive(Clone, Debug, PartialEq)]
struct Outer {
    #[key(append)]
    xs: Vec<String>,
}

#[node(Texts)]
async fn before(cx: Context, xs: &[String]) -> petalflow::Result<TextsXs> {
    let done = cx
        .once("count", async { Ok::<_, petalflow::BoxError>(xs.len()) })
        .await?;
    Ok(TextsXs(vec![format!("before {done}")]))
}

flow!(Inner(Texts) { before -> twice });

#[node(Outer)]
async fn side() -> OuterXs {
    OuterXs(vec!["side".into()])
}

#[node(Outer)]
async fn last() -> OuterXs {
    OuterXs(vec!["last".into()])
}

flow!(Nest(Outer) {
    node inner: Inner { in: |xs: &[String]| TextsInput { xs: xs.to_vec() }, out: |t: Texts| OuterXs(t.xs) };
    START -> side & inner;
    side & inner -> last;
});

#[tokio::test]
async fn a_flow_inside_another_is_parked_alone_and_goes_on_inside() {
    let threads: Threads<Nest> = Nest::new().store(&MemoryStore::new());
    let thread = threads.thread("t");
    let outcome = thread.run(()).await.unwrap();
    let [interrupt] = outcome.interrupts() else {
        panic!("{outcome:?}")
    };
    assert_eq!(
        (interrupt.namespace.as_str(), interrupt.node.as_str()),
        ("inner", "twice")
    );
    let first = interrupt.answer::<Prompt>("A".into()).unwrap();
    let outcome = thread.resume(first).await.unwrap();
    assert_eq!(outcome.interrupts().len(), 1);
    let outcome = thread.answer::<Prompt>("B".into()).await.unwrap();
    let outer = outcome.finished().unwrap();
    assert_eq!(outer.xs, ["before 0", "A B", "side", "last"]);
}

#[tokio::test]
async fn c73_a_question_without_a_store_says_what_to_do() {
    let error = Twice::run(list([])).await.unwrap_err();
    assert!(
        error.to_string().contains(".store(&store).thread(id)"),
        "{error}"
    );
}
