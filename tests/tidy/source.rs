//! The modules of one crate, and what each names of the others.
//!
//! Reads tokens, so that comments and strings do not count; code that is compiled only for tests does not count either.
//! Names that are re-exported count for the file that declares them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::OnceLock;

use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};

use crate::workspace;

/// Index of a module in [`Source::modules`].
type ModuleIdx = usize;

/// What the code inside these macros names is for the code that it generates.
const TEMPLATES: &[&str] = &["parse_quote", "quote", "quote_spanned"];

pub(crate) struct Source {
    pub(crate) modules: Vec<Module>,
    mentions: Vec<Mention>,
}

pub(crate) struct Module {
    pub(crate) file: PathBuf,
    /// The names from the root of the crate to this module.
    pub(crate) path: Vec<String>,
    pub(crate) public: bool,
    /// What it declares or re-exports with `pub`, modules aside: kind and name.
    pub(crate) items: Vec<(&'static str, String)>,
    parent: ModuleIdx,
    children: BTreeMap<String, ModuleIdx>,
    imports: BTreeMap<String, Vec<String>>,
    globs: Vec<Vec<String>>,
}

/// A path that starts at the crate, at a module, or at a name that the module imports.
struct Mention {
    module: ModuleIdx,
    path: Vec<String>,
    line: usize,
    /// `pub use`, and `pub(..) use`.
    reexport: bool,
}

/// File `from` names something that file `to` declares.
#[derive(Clone)]
pub(crate) struct Use {
    pub(crate) from: ModuleIdx,
    pub(crate) to: ModuleIdx,
    pub(crate) line: usize,
}

/// Each library and program of the workspace, with the name of its package.
pub(crate) fn crates() -> &'static [(&'static str, Source)] {
    static CRATES: OnceLock<Vec<(&str, Source)>> = OnceLock::new();
    CRATES.get_or_init(|| {
        let packages = workspace::packages().iter();
        packages
            .flat_map(|package| {
                package
                    .roots
                    .iter()
                    .map(|root| (&*package.name, Source::read(root)))
            })
            .collect()
    })
}

impl Source {
    /// Reads the crate whose root is `file`, with the files of all its modules.
    pub(crate) fn read(file: &Path) -> Self {
        let mut source = Source {
            modules: vec![Module::new(file.to_owned(), Vec::new(), 0, true)],
            mentions: Vec::new(),
        };
        let folder = file.parent().expect("a file has a folder");
        source.read_file(0, folder);
        source
    }

    /// Each use of one file by another, without the re-exports by which a module shows what is below it.
    pub(crate) fn uses(&self) -> Vec<Use> {
        let mut uses = Vec::new();
        for mention in &self.mentions {
            let Some(to) = self.resolve(mention.module, &mention.path, 0) else {
                continue;
            };
            let (from, target) = (&self.modules[mention.module], &self.modules[to]);
            let shows = mention.reexport && target.path.starts_with(&from.path);
            if from.file != target.file && !shows {
                uses.push(Use {
                    from: mention.module,
                    to,
                    line: mention.line,
                });
            }
        }
        uses
    }

    /// The module that declares the last name of `path`, or that it is. `None` if that is in another crate.
    fn resolve(&self, from: ModuleIdx, path: &[String], depth: usize) -> Option<ModuleIdx> {
        if depth > 16 {
            return None;
        }
        let (first, mut rest) = path.split_first()?;
        let mut module = match first.as_str() {
            "crate" => 0,
            "self" => from,
            "super" => self.modules[from].parent,
            _ => {
                rest = path;
                from
            }
        };
        let relative = rest.len() == path.len();
        for (index, name) in rest.iter().enumerate() {
            let here = &self.modules[module];
            if name == "super" {
                module = here.parent;
            } else if let Some(&child) = here.children.get(name) {
                module = child;
            } else if let Some(import) = here
                .imports
                .get(name)
                .filter(|import| *import != std::slice::from_ref(name))
            {
                let mut full = import.clone();
                full.extend_from_slice(&rest[index + 1..]);
                return self.resolve(module, &full, depth + 1);
            } else if relative && index == 0 {
                // The first name is of another crate, of the language, or of this module.
                return None;
            } else {
                let of_glob = here.globs.iter().find_map(|glob| {
                    let mut full = glob.clone();
                    full.extend_from_slice(&rest[index..]);
                    self.resolve(module, &full, depth + 1)
                });
                return Some(of_glob.unwrap_or(module));
            }
        }
        Some(module)
    }

    /// Reads the file of module `index`, whose own modules have their files in `folder`.
    fn read_file(&mut self, index: ModuleIdx, folder: &Path) {
        let file = &self.modules[index].file;
        let text = std::fs::read_to_string(workspace::root().join(file))
            .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let tokens = TokenStream::from_str(&text)
            .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        self.scan(index, folder, tokens, true);
    }

    /// `items`: whether the tokens are those of a module, rather than of something inside it.
    fn scan(&mut self, index: ModuleIdx, folder: &Path, tokens: TokenStream, items: bool) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        // Where the item that is being read begins.
        let mut begin = 0;
        while at < tokens.len() {
            if is_punct(&tokens, at, '#')
                && let Some(group) = group(&tokens, at + 1, Delimiter::Bracket)
            {
                at = if is_test(group) {
                    end_of_item(&tokens, at + 2)
                } else {
                    at + 2
                };
                begin = at;
                continue;
            }
            match &tokens[at] {
                TokenTree::Ident(word) if word == "mod" && at + 2 < tokens.len() => {
                    at = self.scan_module(index, folder, &tokens, at, is_pub(&tokens, begin));
                    begin = at;
                }
                TokenTree::Ident(word) if word == "use" && !is_punct(&tokens, at + 1, '<') => {
                    let end = (at..tokens.len())
                        .find(|&at| is_punct(&tokens, at, ';'))
                        .unwrap_or(tokens.len());
                    let public = is_pub(&tokens, begin);
                    let reexport = at > begin && is_word(&tokens, begin, "pub");
                    self.scan_use(
                        index,
                        &tokens[at + 1..end],
                        &[],
                        (reexport, public && items),
                    );
                    at = end + 1;
                    begin = at;
                }
                TokenTree::Ident(word)
                    if TEMPLATES.iter().any(|name| word == name)
                        && is_punct(&tokens, at + 1, '!') =>
                {
                    at += 3;
                }
                TokenTree::Ident(word) => {
                    if items && let Some(kind) = item_kind(word) {
                        self.declare(index, kind, &tokens, begin, at);
                    }
                    at = self.scan_path(index, &tokens, at);
                }
                TokenTree::Group(group) => {
                    let ends = items && group.delimiter() == Delimiter::Brace;
                    self.scan(index, folder, group.stream(), false);
                    at += 1;
                    if ends {
                        begin = at;
                    }
                }
                TokenTree::Punct(punct) => {
                    at += 1;
                    if punct.as_char() == ';' {
                        begin = at;
                    }
                }
                TokenTree::Literal(_) => at += 1,
            }
        }
    }

    /// `mod name;` or `mod name { .. }` at `at`. Returns where it ends.
    fn scan_module(
        &mut self,
        parent: ModuleIdx,
        folder: &Path,
        tokens: &[TokenTree],
        at: usize,
        public: bool,
    ) -> usize {
        let TokenTree::Ident(name) = &tokens[at + 1] else {
            return at + 1;
        };
        let name = plain(name);
        let inside = folder.join(&name);
        let mut path = self.modules[parent].path.clone();
        path.push(name.clone());
        let body = group(tokens, at + 2, Delimiter::Brace);
        let file = if body.is_some() {
            self.modules[parent].file.clone()
        } else {
            let beside = folder.join(format!("{name}.rs"));
            if workspace::root().join(&beside).exists() {
                beside
            } else {
                inside.join("mod.rs")
            }
        };
        let index = self.modules.len();
        self.modules.push(Module::new(file, path, parent, public));
        self.modules[parent].children.insert(name, index);
        match body {
            Some(body) => self.scan(index, &inside, body.stream(), true),
            None => self.read_file(index, &inside),
        }
        at + 3
    }

    /// What a `use` names, without the word itself, below `prefix`.
    fn scan_use(
        &mut self,
        module: ModuleIdx,
        tree: &[TokenTree],
        prefix: &[String],
        (reexport, public): (bool, bool),
    ) {
        let mut path = prefix.to_vec();
        let mut alias = None;
        let mut at = 0;
        let mut line = 0;
        while at < tree.len() {
            match &tree[at] {
                TokenTree::Group(group) => {
                    let inside: Vec<TokenTree> = group.stream().into_iter().collect();
                    for part in inside.split(
                        |token| matches!(token, TokenTree::Punct(punct) if punct.as_char() == ','),
                    ) {
                        if !part.is_empty() {
                            self.scan_use(module, part, &path, (reexport, public));
                        }
                    }
                    return;
                }
                TokenTree::Ident(word) if word == "as" => {
                    alias = tree.get(at + 1).map(ToString::to_string);
                    break;
                }
                TokenTree::Ident(word) => {
                    line = word.span().start().line;
                    // `use a::{self}` names `a`.
                    if word != "self" || path.is_empty() {
                        path.push(plain(word));
                    }
                }
                TokenTree::Punct(punct) if punct.as_char() == '*' => {
                    self.modules[module].globs.push(path.clone());
                    self.mention(module, path, punct.span().start().line, reexport);
                    return;
                }
                _ => {}
            }
            at += 1;
        }
        let Some(name) = alias.or_else(|| path.last().cloned()) else {
            return;
        };
        if public {
            self.modules[module].items.push(("use", name.clone()));
        }
        self.modules[module].imports.insert(name, path.clone());
        self.mention(module, path, line, reexport);
    }

    /// The path that may begin at `at`. Returns where to go on.
    fn scan_path(&mut self, module: ModuleIdx, tokens: &[TokenTree], at: usize) -> usize {
        let mut path = Vec::new();
        let mut end = at;
        while let Some(TokenTree::Ident(word)) = tokens.get(end) {
            path.push(plain(word));
            end += 1;
            let joined = is_punct(tokens, end, ':') && is_punct(tokens, end + 1, ':');
            if !joined || !matches!(tokens.get(end + 2), Some(TokenTree::Ident(_))) {
                break;
            }
            end += 2;
        }
        let continues = at >= 1
            && (is_punct(tokens, at - 1, ':') && at >= 2 && is_punct(tokens, at - 2, ':')
                || is_punct(tokens, at - 1, '.'));
        if path.len() > 1 && !continues {
            self.mention(module, path, tokens[at].span().start().line, false);
        }
        end
    }

    fn mention(&mut self, module: ModuleIdx, path: Vec<String>, line: usize, reexport: bool) {
        self.mentions.push(Mention {
            module,
            path,
            line,
            reexport,
        });
    }

    /// Notes the item whose keyword is at `at` and whose first token is at `begin`, if it is `pub`.
    fn declare(
        &mut self,
        module: ModuleIdx,
        kind: &'static str,
        tokens: &[TokenTree],
        begin: usize,
        at: usize,
    ) {
        if kind == "macro" {
            return;
        }
        if is_pub(tokens, begin)
            && let Some(TokenTree::Ident(name)) = tokens.get(at + 1)
            && item_kind(name).is_none()
        {
            self.modules[module].items.push((kind, plain(name)));
        }
    }
}

impl Module {
    fn new(file: PathBuf, path: Vec<String>, parent: ModuleIdx, public: bool) -> Self {
        Module {
            file,
            path,
            public,
            items: Vec::new(),
            parent,
            children: BTreeMap::new(),
            imports: BTreeMap::new(),
            globs: Vec::new(),
        }
    }

    /// The module directly below the root that this one is or is in. `None` for the root.
    pub(crate) fn top(&self) -> Option<&str> {
        self.path.first().map(String::as_str)
    }
}

fn item_kind(word: &Ident) -> Option<&'static str> {
    [
        "struct", "enum", "trait", "fn", "const", "static", "type", "union",
    ]
    .into_iter()
    .find(|kind| word == kind)
}

/// `cfg(test)`, also together with others.
fn is_test(attribute: &Group) -> bool {
    let tokens: Vec<TokenTree> = attribute.stream().into_iter().collect();
    let Some(group) = is_word(&tokens, 0, "cfg")
        .then(|| group(&tokens, 1, Delimiter::Parenthesis))
        .flatten()
    else {
        return false;
    };
    let condition = group.stream().to_string().replace(' ', "");
    condition == "test" || condition.starts_with("all(test,")
}

/// Where the item that begins at `at` ends.
fn end_of_item(tokens: &[TokenTree], mut at: usize) -> usize {
    let import = (at..tokens.len().min(at + 3)).any(|at| is_word(tokens, at, "use"));
    while at < tokens.len() {
        let braces = group(tokens, at, Delimiter::Brace).is_some() && !import;
        at += 1;
        if braces || is_punct(tokens, at - 1, ';') {
            break;
        }
    }
    at
}

fn is_pub(tokens: &[TokenTree], at: usize) -> bool {
    is_word(tokens, at, "pub") && group(tokens, at + 1, Delimiter::Parenthesis).is_none()
}

fn is_word(tokens: &[TokenTree], at: usize, word: &str) -> bool {
    matches!(tokens.get(at), Some(TokenTree::Ident(ident)) if ident == word)
}

fn is_punct(tokens: &[TokenTree], at: usize, char: char) -> bool {
    matches!(tokens.get(at), Some(TokenTree::Punct(punct)) if punct.as_char() == char)
}

fn group(tokens: &[TokenTree], at: usize, delimiter: Delimiter) -> Option<&Group> {
    match tokens.get(at) {
        Some(TokenTree::Group(group)) if group.delimiter() == delimiter => Some(group),
        _ => None,
    }
}

/// An identifier without the `r#` in front of it.
fn plain(ident: &Ident) -> String {
    let ident = ident.to_string();
    ident.strip_prefix("r#").unwrap_or(&ident).to_owned()
}
