// A message has a role that no model knows. The impl is right.
use petalflow::Result;
use petalflow::tool::ToolContext;
use petalflow_conversations::conversation;
use serde_json::Value;

conversation! { Flow("static_role_misspelt.json") }

struct Host;
impl flow::Handlers for Host {
    async fn record(&self, it: flow::Record, _: &ToolContext) -> Result<Value> {
        for name in it.names.unwrap_or_default() {
            println!("{name}{}", it.size + 1);
        }
        Ok(Value::Null)
    }
}
fn main() {
    drop(Flow::builder(Host).build());
}
