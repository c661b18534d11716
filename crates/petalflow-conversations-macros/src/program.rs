//! What the program says about a conversation: the methods of its `impl`, and the types that it names. Only the text of the
//! program tells, because a macro sees nothing but its own input. It decides nothing but which errors are not repeated.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use petalflow_source::names::similar;
use proc_macro2::{Delimiter, Group, TokenStream, TokenTree, fallback};

/// How many files are searched for the `impl`, and how large they are.
const MAX_FILES: usize = 200;
const MAX_BYTES: u64 = 1 << 20;

/// The names in a program that a document gives, or would have given.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Program {
    pub(crate) impls: Vec<Impl>,
    /// How many conversations it has.
    pub(crate) conversations: usize,
    /// The types that it takes from the module.
    pub(crate) types: BTreeSet<String>,
}

/// An `impl` of the trait.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Impl {
    pub(crate) methods: Vec<Method>,
    /// The associated types.
    pub(crate) own: BTreeSet<String>,
    /// Whether it is for a type with parameters.
    pub(crate) is_generic: bool,
}

/// A method as the program has it.
#[derive(Debug, PartialEq)]
pub(crate) struct Method {
    pub(crate) name: String,
    pub(crate) takes_self: bool,
    /// How many parameters it has besides `self`.
    pub(crate) parameters: usize,
}

impl Program {
    /// Reads the file with the macro.
    pub(crate) fn of_file(file: Option<PathBuf>, module: &str) -> Self {
        let mut program = Program::default();
        if let Some(file) = file {
            program.read(&file, module);
        }
        program
    }

    /// Reads the file with the macro, and the files beside it if the `impl` is not there.
    pub(crate) fn around(file: Option<PathBuf>, module: &str) -> Self {
        let mut program = Program::default();
        let Some(file) = file else {
            return program;
        };
        program.read(&file, module);
        let mut folders: Vec<PathBuf> = file.parent().map(Path::to_owned).into_iter().collect();
        let mut count = 0;
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
                let path = entry.path();
                if entry.file_type().is_ok_and(|it| it.is_dir()) {
                    folders.push(path);
                    continue;
                }
                count += 1;
                if !program.impls.is_empty() || count > MAX_FILES {
                    return program;
                }
                if path != file && path.extension().is_some_and(|it| it == "rs") {
                    program.read(&path, module);
                }
            }
        }
        program
    }

    fn read(&mut self, file: &Path, module: &str) {
        if std::fs::metadata(file).is_ok_and(|it| it.len() <= MAX_BYTES)
            && let Ok(text) = std::fs::read_to_string(file)
            && text.contains(module)
        {
            self.add(&text, module);
        }
    }

    fn add(&mut self, text: &str, module: &str) {
        // The parser of the compiler would report what it cannot read.
        fallback::force();
        if let Ok(tokens) = text.parse() {
            self.scan(tokens, module);
        }
        fallback::unforce();
    }

    fn scan(&mut self, tokens: TokenStream, module: &str) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        for (index, token) in tokens.iter().enumerate() {
            if is(token, "conversation") && tokens.get(index + 1).is_some_and(|it| is(it, "!")) {
                self.conversations += 1;
            }
            if is(token, "for")
                && implements(&tokens[..index], module)
                && let Some((position, body)) = tokens[index..]
                    .iter()
                    .enumerate()
                    .find_map(|(position, it)| Some((position, braces(it)?)))
            {
                let of = &tokens[index..index + position];
                self.add_impl(of.iter().any(|it| is(it, "<")), body.stream());
            }
            if is(token, module)
                && let [colon, second, rest @ ..] = &tokens[index + 1..]
                && is(colon, ":")
                && is(second, ":")
                && let Some(first) = rest.first()
            {
                self.add_types(first);
            }
            if let TokenTree::Group(group) = token {
                self.scan(group.stream(), module);
            }
        }
    }

    fn add_types(&mut self, token: &TokenTree) {
        match token {
            TokenTree::Ident(name) => {
                let name = name.to_string();
                if name.starts_with(char::is_uppercase) && name != "Handlers" {
                    self.types.insert(name);
                }
            }
            TokenTree::Group(group) => {
                let tokens: Vec<TokenTree> = group.stream().into_iter().collect();
                // `OrderSoup as Soup` takes `OrderSoup`.
                let taken = tokens.split(|it| is(it, ",")).filter_map(<[_]>::first);
                taken.for_each(|it| self.add_types(it));
            }
            _ => {}
        }
    }

    fn add_impl(&mut self, is_generic: bool, body: TokenStream) {
        let mut found = Impl {
            is_generic,
            ..Impl::default()
        };
        let tokens: Vec<TokenTree> = body.into_iter().collect();
        for (index, token) in tokens.iter().enumerate() {
            let Some(TokenTree::Ident(name)) = tokens.get(index + 1) else {
                continue;
            };
            let name = name.to_string();
            if is(token, "type") {
                found.own.insert(name);
            } else if is(token, "fn")
                && let Some(parameters) = tokens[index..].iter().find_map(parentheses)
            {
                found.methods.push(method(name, parameters.stream()));
            }
        }
        self.impls.push(found);
    }

    /// Whether it has an `impl`, and only for types without parameters.
    pub(crate) fn is_for_plain_types(&self) -> bool {
        !self.impls.is_empty() && self.impls.iter().all(|it| !it.is_generic)
    }

    /// The methods of this list that an `impl` has under a similar name, which `rustc` reports.
    pub(crate) fn misspelt<'n>(&self, methods: &[&'n str]) -> Vec<&'n str> {
        let mut misspelt = Vec::new();
        // The traits of two conversations have the same name.
        let impls = self.impls.iter().take(if self.conversations > 1 {
            0
        } else {
            usize::MAX
        });
        for found in impls {
            let has = |name: &str| found.methods.iter().any(|it| it.name == name);
            let absent = methods.iter().copied().filter(|name| !has(name));
            let absent: Vec<&str> = absent.collect();
            let unknown = found.methods.iter().map(|it| it.name.as_str());
            let unknown = unknown.filter(|name| !methods.contains(name));
            misspelt.extend(unknown.filter_map(|name| similar(name, absent.iter().copied())));
        }
        misspelt
    }
}

fn method(name: String, parameters: TokenStream) -> Method {
    let parameters = separated(parameters);
    let takes_self = parameters.first().is_some_and(|first| {
        let before_type = first.iter().take_while(|it| !is(it, ":"));
        before_type.into_iter().any(|it| is(it, "self"))
    });
    Method {
        name,
        takes_self,
        parameters: parameters.len() - usize::from(takes_self),
    }
}

/// What is between commas, but not between those of `Result<A, B>`.
fn separated(tokens: TokenStream) -> Vec<Vec<TokenTree>> {
    let mut depth = 0_usize;
    let mut parts = vec![Vec::new()];
    let mut is_after_minus = false;
    for token in tokens {
        if is(&token, "<") {
            depth += 1;
        } else if is(&token, ">") && !is_after_minus {
            depth = depth.saturating_sub(1);
        }
        is_after_minus = is(&token, "-");
        if is(&token, ",") && depth == 0 {
            parts.push(Vec::new());
        } else if let Some(part) = parts.last_mut() {
            part.push(token);
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// Whether the tokens before `for` end with `impl Handlers` or `impl module::Handlers`.
fn implements(before: &[TokenTree], module: &str) -> bool {
    match before {
        [.., path, a, b, name] if is(a, ":") && is(b, ":") => {
            is(name, "Handlers") && is(path, module)
        }
        [.., name] => is(name, "Handlers"),
        [] => false,
    }
}

fn is(token: &TokenTree, text: &str) -> bool {
    match token {
        TokenTree::Ident(name) => name == text,
        TokenTree::Punct(mark) => text.len() == 1 && text.starts_with(mark.as_char()),
        _ => false,
    }
}

fn braces(token: &TokenTree) -> Option<&Group> {
    group(token, Delimiter::Brace)
}

fn parentheses(token: &TokenTree) -> Option<&Group> {
    group(token, Delimiter::Parenthesis)
}

fn group(token: &TokenTree, delimiter: Delimiter) -> Option<&Group> {
    match token {
        TokenTree::Group(group) if group.delimiter() == delimiter => Some(group),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Method, Program};

    fn program(text: &str) -> Program {
        let mut program = Program::default();
        program.add(text, "order");
        program
    }

    fn method(name: &str, takes_self: bool, parameters: usize) -> Method {
        Method {
            name: name.into(),
            takes_self,
            parameters,
        }
    }

    #[test]
    fn the_methods_and_types_of_an_impl_are_found() {
        let program = program(
            "use order::{self, Handlers, Soup as S, Size::{Large, Small}};
             mod inner {
                 impl<'a, T: Fn(u8) -> u8> super::order::Handlers for Kitchen<'a, T> where T: Send {
                     type CreateOrder = Vec<u8>;
                     async fn cook(&self, soup: order::CookSoup, _: &Context<'_, (u8, u8)>) -> Result<Value, E> { fn no() {} }
                     fn print(self: &Self, f: Box<dyn Fn(A, B) -> C<D, E>>, x: HashMap<K, V>,) -> impl Future { order::Node::A }
                     async fn nothing() {}
                 }
             }
             impl other::Handlers for Kitchen { fn other() {} }
             impl std::fmt::Display for Kitchen { fn fmt() {} }",
        );
        let methods = [
            method("cook", true, 2),
            method("print", true, 2),
            method("nothing", false, 0),
        ];
        let [found] = program.impls.as_slice() else {
            panic!("{program:?}");
        };
        assert_eq!(found.methods, methods);
        assert!(found.own.iter().eq(["CreateOrder"]));
        assert!(found.is_generic && !program.is_for_plain_types());
        assert!(
            program
                .types
                .iter()
                .eq(["CookSoup", "Node", "Size", "Soup"])
        );
    }

    #[test]
    fn a_method_with_a_similar_name_is_misspelt() {
        let text =
            "impl order::Handlers for Kitchen { fn order_soop() {} fn pay() {} fn wash() {} }";
        let methods = ["order_soup", "pay", "print"];
        assert_eq!(program(text).misspelt(&methods), ["order_soup"]);
        assert!(program(text).is_for_plain_types());
        let two = format!("{text} conversation! {{ A(\"a\") }} conversation! {{ B(\"b\") }}");
        assert!(program(&two).misspelt(&methods).is_empty());
    }

    #[test]
    fn a_text_that_is_not_rust_says_nothing() {
        assert_eq!(
            program("impl order::Handlers for K { fn a(' }"),
            Program::default()
        );
    }
}
