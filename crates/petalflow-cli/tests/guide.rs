//! The guide: its documents are written to files, and its commands run.

#![cfg(unix)]

use std::path::Path;

use crate::help::shell;

const GUIDE: &str = include_str!("../../../docs/guide/command-line.md");

/// A block between fences: its language, the file that it is, and its text.
struct Block<'t> {
    language: &'t str,
    file: Option<&'t str>,
    text: String,
}

fn blocks() -> Vec<Block<'static>> {
    let (mut blocks, mut open, mut before) = (Vec::<Block<'_>>::new(), false, "");
    for line in GUIDE.lines() {
        match line.strip_prefix("```") {
            Some(_) if open => open = false,
            Some(language) => {
                open = true;
                let file = before
                    .strip_prefix('`')
                    .and_then(|it| it.strip_suffix("`:"));
                blocks.push(Block {
                    language,
                    file,
                    text: String::new(),
                });
            }
            None if open => {
                let block = blocks.last_mut().expect("it was opened");
                block.text.push_str(line);
                block.text.push('\n');
            }
            None => {}
        }
        if !line.is_empty() {
            before = line;
        }
    }
    blocks
}

#[test]
fn p209_the_commands_of_the_guide_run() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut count = 0;
    for block in blocks() {
        if let Some(file) = block.file {
            std::fs::write(folder.path().join(file), &block.text).expect("the file can be written");
        } else if block.language == "sh" {
            for line in block.text.lines() {
                let code = line
                    .split_once("# exit code ")
                    .map_or("0", |(_, code)| code);
                let ran = shell(line, folder.path());
                assert_eq!(
                    ran.code.to_string(),
                    code,
                    "`{line}`: {}{}",
                    ran.out,
                    ran.err
                );
                count += 1;
            }
        }
    }
    assert!(count > 20, "{count} commands");
    assert!(Path::new(&folder.path().join("letter.svg")).exists());
}
