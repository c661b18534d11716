//! Streams, and what becomes of the server's work when nobody reads them.

use petalflow_agent::stream::AgentEventKind;
use petalflow_llm::response::{FinishReason, Status};
use petalflow_llm::stream::Delta;
use petalflow_llm::{LlmClient, LlmRequest};

use super::{local_model, short};

/// More than the model writes while a test looks.
const MAX_TOKENS: u32 = 1_900;

/// A request whose answer has this number of tokens.
fn long(request: &mut LlmRequest, tokens: u32) {
    short(request, tokens);
    request.extra.insert("ignore_eos".into(), true.into());
}

#[tokio::test]
async fn f44_10_pieces_arrive_one_by_one_and_are_the_answer() {
    let Some(local) = local_model().await else {
        return;
    };
    let mut request = LlmRequest::prompt("Name a colour.");
    long(&mut request, 16);
    let mut stream = local.model().stream(&request).await.unwrap();
    let mut pieces = Vec::new();
    let streamed = loop {
        let chunk = stream.next().await.expect("the last chunk ends the loop");
        if let Delta::Text(piece) = &chunk.delta {
            pieces.push(piece.clone());
        }
        if let Some(outcome) = chunk.into_outcome() {
            break outcome.unwrap();
        }
    };
    // A piece is a token, or a few whose bytes are one character.
    assert!((4..=16).contains(&pieces.len()), "{pieces:?}");
    assert_eq!(pieces.concat(), streamed.text());
    let whole = local.model().complete(&request).await.unwrap();
    for response in [&streamed, &whole] {
        assert_eq!(response.finish, Some(FinishReason::Length));
        assert_eq!(response.status, Status::Incomplete);
        let usage = response.usage;
        assert_eq!(usage.output, 16, "{usage:?}");
        assert_eq!(usage.total, usage.input + 16, "{usage:?}");
    }
    assert_eq!(streamed.usage.input, whole.usage.input);
    // The server has one model, whatever is asked for, and says which.
    assert_eq!(
        (&*whole.model, &*whole.provider),
        ("gemma-3-270m", "llama_cpp")
    );
}

#[tokio::test]
async fn f44_10_a_stream_that_nobody_reads_stops_the_work_of_the_server() {
    let Some(local) = local_model().await else {
        return;
    };
    let agent = local.agent(0).request(|request| long(request, MAX_TOKENS));
    let mut events = agent.streaming().events("Name all colours.");
    while let Some(item) = events.next().await {
        if matches!(item.kind, AgentEventKind::Partial(_)) {
            break;
        }
    }
    drop(events);
    let tokens = local.tokens_when_idle(MAX_TOKENS).await;
    assert!(
        tokens < u64::from(MAX_TOKENS),
        "it has written all {tokens} tokens"
    );
}
