//! A flow with node values that was copied and not renamed: one error, at the second.
use petalflow::prelude::*;

#[state]
struct Essay {
    #[key(input)]
    topic: String,
    draft: String,
}

struct Writer(String);

#[node(Essay)]
impl Writer {
    async fn run(&self, topic: &str) -> EssayDraft {
        EssayDraft(format!("{} of {topic}", self.0))
    }
}

flow! {
    Write(Essay) {
        node writer: Writer;
        writer;
    }
}

flow! {
    Write(Essay) {
        node writer: Writer = Writer("praise".to_string());
        node other: Writer;
        writer -> other;
    }
}

fn main() {
    let launch = Write::new().writer(Writer("praise".to_string()));
    let _ = (launch.run("petals".to_string()), Write::mermaid());
}
