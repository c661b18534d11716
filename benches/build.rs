//! Generates chains of nodes in two forms: a flow, and a hand-written `loop { match }`.

use std::fmt::Write;
use std::path::Path;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let out = std::env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    for nodes in [10, 100, 1_000] {
        let path = Path::new(&out).join(format!("chain_{nodes}.rs"));
        std::fs::write(path, chain(nodes)).expect("OUT_DIR can be written");
    }
}

/// Both forms have the same state and the same functions. The functions are not inlined and are opaque to the optimizer.
fn chain(nodes: usize) -> String {
    let mut code = String::from(
        "use petalflow::prelude::*;\n\
         /// A number.\n#[state]\n#[derive(Debug)]\npub struct Count {\n    /// The number.\n    #[key(input)]\n    pub n: u64,\n}\n",
    );
    let mut arms = String::new();
    for node in 0..nodes {
        let _ = writeln!(
            code,
            "/// Adds one.\n#[node(Count)]\n#[inline(never)]\npub async fn n{node}(n: &u64) -> CountN {{ CountN(std::hint::black_box(*n + 1)) }}"
        );
        let next = if node + 1 < nodes {
            format!("node = {}", node + 1)
        } else {
            "return count".into()
        };
        let _ = writeln!(
            arms,
            "            {node} => {{ count.n = n{node}(&count.n).await.0; {next}; }}"
        );
    }
    let names: Vec<String> = (0..nodes).map(|node| format!("n{node}")).collect();
    let _ = write!(
        code,
        "flow! {{\n    /// A chain.\n    pub Chain(Count) {{ {} }}\n}}\n\
         /// The same by hand.\n#[allow(clippy::too_many_lines)]\npub async fn by_hand(mut count: Count) -> Count {{\n    let mut node = 0_u32;\n    loop {{\n        match std::hint::black_box(node) {{\n{arms}            _ => return count,\n        }}\n    }}\n}}\n",
        names.join(" -> ")
    );
    code
}
