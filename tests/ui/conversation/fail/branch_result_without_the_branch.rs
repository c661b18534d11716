// The result of a branch has details, too.
use petalflow::Result;
use petalflow::tool::ToolContext;
use petalflow::tool::schemars::{self, JsonSchema};
use petalflow_conversations::conversation;
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

    async fn set_age(&self, arguments: Age, _: &ToolContext) -> Result<bool> {
        Ok(arguments.age >= 18)
    }
}

fn main() {
    let _ = AgeTalk::builder(Insurer);
}
