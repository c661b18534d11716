//! A supervisor and its team.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::decide::decide;
use super::{DecisionEvent, Team};
use petalflow::{Context, Managed, Route, flow, node, state};
use petalflow_llm::nodes::Model;

/// A task of a team.
#[state]
#[derive(Clone, Debug)]
pub struct Project {
    /// The task.
    #[key(input)]
    pub task: String,
    /// The answers of the members, in order.
    #[key(append)]
    pub notes: Vec<Note>,
    /// The result.
    #[key(default)]
    pub result: String,
}

/// The answer of a member.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// The name of the member.
    pub member: String,
    /// The instructions to the member.
    pub instructions: String,
    /// The answer.
    pub answer: String,
}

/// The next member and its work.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
struct Decision {
    /// A member's name, or `finish`.
    next: String,
    /// What the member is to do; with `finish`, the result.
    text: String,
}

/// The decision of a supervisor.
#[derive(Route)]
enum Next {
    /// A member works next.
    Work(Decision),
    /// The task is done.
    Finish,
}

const INSTRUCTIONS: &str = "You supervise a team. State which member does what next. When the task is done, \
    `next` is `finish` and `text` is the result.";

#[node(Project)]
async fn assign(
    task: &str,
    notes: &[Note],
    model: Managed<Model>,
    team: Managed<Team>,
    cx: Context,
) -> petalflow::Result<(Option<ProjectResult>, Next)> {
    let notes = notes.iter().map(|note| {
        format!(
            "{} (instructions: {}): {}",
            note.member, note.instructions, note.answer
        )
    });
    let notes = notes.collect::<Vec<_>>().join("\n");
    let question = format!(
        "Task: {task}\n\nTeam:\n{}\n\nSo far:\n{notes}",
        team.descriptions()
    );
    let decision: Decision = decide(&**model, INSTRUCTIONS, question, &cx).await?;
    if decision.next == "finish" {
        let result = decision.text.clone();
        DecisionEvent::Finish { result }.emit(&cx);
        return Ok((Some(ProjectResult(decision.text)), Next::Finish));
    }
    let Decision { next, text } = decision.clone();
    DecisionEvent::Work {
        member: next,
        instructions: text,
    }
    .emit(&cx);
    Ok((None, Next::Work(decision)))
}

#[node(Project)]
async fn work(
    #[item] decision: &Decision,
    team: Managed<Team>,
    cx: Context,
) -> petalflow::Result<ProjectNotes> {
    let Decision {
        next: member,
        text: instructions,
    } = decision.clone();
    // A model may name a member that does not exist. The note says so, and the model can select another member.
    let answer = if let Some(agent) = team.get(&member) {
        agent.run_in(&cx, instructions.as_str()).await?.answer()
    } else {
        let names: Vec<_> = team.names().collect();
        let names = names.join(", ");
        format!("there is no `{member}`; choose one of: {names}, or `finish`")
    };
    Ok(ProjectNotes(vec![Note {
        member,
        instructions,
        answer,
    }]))
}

flow! {
    /// Lets a model give work to the members of a managed [`Team`], one after the other, until it decides to finish.
    ///
    /// ```
    /// use petalflow_agent::Agent;
    /// use petalflow_llm::ScriptedModel;
    /// use petalflow_llm::nodes::Model;
    /// use petalflow_agent::prebuilt::{Supervise, Team};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let supervisor = ScriptedModel::new([
    ///     r#"{ "next": "writer", "text": "Write a line about petals." }"#,
    ///     r#"{ "next": "finish", "text": "Petals fall." }"#,
    /// ]);
    /// let writer = Agent::new(ScriptedModel::new(["Petals fall."])).instructions("You write.");
    /// let project = Supervise::new()
    ///     .manage(Model::new(supervisor))
    ///     .manage(Team::new().member("writer", "writes texts", writer))
    ///     .run("A poem, please.".to_string())
    ///     .await?;
    /// assert_eq!(project.result, "Petals fall.");
    /// assert_eq!(project.notes[0].member, "writer");
    /// # Ok(())
    /// # }
    /// ```
    pub Supervise(Project) {
        START -> assign -> match { Work => work, Finish => END };
        work -> assign;
    }
}
