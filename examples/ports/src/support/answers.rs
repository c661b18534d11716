//! The answers of the agents.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a case is about.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Intent {
    /// Whether something is covered.
    EligibilityVerification,
    /// Whether something needs an authorization.
    PriorAuthConfusion,
    /// How far a referral is.
    ReferralStatusQuestion,
    /// What a bill is for.
    BillingCoverageClarification,
    /// Everything else.
    GeneralIntake,
}

/// The answer of the agent for benefits.
#[derive(Debug, Deserialize, JsonSchema)]
#[allow(missing_docs, reason = "the names say it, and the model reads them")]
pub struct BenefitReview {
    pub patient_name: String,
    pub patient_id: String,
    pub payer: String,
    pub member_id: String,
    pub eligibility_status: String,
    pub plan_summary: String,
    pub referral_status: String,
    pub prior_auth_recommended: bool,
    pub recommended_queue: String,
    pub summary: String,
}

/// The answer of the agent for policies.
#[derive(Debug, Deserialize, Serialize)]
#[allow(missing_docs, reason = "the names say it, and the model reads them")]
pub struct PolicyPacket {
    pub matched_policy_files: Vec<String>,
    pub generated_files: Vec<String>,
    pub shell_commands: Vec<String>,
    pub policy_summary: String,
    pub human_review_recommended: bool,
}

/// How a case ends.
#[derive(Debug, Deserialize, JsonSchema, PartialEq)]
#[allow(missing_docs, reason = "the names say it, and the model reads them")]
pub struct CaseResolution {
    pub scenario_id: String,
    pub intent: Intent,
    pub patient_name: String,
    pub benefits_summary: String,
    pub policy_summary: String,
    pub next_step: String,
    pub route_to_human: bool,
    pub handoff_id: Option<String>,
    #[serde(default)]
    pub generated_files: Vec<String>,
    pub internal_summary: String,
    pub patient_facing_response: String,
}

/// What is remembered of the conversation.
#[derive(Debug, Deserialize, JsonSchema, PartialEq)]
#[allow(missing_docs, reason = "the names say it, and the model reads them")]
pub struct MemoryRecap {
    pub remembered_patient: Option<String>,
    pub remembered_intent: Option<Intent>,
    pub remembered_next_step: String,
    pub remembered_handoff: Option<String>,
    #[serde(default)]
    pub remembered_files: Vec<String>,
}
