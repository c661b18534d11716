//! Answers and effects whose types do not fit what a node asks for, or what was recorded.

use petalflow::BoxError;
use petalflow::checkpoint::InMemoryStore;
use petalflow::interrupt::{Answer, AnswerError, Ask};
use petalflow::prelude::*;
use petalflow::thread::ThreadError;
use serde::{Deserialize, Serialize};

#[state]
#[derive(Clone, Debug)]
struct Order {
    #[key(append)]
    log: Vec<String>,
}

/// A program. Two of them store the same flow, and differ in the types of the question and of the effect.
macro_rules! program {
    ($name:ident: $answer:ty, $receipt:ty = $made:expr) => {
        mod $name {
            use super::*;

            #[derive(Serialize, Ask)]
            #[ask(answer = $answer, name = "amount")]
            pub(super) struct Amount;

            #[node(Order)]
            async fn pay(cx: Context) -> petalflow::Result<OrderLog> {
                let receipt = cx.once("receipt", async { Ok::<_, BoxError>($made) });
                let receipt: $receipt = receipt.await?;
                let amount = cx.ask(Amount).await?;
                Ok(OrderLog(vec![format!("{amount} {receipt}")]))
            }

            flow!(pub(super) Pay(Order) { pay });
        }
    };
}

program!(numbers: u32, u32 = 1);
program!(words: String, u32 = 2);
program!(other_effect: u32, String = "three".to_string());

/// Fits into a `u32`.
#[derive(Serialize, Ask)]
#[ask(answer = u8, name = "amount")]
struct SmallAmount;

async fn waiting(store: &InMemoryStore) -> petalflow::interrupt::InterruptId {
    let paused = numbers::Pay::new()
        .store(store)
        .thread("order")
        .run(())
        .await;
    paused.unwrap().interrupts()[0].id
}

#[tokio::test]
async fn an_answer_of_another_type_is_refused_and_not_recorded() {
    let store = InMemoryStore::new();
    let id = waiting(&store).await;
    let thread = numbers::Pay::new().store(&store).thread("order");
    let answer = Answer::new::<words::Amount>(id, &"seven".to_string()).unwrap();
    let error = thread.resume(answer).await.unwrap_err();
    let Some(ThreadError::Answer(AnswerError::OtherType {
        expected, found, ..
    })) = error.thread_error()
    else {
        panic!("{error}");
    };
    assert_eq!(
        (expected.as_str(), found.as_str()),
        ("u32", "alloc::string::String")
    );
    let error = thread
        .answer::<words::Amount>("seven".into())
        .await
        .unwrap_err();
    assert!(
        error.to_string().contains("resume the thread with `()`"),
        "{error}"
    );
    // A type whose values can all be read as the expected type is accepted.
    let order = thread.answer::<SmallAmount>(7).await.unwrap();
    assert_eq!(order.into_finished().unwrap().log, ["7 1"]);
}

#[tokio::test]
async fn a_program_with_another_answer_asks_again() {
    let store = InMemoryStore::new();
    waiting(&store).await;
    let thread = words::Pay::new().store(&store).thread("order");
    let error = thread
        .answer::<words::Amount>("seven".into())
        .await
        .unwrap_err();
    assert!(
        error.to_string().contains("resume the thread with `()`"),
        "{error}"
    );
    assert_eq!(thread.resume(()).await.unwrap().interrupts().len(), 1);
    let order = thread
        .answer::<words::Amount>("seven".into())
        .await
        .unwrap();
    assert_eq!(order.into_finished().unwrap().log, ["seven 1"]);
}

#[tokio::test]
async fn a_recorded_answer_that_cannot_be_read_leads_out_with_a_fork() {
    let store = InMemoryStore::new();
    waiting(&store).await;
    let thread = numbers::Pay::new().store(&store).thread("order");
    // The answer is recorded, and the process ends before the node has run.
    drop(thread.answer::<numbers::Amount>(7).begin().await.unwrap());
    let thread = words::Pay::new().store(&store).thread("order");
    let error = thread.resume(()).await.unwrap_err().to_string();
    assert!(
        error.contains("the recorded answer to `amount` in node `pay` cannot be read as `alloc::string::String`")
            && error.contains("`Thread::fork`"),
        "{error}"
    );
    let newest = thread.snapshot().await.unwrap().unwrap().info.checkpoint;
    thread.fork(newest).await.unwrap();
    assert_eq!(thread.resume(()).await.unwrap().interrupts().len(), 1);
    let order = thread
        .answer::<words::Amount>("seven".into())
        .await
        .unwrap();
    assert_eq!(order.into_finished().unwrap().log, ["seven 2"]);
}

#[tokio::test]
async fn a_recorded_effect_that_cannot_be_read_leads_out_with_a_fork() {
    let store = InMemoryStore::new();
    waiting(&store).await;
    let thread = other_effect::Pay::new().store(&store).thread("order");
    let error = thread.resume(()).await.unwrap_err().to_string();
    assert!(
        error.contains("the record of the effect `receipt` in node `pay` cannot be read as `alloc::string::String`")
            && error.contains("`Thread::fork`"),
        "{error}"
    );
    let newest = thread.snapshot().await.unwrap().unwrap().info.checkpoint;
    thread.fork(newest).await.unwrap();
    assert_eq!(thread.resume(()).await.unwrap().interrupts().len(), 1);
    let order = thread.answer::<other_effect::Amount>(7).await.unwrap();
    assert_eq!(order.into_finished().unwrap().log, ["7 three"]);
}

/// Is written as a number and read as a text.
#[derive(Clone, Debug, PartialEq)]
struct OneWay;

impl Serialize for OneWay {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u32(7)
    }
}

impl<'de> Deserialize<'de> for OneWay {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from).map(|_| OneWay)
    }
}

#[derive(Serialize, Ask)]
#[ask(answer = OneWay)]
struct AsksOneWay;

#[node(Order)]
async fn one_way(cx: Context) -> petalflow::Result<OrderLog> {
    cx.once("one way", async { Ok::<_, BoxError>(OneWay) })
        .await?;
    Ok(OrderLog(vec!["done".into()]))
}

#[node(Order)]
async fn asks_one_way(cx: Context) -> petalflow::Result<OrderLog> {
    cx.ask(AsksOneWay).await?;
    Ok(OrderLog(vec!["done".into()]))
}

flow!(Once(Order) { one_way });
flow!(Asks(Order) { asks_one_way });

#[tokio::test]
async fn a_value_that_cannot_be_read_back_is_not_recorded() {
    let store = InMemoryStore::new();
    let thread = Once::new().store(&store).thread("once");
    for _ in 0..2 {
        let error = thread.run(()).await.unwrap_err().to_string();
        assert!(
            error.contains("cannot be read back") && error.contains("its result is not recorded"),
            "{error}"
        );
    }
    let thread = Asks::new().store(&store).thread("asks");
    let paused = thread.run(()).await.unwrap();
    let id = paused.interrupts()[0].id;
    let error = Answer::new::<AsksOneWay>(id, &OneWay).unwrap_err();
    assert!(matches!(&error, AnswerError::Value(_)), "{error}");
    thread.answer::<AsksOneWay>(OneWay).await.unwrap_err();
    assert_eq!(thread.resume(()).await.unwrap().interrupts().len(), 1);
}
