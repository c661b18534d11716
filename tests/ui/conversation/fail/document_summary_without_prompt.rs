// A summary needs a prompt.
petalflow_conversations::conversation! { Broken("document_summary_without_prompt.json") }

fn main() {
    let _ = Broken;
}
