//! What the files contain, and what they must not contain.

use super::kit::{extension, file_names, get, path};

#[tokio::test]
async fn everything_that_a_file_imports_is_served() {
    let names = file_names();
    for name in &names {
        let text = get(&path(name)).await.text;
        for imported in imports(&text) {
            let file = imported.strip_prefix("./").unwrap_or(&imported);
            assert!(
                names.iter().any(|name| name == file),
                "{name}: `{imported}` is not a file of the studio"
            );
        }
    }
}

#[tokio::test]
async fn every_script_is_used() {
    let mut used = vec!["index.html".to_string()];
    let mut at = 0;
    while let Some(name) = used.get(at).cloned() {
        for imported in imports(&get(&path(&name)).await.text) {
            let file = imported.strip_prefix("./").unwrap_or(&imported).to_string();
            if !used.contains(&file) {
                used.push(file);
            }
        }
        at += 1;
    }
    used.sort();
    assert_eq!(used, file_names());
}

/// Text of the server must never be read as HTML or as a script, and the policy forbids inline styles.
#[tokio::test]
async fn nothing_is_inserted_as_html_or_run_as_a_script() {
    const FORBIDDEN: [&str; 12] = [
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "setHTMLUnsafe",
        "createContextualFragment",
        "document.write",
        "eval(",
        "new Function",
        "style=",
        "<style",
        "onclick=",
        "javascript:",
    ];
    for name in file_names() {
        let text = get(&path(&name)).await.text;
        for word in FORBIDDEN {
            assert!(!text.contains(word), "{name} contains `{word}`");
        }
    }
}

#[tokio::test]
async fn nothing_is_loaded_from_other_hosts() {
    // The names of XML namespaces look like addresses. Nothing is loaded from them.
    const NAMESPACES: [&str; 1] = ["http://www.w3.org/2000/svg"];
    for name in file_names() {
        let text = get(&path(&name)).await.text;
        let text = NAMESPACES
            .iter()
            .fold(text, |text, namespace| text.replace(namespace, ""));
        for word in [
            "http://", "https://", "ws://", "wss://", "\"//", "'//", "url(//", "@import",
        ] {
            assert!(!text.contains(word), "{name} contains `{word}`");
        }
    }
}

#[tokio::test]
async fn scripts_are_checked_for_types() {
    for name in file_names() {
        if extension(&name) != "js" {
            continue;
        }
        let text = get(&path(&name)).await.text;
        assert!(text.starts_with("// @ts-check\n"), "{name}");
    }
}

#[tokio::test]
async fn the_page_has_no_inline_script() {
    let page = get("/").await.text;
    assert_eq!(page.matches("<script").count(), 1);
    assert!(page.contains(r#"<script type="module" src="main.js"></script>"#));
}

/// The files that a file names: imports of scripts, also of types, and `src` and `href` of HTML.
fn imports(text: &str) -> Vec<String> {
    let starts = [
        "from \"./",
        "import \"./",
        "import(\"./",
        "src=\"",
        "href=\"",
    ];
    let mut found = Vec::new();
    for start in starts {
        for (at, _) in text.match_indices(start) {
            let from = at + start.find('"').expect("each has one") + 1;
            let end = text[from..].find('"').expect("the text is closed");
            let file = &text[from..from + end];
            let is_fragment = file.starts_with('#') || file.starts_with("data:");
            if !is_fragment {
                found.push(file.to_string());
            }
        }
    }
    found
}
