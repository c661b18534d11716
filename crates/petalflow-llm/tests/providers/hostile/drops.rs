//! Dropping a request or a stream closes its connection, at each of its stages.

use petalflow_llm::{LlmClient, LlmRequest};
use petalflow_llm_test_support::server::{Server, Step, chunk, events};

use super::{Format, KEY, chat, gemini, messages, responses};

const FORMATS: [Format; 4] = [
    chat::FORMAT,
    responses::FORMAT,
    messages::FORMAT,
    gemini::FORMAT,
];

fn stages(format: &Format) -> [Vec<Step>; 4] {
    let head = Step::Send(b"HTTP/1.1 200 OK\r\n".to_vec());
    let part = format.stream_start().split_at(20).0.to_string();
    [
        vec![Step::Stall],
        vec![head, Step::Stall],
        vec![events(), Step::Stall],
        vec![events(), chunk(&part), Step::Stall],
    ]
}

#[tokio::test]
async fn a_dropped_request_closes_its_connection() {
    let request = LlmRequest::prompt("hi");
    for format in FORMATS {
        for steps in stages(&format) {
            let server = Server::always(steps).await;
            let model = (format.model)(&server).with_key(KEY).without_retry();
            tokio::select! {
                outcome = model.complete(&request) => panic!("{outcome:?}"),
                () = server.wait_for_requests(1) => {}
            }
            server.wait_for_disconnects(1).await;
            tokio::select! {
                outcome = model.stream(&request) => panic!("{outcome:?}"),
                () = server.wait_for_requests(2) => {}
            }
            server.wait_for_disconnects(2).await;
        }
    }
}

#[tokio::test]
async fn a_dropped_stream_closes_its_connection() {
    for format in FORMATS {
        let server =
            Server::always(vec![events(), chunk(&format.stream_start()), Step::Stall]).await;
        let model = (format.model)(&server).with_key(KEY).without_retry();
        let mut stream = model.stream(&LlmRequest::prompt("hi")).await.unwrap();
        assert!(!stream.next().await.unwrap().done);
        drop(stream);
        server.wait_for_disconnects(1).await;
    }
}
