//! The agent with the script in the place of a model.

use petalflow::checkpoint::InMemoryStore;
use petalflow_agent::ConversationInput;
use {{crate_name}}::{agent, find_order, script};

const COMPLAINT: &str = "My lamp arrived broken. The order is A-17.";

/// A tool stays a function.
#[tokio::test]
async fn an_unknown_order_is_an_error() {
    assert_eq!(find_order("A-17".into()).await.unwrap(), "a lamp for 40 euros");
    let error = find_order("B-1".into()).await.unwrap_err();
    assert_eq!(error.to_string(), "there is no order `B-1`");
}

#[tokio::test]
async fn money_is_paid_back_after_a_person_has_agreed() -> petalflow::Result<()> {
    let store = InMemoryStore::new();
    let talk = agent(script()).store(&store).thread("ann").run(COMPLAINT).await?.into_finished()?;
    let pending = talk.pending();
    assert_eq!(pending.len(), 1);

    // Another process has the store and a new agent.
    let agent = agent(script());
    let decision = ConversationInput::default().confirm(pending[0].id(), true);
    let talk = agent.store(&store).thread("ann").run(decision).await?.into_finished()?;
    assert!(talk.pending().is_empty());
    assert!(talk.answer().contains("order A-17 is paid back"), "{}", talk.answer());
    Ok(())
}

#[tokio::test]
async fn a_refusal_pays_nothing() -> petalflow::Result<()> {
    let agent = agent(script());
    let store = InMemoryStore::new();
    let thread = agent.store(&store).thread("ann");
    let talk = thread.run(COMPLAINT).await?.into_finished()?;
    let decision = ConversationInput::default().confirm(talk.pending()[0].id(), false);
    let talk = thread.run(decision).await?.into_finished()?;
    assert!(!talk.answer().contains("is paid back"), "{}", talk.answer());
    Ok(())
}
