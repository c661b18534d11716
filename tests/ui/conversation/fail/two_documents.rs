// One conversation is one document.
petalflow_conversations::conversation! { Order("../order.json") Other("../order.json") }

fn main() {}
