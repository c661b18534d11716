// Warnings of a document can be allowed, and a document with warnings works.
#![deny(deprecated)]

use petalflow::Result;
use petalflow::tool::ToolContext;
use petalflow_conversations::{ActionCall, conversation};
use serde_json::Value;

conversation! {
    #[allow(deprecated)]
    Order("../fail/document_warning.json")
}

struct Kitchen;

impl order::Handlers for Kitchen {
    async fn order_soup(&self, _: order::OrderSoup, _: &ToolContext) -> Result<Value> {
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
fn the_document_has_one_warning() {
    let _ = Order::builder(Kitchen);
    assert_eq!(Order::WARNINGS.len(), 1);
}
