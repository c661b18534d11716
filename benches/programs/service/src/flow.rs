//! The flow: an agent investigates a complaint, a person decides, and the customer gets a reply.

use petalflow::interrupt::Ask;
use petalflow::prelude::*;
use petalflow_agent::{Agent, AgentNode};
use petalflow_llm::ProviderModel;
use serde::{Deserialize, Serialize};

/// The state of a complaint.
#[state]
#[derive(Debug)]
pub struct Complaint {
    /// What the customer wrote.
    #[key(input)]
    pub text: String,
    /// What the agent proposes.
    pub proposal: String,
    /// What the customer receives.
    pub reply: String,
}

/// The question to a person.
#[derive(Debug, Serialize, Deserialize, Ask)]
#[ask(answer = bool, name = "accept-proposal")]
pub struct AcceptProposal {
    pub proposal: String,
}

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

/// The agent that investigates.
pub fn investigator(model: ProviderModel) -> Agent {
    Agent::new(model)
        .instructions("Look up the order and the policy. Then propose what to do, in one sentence.")
        .tool(find_order {})
        .tool(return_policy {})
}

/// Asks a person. The run stops here until there is an answer.
#[node(Complaint)]
async fn decide(proposal: &str, cx: Context) -> petalflow::Result<bool> {
    cx.ask(AcceptProposal {
        proposal: proposal.into(),
    })
    .await
}

#[node(Complaint)]
async fn accept(proposal: &str) -> ComplaintReply {
    ComplaintReply(format!("We looked into it. {proposal}"))
}

#[node(Complaint)]
async fn decline(text: &str) -> ComplaintReply {
    ComplaintReply(format!(
        "We are sorry that we cannot help you with this: {text}"
    ))
}

flow! {
    /// Investigates a complaint and replies to the customer.
    pub HandleComplaint(Complaint) {
        node investigate: AgentNode<ComplaintText, ComplaintProposal>;
        START -> investigate -> decide -> match { true => accept, false => decline };
    }
}
