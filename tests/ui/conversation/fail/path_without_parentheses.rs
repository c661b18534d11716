// The path is in parentheses.
petalflow_conversations::conversation! { Order = "../order.json" }

fn main() {}
