//! Questions to people: asked through the client, and answered with the tool `answer`.

use petalflow_mcp::Elicited;
use petalflow_test_support::assert_contains;
use serde_json::json;

use super::kit::{Served, Slow, builder, call, try_call};

#[tokio::test(flavor = "multi_thread")]
async fn f43_without_elicitation_the_thread_waits_for_the_tool_answer() {
    let served = Served::start(builder(&Slow::default())).await;
    let client = served.client();
    let waiting = call(&client, "refunds", json!({ "cents": 7 })).await;
    assert_eq!(waiting["status"], "waiting");
    assert!(waiting.get("state").is_none(), "{waiting}");
    let wait = &waiting["waits"][0];
    assert_eq!(wait["name"], "MayPay");
    let answer =
        |answer| json!({ "thread": waiting["thread"], "question": wait["id"], "answer": answer });
    let unfit = try_call(&client, "answer", answer(json!("perhaps"))).await;
    assert_contains(
        &unfit.expect_err("it does not fit").to_string(),
        "no answer to `MayPay`",
    );
    let done = call(
        &client,
        "answer",
        answer(json!({ "answer": { "pays": false } })),
    )
    .await;
    assert_eq!(
        (&done["status"], &done["thread"]),
        (&json!("finished"), &waiting["thread"])
    );
    let again = try_call(&client, "answer", answer(json!({ "pays": true }))).await;
    assert_contains(
        &again.expect_err("it has been answered").to_string(),
        "it may have been answered",
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn f43_a_person_who_does_not_answer_leaves_the_thread_waiting() {
    let served = Served::start(builder(&Slow::default())).await;
    for nothing in [Elicited::Decline, Elicited::Cancel] {
        let client = served.asking(nothing);
        let waiting = call(&client, "refunds", json!({ "cents": 7 })).await;
        assert_eq!(waiting["status"], "waiting", "{waiting}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn f43_a_person_decides_about_a_call_of_an_agent() {
    let served = Served::start(builder(&Slow::default())).await;
    let client = served.asking(Elicited::Accept(json!({ "approve": true })));
    let done = call(&client, "helper", json!({ "text": "tidy" })).await;
    assert_eq!(done["status"], "finished", "{done}");
    assert_eq!(done["answer"], "It is gone.");

    let client = served.client();
    let waiting = call(&client, "helper", json!({ "text": "tidy" })).await;
    assert_eq!(waiting["status"], "waiting", "{waiting}");
    let wait = &waiting["waits"][0];
    assert_eq!(
        (&wait["kind"], &wait["text"]),
        (&json!("confirmation"), &json!("Really?"))
    );
    let approved = json!({ "thread": waiting["thread"], "question": wait["id"], "answer": { "approve": true } });
    let done = call(&client, "answer", approved).await;
    assert_eq!(done["answer"], "It is gone.", "{done}");
}
