// The file does not exist.
petalflow_conversations::conversation! { Order("../oder.json") }

fn main() {}
