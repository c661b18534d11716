// Both mistakes are reported.
petalflow_conversation::conversation! { Broken("document_two_mistakes.json") }

fn main() {
    let _ = Broken;
}
