//! The model of a state: its names and its keys.

use petalflow_graph::{MAX_KEYS, Rule};
use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::ext::IdentExt as _;
use syn::{Data, DeriveInput, Expr, Field, Fields, LitInt, LitStr, Path, Type, Visibility};

use super::ast::{StateArgs, StateAst};
use crate::attributes;
use crate::errors::Errors;
use crate::options::{Opt, Seen};
use crate::paths;
use crate::types;

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
    "recover",
    "secret",
    "inbox",
    "receive",
    "indexed",
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
    /// Whether the state has JSON Schemas.
    pub(crate) schema: bool,
    /// The version of stored values, and the function that migrates lower versions to it.
    pub(crate) migration: Option<(LitInt, Path)>,
    /// At most `MAX_KEYS` keys.
    pub(crate) keys: Vec<Key>,
    pub(crate) field_count: usize,
    /// The first field that is not a key, because there are too many fields.
    pub(crate) first_surplus_field: Option<Ident>,
    /// The lint levels of the struct and its fields.
    pub(crate) lints: TokenStream,
    /// Whether the keys are all fields of the struct. If not, generated code cannot construct a value.
    pub(crate) complete: bool,
}

/// One key.
pub(crate) struct Key {
    pub(crate) field: Ident,
    pub(crate) name: String,
    pub(crate) ty: Type,
    pub(crate) vis: Visibility,
    pub(crate) newtype: Ident,
    /// The name that the newtype should have, and the other owner of that name.
    pub(crate) name_clash: Option<(Ident, String)>,
    /// Whether that owner is the type of the key's own value.
    pub(crate) named_like_value: bool,
    pub(crate) docs: TokenStream,
    /// The attribute `#[deprecated]` of the field.
    pub(crate) deprecated: TokenStream,
    pub(crate) reducer: Reducer,
    /// The options that name a reducer. There should be at most one.
    pub(crate) reducers: Vec<Ident>,
    pub(crate) initial: Initial,
    pub(crate) id: Option<LitStr>,
    pub(crate) flags: Flags,
    /// Whether the type is one of std, which is certain to have what the type of a key needs.
    pub(crate) is_std: bool,
    /// Whether an option is wrong, so that the reducer is unknown.
    pub(crate) broken: bool,
}

/// How writes fold.
pub(crate) enum Reducer {
    /// The last write replaces the value.
    Replace,
    /// A reducer of the library.
    BuiltIn(BuiltIn),
    /// A function of the user.
    Custom(Expr),
}

/// The reducers of the library. The trait in `petalflow::state::reduce` has the name of the variant.
#[derive(Clone, Copy, Debug)]
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
    const ALL: [BuiltIn; 8] = [
        BuiltIn::Append,
        BuiltIn::Prepend,
        BuiltIn::Sum,
        BuiltIn::Min,
        BuiltIn::Max,
        BuiltIn::Merge,
        BuiltIn::First,
        BuiltIn::Messages,
    ];

    /// The name of the trait in `petalflow::state::reduce`.
    pub(crate) fn trait_name(self) -> String {
        format!("{self:?}")
    }

    /// The name of the option, and of the trait's function.
    pub(crate) fn name(self) -> String {
        self.trait_name().to_lowercase()
    }
}

/// The value of a key before its first write.
pub(crate) enum Initial {
    /// The default of its type, because no other default is given.
    Implicit,
    /// The default of its type, by `default`.
    Default,
    /// An expression, by `default = …`.
    Expr(Expr),
}

/// The options without a value that are not reducers, each with its token.
#[derive(Default)]
pub(crate) struct Flags {
    pub(crate) input: Option<Ident>,
    pub(crate) skip_zero: Option<Ident>,
    pub(crate) turn: Option<Ident>,
    pub(crate) output: Option<Ident>,
    pub(crate) untracked: Option<Ident>,
    pub(crate) ephemeral: Option<Ident>,
    pub(crate) recover: Option<Ident>,
    pub(crate) secret: Option<Ident>,
    pub(crate) inbox: Option<Ident>,
    pub(crate) receive: Option<Ident>,
    pub(crate) indexed: Option<Ident>,
}

impl Flags {
    /// The flag of this name.
    fn get_mut(&mut self, name: &str) -> Option<&mut Option<Ident>> {
        Some(match name {
            "input" => &mut self.input,
            "skip_zero" => &mut self.skip_zero,
            "turn" => &mut self.turn,
            "output" => &mut self.output,
            "untracked" => &mut self.untracked,
            "ephemeral" => &mut self.ephemeral,
            "recover" => &mut self.recover,
            "secret" => &mut self.secret,
            "inbox" => &mut self.inbox,
            "receive" => &mut self.receive,
            "indexed" => &mut self.indexed,
            _ => return None,
        })
    }
}

impl State {
    /// The model of the struct. The parts that are valid are always in the model.
    pub(crate) fn build(ast: &StateAst, args: &StateArgs, errors: &mut Errors) -> Self {
        let item = &ast.item;
        let derived = |suffix: &str| {
            let name = format!("{}{suffix}", item.ident.unraw());
            Ident::new(&name, item.ident.span())
        };
        let mut state = State {
            ident: item.ident.clone(),
            vis: item.vis.clone(),
            input: derived("Input"),
            update: derived("Update"),
            volatile: args.volatile,
            schema: args.schema.is_some() && cfg!(feature = "tool"),
            migration: args.migration(),
            keys: Vec::new(),
            field_count: 0,
            first_surplus_field: None,
            lints: attributes::lints(&item.attrs),
            complete: false,
        };
        if let Data::Struct(data) = &item.data
            && let Fields::Named(fields) = &data.fields
        {
            for (index, options) in ast.options.iter().enumerate() {
                let field = &fields.named[index];
                state.lints.extend(attributes::lints(&field.attrs));
                let key = Key::build(item, field, options, errors);
                // rustc reports a field that is declared twice.
                if !state.keys.iter().any(|other| other.name == key.name) {
                    state.keys.push(key);
                }
            }
            state.complete = true;
        }
        state.field_count = state.keys.len();
        if let Some(key) = state.keys.get(MAX_KEYS) {
            state.first_surplus_field = Some(key.field.clone());
            state.keys.truncate(MAX_KEYS);
            state.complete = false;
        }
        state.resolve_name_clashes();
        state
    }

    /// Gives another name to each newtype whose name is taken.
    fn resolve_name_clashes(&mut self) {
        let mut taken: Vec<(Ident, String)> = vec![
            (self.ident.clone(), "the state itself".into()),
            (self.input.clone(), "the state's input".into()),
            (self.update.clone(), "the state's update".into()),
        ];
        for (index, key) in self.keys.iter_mut().enumerate() {
            let clash = taken
                .iter()
                .find(|(ident, _)| ident.unraw() == key.newtype.unraw());
            key.named_like_value = clash.is_none() && names(key.ty.to_token_stream(), &key.newtype);
            let owner = if key.named_like_value {
                Some("the type of its value")
            } else {
                clash.map(|(_, owner)| &**owner)
            };
            if let Some(owner) = owner {
                key.name_clash = Some((key.newtype.clone(), owner.to_owned()));
                // The name that the message suggests, unless it is taken, too.
                let mut name = format!("{}Value", key.newtype.unraw());
                if taken.iter().any(|(ident, _)| *ident == name) {
                    name = format!("{name}{index}");
                }
                key.newtype = Ident::new(&name, key.newtype.span());
            }
            taken.push((
                key.newtype.clone(),
                format!("the type of key `{}`", key.name),
            ));
        }
    }
}

/// Whether a type names this type, without a path.
fn names(ty: TokenStream, name: &Ident) -> bool {
    let mut in_path = false;
    for token in ty {
        let found = match &token {
            TokenTree::Group(group) => names(group.stream(), name),
            TokenTree::Ident(ident) => !in_path && ident.unraw() == name.unraw(),
            TokenTree::Punct(_) | TokenTree::Literal(_) => false,
        };
        if found {
            return true;
        }
        in_path = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == ':');
    }
    false
}

impl Key {
    fn build(item: &DeriveInput, field: &Field, options: &[Opt], errors: &mut Errors) -> Self {
        let ident = field.ident.clone().expect("the field has a name");
        let name = paths::name(&ident);
        let newtype = format!("{}{}", item.ident.unraw(), paths::camel_case(&name));
        let mut key = Key {
            newtype: Ident::new(&newtype, ident.span()),
            name_clash: None,
            named_like_value: false,
            field: ident.clone(),
            name,
            ty: field.ty.clone(),
            vis: visibility(&item.vis, field).clone(),
            docs: attributes::tokens(&field.attrs, "doc"),
            deprecated: attributes::tokens(&field.attrs, "deprecated"),
            reducer: Reducer::Replace,
            reducers: Vec::new(),
            initial: Initial::Implicit,
            id: None,
            flags: Flags::default(),
            is_std: is_std(field.ty.to_token_stream()),
            broken: false,
        };
        let before = errors.count();
        key.apply(options, errors);
        key.broken = errors.count() > before || key.reducers.len() > 1;
        key
    }

    fn apply(&mut self, options: &[Opt], errors: &mut Errors) {
        let mut seen = Seen::new(OPTIONS);
        for option in options {
            let Some(name) = seen.accept(option, errors) else {
                continue;
            };
            match name {
                "default" => {
                    self.initial = option.bare_value().map_or(Initial::Default, Initial::Expr);
                }
                "id" => self.id = option.text(errors),
                "name" => {
                    if let Some(ident) = option.ident(errors) {
                        self.newtype = ident;
                    }
                }
                name => {
                    if let Some(flag) = self.flags.get_mut(name) {
                        option.flag(errors);
                        *flag = Some(option.name.clone());
                    } else {
                        let reducer = reducer(name, option, errors);
                        if self.reducers.is_empty() {
                            self.reducer = reducer;
                        }
                        self.reducers.push(option.name.clone());
                    }
                }
            }
        }
    }

    /// Whether no value of the type can be read back, because it borrows.
    pub(crate) fn borrows(&self) -> bool {
        types::borrows_static(&self.ty)
    }

    /// Whether the first write replaces the value, because it must not be folded into a made-up one.
    pub(crate) fn folds_from_first(&self) -> bool {
        matches!(self.reducer, Reducer::BuiltIn(BuiltIn::Min | BuiltIn::Max))
            && matches!(self.initial, Initial::Implicit)
    }

    /// Whether the input becomes the value, without a default to fold it into.
    pub(crate) fn moves_input(&self) -> bool {
        self.flags.input.is_some()
            && self.flags.skip_zero.is_none()
            && (matches!(self.reducer, Reducer::Replace) || self.folds_from_first())
    }

    /// Whether the key has a default, to start from and to reset to.
    pub(crate) fn has_default(&self) -> bool {
        !self.moves_input() || !matches!(self.initial, Initial::Implicit)
    }

    /// Whether at most one write is allowed in a superstep.
    pub(crate) fn exclusive(&self) -> bool {
        matches!(self.reducer, Reducer::Replace) && !self.broken
    }

    /// Whether the key has a value before any node has run.
    pub(crate) fn assigned(&self) -> bool {
        let folds_from_default = match self.reducer {
            Reducer::Replace | Reducer::BuiltIn(BuiltIn::Min | BuiltIn::Max) => false,
            Reducer::BuiltIn(_) | Reducer::Custom(_) => true,
        };
        folds_from_default
            || self.broken
            || self.flags.input.is_some()
            || !matches!(self.initial, Initial::Implicit)
    }

    /// The name in storage.
    pub(crate) fn stored_name(&self) -> String {
        match &self.id {
            Some(id) => id.value(),
            None => self.name.clone(),
        }
    }
}

/// The reducer that an option names.
fn reducer(name: &str, option: &Opt, errors: &mut Errors) -> Reducer {
    if name == "reduce" {
        let function = option.expr(errors, "function");
        if let Some(Expr::Lit(literal)) = &function {
            let text = "option `reduce` takes a function: write `reduce = function`; a reducer of petalflow is an option of its own: `#[key(append)]`";
            errors.rule(Rule::Option, literal, text);
            return Reducer::Replace;
        }
        return function.map_or(Reducer::Replace, Reducer::Custom);
    }
    option.flag(errors);
    let built_in = BuiltIn::ALL
        .into_iter()
        .find(|built_in| built_in.name() == name);
    built_in.map_or(Reducer::Replace, Reducer::BuiltIn)
}

/// The visibility of the newtype: that of the state. But a private field of a public state may have a private type, which
/// cannot be part of a public type. Then the newtype has the visibility of the field.
fn visibility<'a>(state: &'a Visibility, field: &'a Field) -> &'a Visibility {
    if width(&field.vis) < width(state) && !is_well_known(field.ty.to_token_stream()) {
        &field.vis
    } else {
        state
    }
}

/// Whether a type consists of the usual types of std, judged by its tokens. They have `Clone`, `Debug`, `PartialEq` and serde's
/// traits, and threads can share them.
fn is_std(ty: TokenStream) -> bool {
    const KNOWN: &str = "BTreeMap BTreeSet Duration HashMap HashSet Option PathBuf String SystemTime Vec VecDeque alloc bool char collections core f32 f64 i128 i16 i32 i64 i8 isize option path std string time u128 u16 u32 u64 u8 usize vec";
    ty.into_iter().all(|token| match token {
        TokenTree::Ident(ident) => KNOWN.split_ascii_whitespace().any(|known| ident == known),
        TokenTree::Group(group) => is_std(group.stream()),
        TokenTree::Punct(punct) => matches!(punct.as_char(), '<' | '>' | ',' | ':'),
        TokenTree::Literal(_) => false,
    })
}

/// Whether a type consists of well-known public types, judged by its tokens.
fn is_well_known(ty: TokenStream) -> bool {
    const KNOWN: &str = "Arc BTreeMap BTreeSet Box Duration HashMap HashSet Map Option PathBuf String SystemTime Value Vec VecDeque alloc bool char collections core f32 f64 i128 i16 i32 i64 i8 isize option path serde_json std str string sync time u128 u16 u32 u64 u8 usize vec";
    ty.into_iter().all(|token| match token {
        TokenTree::Ident(ident) => KNOWN.split_ascii_whitespace().any(|known| ident == known),
        TokenTree::Group(group) => is_well_known(group.stream()),
        TokenTree::Punct(_) | TokenTree::Literal(_) => true,
    })
}

/// A rank of visibilities, from private to public.
fn width(vis: &Visibility) -> u8 {
    match vis {
        Visibility::Public(_) => 4,
        Visibility::Restricted(restricted) if restricted.path.is_ident("crate") => 3,
        Visibility::Restricted(restricted) if !restricted.path.is_ident("self") => 2,
        Visibility::Restricted(_) => 1,
        Visibility::Inherited => 0,
    }
}
