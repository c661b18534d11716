// Handlers are used by several threads.
use petalflow::Result;
use petalflow::tool::ToolContext;
use petalflow_conversations::{ActionCall, conversation};
use serde_json::Value;

conversation! { Order("../order.json") }

use order::Handlers;

struct Kitchen(std::cell::Cell<u32>);

impl Handlers for Kitchen {
    async fn order_soup(&self, arguments: order::OrderSoup, cx: &ToolContext) -> Result<Value> {
        cx.set_state("bowls", arguments.bowls);
        Ok(Value::Null)
    }

    async fn check_stock(&self, _: &ToolContext) -> Result<order::CheckStockResult> {
        Ok(order::CheckStockResult::Enough)
    }

    async fn pay(&self, _: order::Pay, _: &ToolContext) -> Result<Value> {
        Ok(Value::Null)
    }

    async fn print(&self, _: ActionCall) -> Result<()> {
        Ok(())
    }
}

fn main() {}
