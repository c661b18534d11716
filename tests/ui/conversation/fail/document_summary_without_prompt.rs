// A summary needs a prompt.
petalflow_conversation::conversation! { Broken("document_summary_without_prompt.json") }

fn main() {
    let _ = Broken;
}
