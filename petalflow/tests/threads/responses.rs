//! Answers that are made when the thread is loaded.

use petalflow::checkpoint::{InMemoryStore, ThreadStatus};
use petalflow::interrupt::{Answer, AnswerError, InterruptKind, Resume};
use petalflow::thread::ThreadError;
use petalflow::{Flow, RunError};

use super::{DoWork, Hour, info, launch, thread};

type WorkResume = Resume<<DoWork as Flow>::State>;

fn answer_error(error: &RunError) -> &AnswerError {
    match error.thread_error() {
        Some(ThreadError::Answer(error)) => error,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_response_gets_the_open_question() {
    let store = InMemoryStore::new();
    let thread = thread(&store, "t");
    let id = thread.run("ask".to_string()).await.unwrap().interrupts()[0].id;
    let respond = WorkResume::new().respond(id, |open| {
        assert!(matches!(&open.kind, InterruptKind::Ask { name, .. } if name == "Hour"));
        Ok(Answer::new::<Hour>(open.id, &"noon".to_string())?.into())
    });
    let done = thread.resume(respond).await.unwrap();
    assert_eq!(done.into_finished().unwrap().answer, "noon");

    // A second one gets the error of a second answer, and is not made.
    let late = WorkResume::new().respond(id, |_| panic!("nothing is open"));
    let error = thread.resume(late).await.unwrap_err();
    assert!(
        matches!(answer_error(&error), AnswerError::Answered { .. }),
        "{error}"
    );
}

#[tokio::test]
async fn a_response_that_fails_leaves_the_thread_as_it_was() {
    let store = InMemoryStore::new();
    let thread = launch().store(&store).event_log(100).thread("t");
    let id = thread.run("ask".to_string()).await.unwrap().interrupts()[0].id;
    let before = (info(&thread).await, thread.events_since(0).await.unwrap());
    let refuse = WorkResume::new().respond(id, |_| Err("no answer".into()));
    let error = thread.resume(refuse).await.unwrap_err();
    assert!(
        matches!(answer_error(&error), AnswerError::Value(text) if text == "no answer"),
        "{error}"
    );
    let after = (info(&thread).await, thread.events_since(0).await.unwrap());
    assert_eq!(after.0.status, ThreadStatus::Waiting);
    assert_eq!(after, before);
}
