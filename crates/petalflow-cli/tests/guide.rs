//! The guides: their documents are written to files, and their commands run.

#![cfg(unix)]

use std::path::Path;

use crate::help::shell;

const GUIDE: &str = include_str!("../../../docs/guide/command-line.md");
const NODE_KINDS: &str = include_str!("../../../docs/guide/node-kinds.md");

/// A block between fences: its language, the file that it is or the command that prints it, and its text.
struct Block<'t> {
    language: &'t str,
    file: Option<&'t str>,
    command: Option<&'t str>,
    text: String,
}

fn blocks(guide: &str) -> Vec<Block<'_>> {
    let (mut blocks, mut open, mut before) = (Vec::<Block<'_>>::new(), false, "");
    for line in guide.lines() {
        match line.strip_prefix("```") {
            Some(_) if open => open = false,
            Some(language) => {
                open = true;
                let name = before.strip_prefix('`');
                let file = name.and_then(|it| it.strip_suffix("`:"));
                blocks.push(Block {
                    language,
                    file,
                    command: name.and_then(|it| it.strip_suffix("` prints:")),
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

/// Writes the files of a guide, and runs its commands. Returns their number.
fn run(guide: &str, folder: &Path) -> usize {
    let mut count = 0;
    for block in blocks(guide) {
        if let Some(file) = block.file {
            std::fs::write(folder.join(file), &block.text).expect("the file can be written");
        } else if block.language == "sh" {
            for line in block.text.lines() {
                let code = line
                    .split_once("# exit code ")
                    .map_or("0", |(_, code)| code);
                let ran = shell(line, folder);
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
    count
}

#[test]
fn p209_the_commands_of_the_guide_run() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let count = run(GUIDE, folder.path());
    assert!(count > 20, "{count} commands");
    assert!(Path::new(&folder.path().join("letter.svg")).exists());
}

#[test]
fn the_examples_of_node_kinds_run() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let kinds = shell("petalflow tools", folder.path()).out;
    let kinds = kinds
        .lines()
        .map(|line| line.split(' ').next().unwrap_or_default());
    for kind in kinds {
        let file = format!("{kind}.yaml");
        let has_example = blocks(NODE_KINDS)
            .iter()
            .any(|block| block.file == Some(&file));
        assert!(
            has_example,
            "docs/guide/node-kinds.md has no example of `{kind}`"
        );
    }
    run(NODE_KINDS, folder.path());
}

/// With `PETALFLOW_BLESS=1` it writes them.
#[test]
fn the_settings_of_node_kinds_are_those_of_the_program() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut guide = String::new();
    let mut rest = NODE_KINDS;
    for block in blocks(NODE_KINDS) {
        let Some(command) = block.command else {
            continue;
        };
        let begin = format!("`{command}` prints:\n\n```text\n");
        let (before, after) = rest.split_once(&begin).expect("the block is in the guide");
        let printed = shell(command, folder.path()).out;
        guide.extend([before, &begin, &printed]);
        rest = after
            .strip_prefix(&*block.text)
            .expect("the text of the block");
    }
    guide.push_str(rest);
    if std::env::var_os("PETALFLOW_BLESS").is_some() {
        let file = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../docs/guide/node-kinds.md"
        );
        std::fs::write(file, guide).expect("the guide is writable");
    } else {
        assert!(
            guide == NODE_KINDS,
            "docs/guide/node-kinds.md does not have the settings of the program: run the test with PETALFLOW_BLESS=1"
        );
    }
}
