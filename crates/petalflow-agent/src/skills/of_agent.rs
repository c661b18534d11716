//! The skills of an agent: what its model reads of them, and the tools for them.

use std::fmt::Write as _;
use std::sync::Arc;

use super::catalog::Skills;
use super::tools;
use crate::Agent;

impl Agent {
    /// Gives the agent skills: folders of instructions, files and scripts in the format of
    /// [Agent Skills](https://agentskills.io/specification).
    ///
    /// The model reads the names and descriptions. With the tool `load_skill` it reads the instructions of a skill, with
    /// `load_skill_resource` a file, and with `run_skill_script` it runs a script, if the skills have an
    /// [executor](Skills::scripts). `allowed-tools` in a `SKILL.md` allows nothing: the program decides about approvals.
    ///
    /// ```
    /// use petalflow_agent::Agent;
    /// use petalflow_agent::skills::{Skill, Skills};
    /// # use petalflow_llm::{Reply, ScriptedModel};
    /// # use serde_json::json;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// # let load = Reply::call("load_skill", json!({ "skill": "refunds" }));
    /// # let model = ScriptedModel::new([load, "You get 50 euros.".into()]);
    /// let main = "---\nname: refunds\ndescription: Pays orders back.\n---\nPay back at most 50 euros.";
    /// let skills = Skills::new().with(Skill::embedded("refunds", [("SKILL.md", main)])?)?;
    /// let talk = Agent::new(model).skills(skills).run("My order was late.").await?;
    /// assert_eq!(talk.answer(), "You get 50 euros.");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn skills(self, skills: Skills) -> Self {
        let text = instructions(&skills);
        let tools = tools::of(Arc::new(skills));
        self.instructions_with(move |_| Ok(text.clone()))
            .tools(tools)
    }
}

/// What the model reads about the skills.
fn instructions(skills: &Skills) -> String {
    let mut text = format!(
        "You have skills: instructions for some kinds of tasks. If a task fits one of them, call `{}` with its name \
         before you begin, and do as it says.\n",
        tools::LOAD
    );
    for skill in skills.iter() {
        let _ = write!(text, "\n- {}: {}", skill.name(), skill.description());
    }
    text
}
