// The method takes a different type than the one that the program names.
use petalflow::Result;
use petalflow::tool::ToolContext;
use petalflow::tool::schemars::{self, JsonSchema};
use petalflow_conversations::{BranchResult, conversation};
use serde::Deserialize;

conversation! { AgeTalk("../age.flow.yaml") }

/// The caller gives an age.
#[derive(Deserialize, JsonSchema)]
struct Age {
    age: u32,
}

struct Insurer;

impl age_talk::Handlers for Insurer {
    type SetAge = Age;

    async fn set_age(&self, arguments: u32, _: &ToolContext) -> Result<BranchResult<bool>> {
        Ok(BranchResult::new(arguments >= 18))
    }
}

fn main() {
    let _ = AgeTalk::builder(Insurer);
}
