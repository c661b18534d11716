//! The documents that macros in the programs of the guides read: the pages show them as they are.

use std::fs;

#[test]
fn the_pages_show_the_documents_that_their_programs_read() {
    let root = env!("CARGO_MANIFEST_DIR");
    let texts_of = |folder: &str| -> Vec<(String, String)> {
        let files = fs::read_dir(format!("{root}/{folder}")).expect("the folder is readable");
        let text_of = |path| fs::read_to_string(path).expect("the file is readable");
        files
            .map(|file| file.expect("the folder is readable"))
            .map(|file| {
                (
                    file.file_name().into_string().expect("a name in UTF-8"),
                    text_of(file.path()),
                )
            })
            .collect()
    };
    let pages = texts_of("guide");
    for (name, text) in texts_of("documents") {
        let shown = format!("\n{text}```\n");
        let is_shown =
            |page: &str| page.contains(&format!("`documents/{name}`")) && page.contains(&shown);
        assert!(
            pages.iter().any(|(_, page)| is_shown(page)),
            "no page of docs/guide shows docs/documents/{name} as it is"
        );
    }
}
