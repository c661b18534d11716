//! Selection of an expert who answers a question.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::decide::decide;
use super::{DecisionEvent, Team};
use petalflow::{Context, Managed, Route, flow, node, state};
use petalflow_llm::nodes::Model;

/// A question, and the expert who answered it.
#[state]
#[derive(Clone, Debug)]
pub struct Inquiry {
    /// The question.
    #[key(input)]
    pub question: String,
    /// The selected expert, and the reason; `None` if no expert fits.
    #[key(default)]
    pub expert: Option<Choice>,
    /// The answer.
    #[key(default)]
    pub answer: String,
}

/// The expert that a model has selected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Choice {
    /// The expert's name, or `nobody`.
    pub name: String,
    /// Why.
    pub reason: String,
}

/// The route of a question.
#[derive(Route)]
enum ExpertRoute {
    /// To an expert.
    Expert(String),
    /// To no expert.
    NoExpert,
}

const INSTRUCTIONS: &str =
    "Pick the one expert who can answer the question best. If none can, `name` is `nobody`.";

#[node(Inquiry)]
async fn choose(
    question: &str,
    model: Managed<Model>,
    experts: Managed<Team>,
    cx: Context,
) -> petalflow::Result<(InquiryExpert, ExpertRoute)> {
    let prompt = format!(
        "Question: {question}\n\nExperts:\n{}",
        experts.descriptions()
    );
    let choice: Choice = decide(&**model, INSTRUCTIONS, prompt, &cx).await?;
    // Models may write a name in another case: `Billing` is `billing`.
    let mut names = experts.names();
    let name = names.find(|name| name.eq_ignore_ascii_case(choice.name.trim()));
    let Some(name) = name.map(str::to_string) else {
        let reason = choice.reason;
        DecisionEvent::NoExpert { reason }.emit(&cx);
        return Ok((InquiryExpert(None), ExpertRoute::NoExpert));
    };
    let reason = choice.reason.clone();
    let expert = DecisionEvent::Expert {
        name: name.clone(),
        reason,
    };
    expert.emit(&cx);
    let route = ExpertRoute::Expert(name.clone());
    Ok((InquiryExpert(Some(Choice { name, ..choice })), route))
}

#[node(Inquiry)]
async fn answer(
    question: &str,
    #[item] expert: &str,
    experts: Managed<Team>,
    cx: Context,
) -> petalflow::Result<InquiryAnswer> {
    let agent = experts
        .get(expert)
        .ok_or_else(|| format!("expert `{expert}` has left the team: start the inquiry anew"))?;
    let talk = agent.run_in(&cx, question).await?;
    Ok(InquiryAnswer(talk.answer()))
}

flow! {
    /// Lets a model select the member of a managed [`Team`] who answers a question. If it selects nobody, or a member
    /// that does not exist, `expert` is `None` and there is no answer.
    ///
    /// ```
    /// use petalflow_agent::Agent;
    /// use petalflow_llm::ScriptedModel;
    /// use petalflow_llm::nodes::Model;
    /// use petalflow_agent::prebuilt::{AskExpert, Team};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let gardener = Agent::new(ScriptedModel::new(["In autumn."]));
    /// let inquiry = AskExpert::new()
    ///     .manage(Model::new(ScriptedModel::new([r#"{ "name": "gardener", "reason": "it is about plants" }"#])))
    ///     .manage(Team::new().member("gardener", "knows plants", gardener))
    ///     .run("When do I plant tulips?".to_string())
    ///     .await?;
    /// assert_eq!(inquiry.answer, "In autumn.");
    /// assert_eq!(inquiry.expert.unwrap().name, "gardener");
    /// # Ok(())
    /// # }
    /// ```
    pub AskExpert(Inquiry) {
        START -> choose -> match { Expert => answer, NoExpert => END };
    }
}
