// Similar to all the programs in `fail`.
use petalflow::Result;
use petalflow::tool::ToolContext;
use petalflow_conversations::{ActionCall, conversation};
use serde_json::Value;

conversation! { Order("../order.json") }

use order::Handlers;

struct Kitchen;

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

#[test]
fn the_conversation_is_built() {
    let _ = Order::builder(Kitchen);
}
