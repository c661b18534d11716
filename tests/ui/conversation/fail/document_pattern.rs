// The regular expression cannot be read.
petalflow_conversation::conversation! { Broken("document_pattern.json") }

fn main() {
    let _ = Broken;
}
