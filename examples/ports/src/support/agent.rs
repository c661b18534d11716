//! The agents of the support, and how a case is worked on.

use std::path::PathBuf;
use std::sync::Arc;

use petalflow::checkpoint::Store;
use petalflow::prelude::*;
use petalflow::thread::{OnBusy, Thread};
use petalflow::tool::ToolContext;
use petalflow_agent::deep::Workspace;
use petalflow_agent::extension::{Approval, Approvals, ToolStep};
use petalflow_agent::skills::{Skill, Skills};
use petalflow_agent::{Agent, AgentFlow, ConversationInput, Mode, Pending};
use petalflow_llm::LlmClient;
use petalflow_llm::request::ToolChoice;
use serde_json::{Value, json};

use super::Case;
use super::answers::{BenefitReview, CaseResolution, MemoryRecap};
use super::folder::{Folder, exec_command};
use super::packet::{Progress, finalize_policy_packet};
use super::records::{
    Records, appointment_referral_status_lookup, insurance_eligibility_lookup, patient_info_lookup,
};
use crate::turn;

/// The keys of the conversation's state: whether a person has agreed to a handoff, and the answer of the support.
const APPROVED: &str = "handoff_approved";
const RESOLUTION: &str = "resolution";

const SUPPORT: &str = "You are the patient support of a clinic, and work on one case with the help of other agents.\n\
     1. Call `benefits_review` first and `sandbox_policy_packet` second.\n\
     2. Call `route_to_human_queue` only for the case `unclear_knee_surgery`, and only if the packet recommends a review by \
     a person. Answer all other cases yourself.\n\
     3. If you have called it, give its `handoff_id` and set `route_to_human`.\n\
     4. Write an answer for the patient, a short summary for the clinic, and one next step.\n\
     5. Say only what the case or a tool says.";

const BENEFITS: &str = "You know the benefits of insurances. Verify patient, insurance and referral with the tools, then \
     give your review.\n\
     1. Call `patient_info_lookup` first, if you have an ID, a phone number or a name.\n\
     2. Call `insurance_eligibility_lookup` with what is known of payer, member ID and date of birth.\n\
     3. Call `appointment_referral_status_lookup` with an ID of the referral or the patient.\n\
     4. Recommend an authorization only for imaging, for a surgery, for a pending referral, or where a policy says so.\n\
     5. The queue is `care-team-intake-queue`, `auth-review-queue` or `billing-review-queue`.\n\
     6. Be brief, and say only what the tools say.";

const POLICY: &str = "You write the packet of a case in a folder, from the files of the case and the policies.\n\
     1. Load the skill `packet-for-review` and do what it says.\n\
     2. Look at the folder with `exec_command` before you write. Search `policies/` with one command of `grep -rniE`.\n\
     3. Write both files with `write_file`.\n\
     4. `finalize_policy_packet` appears when both are written. Only this call ends your work.\n\
     5. Recommend a review by a person only if an authorization or a referral is missing or not clear.\n\
     6. Say only what the files say.";

const RECAP: &str = "Say what you remember of this conversation: the last patient, what was wanted, whether a person has the \
     case, the files, and the next step. Call no tools.";

/// Sends a case to a queue of people.
#[tool]
fn route_to_human_queue(
    queue: String,
    priority: String,
    reason: String,
    summary: String,
    cx: ToolContext,
) -> Value {
    cx.set_state(APPROVED, true);
    // A call that is repeated after a crash has the same id.
    let handoff_id = format!("HUMAN-{}", cx.call_id);
    json!({
        "status": "queued", "handoff_id": handoff_id, "queue": queue, "priority": priority, "reason": reason,
        "summary": summary,
    })
}

/// A person decides about the first handoff of a case.
struct Handoffs;

impl Approvals for Handoffs {
    fn decide(&self, step: &ToolStep<'_>) -> Option<Approval> {
        let asks =
            step.call().name == "route_to_human_queue" && step.state(APPROVED) != Some(true.into());
        asks.then(|| Approval::Ask("Send the case to a queue of people?".into()))
    }
}

fn benefits() -> Agent {
    Agent::named("benefits_review")
        .description("Reviews the eligibility, the benefits and the referral of a patient.")
        .mode(Mode::SingleTurn)
        .instructions(BENEFITS)
        .tools(tools![
            patient_info_lookup,
            insurance_eligibility_lookup,
            appointment_referral_status_lookup
        ])
        .output::<BenefitReview>()
}

fn policies(workspace: Workspace) -> petalflow::Result<Agent> {
    let text = include_str!("../../support/skills/packet-for-review/SKILL.md");
    let skill = Skill::embedded("packet-for-review", [("SKILL.md", text)])?;
    Ok(Agent::named("sandbox_policy_packet")
        .description("Reads the policies for a case in a folder, and writes files about it.")
        .mode(Mode::SingleTurn)
        .instructions(POLICY)
        .skills(Skills::new().with(skill)?)
        .workspace(workspace)
        .tools(tools![exec_command])
        .output_function(finalize_policy_packet {})
        .callbacks(Progress)
        .request(|request| request.tool_choice = ToolChoice::Required)
        .max_model_calls(20))
}

/// The support of a clinic: its model, the store of its conversation, and the folder of its cases.
#[allow(missing_debug_implementations, reason = "a model has none")]
pub struct PatientSupport<S> {
    /// The model of all agents.
    pub model: Arc<dyn LlmClient>,
    /// The store of the conversation.
    pub store: S,
    /// The folder with a folder of each case.
    pub folder: PathBuf,
}

/// How a case has ended.
#[derive(Debug, PartialEq)]
pub struct Closed {
    /// The answers for patient and clinic.
    pub resolution: CaseResolution,
    /// What an agent remembers of the conversation.
    pub recap: MemoryRecap,
}

impl<S: Store + Clone> PatientSupport<S> {
    /// The thread of the support, with the agent for a case. All cases have one conversation.
    fn agent(&self, case: &Case) -> petalflow::Result<Thread<AgentFlow>> {
        let folder = Folder::of(case, &self.folder)?;
        let agent = Agent::new(Arc::clone(&self.model))
            .name("support")
            .instructions(SUPPORT)
            .sub_agent(benefits())
            .sub_agent(policies(Workspace::folder(&folder.0)?)?)
            .tools(tools![route_to_human_queue])
            .approvals(Handoffs)
            .output::<CaseResolution>();
        let launch = agent.launch().manage(Records::load()?).manage(folder);
        Ok(launch
            .store(&self.store)
            .on_busy(OnBusy::Queue)
            .thread("support"))
    }

    /// The same thread, with the agent that says what it remembers.
    fn recap(&self) -> Thread<AgentFlow> {
        Agent::new(Arc::clone(&self.model))
            .name("recap")
            .instructions(RECAP)
            .output::<MemoryRecap>()
            .store(&self.store)
            .on_busy(OnBusy::Queue)
            .thread("support")
    }

    /// Works on a case until there is a resolution. None if a person has not decided.
    async fn resolve(
        &self,
        case: &Case,
        decide: impl Fn(&Pending) -> Option<bool>,
    ) -> petalflow::Result<Option<String>> {
        let thread = self.agent(case)?;
        let case_text = serde_json::to_string_pretty(case)?;
        let input = ConversationInput::from(case_text).with_state(APPROVED, false);
        let mut talk = turn::step(&thread, &format!("work on {}", case.id), input).await?;
        while let Some(call) = talk.pending().first() {
            let Some(yes) = decide(call) else {
                return Ok(None);
            };
            let decision = ConversationInput::default().confirm(call.id(), yes);
            talk = thread.run(decision).await?.into_finished()?;
        }
        Ok(Some(talk.answer()))
    }

    /// Works on a case until it is closed. Continues what an earlier process has begun.
    ///
    /// `decide` is asked before the case goes to a queue. None leaves the case open: call this again.
    ///
    /// # Errors
    ///
    /// If another case is open, or if a model, the store or the folder fails.
    pub async fn close(
        &self,
        case: &Case,
        decide: impl Fn(&Pending) -> Option<bool>,
    ) -> petalflow::Result<Option<Closed>> {
        let (recap, step) = (self.recap(), format!("recall {}", case.id));
        let mut input = ConversationInput::from("What do you remember of this conversation?");
        if !turn::is_at(&recap, &step).await? {
            let Some(resolution) = self.resolve(case, decide).await? else {
                return Ok(None);
            };
            input = input.with_state(RESOLUTION, resolution);
        }
        let talk = turn::step(&recap, &step, input).await?;
        let resolution = talk.state[RESOLUTION].as_str().unwrap_or_default();
        Ok(Some(Closed {
            resolution: serde_json::from_str(resolution)?,
            recap: talk.output()?,
        }))
    }
}
