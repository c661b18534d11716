//! A refund: a clerk decides about it, and another person approves the payment.

use petalflow::interrupt::Ask;
use petalflow::prelude::*;
use petalflow_server::ServedFlow;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a clerk decides.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "decision", rename_all = "snake_case")]
pub(crate) enum Verdict {
    /// The refund is paid.
    Pay,
    /// The refund is refused.
    Refuse {
        /// Why. The customer reads it.
        reason: String,
    },
}

/// The question to the clerk.
#[derive(Serialize, Ask)]
#[ask(answer = Verdict)]
pub(crate) struct DecideRefund {
    /// The amount in cents.
    cents: u64,
    /// What the customer writes.
    reason: String,
}

/// A refund.
#[state]
pub(crate) struct Refund {
    /// The amount in cents.
    #[key(input)]
    pub(crate) cents: u64,
    /// What the customer writes.
    #[key(input)]
    pub(crate) reason: String,
    /// The card that is credited. Clients never see it.
    #[key(input)]
    pub(crate) card: String,
    /// What the clerk has decided.
    pub(crate) verdict: Option<Verdict>,
    /// What has happened, line by line.
    #[key(append)]
    pub(crate) log: Vec<String>,
}

/// The input as a form.
#[derive(Debug, JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct RefundForm {
    /// The amount in cents.
    #[schemars(range(min = 1))]
    cents: u64,
    /// What the customer writes.
    reason: String,
    /// The number of the card.
    card: String,
}

/// Asks the clerk.
#[node(Refund)]
async fn decide(
    cents: &u64,
    reason: &str,
    cx: Context,
) -> petalflow::Result<(RefundVerdict, RefundLog, bool)> {
    let question = DecideRefund {
        cents: *cents,
        reason: reason.to_owned(),
    };
    let verdict = cx.ask(question).await?;
    let pays = matches!(verdict, Verdict::Pay);
    let line = if pays { "to be paid" } else { "refused" };
    Ok((
        RefundVerdict(Some(verdict)),
        RefundLog(vec![line.to_owned()]),
        pays,
    ))
}

/// Pays, unless the number of the card is wrong.
#[node(Refund)]
async fn pay(cents: &u64, card: &str) -> petalflow::Result<RefundLog> {
    if card.len() < 4 {
        return Err("the number of the card is too short".into());
    }
    Ok(RefundLog(vec![format!("paid {cents} cents")]))
}

/// Writes to the customer.
#[node(Refund)]
async fn write(verdict: Option<&Verdict>) -> RefundLog {
    let line = match verdict {
        Some(Verdict::Refuse { reason }) => format!("wrote: we cannot refund you: {reason}"),
        _ => "wrote: the money is on its way".to_owned(),
    };
    RefundLog(vec![line])
}

flow! {
    /// Pays a refund, if a clerk wants it and another person approves.
    pub(crate) PayRefund(Refund) {
        START -> decide;
        decide -> match { true => pay, false => write };
        pay -> write;
        interrupt before pay;
    }
}

/// The flow as it is served.
pub(crate) fn served() -> ServedFlow<PayRefund> {
    let refunds = ServedFlow::new(PayRefund::new()).named("refunds");
    let refunds = refunds.input_schema::<RefundForm>();
    refunds.question::<DecideRefund>().secret("card")
}
