//! Questions and approvals, answered with their forms.

use petalflow::checkpoint::InMemoryStore;
use serde_json::json;

use crate::page::with_page;
use crate::served::builder;

#[tokio::test(flavor = "multi_thread")]
async fn a_question_is_answered_and_the_next_node_approved() {
    with_page(builder(&InMemoryStore::new()), async |page| {
        let input = json!({ "input": { "cents": 1250, "reason": "broken", "card": "4242" } });
        let thread = page.served.thread("refunds", input).await;
        page.go(&format!("#/thread/{thread}")).await;
        page.wait_for_mark("decide", "waiting").await;
        page.wait_for_text("1250").await;
        page.press("Answer").await;
        let choice = page.element("seen('.question select')[0]").await;
        choice.select_by_label("pay").await.expect("it is a choice");
        page.press("Send the answer").await;

        page.wait_for_mark("pay", "waiting").await;
        page.fill("Reason", "it is little").await;
        page.fill("Your name", "Ann").await;
        page.press("Approve").await;
        page.wait_for_status("finished").await;
        page.wait_for_mark("write", "finished").await;
        let done = page.served.settled(&thread).await;
        assert_eq!(done["state"]["verdict"], json!({ "decision": "pay" }));
        assert_eq!(
            done["state"]["log"],
            json!([
                "to be paid",
                "paid 1250 cents",
                "wrote: the money is on its way"
            ])
        );
        assert_eq!(done["state"]["card"], json!(null), "it is secret");
        let history = page.served.get(&format!("/threads/{thread}/history")).await;
        let history = history.to_string();
        assert!(history.contains(r#""by":"Ann""#), "{history}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_with_fields_is_sent_as_the_form_has_it() {
    with_page(builder(&InMemoryStore::new()), async |page| {
        let input = json!({ "input": { "cents": 5, "reason": "late", "card": "4242" } });
        let thread = page.served.thread("refunds", input).await;
        page.go(&format!("#/thread/{thread}")).await;
        page.wait_for_text("1 open question").await;
        let choice = page.element("seen('.question select')[0]").await;
        choice
            .select_by_label("refuse")
            .await
            .expect("it is a choice");
        page.fill("reason", "it was in time").await;
        page.press("Send the answer").await;
        page.wait_for_status("finished").await;
        let done = page.served.settled(&thread).await;
        let verdict = json!({ "decision": "refuse", "reason": "it was in time" });
        assert_eq!(done["state"]["verdict"], verdict);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approval_of_a_document_is_rejected() {
    with_page(builder(&InMemoryStore::new()), async |page| {
        let thread = page
            .served
            .thread("letters", json!({ "input": { "vars": { "name": "Ann" } } }))
            .await;
        page.go(&format!("#/thread/{thread}")).await;
        page.wait_for_mark("review", "waiting").await;
        page.wait_for_text("Send this letter?").await;
        page.press("Edit as JSON").await;
        page.fill("Answer", "{\"approved\": false, \"notes\": \"too short\"}")
            .await;
        page.press("Send the answer").await;
        page.wait_for("!document.querySelector('.facts .badge[data-status=waiting]')")
            .await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn f43_what_is_approved_is_shown_open() {
    with_page(builder(&InMemoryStore::new()), async |page| {
        let input = json!({ "input": { "cents": 1250, "reason": "broken\ncup", "card": "4242" } });
        let thread = page.served.thread("refunds", input).await;
        page.go(&format!("#/thread/{thread}")).await;
        page.wait_for("seen('.question .readable').length === 1")
            .await;
        let question = page.eval("words(seen('.question .readable')[0])").await;
        assert_eq!(question, "cents 1250 reason broken cup");
        let choice = page.element("seen('.question select')[0]").await;
        choice.select_by_label("pay").await.expect("it is a choice");
        page.press("Send the answer").await;
        page.wait_for_mark("pay", "waiting").await;
        page.wait_for("seen('.question .subject').length === 1")
            .await;
        let subject = page.eval("words(seen('.question .subject')[0])").await;
        let subject = subject.as_str().expect("a text");
        let values = subject.strip_prefix("What pay begins with").expect(subject);
        let mut left = values.to_string();
        for value in [
            "cents 1250",
            "log to be paid",
            "reason broken cup",
            "verdict decision pay",
        ] {
            left = left.replacen(value, "", 1);
        }
        assert_eq!(left.trim(), "", "{subject}");
        assert_eq!(page.eval("seen('.question details').length").await, 0);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn f43_the_arguments_of_a_call_are_shown_open() {
    with_page(builder(&InMemoryStore::new()), async |page| {
        let thread = page
            .served
            .thread("librarian", json!({ "input": "a book" }))
            .await;
        page.served.settled(&thread).await;
        page.go(&format!("#/thread/{thread}/chat")).await;
        page.wait_for_status("waiting").await;
        page.wait_for("seen('.question .readable').length === 1")
            .await;
        assert_eq!(
            page.eval("words(seen('.question .readable')[0])").await,
            "title The Secret Garden"
        );
        assert_eq!(page.eval("seen('.question details').length").await, 0);
        page.wait_for_text("The call of lend waits for an approval.")
            .await;
        assert_eq!(
            page.eval("seen('.message .error-box').length").await,
            0,
            "what waits is no failure"
        );
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn f43_a_thread_that_waits_is_looked_at_again_and_again() {
    with_page(builder(&InMemoryStore::new()), async |page| {
        let input = json!({ "input": { "cents": 5, "reason": "late", "card": "4242" } });
        let thread = page.served.thread("refunds", input).await;
        page.served.settled(&thread).await;
        page.go(&format!("#/thread/{thread}")).await;
        page.wait_for_text("looks each second").await;
        // A look asks for events, which is cheap: the server has none.
        page.wait_for("performance.getEntriesByType('resource').filter((one) => one.name.endsWith('/events')).length > 4")
            .await;
        let view = page.served.get(&format!("/threads/{thread}")).await;
        let id = view["questions"][0]["id"].as_str().expect("an id");
        let answer = json!({ "answer": { "decision": "pay" } });
        let path = format!("/threads/{thread}/answers/{id}");
        let (status, text) = page.served.call("POST", &path, answer).await;
        assert!(status.is_success(), "{text}");
        page.wait_for_text("What pay begins with").await;
    })
    .await;
}
