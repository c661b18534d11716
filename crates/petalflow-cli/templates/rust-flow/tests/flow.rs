//! A node as a function, the flow as a whole, and its crashes.

use petalflow::checkpoint::InMemoryStore;
use petalflow::prelude::*;
use petalflow_testing::crashes;

use {{crate_name}}::{Decision, HandleRequest, MaySend, approve, send};

#[tokio::test]
async fn a_person_decides() {
    let test = Context::test().answer(|question: &MaySend| question.letter.contains("chair"));
    assert!(matches!(
        approve("a chair", test.context()).await,
        Ok(Decision::Send)
    ));
    assert!(matches!(
        approve("a yacht", test.context()).await,
        Ok(Decision::Drop)
    ));
}

#[tokio::test]
async fn a_letter_is_sent_once() {
    let test = Context::test().recorded("send", &"sent before");
    let log = send("a letter", test.context()).await.expect("it was sent");
    assert_eq!(log.0, ["sent before"]);
}

#[tokio::test]
async fn a_request_waits_for_its_answer() -> petalflow::Result<()> {
    let thread = HandleRequest::new()
        .store(&InMemoryStore::new())
        .thread("A-1");
    let paused = thread.run("a chair".to_string()).await?;
    assert_eq!(paused.interrupts()[0].node, "approve");
    let request = thread.answer::<MaySend>(true).await?.into_finished()?;
    assert_eq!(request.log, ["sent: Please order a chair."]);
    Ok(())
}

/// Crashes the flow wherever a crash can make a difference, resumes it, and compares the results.
#[tokio::test]
async fn a_crash_changes_nothing() {
    crashes(HandleRequest::new, || "a chair".to_string())
        .answer::<MaySend>(|_| true)
        .check()
        .await;
}
