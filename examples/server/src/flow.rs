//! The flow: a refund that a clerk approves.

use petalflow::interrupt::Ask;
use petalflow::prelude::*;
use serde::{Deserialize, Serialize};

/// The state of a refund.
#[state]
#[derive(Debug, Serialize)]
pub struct Refund {
    /// The amount in cents.
    #[key(input)]
    pub cents: u64,
    /// A line per step.
    #[key(append)]
    pub log: Vec<String>,
}

/// The question to a clerk.
#[derive(Debug, Serialize, Ask)]
#[ask(answer = Decision, name = "approve-refund")]
pub struct ApproveRefund {
    /// The amount in cents.
    pub cents: u64,
}

/// The answer of a clerk.
#[derive(Debug, Serialize, Deserialize)]
pub struct Decision {
    /// Whether to pay.
    pub pay: bool,
    /// The name of the clerk.
    pub by: String,
}

/// Asks a clerk. The run stops here until there is an answer.
///
/// # Errors
///
/// If the question cannot be stored.
#[node(Refund)]
pub async fn decide(cents: &u64, cx: Context) -> petalflow::Result<(RefundLog, bool)> {
    let Decision { pay, by } = cx.ask(ApproveRefund { cents: *cents }).await?;
    let word = if pay { "approved" } else { "declined" };
    Ok((RefundLog(vec![format!("{word} by {by}")]), pay))
}

/// Transfers the money. `once` records the transfer, so that no later crash repeats it.
///
/// # Errors
///
/// If the transfer fails.
#[node(Refund, retry = 3, timeout = 30s)]
pub async fn pay(cents: &u64, cx: Context) -> petalflow::Result<RefundLog> {
    cx.emit("the transfer begins");
    let receipt = cx.once("transfer", transfer(*cents)).await?;
    Ok(RefundLog(vec![receipt]))
}

async fn transfer(cents: u64) -> petalflow::Result<String> {
    Ok(format!("paid {}.{:02}", cents / 100, cents % 100))
}

flow! {
    /// Pays a refund if a clerk approves it.
    pub PayRefund(Refund) {
        START -> decide -> match { true => pay, false => END };
    }
}
