//! Workflows and the graphs that they are compiled to, row P203.

use std::fs;
use std::path::Path;

use petalflow_document_model::documents::{Catalog, Source};
use serde_json::Value;

/// The graph of a workflow without the time.
fn compile(path: &Path) -> Value {
    let source = Source::read(path).expect("the file can be read");
    let document = source
        .check(&Catalog::default())
        .unwrap_or_else(|errors| panic!("{errors}"));
    let graph = document.graph(&Catalog::default());
    let mut value = serde_json::to_value(graph).expect("a graph is JSON");
    let time = value["metadata"]["compiled_at"].take();
    assert!(
        time.as_str()
            .is_some_and(|time| time.len() == 20 && time.ends_with('Z')),
        "{time}"
    );
    value["metadata"]["compiled_at"] = "NORMALIZED".into();
    value
}

fn read_json(path: &Path) -> Value {
    let text = fs::read_to_string(path).expect("the file can be read");
    serde_json::from_str(&text).expect("it is JSON")
}

/// With `PETALFLOW_BLESS=1` it writes the graphs of `golden`.
#[test]
fn p203_workflows_are_compiled_to_exactly_these_graphs() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/documents/golden");
    for name in ["review", "hierarchy", "choices", "tools"] {
        let graph = compile(&folder.join(format!("{name}.yaml")));
        let file = folder.join(format!("{name}.graph.json"));
        if std::env::var_os("PETALFLOW_BLESS").is_some() {
            let text = serde_json::to_string_pretty(&graph).expect("a graph is JSON");
            fs::write(&file, text + "\n").expect("the folder exists");
        }
        assert_eq!(graph, read_json(&file), "{name}");
    }
}

fn shared_data() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared")
}

#[test]
fn p203_the_golden_pairs_of_petalflow_match() {
    let folder =
        std::env::var_os("PETALFLOW_SHARED").map_or_else(shared_data, std::path::PathBuf::from);
    let folder = folder.join("data/petalflow/agent/testdata");
    let Ok(files) = fs::read_dir(&folder) else {
        println!(
            "skipped: there is no folder {} with the golden pairs: set PETALFLOW_SHARED",
            folder.display()
        );
        return;
    };
    let mut count = 0;
    for file in files {
        let input = file.expect("the folder can be read").path();
        let Some(name) = input.to_str().and_then(|it| it.strip_suffix(".input.json")) else {
            continue;
        };
        assert_eq!(
            compile(&input),
            read_json(Path::new(&format!("{name}.golden.json"))),
            "{name}"
        );
        count += 1;
    }
    assert!(count > 0, "there is no pair in {}", folder.display());
}
