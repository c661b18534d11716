//! The agent with the script in the place of a model.

use petalflow::checkpoint::InMemoryStore;
use petalflow_agent::ConversationInput;

use {{crate_name}}::{agent, find_order, script};

const COMPLAINT: &str = "My lamp arrived broken. The order is A-17.";

/// A tool stays a function.
#[tokio::test]
async fn an_unknown_order_is_an_error() {
    let found = find_order("A-17".into()).await;
    assert_eq!(found.unwrap(), "a lamp for 40 euros");
    let error = find_order("B-1".into()).await.unwrap_err();
    assert_eq!(error.to_string(), "there is no order `B-1`");
}

#[tokio::test]
async fn money_is_paid_back_after_a_person_has_agreed() -> petalflow::Result<()> {
    let store = InMemoryStore::new();
    let first = agent(script());
    let thread = first.store(&store).thread("ann");
    let talk = thread.run(COMPLAINT).await?.into_finished()?;
    let pending = talk.pending();
    assert_eq!(pending.len(), 1);

    // Another process has the store and a new agent.
    let second = agent(script());
    let thread = second.store(&store).thread("ann");
    let decision = ConversationInput::default().confirm(pending[0].id(), true);
    let talk = thread.run(decision).await?.into_finished()?;
    assert!(talk.pending().is_empty());
    let answer = talk.answer();
    assert!(answer.contains("order A-17 is paid back"), "{answer}");
    Ok(())
}

#[tokio::test]
async fn a_refusal_pays_nothing() -> petalflow::Result<()> {
    let store = InMemoryStore::new();
    let agent = agent(script());
    let thread = agent.store(&store).thread("ann");
    let talk = thread.run(COMPLAINT).await?.into_finished()?;
    let decision = ConversationInput::default().confirm(talk.pending()[0].id(), false);
    let talk = thread.run(decision).await?.into_finished()?;
    assert!(!talk.answer().contains("is paid back"), "{}", talk.answer());
    Ok(())
}
