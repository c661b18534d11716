//! The patient support.

use std::path::Path;
use std::sync::Arc;

use petalflow::checkpoint::{InMemoryStore, Store};
use petalflow_agent::Pending;
use petalflow_llm::{ChatMessage, LlmRequest, Reply, Role, ScriptedModel};
use petalflow_port_examples::support::{Case, Closed, PatientSupport};
use serde_json::{Value, json};

use crate::killed;

const FINDINGS: &str = "## Case summary\nA knee.\n## Matched policy files\nreferrals.md\n## Prior authorization\nNeeded.\n\
     ## Referral\nPending.\n## Missing information\nNone.\n";

fn answers(request: &LlmRequest) -> usize {
    let messages = request.messages.iter();
    messages
        .filter(|message| message.role == Role::Assistant)
        .count()
}

/// The contents of all results of tools, as one text.
fn results(request: &LlmRequest) -> String {
    let results = request.messages.iter().flat_map(ChatMessage::tool_results);
    results.map(|result| result.content.to_string()).collect()
}

fn tools(request: &LlmRequest) -> Vec<&str> {
    request.tools.iter().map(|tool| &*tool.name).collect()
}

/// An answer with a type: as text, or with the tool for it.
fn typed(request: &LlmRequest, answer: Value) -> Reply {
    if tools(request).contains(&"set_model_response") {
        Reply::call("set_model_response", answer)
    } else {
        Reply::text(answer.to_string())
    }
}

fn benefits(request: &LlmRequest) -> Reply {
    match answers(request) {
        0 => Reply::call("patient_info_lookup", json!({ "patient_id": "PAT-2" })),
        1 => Reply::call(
            "insurance_eligibility_lookup",
            json!({ "member_id": "NH-9017", "dob": "04/17/1992", "payer": "north health" }),
        )
        .and_call(
            "appointment_referral_status_lookup",
            json!({ "patient_id": "PAT-2" }),
        ),
        _ => {
            let known = results(request);
            assert!(
                known.contains("North PPO Gold") && known.contains("Orthopedics"),
                "{known}"
            );
            typed(
                request,
                json!({
                    "patient_name": "Ben Ruiz", "patient_id": "PAT-2", "payer": "North Health", "member_id": "NH-9017",
                    "eligibility_status": "active", "plan_summary": "PPO Gold", "referral_status": "pending",
                    "prior_auth_recommended": true, "recommended_queue": "auth-review-queue", "summary": "Active, pending.",
                }),
            )
        }
    }
}

fn packet(request: &LlmRequest) -> Reply {
    let may_end = tools(request).contains(&"finalize_policy_packet");
    let step = answers(request);
    assert_eq!(may_end, step >= 4, "after {step} answers");
    let write = |file: &str, text: &str| {
        Reply::call(
            "write_file",
            json!({ "path": format!("output/{file}"), "text": text }),
        )
    };
    let finalize = |file: &str| {
        let packet = json!({ "matched_policy_files": [file], "policy_summary": "Review.", "human_review_recommended": true });
        Reply::call("finalize_policy_packet", packet)
    };
    match step {
        0 => Reply::call("load_skill", json!({ "skill": "packet-for-review" })),
        1 => Reply::call(
            "exec_command",
            json!({ "cmd": "ls case && grep -rniE 'referral' policies" }),
        ),
        2 => write("policy_findings.md", FINDINGS),
        3 => write("human_review_checklist.md", "Look at the referral.\n"),
        4 => finalize("policies/dogs.md"),
        5 => {
            let known = results(request);
            assert!(known.contains("there is no policy `dogs.md`"), "{known}");
            finalize("policies/referrals.md")
        }
        _ => panic!("the packet is done"),
    }
}

fn support(request: &LlmRequest) -> Reply {
    let known = results(request);
    if !known.contains("auth-review-queue") {
        return Reply::call("benefits_review", json!({ "request": "PAT-2, NH-9017" }));
    }
    if !known.contains("matched_policy_files") {
        return Reply::call(
            "sandbox_policy_packet",
            json!({ "request": "Ben Ruiz, a knee" }),
        );
    }
    if !known.contains("HUMAN-") && !known.contains("not confirmed") && !known.contains("error") {
        return Reply::call(
            "route_to_human_queue",
            json!({
                "queue": "auth-review-queue", "priority": "high", "reason": "unclear", "summary": "A knee.",
            }),
        );
    }
    let routed = known.contains("HUMAN-");
    typed(
        request,
        json!({
            "scenario_id": "unclear_knee_surgery", "intent": "prior_auth_confusion", "patient_name": "Ben Ruiz",
            "benefits_summary": "Active.", "policy_summary": "Review.", "next_step": "Wait.", "route_to_human": routed,
            "handoff_id": routed.then_some("HUMAN"), "internal_summary": known, "patient_facing_response": "We look at it.",
        }),
    )
}

fn recap(request: &LlmRequest) -> Reply {
    let all: String = request.messages.iter().map(ChatMessage::text).collect();
    // It reads the same conversation.
    assert!(all.contains("Somebody wants to operate"), "{all}");
    typed(
        request,
        json!({
            "remembered_patient": "Ben Ruiz", "remembered_intent": "prior_auth_confusion", "remembered_next_step": "Wait.",
            "remembered_handoff": null,
        }),
    )
}

fn script(request: &LlmRequest) -> Reply {
    let system = request.system.as_deref().unwrap_or_default();
    if system.contains("patient support") {
        support(request)
    } else if system.contains("benefits of insurances") {
        benefits(request)
    } else if system.contains("packet of a case") {
        packet(request)
    } else {
        recap(request)
    }
}

async fn close(
    store: impl Store + Clone,
    folder: &Path,
    yes: Option<bool>,
) -> petalflow::Result<Option<Closed>> {
    let support = PatientSupport {
        model: Arc::new(ScriptedModel::from_fn(script)),
        store,
        folder: folder.into(),
    };
    let case = Case::find("unclear_knee_surgery")?;
    support
        .close(&case, |call| {
            assert!(matches!(call, Pending::Confirmation { .. }), "{call}");
            yes
        })
        .await
}

#[tokio::test]
async fn f44_the_patient_support_closes_a_case_after_a_person_has_agreed() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let store = InMemoryStore::new();
    let open = close(store.clone(), folder.path(), None).await;
    assert_eq!(open.expect("it works"), None);
    let closed = close(store.clone(), folder.path(), Some(true)).await;
    let closed = closed.expect("it works").expect("it is decided");
    assert!(closed.resolution.route_to_human);
    assert!(closed.resolution.internal_summary.contains("queued"));
    assert_eq!(closed.recap.remembered_patient.as_deref(), Some("Ben Ruiz"));
    let written = folder
        .path()
        .join("unclear_knee_surgery/output/policy_findings.md");
    assert_eq!(
        std::fs::read_to_string(written).expect("it is there"),
        FINDINGS
    );
    // Closed again, it asks no model.
    let again = close(store, folder.path(), None).await.expect("it works");
    assert_eq!(again, Some(closed));
}

#[tokio::test]
async fn f44_a_refused_handoff_of_the_patient_support_is_not_made() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let closed = close(InMemoryStore::new(), folder.path(), Some(false)).await;
    let closed = closed.expect("it works").expect("it is decided");
    assert!(!closed.resolution.route_to_human);
    assert!(!closed.resolution.internal_summary.contains("queued"));
}

#[tokio::test]
async fn f44_a_patient_support_that_is_killed_at_each_write_closes_the_case() {
    let kills = killed::everywhere(async |store, folder| {
        let closed = close(store, folder, Some(true)).await;
        let findings = folder.join("unclear_knee_surgery/output/policy_findings.md");
        let findings = std::fs::read_to_string(findings).expect("it is there");
        (closed.expect("it works"), findings)
    })
    .await;
    println!("the patient support was killed {kills} times");
}
