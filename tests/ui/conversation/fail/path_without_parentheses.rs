// The path is in parentheses.
petalflow_conversation::conversation! { Order = "../order.json" }

fn main() {}
