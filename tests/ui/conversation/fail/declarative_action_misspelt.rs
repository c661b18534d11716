// An action whose type is almost a built-in one. The impl is right.
use petalflow::Result;
use petalflow::tool::ToolContext;
use petalflow::tool::schemars::{self, JsonSchema};
use petalflow_conversations::{ActionCall, BranchResult, conversation};

conversation! { Age("declarative_action_misspelt.yaml") }

/// Stores the age.
#[derive(serde::Deserialize, JsonSchema)]
struct Years {
    years: u32,
}
struct Host;
impl age::Handlers for Host {
    type SetAge = Years;
    async fn set_age(
        &self,
        years: Years,
        _: &ToolContext,
    ) -> Result<BranchResult<age::SetAgeResult>> {
        let result = if years.years > 17 {
            age::SetAgeResult::Adult
        } else {
            age::SetAgeResult::Child
        };
        Ok(BranchResult::new(result))
    }
    async fn log(&self, _: ActionCall) -> Result<()> {
        Ok(())
    }
}
fn main() {
    drop(Age::builder(Host).build());
}
