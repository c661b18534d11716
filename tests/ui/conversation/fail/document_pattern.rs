// The regular expression cannot be read.
petalflow_conversations::conversation! { Broken("document_pattern.json") }

fn main() {
    let _ = Broken;
}
