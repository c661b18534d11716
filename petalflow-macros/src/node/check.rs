//! The rules of a node. They only read the model, and emit no code. Each message shows the accepted form.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::{FnArg, GenericParam, Pat, PatType, ReceiverKind, Safety, Signature, Type};

use super::ast::{NodeArgs, NodeFn, NodeImpl};
use super::model::{Misuse, Node, Problem, Returned, Source};
use crate::attributes;
use crate::errors::Errors;
use crate::types;

/// `Output` is implemented for tuples of at most this many members: eight keys and a route.
const MAX_MEMBERS: usize = 9;

/// The input of the rules.
pub(crate) struct Cx<'a> {
    pub(crate) args: &'a NodeArgs,
    pub(crate) sig: &'a Signature,
    pub(crate) node: &'a Node,
}

/// The rules for functions and methods, in the order in which violations are reported.
const RULES: &[fn(&Cx<'_>, &mut Errors)] = &[
    parameters_can_be_bound,
    function_is_not_generic,
    function_is_plain,
    one_parameter_takes_the_item,
    blocking_function_is_not_async,
    blocking_node_is_not_spawned,
    result_is_not_impl_trait,
    result_has_few_members,
    result_is_owned,
];

/// The rules for the `impl` block of a node value.
const BLOCK_RULES: &[fn(&NodeImpl, &mut Errors)] =
    &[block_is_inherent, block_is_safe, block_has_one_method];

/// How a function can be expanded.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Node,
    /// A method in an `impl` block, where no other item can be emitted.
    Method,
    /// The type of the node would have the name of the state.
    NamedLikeTheState,
    /// The type of the node would hide a type of the language.
    NamedLikeAPrimitive,
}

/// Checks a function.
pub(crate) fn function(cx: &Cx<'_>, errors: &mut Errors) -> Form {
    let form = form(cx);
    match form {
        Form::Node => {
            for rule in RULES {
                rule(cx, errors);
            }
        }
        Form::Method => {
            let message = "a method cannot be a node by itself: put `#[node(..)]` on an `impl` block that has only this method";
            errors.at(cx.sig.receiver(), message);
        }
        Form::NamedLikeTheState => {
            let name = &cx.sig.ident;
            errors.at(name, types::named_like_the_state("node", name));
        }
        Form::NamedLikeAPrimitive => {
            let name = &cx.sig.ident;
            let message = format_args!(
                "a node is a type with the name of its function, and `{name}` is a type of the language: rename the function"
            );
            errors.at(name, message);
        }
    }
    form
}

fn form(cx: &Cx<'_>) -> Form {
    let is_state = |state: &Type| matches!(types::ungroup(state), Type::Path(state) if state.qself.is_none() && state.path.is_ident(&cx.sig.ident));
    if cx.sig.receiver().is_some() {
        Form::Method
    } else if cx.args.state.as_ref().is_some_and(is_state) {
        Form::NamedLikeTheState
    } else if types::is_primitive(&cx.sig.ident) {
        Form::NamedLikeAPrimitive
    } else {
        Form::Node
    }
}

/// Checks the method of a node value.
pub(crate) fn method(cx: &Cx<'_>, errors: &mut Errors) {
    method_takes_a_shared_reference(cx, errors);
    for rule in RULES {
        rule(cx, errors);
    }
}

/// Checks an `impl` block and returns its method, if it has exactly one.
pub(crate) fn block<'a>(block: &'a NodeImpl, errors: &mut Errors) -> Option<&'a NodeFn> {
    let before = errors.count();
    for rule in BLOCK_RULES {
        rule(block, errors);
    }
    block.methods.first().filter(|_| errors.count() == before)
}

fn block_is_inherent(block: &NodeImpl, errors: &mut Errors) {
    if let Some((of, _)) = &block.of {
        errors.at(of, "a node value needs a method of its own, not one of a trait: `#[node(Essay)] impl Shout { async fn run(&self, ..) -> .. }`");
    }
}

fn block_is_safe(block: &NodeImpl, errors: &mut Errors) {
    if let Some(unsafety) = &block.unsafety {
        errors.at(
            unsafety,
            "the `impl` block of a node value cannot be `unsafe`",
        );
    }
}

fn block_has_one_method(block: &NodeImpl, errors: &mut Errors) {
    match (&block.methods[..], block.others.first()) {
        ([_], None) => {}
        ([_], Some(other)) => errors.at(other, "this block must have only the method that is the node: move this to another `impl` block"),
        ([], _) => errors.at(&block.ty, "this block needs the method that is the node: `async fn run(&self, ..) -> ..`"),
        ([_, second, ..], _) => errors.at(
            &second.sig.ident,
            "this block must have only the method that is the node: move the others to another `impl` block",
        ),
    }
}

/// Whether the type has no lifetimes. It reports those that it has.
pub(crate) fn value_is_owned(block: &NodeImpl, errors: &mut Errors) -> bool {
    let lifetime = block
        .generics
        .params
        .iter()
        .find(|param| matches!(param, GenericParam::Lifetime(_)));
    let message = "a node value lasts as long as its flow, so it owns what it has: remove the lifetime, and write `String` for `&str`, `Vec<T>` for `&[T]`, `Arc<T>` for `&T`";
    if let Some(lifetime) = lifetime {
        errors.at(lifetime, message);
    } else if types::borrows(&block.ty) {
        errors.at(&block.ty, message);
    } else {
        return true;
    }
    false
}

fn method_takes_a_shared_reference(cx: &Cx<'_>, errors: &mut Errors) {
    match cx.sig.receiver() {
        Some(receiver) if matches!(receiver.kind, ReceiverKind::Reference(_, None, None)) => {}
        Some(receiver) => errors.at(receiver, "a node is shared between runs: take `&self`"),
        None => errors.at(
            &cx.sig.ident,
            "the method of a node value needs `&self` as its first parameter",
        ),
    }
}

/// Each parameter reads a key, takes the item or takes a value of the run.
fn parameters_can_be_bound(cx: &Cx<'_>, errors: &mut Errors) {
    report_parameters(&cx.node.misuses, errors);
}

/// Reports the parameters that cannot be bound, of a node or of a closure in a flow.
pub(crate) fn report_parameters(misuses: &[Misuse], errors: &mut Errors) {
    for Misuse { at, problem } in misuses {
        let text = match problem {
            Problem::NoPlainName => {
                "a parameter of a node needs a plain name, because the name selects the key that it reads: destructure the value in the body"
            }
            Problem::MisspeltItem => {
                "there is no such attribute on a parameter; did you mean `#[item]`?"
            }
            Problem::ItemOptions => "`#[item]` takes no options: `#[item] topic: &str`",
            Problem::KeyWithoutType => {
                "`#[key(..)]` on a parameter names the type of a key: `#[key(EssayNotes)] old: &[String]`"
            }
            Problem::KeyAndItem => {
                "a parameter reads a key or takes the item, not both: remove `#[key(..)]` or `#[item]`"
            }
            Problem::ImplTrait => {
                "a node cannot take `impl Trait`, because its parameters select what it reads: name a type"
            }
            Problem::Static => {
                "a node borrows what it reads until it ends: write `&`, without `'static`"
            }
            Problem::MutableItem => "the item is shared with other tasks: take it by `&`",
            Problem::MutableKey => {
                "a node does not change the state in place: read with `&`, and return a typed key (such as `EssayDraft(..)`) to write"
            }
            Problem::ItemByValue => {
                "the item is shared with other tasks: take it by `&`: `#[item] topic: &str`"
            }
            Problem::KeyByValue => "a key is read by `&`: `#[key(EssayNotes)] old: &[String]`",
            Problem::Extractor => NO_EXTRACTORS,
            Problem::ManagedUnsized(ty) => &managed_unsized(ty),
            Problem::RunValueWithLifetime => {
                "a value from the run is owned, so its type has no lifetime; to read the key of this name, take a reference, such as `&str` or `Option<&T>`"
            }
            Problem::StateByValue(state) => &format!(
                "a node reads the state and returns the keys that it writes: take `&{state}`, or one key, such as `draft: &str`, and return typed keys, such as `{state}Draft(..)`"
            ),
            Problem::RunValueByReference { name } => &format!(
                "a reference reads a key, but `{name}` comes from the run: take it by value, `{}`",
                match *name {
                    "Context" => "cx: Context",
                    _ => "db: Managed<Db>",
                }
            ),
        };
        errors.at(at, text);
    }
}

const NO_EXTRACTORS: &str = "a node has no extractors: a parameter such as `topic: &str` reads a key of the state, and `db: Managed<Db>` takes a value that the run gets with `.manage(db)`";

/// The message for `Managed<dyn Db>`.
pub(crate) fn managed_unsized(ty: &str) -> String {
    format!(
        "a managed value has a size, and a `{ty}` has none: write `Managed<Arc<{ty}>>`, and give the run an `Arc<{ty}>` with `.manage(..)`"
    )
}

fn function_is_not_generic(cx: &Cx<'_>, errors: &mut Errors) {
    not_generic(
        cx.sig,
        "a node needs no lifetimes: write `&str`, and return owned values",
        "a node cannot be generic: name the types, or make it a node value generic over its keys: \
         `#[node(K::State)] impl<K: Key> Shout<K> { async fn run(&self, #[key(K)] text: &str) -> K { .. } }`",
        errors,
    );
}

/// Reports generic parameters: with `lifetimes` if one of them is a lifetime, else with `types`.
pub(crate) fn not_generic(sig: &Signature, lifetimes: &str, types: &str, errors: &mut Errors) {
    let generics = &sig.generics;
    let is_lifetime = |param: &GenericParam| matches!(param, GenericParam::Lifetime(_));
    if generics.params.iter().any(is_lifetime) {
        errors.at(generics, lifetimes);
    } else if !generics.params.is_empty() {
        errors.at(generics, types);
    }
}

fn function_is_plain(cx: &Cx<'_>, errors: &mut Errors) {
    plain_function("a node", cx.sig, errors);
}

/// Reports qualifiers other than `async`. `what` is what the function should be, with its article.
pub(crate) fn plain_function(what: &str, sig: &Signature, errors: &mut Errors) {
    let plain = format_args!("{what} is a plain function: `async fn` or `fn`");
    if let Some(constness) = &sig.constness {
        errors.at(constness, format_args!("{plain}, not a `const` one"));
    }
    if let Safety::Unsafe(unsafety) = &sig.safety {
        errors.at(
            unsafety,
            format_args!("{plain}, not an `unsafe` one: the run calls it from safe code"),
        );
    }
    if let Some(abi) = &sig.abi {
        errors.at(abi, format_args!("{plain}, without `extern`"));
    }
    if let Some(variadic) = &sig.variadic {
        errors.at(variadic.dots, format_args!("{plain} with named parameters"));
    }
}

/// Whether the body calls no macro by a path that begins with the name of the function, such as `log::info!` in a node `log`. It
/// reports one that it does: rustc says twice that this name is not a crate. `what` is what the function becomes, with its article.
pub(crate) fn body_calls_no_macro_of_its_name(
    what: &str,
    function: &NodeFn,
    errors: &mut Errors,
) -> bool {
    let name = &function.sig.ident;
    // An import in the body can give the name its meaning as a crate again.
    if has_import(function.body.clone()) {
        return true;
    }
    let Some(at) = macro_path(function.body.clone(), name) else {
        return true;
    };
    let message = format_args!(
        "{what} is a type with the name of its function, so `{name}` is not the crate here: write `::{name}`, or rename the function"
    );
    errors.at(&at, message);
    false
}

fn has_import(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(word) => word == "use",
        TokenTree::Group(group) => has_import(group.stream()),
        _ => false,
    })
}

/// The first token of a path `name::..::x!`.
fn macro_path(tokens: TokenStream, name: &Ident) -> Option<Ident> {
    let tokens: Vec<_> = tokens.into_iter().collect();
    for (at, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Group(group) => {
                if let Some(found) = macro_path(group.stream(), name) {
                    return Some(found);
                }
            }
            TokenTree::Ident(word) if word == name => {
                let is_first = at == 0 || !is_punct(&tokens[at - 1], ':');
                if is_first && continues_to_a_macro(&tokens[at + 1..]) {
                    return Some(word.clone());
                }
            }
            _ => {}
        }
    }
    None
}

/// Whether these tokens are `::a::b!` and what follows.
fn continues_to_a_macro(mut tokens: &[TokenTree]) -> bool {
    let mut segments = 0;
    while let [first, second, TokenTree::Ident(_), rest @ ..] = tokens
        && is_punct(first, ':')
        && is_punct(second, ':')
    {
        tokens = rest;
        segments += 1;
    }
    // Not `a::B != c`.
    segments > 0 && matches!(tokens, [bang, TokenTree::Group(_), ..] if is_punct(bang, '!'))
}

fn one_parameter_takes_the_item(cx: &Cx<'_>, errors: &mut Errors) {
    let params = cx.node.params.iter();
    let mut items = params.filter(|param| matches!(param.source, Source::Item(_)));
    let (Some(first), Some(second)) = (items.next(), items.next()) else {
        return;
    };
    let message = format_args!(
        "an edge delivers one item, which `{}` already takes: put both values in one struct",
        first.ident
    );
    let attr = cx.sig.inputs.iter().find_map(|input| match input {
        FnArg::Typed(PatType { attrs, pat, .. }) => match &**pat {
            Pat::Ident(pat) if pat.ident == second.ident => {
                attributes::with_name(attrs, "item").first().copied()
            }
            _ => None,
        },
        FnArg::Receiver(_) => None,
    });
    match attr {
        Some(attr) => errors.at(attr, message),
        None => errors.at(&second.ident, message),
    }
}

fn blocking_function_is_not_async(cx: &Cx<'_>, errors: &mut Errors) {
    if let (Some(blocking), Some(_)) = (&cx.args.blocking, &cx.sig.asyncness) {
        errors.at(blocking, "`blocking` is for a plain `fn`, which then runs on its own thread: remove `async`, or use `spawn`");
    }
}

fn blocking_node_is_not_spawned(cx: &Cx<'_>, errors: &mut Errors) {
    if let (Some(_), Some(spawn)) = (&cx.args.blocking, &cx.args.spawn) {
        errors.at(
            spawn,
            "`blocking` already runs on its own thread: remove `spawn`",
        );
    }
}

fn result_is_not_impl_trait(cx: &Cx<'_>, errors: &mut Errors) {
    for output in &cx.node.return_types() {
        let Returned::One(ty @ Type::ImplTrait(bounds)) = output else {
            continue;
        };
        let is_future = |token| matches!(token, TokenTree::Ident(name) if name == "Future");
        if bounds.to_token_stream().into_iter().any(is_future) {
            errors.at(ty, format_args!("a node that waits is an `async fn`, and returns what it writes: `async fn {}(..) -> EssayDraft`", cx.sig.ident));
        } else {
            errors.at(ty, "a node states what it writes, so it cannot return `impl Trait`: name the keys, such as `(EssayDraft, EssayNotes)`");
        }
    }
}

fn result_has_few_members(cx: &Cx<'_>, errors: &mut Errors) {
    for output in &cx.node.return_types() {
        if let Returned::Tuple(tuple, members) = output
            && members.len() > MAX_MEMBERS
        {
            errors.at(tuple, "a node returns at most eight keys and a route in one tuple: put some in a nested tuple, `((A, B), C)`");
        }
    }
}

fn result_is_owned(cx: &Cx<'_>, errors: &mut Errors) {
    let Some(output) = &cx.node.output else {
        return;
    };
    if let Some(borrow) = first_borrow(output.tokens()) {
        errors.at(&borrow, "a node returns owned values, because they outlive the snapshot that it read: return `String` for `&str`, `Vec<T>` for `&[T]`");
    }
}

/// The first `&` without an explicit lifetime. rustc reports an undeclared lifetime.
fn first_borrow(tokens: TokenStream) -> Option<TokenTree> {
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        if let TokenTree::Group(group) = &token {
            if let Some(borrow) = first_borrow(group.stream()) {
                return Some(borrow);
            }
        } else if is_punct(&token, '&') && !tokens.peek().is_some_and(|next| is_punct(next, '\'')) {
            return Some(token);
        }
    }
    None
}

fn is_punct(token: &TokenTree, punct: char) -> bool {
    matches!(token, TokenTree::Punct(token) if token.as_char() == punct)
}
