// The file does not exist.
petalflow_conversation::conversation! { Order("../oder.json") }

fn main() {}
