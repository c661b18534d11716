//! The list of each `template!` has exactly the variables of its code. The compiler checks only that they exist.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{fs, mem};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

#[test]
fn each_template_lists_its_variables() {
    let mut files = Vec::new();
    sources(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("src"),
        &mut files,
    );
    let mut templates = Templates::default();
    for file in files {
        let text = fs::read_to_string(&file).expect("the file is text");
        let tokens = text.parse().expect("the file is Rust");
        templates.find(&file, tokens);
    }
    assert!(templates.count > 100, "only {} templates", templates.count);
    assert_eq!(templates.wrong, Vec::<String>::new());
}

fn sources(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the folder can be read") {
        let path = entry.expect("the folder can be read").path();
        if path.is_dir() {
            sources(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

#[derive(Default)]
struct Templates {
    count: usize,
    wrong: Vec<String>,
}

impl Templates {
    fn find(&mut self, file: &Path, tokens: TokenStream) {
        let (mut name, mut bang) = (false, false);
        for token in tokens {
            if let TokenTree::Group(group) = &token {
                if name && bang {
                    self.check(file, group.stream());
                }
                self.find(file, group.stream());
            }
            bang = name && matches!(&token, TokenTree::Punct(punct) if punct.as_char() == '!');
            name = bang || matches!(&token, TokenTree::Ident(ident) if ident == "template");
        }
    }

    /// Compares the list of a template, which is its first group in brackets, with the code after it.
    fn check(&mut self, file: &Path, template: TokenStream) {
        let mut tokens = template.into_iter();
        let list = tokens.find_map(|token| match token {
            TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket => {
                Some(group.stream())
            }
            _ => None,
        });
        let mut listed = BTreeSet::new();
        for token in list.expect("a template begins with its list") {
            if let TokenTree::Ident(name) = token {
                listed.insert(name.to_string());
            }
        }
        let mut used = BTreeSet::new();
        variables(tokens.collect(), &mut used);
        self.count += 1;
        if listed != used {
            let file = file.display();
            self.wrong.push(format!(
                "{file}: the list has {listed:?}, and the code uses {used:?}"
            ));
        }
    }
}

fn variables(code: TokenStream, used: &mut BTreeSet<String>) {
    let mut after_hash = false;
    for token in code {
        match &token {
            TokenTree::Ident(name) if mem::take(&mut after_hash) => {
                used.insert(name.to_string());
            }
            TokenTree::Group(group) => variables(group.stream(), used),
            _ => {}
        }
        after_hash = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == '#');
    }
}
