//! Policies for approvals.

use crate::kit::{constant_tool, results, scripted_agent};
use petalflow::checkpoint::InMemoryStore;
use petalflow::tool::Tool as _;
use petalflow::tool::layer::ConfirmLayer;
use petalflow_agent::deep::{ApprovalPolicy, Calls};
use petalflow_agent::{Agent, Conversation, ConversationInput, Mode, Pending};
use petalflow_llm::{Reply, TokenUsage};
use serde_json::json;

fn save(path: &str) -> Reply {
    Reply::call("save", json!({ "path": path }))
}

fn policy() -> ApprovalPolicy {
    ApprovalPolicy::new()
        .deny(Calls::to("save").path("keys/**"))
        .and_then(|policy| policy.allow(Calls::to("s*").path("notes/**")))
        .and_then(|policy| policy.ask(Calls::to("save")))
        .expect("the patterns can be read")
}

/// The ids and questions of what waits.
fn waiting(talk: &Conversation) -> Vec<(String, String)> {
    let pending = talk.pending().into_iter();
    pending
        .map(|pending| match pending {
            Pending::Confirmation { id, hint, .. } => (id, hint),
            other => panic!("{other}"),
        })
        .collect()
}

#[tokio::test]
async fn f44_the_first_rule_that_matches_decides() {
    let replies = [
        save("notes/a.md"),
        save("./keys//a.pem"),
        save("notes/../keys/a.pem"),
        save("Keys/a.pem"),
        save("other.md"),
        "saved".into(),
    ];
    let (agent, _) = scripted_agent(replies);
    // The tool itself would ask about every call.
    let tool = constant_tool("save", json!("saved")).layer(ConfirmLayer::always());
    let agent = agent.tool(tool).approvals(policy());
    let thread = agent.store(&InMemoryStore::new()).thread("ann");
    let talk = thread.run("Save.").await.unwrap().into_finished().unwrap();
    let asked =
        json!({ "error": "error tool \"save\" requires confirmation, please approve or reject" });
    let denied = |path: &str| json!({ "error": format!("the call of `save` for `{path}` is not allowed: do the work without it") });
    assert_eq!(
        results(&talk)[..2],
        [json!("saved"), denied("./keys//a.pem")]
    );
    assert_eq!(
        results(&talk)[2],
        denied("notes/../keys/a.pem"),
        "a path that leaves its folder is not allowed"
    );
    assert_eq!(results(&talk)[3], denied("Keys/a.pem"));
    assert_eq!(results(&talk).get(4), Some(&asked));
    let [(id, question)] = &waiting(&talk)[..] else {
        panic!("{:?}", waiting(&talk));
    };
    assert_eq!(
        question,
        "the call of `save` for `other.md` needs your approval"
    );
    // A person cannot allow what is denied.
    let input = ConversationInput::default().confirm_with(id, json!({ "path": "keys/b.pem" }));
    let talk = thread.run(input).await.unwrap().into_finished().unwrap();
    assert_eq!(results(&talk).last(), Some(&denied("keys/b.pem")));
    assert_eq!(talk.answer(), "saved");
}

#[tokio::test]
async fn f44_a_person_decides_about_an_agent_and_what_it_calls() {
    let work = |request: &str| Reply::call("worker", json!({ "request": request }));
    let replies = [
        work("one"),
        work("two"),
        save("a.md"),
        "worked".into(),
        "done".into(),
    ];
    let (agent, model) = scripted_agent(replies);
    let worker = Agent::named("worker")
        .mode(Mode::SingleTurn)
        .tool(constant_tool("save", json!("saved")));
    let policy = policy().ask(Calls::to("worker")).unwrap();
    let agent = agent.sub_agent(worker).approvals(policy);
    let thread = agent.store(&InMemoryStore::new()).thread("ann");
    let run = |input: ConversationInput| {
        let run = thread.run(input);
        async move { run.await.unwrap().into_finished().unwrap() }
    };
    let talk = run("Work.".into()).await;
    let [(id, question)] = &waiting(&talk)[..] else {
        panic!()
    };
    assert_eq!(question, "the call of `worker` needs your approval");
    assert_eq!(model.requests().len(), 1, "the worker did not begin");
    let talk = run(ConversationInput::default().refuse(id, "too dear")).await;
    let refused = json!({ "error": "Tool execution not confirmed: too dear" });
    assert!(results(&talk).contains(&refused));
    let [(id, _)] = &waiting(&talk)[..] else {
        panic!()
    };
    let talk = run(ConversationInput::default().confirm(id, true)).await;
    let [(id, question)] = &waiting(&talk)[..] else {
        panic!()
    };
    assert_eq!(
        question, "the call of `save` for `a.md` needs your approval",
        "the policy holds below"
    );
    let talk = run(ConversationInput::default().confirm(id, true)).await;
    assert_eq!(talk.answer(), "done");
    assert_eq!(results(&talk).last(), Some(&json!({ "result": "worked" })));
    assert!(results(&talk).contains(&json!("saved")));
}

#[tokio::test]
async fn f44_a_rule_counts_from_a_cost_on() {
    let tokens = |cost: f64| TokenUsage {
        cost,
        ..TokenUsage::default()
    };
    let replies = [
        save("a.md").with_usage(tokens(1.5)),
        save("b.md").with_usage(tokens(0.5)),
        Reply::text("done"),
    ];
    let (agent, _) = scripted_agent(replies);
    let policy = ApprovalPolicy::new()
        .deny(Calls::any().from_cost(2.0))
        .unwrap();
    let agent = agent
        .tool(constant_tool("save", json!("saved")))
        .approvals(policy);
    let talk = agent.run("Save.").await.unwrap();
    let denied = "the call of `save` for `b.md` is not allowed: do the work without it";
    assert_eq!(results(&talk), [json!("saved"), json!({ "error": denied })]);
}

#[tokio::test]
async fn f44_a_task_of_an_agent_cannot_wait_for_an_approval() {
    let task = Reply::call("worker", json!({ "request": "one" }));
    let (agent, model) = scripted_agent([task, "done".into()]);
    let policy = ApprovalPolicy::new().ask(Calls::any()).unwrap();
    let worker = Agent::named("worker").mode(Mode::Task);
    let talk = agent
        .sub_agent(worker)
        .approvals(policy)
        .run("Work.")
        .await
        .unwrap();
    let problem = "`worker` needs an approval, and a task of an agent or a tool of the client cannot wait for one";
    assert_eq!(results(&talk), [json!({ "error": problem })]);
    assert_eq!(model.requests().len(), 2);
}

#[test]
fn f44_a_wrong_pattern_is_an_error_of_the_policy() {
    let error = ApprovalPolicy::new()
        .deny(Calls::any().path("a/{b"))
        .unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("the pattern `a/{b` cannot be read: "),
        "{error}"
    );
}
