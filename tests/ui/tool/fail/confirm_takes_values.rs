use petalflow::prelude::*;

fn large(amount: u64) -> bool {
    amount > 1_000
}

/// Pays an invoice.
#[tool(confirm = large)]
fn pay(amount: u64) -> u64 {
    amount
}

fn main() {}
