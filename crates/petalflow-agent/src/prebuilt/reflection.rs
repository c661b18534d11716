//! Drafts, their criticism and their revision.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::DecisionEvent;
use super::decide::decide;
use petalflow::{Context, Managed, Route, flow, node, state};
use petalflow_llm::LlmRequest;
use petalflow_llm::nodes::{Model, noted_call};

/// A text that is revised after criticism.
#[state]
#[derive(Clone, Debug)]
pub struct Reflection {
    /// What to write.
    #[key(input)]
    pub task: String,
    /// The maximum number of drafts. The last one is accepted without criticism.
    #[key(input, default = 3)]
    pub max_drafts: u32,
    /// The latest draft.
    #[key(default)]
    pub draft: String,
    /// The number of drafts.
    #[key(sum)]
    pub drafts: u32,
    /// The criticism, in order.
    #[key(append)]
    pub criticism: Vec<String>,
}

/// The opinion of a critic.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
struct Opinion {
    /// Whether the draft is good as it is.
    accept: bool,
    /// What should be better.
    advice: String,
}

/// The decision about a draft.
#[derive(Route)]
enum Verdict {
    /// The draft is revised.
    Revise,
    /// The draft is accepted.
    Accept,
}

const CRITIC: &str = "You criticize a draft. Accept it only if nothing in it should be better.";

#[node(Reflection)]
async fn write(
    task: &str,
    draft: &str,
    criticism: &[String],
    model: Managed<Model>,
    cx: Context,
) -> petalflow::Result<(ReflectionDraft, ReflectionDrafts)> {
    let question = match criticism.last() {
        None => task.to_string(),
        Some(advice) => {
            format!("{task}\n\nYour last draft:\n{draft}\n\nWhat should be better:\n{advice}")
        }
    };
    let request = LlmRequest::prompt(question);
    let answer = noted_call(&request, &cx, model.complete(&request)).await?;
    Ok((ReflectionDraft(answer.text()), ReflectionDrafts(1)))
}

#[node(Reflection)]
async fn criticize(
    task: &str,
    draft: &str,
    drafts: &u32,
    max_drafts: &u32,
    model: Managed<Model>,
    cx: Context,
) -> petalflow::Result<(Option<ReflectionCriticism>, Verdict)> {
    let draft_number = *drafts;
    if drafts >= max_drafts {
        DecisionEvent::LastDraft {
            draft: draft_number,
        }
        .emit(&cx);
        return Ok((None, Verdict::Accept));
    }
    let question = format!("Task: {task}\n\nDraft:\n{draft}");
    let opinion: Opinion = decide(&**model, CRITIC, question, &cx).await?;
    if opinion.accept {
        DecisionEvent::Accept {
            draft: draft_number,
        }
        .emit(&cx);
        return Ok((None, Verdict::Accept));
    }
    let advice = opinion.advice.clone();
    let revise = DecisionEvent::Revise {
        draft: draft_number,
        advice,
    };
    revise.emit(&cx);
    Ok((
        Some(ReflectionCriticism(vec![opinion.advice])),
        Verdict::Revise,
    ))
}

flow! {
    /// Writes a draft and revises it until the critic accepts it or the maximum number of drafts is reached.
    ///
    /// ```
    /// use petalflow_llm::ScriptedModel;
    /// use petalflow_llm::nodes::Model;
    /// use petalflow_agent::prebuilt::{Reflect, ReflectionInput};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let model = ScriptedModel::new([
    ///     "Petals.",
    ///     r#"{ "accept": false, "advice": "say why" }"#,
    ///     "Petals lure bees.",
    ///     r#"{ "accept": true, "advice": "" }"#,
    /// ]);
    /// let input = ReflectionInput { task: "Write about petals.".into(), max_drafts: 5 };
    /// let text = Reflect::new().manage(Model::new(model)).run(input).await?;
    /// assert_eq!((text.draft.as_str(), text.drafts), ("Petals lure bees.", 2));
    /// # Ok(())
    /// # }
    /// ```
    pub Reflect(Reflection) {
        START -> write -> criticize -> match { Revise => write, Accept => END };
    }
}
