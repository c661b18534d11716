//! What the libraries advise programs in Rust, in the words of the command line.

/// Advice that only a Rust program can follow, and what does the same on the command line.
const WORDS: [(&str, &str); 10] = [
    (
        "add it with `Services::tool`",
        "give its program with `--tool NAME=COMMAND`",
    ),
    (
        "add one with `Services::function`",
        "give its program with `--tool NODE=COMMAND`",
    ),
    (
        "add one with `Services::model`",
        "give the replies with `--script FILE`, or name another provider",
    ),
    (
        "add one with `Services::any_model`",
        "give the replies with `--script FILE`, or name a model with `--model MODEL`",
    ),
    (", or give one with `with_key`", ""),
    (
        "; otherwise resume at another node with `Resume::goto`",
        "; otherwise go back to an earlier checkpoint with `petalflow threads fork`",
    ),
    (
        "or resume at another node with `Resume::goto`",
        "or go back to an earlier checkpoint with `petalflow threads fork`",
    ),
    (
        "continue it then with `.resume(())` or `Threads::wake`, or discard it with `.run(..).discard_pending()`",
        "continue it then with `petalflow threads resume`",
    ),
    (
        "fork the thread at its newest checkpoint (`Thread::fork`) and resume it",
        "go back to its newest checkpoint with `petalflow threads fork`, and resume it",
    ),
    (
        "fork from a newer checkpoint, and let `Retention` retain more checkpoints of threads that are forked",
        "fork from a newer checkpoint",
    ),
];

/// A message in the words of the command line.
pub(crate) fn of_command_line(message: &str) -> String {
    let message = message.to_owned();
    WORDS.iter().fold(message, |message, (advice, words)| {
        if message.contains(advice) {
            message.replace(advice, words)
        } else {
            message
        }
    })
}

#[cfg(test)]
mod tests {
    use petalflow_documents::document::{Catalog, Source};
    use petalflow_documents::{Services, load};

    use super::of_command_line;

    #[test]
    fn f45_what_the_loader_advises_is_advice_for_the_command_line() {
        let text = r#"{ "id": "g", "version": "1", "kind": "graph", "edges": [], "nodes": [
            { "id": "f", "type": "func", "config": {} },
            { "id": "a", "type": "llm_prompt", "config": { "prompt": "x", "provider": "anthropic", "model": "m", "output_var": "o" } },
            { "id": "b", "type": "llm_prompt", "config": { "prompt": "x", "output_var": "o" } },
            { "id": "t", "type": "find", "config": {} } ] }"#;
        let catalog =
            Catalog::default().tool("find", petalflow_documents::document::ToolMode::Standalone);
        let catalog = catalog.provider("anthropic");
        let read = Source::new("g.json", text).read_graph(&catalog);
        let read = read.expect("the document is right");
        let error = load(read, &Services::new()).expect_err("nothing is given");
        let said = of_command_line(&error.to_string());
        assert!(!said.contains("::"), "{said}");
        for option in [
            "--tool NAME=COMMAND",
            "--tool NODE=COMMAND",
            "--script FILE",
        ] {
            assert!(said.contains(option), "{option}: {said}");
        }
    }
}
