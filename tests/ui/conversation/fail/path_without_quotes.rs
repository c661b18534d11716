// The path is a text.
petalflow_conversations::conversation! { Order(order.json) }

fn main() {}
