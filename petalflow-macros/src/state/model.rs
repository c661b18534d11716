//! The model of a state: the keys of the state.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::ext::IdentExt as _;
use syn::{Attribute, Data, Expr, Fields, LitInt, LitStr, Path, Type, Visibility};

use super::ast::{StateArgs, StateAst};
use crate::errors::Errors;
use crate::options::{self, Opt, Seen};
use crate::paths;

/// The options of a key.
const OPTIONS: &[&str] = &[
    "input",
    "replace",
    "append",
    "prepend",
    "sum",
    "min",
    "max",
    "merge",
    "first",
    "messages",
    "reduce",
    "skip_zero",
    "default",
    "turn",
    "output",
    "untracked",
    "ephemeral",
    "id",
    "name",
];

/// A state: its names and its keys.
pub(crate) struct State {
    pub(crate) ident: Ident,
    pub(crate) vis: Visibility,
    pub(crate) input: Ident,
    pub(crate) update: Ident,
    pub(crate) volatile: bool,
    /// The version of what is stored, and what brings lower versions up to it.
    pub(crate) version: Option<(LitInt, Path)>,
    pub(crate) keys: Vec<Key>,
    /// Whether the keys are all that a value of the struct is made of; if not, none is ever made.
    pub(crate) complete: bool,
}

/// One key.
pub(crate) struct Key {
    pub(crate) field: Ident,
    pub(crate) name: String,
    pub(crate) ty: Type,
    pub(crate) vis: Visibility,
    pub(crate) newtype: Ident,
    pub(crate) docs: Vec<Attribute>,
    pub(crate) reducer: Reducer,
    pub(crate) initial: Initial,
    pub(crate) id: Option<LitStr>,
    pub(crate) marks: Marks,
    /// Whether its options are wrong, so that its reducer is unknown.
    pub(crate) broken: bool,
}

/// How writes fold.
pub(crate) enum Reducer {
    /// The last write replaces the value.
    Replace,
    /// One of the library's.
    BuiltIn(BuiltIn),
    /// A function of the user's.
    Custom(Expr),
}

/// The library's reducers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum BuiltIn {
    Append,
    Prepend,
    Sum,
    Min,
    Max,
    Merge,
    First,
    Messages,
}

impl BuiltIn {
    /// The reducer's name, the function's name, and the trait's name.
    pub(crate) fn names(self) -> (&'static str, &'static str) {
        match self {
            BuiltIn::Append => ("append", "Append"),
            BuiltIn::Prepend => ("prepend", "Prepend"),
            BuiltIn::Sum => ("sum", "Sum"),
            BuiltIn::Min => ("min", "Min"),
            BuiltIn::Max => ("max", "Max"),
            BuiltIn::Merge => ("merge", "Merge"),
            BuiltIn::First => ("first", "First"),
            BuiltIn::Messages => ("messages", "Messages"),
        }
    }

    fn named(name: &str) -> Option<Self> {
        let all = [
            BuiltIn::Append,
            BuiltIn::Prepend,
            BuiltIn::Sum,
            BuiltIn::Min,
            BuiltIn::Max,
            BuiltIn::Merge,
            BuiltIn::First,
            BuiltIn::Messages,
        ];
        all.into_iter().find(|reducer| reducer.names().0 == name)
    }
}

/// What a key holds before its first write.
pub(crate) enum Initial {
    /// Its type's default, because no other default is given.
    Unsaid,
    /// Its type's default, by `default`.
    Default,
    /// An expression, by `default = …`.
    Expr(Expr),
}

/// The options without a value, each with its token.
#[derive(Default)]
pub(crate) struct Marks {
    pub(crate) input: Option<Ident>,
    pub(crate) skip_zero: Option<Ident>,
    pub(crate) turn: Option<Ident>,
    pub(crate) output: Option<Ident>,
    pub(crate) untracked: Option<Ident>,
    pub(crate) ephemeral: Option<Ident>,
}

impl Key {
    /// Whether a write of the first value must not be folded into a made-up one.
    pub(crate) fn folds_from_first(&self) -> bool {
        matches!(self.reducer, Reducer::BuiltIn(BuiltIn::Min | BuiltIn::Max))
            && matches!(self.initial, Initial::Unsaid)
    }

    /// Whether input is taken as it is, without a default to fold it into.
    pub(crate) fn moves_input(&self) -> bool {
        self.marks.input.is_some()
            && self.marks.skip_zero.is_none()
            && (matches!(self.reducer, Reducer::Replace) || self.folds_from_first())
    }

    /// Whether the key has a default to start from and to go back to.
    pub(crate) fn has_default(&self) -> bool {
        !self.moves_input() || !matches!(self.initial, Initial::Unsaid)
    }

    /// Whether a superstep takes one write at most.
    pub(crate) fn exclusive(&self) -> bool {
        matches!(self.reducer, Reducer::Replace) && !self.broken
    }

    /// Whether it has a value before any node has run.
    pub(crate) fn assigned(&self) -> bool {
        let folds_from_default = match self.reducer {
            Reducer::Replace | Reducer::BuiltIn(BuiltIn::Min | BuiltIn::Max) => false,
            Reducer::BuiltIn(_) | Reducer::Custom(_) => true,
        };
        folds_from_default
            || self.broken
            || self.marks.input.is_some()
            || !matches!(self.initial, Initial::Unsaid)
    }
}

impl State {
    /// Understands a struct. Where something is wrong the rest is still understood.
    pub(crate) fn build(ast: &StateAst, args: &StateArgs, errors: &mut Errors) -> Self {
        let item = &ast.item;
        let derived = |suffix: &str| {
            Ident::new(
                &format!("{}{suffix}", item.ident.unraw()),
                item.ident.span(),
            )
        };
        let mut state = State {
            ident: item.ident.clone(),
            vis: item.vis.clone(),
            input: derived("Input"),
            update: derived("Update"),
            volatile: args.volatile,
            version: args.version.clone(),
            keys: Vec::new(),
            complete: false,
        };
        let Data::Struct(data) = &item.data else {
            return state;
        };
        let Fields::Named(fields) = &data.fields else {
            return state;
        };
        state.complete = true;
        for (field, options) in fields.named.iter().zip(&ast.options) {
            let Some(ident) = &field.ident else { continue };
            let name = paths::name(ident);
            // rustc says that a field is declared twice.
            if state.keys.iter().any(|key| key.name == name) {
                continue;
            }
            let docs = field
                .attrs
                .iter()
                .filter(|attr| attr.path().is_ident("doc"));
            let newtype = Ident::new(
                &format!("{}{}", item.ident.unraw(), camel(&name)),
                ident.span(),
            );
            let mut key = Key {
                field: ident.clone(),
                name,
                ty: field.ty.clone(),
                vis: visibility(&item.vis, field).clone(),
                newtype,
                docs: docs.cloned().collect(),
                reducer: Reducer::Replace,
                initial: Initial::Unsaid,
                id: None,
                marks: Marks::default(),
                broken: false,
            };
            let before = errors.count();
            key.read(options, errors);
            key.broken = errors.count() > before;
            state.keys.push(key);
        }
        state
    }
}

impl Key {
    /// Applies the options.
    fn read(&mut self, options: &[Opt], errors: &mut Errors) {
        let mut seen = Seen::new(OPTIONS);
        let mut reducer: Option<&str> = None;
        for option in options {
            let Some(name) = seen.accept(option, errors) else {
                continue;
            };
            let mark = || Some(option.name.clone());
            let chosen = match name {
                "input" => {
                    option.flag(errors);
                    self.marks.input = mark();
                    continue;
                }
                "skip_zero" => {
                    option.flag(errors);
                    self.marks.skip_zero = mark();
                    continue;
                }
                "turn" => {
                    option.flag(errors);
                    self.marks.turn = mark();
                    continue;
                }
                "output" => {
                    option.flag(errors);
                    self.marks.output = mark();
                    continue;
                }
                "untracked" => {
                    option.flag(errors);
                    self.marks.untracked = mark();
                    continue;
                }
                "ephemeral" => {
                    option.flag(errors);
                    self.marks.ephemeral = mark();
                    continue;
                }
                "default" => {
                    self.initial = option.bare_value().map_or(Initial::Default, Initial::Expr);
                    continue;
                }
                "id" => {
                    self.id = option.text(errors);
                    continue;
                }
                "name" => {
                    if let Some(ident) = option.ident(errors) {
                        self.newtype = ident;
                    }
                    continue;
                }
                "reduce" => option.expr(errors, "function").map(Reducer::Custom),
                "replace" => option.flag(errors).then_some(Reducer::Replace),
                built_in => option
                    .flag(errors)
                    .then(|| BuiltIn::named(built_in))
                    .flatten()
                    .map(Reducer::BuiltIn),
            };
            if let Some(first) = reducer {
                options::clash(
                    errors,
                    &option.name,
                    &format!(
                        "a key has one reducer, and `{first}` is already given: remove `{name}` or `{first}`"
                    ),
                );
                continue;
            }
            reducer = Some(name);
            self.reducer = chosen.unwrap_or(Reducer::Replace);
        }
    }
}

/// `word_count` as a type name: `WordCount`.
fn camel(name: &str) -> String {
    let words = name.split('_').filter(|word| !word.is_empty());
    words
        .map(|word| {
            let mut letters = word.chars();
            letters.next().map_or_else(String::new, |first| {
                first.to_uppercase().chain(letters).collect()
            })
        })
        .collect()
}

/// How visible a key's types are: like the state. A private field of a public state may have a private type, which must not
/// stand in something public; then the key is as private as its field.
fn visibility<'a>(state: &'a Visibility, field: &'a syn::Field) -> &'a Visibility {
    if width(&field.vis) < width(state) && !is_well_known(field.ty.to_token_stream()) {
        &field.vis
    } else {
        state
    }
}

/// Whether a type is made of types that everyone can name, as far as the tokens tell.
fn is_well_known(ty: TokenStream) -> bool {
    const KNOWN: &[&str] = &[
        "Arc",
        "BTreeMap",
        "BTreeSet",
        "Box",
        "Duration",
        "HashMap",
        "HashSet",
        "Map",
        "Option",
        "PathBuf",
        "String",
        "SystemTime",
        "Value",
        "Vec",
        "VecDeque",
        "alloc",
        "bool",
        "char",
        "collections",
        "core",
        "f32",
        "f64",
        "i128",
        "i16",
        "i32",
        "i64",
        "i8",
        "isize",
        "option",
        "path",
        "serde_json",
        "std",
        "str",
        "string",
        "sync",
        "time",
        "u128",
        "u16",
        "u32",
        "u64",
        "u8",
        "usize",
        "vec",
    ];
    ty.into_iter().all(|token| match token {
        TokenTree::Ident(ident) => KNOWN.iter().any(|known| ident == known),
        TokenTree::Group(group) => is_well_known(group.stream()),
        TokenTree::Punct(_) | TokenTree::Literal(_) => true,
    })
}

fn width(vis: &Visibility) -> u8 {
    match vis {
        Visibility::Public(_) => 4,
        Visibility::Restricted(restricted) if is(&restricted.path, "crate") => 3,
        Visibility::Restricted(restricted) if !is(&restricted.path, "self") => 2,
        Visibility::Restricted(_) => 1,
        Visibility::Inherited => 0,
    }
}

fn is(path: &Path, word: &str) -> bool {
    path.is_ident(word)
}

/// A name that no user writes, for a newtype whose own name is taken.
pub(crate) fn stand_in(name: &Ident, index: usize) -> Ident {
    Ident::new(
        &format!("__petalflow_{}_{index}", name.unraw()),
        Span::call_site(),
    )
}
