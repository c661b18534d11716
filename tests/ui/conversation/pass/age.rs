// Similar to the programs in `fail` with types of their own.
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

    async fn set_age(&self, arguments: Age, _: &ToolContext) -> Result<BranchResult<bool>> {
        Ok(BranchResult::new(arguments.age >= 18))
    }
}

#[test]
fn the_conversation_is_built() {
    let _ = AgeTalk::builder(Insurer);
}
