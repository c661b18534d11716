//! The flow: a document, and what it cannot contain.

use std::path::Path;

use petalflow::prelude::*;
use petalflow_documents::Changes;
use petalflow_documents::builder::EnvelopeFlow;
use petalflow_documents::document::Source;
use petalflow_documents::kinds::{FuncNode, ThreadHandler};
use petalflow_documents::{Services, load_source};
use petalflow_llm::ProviderModel;
use serde::Serialize;

/// An order of a customer.
#[derive(Debug, Serialize)]
struct Order {
    product: &'static str,
    cents: u64,
}

/// Finds an order.
#[tool]
fn find_order(
    /// The number of the order.
    number: u32,
) -> petalflow::Result<Order> {
    match number {
        17 => Ok(Order {
            product: "vase",
            cents: 2_900,
        }),
        18 => Ok(Order {
            product: "seeds",
            cents: 400,
        }),
        _ => Err(format!("there is no order {number}").into()),
    }
}

/// Says when a product can be returned.
#[tool]
fn return_policy(
    /// The name of the product.
    product: String,
) -> String {
    match product.as_str() {
        "seeds" => "seeds cannot be returned".into(),
        _ => format!("a {product} can be returned within 30 days"),
    }
}

/// Reads the document, and adds the model, the tools and the node that is code.
pub fn load(file: &Path, model: ProviderModel) -> petalflow::Result<EnvelopeFlow> {
    let accept = FuncNode::new(|envelope| async move {
        let proposal = envelope.get_var_string("proposal");
        Ok(Changes::new().var("reply", format!("We looked into it. {proposal}")))
    });
    let services = Services::new()
        .model("local", model)
        .tool(find_order {})
        .tool(return_policy {})
        .human(ThreadHandler)
        .function("accept", accept);
    Ok(load_source(&Source::read(file)?, &services)?)
}
