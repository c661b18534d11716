// In Python, a word without quotes is a variable.
petalflow_conversations::conversation! { Broken("document_word_without_quotes.json") }

fn main() {
    let _ = Broken;
}
