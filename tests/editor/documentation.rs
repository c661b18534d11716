//! What rustdoc shows of the program.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

use crate::ESSAY;
use crate::client::{package, target};

/// What rustdoc must not show: names and bounds of generated code.
const HIDDEN: [&str; 5] = ["__", "SharedFor", "DebugFor", "StateFor", "KeptFor"];

#[test]
fn documentation_has_no_names_of_generated_code() {
    let output = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["doc", "--no-deps", "--offline"])
        .current_dir(package(ESSAY))
        .env("CARGO_TARGET_DIR", target())
        .output()
        .expect("cargo can be started");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let folder = target().join("doc/essay");
    for page in [
        "struct.WriteEssay.html",
        "struct.WriteEssayBuilder.html",
        "struct.EssayDraft.html",
        "struct.write.html",
        "enum.Verdict.html",
    ] {
        assert!(folder.join(page).is_file(), "there is no {page}");
    }
    for entry in fs::read_dir(&folder).expect("the pages are there") {
        let page = entry.expect("the folder is readable").path();
        assert!(
            !page
                .file_name()
                .is_some_and(|name| name.to_string_lossy().starts_with("__")),
            "{}",
            page.display()
        );
        // Not the program's own functions, which are in the search index.
        if page.extension().is_some_and(|ending| ending == "html") {
            shows_nothing_internal(&page);
        }
    }
}

fn shows_nothing_internal(page: &Path) {
    let html = fs::read_to_string(page).expect("the page can be read");
    let mut text = String::new();
    for part in html.split('<') {
        text.push_str(part.split_once('>').map_or(part, |(_, text)| text));
    }
    for name in HIDDEN {
        let at = text.find(name);
        let around = at.map(|at| text[..at].lines().last().unwrap_or_default().to_owned() + name);
        assert_eq!(around, None, "{}", page.display());
    }
}
