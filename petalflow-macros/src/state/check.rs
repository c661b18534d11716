//! The rules of states.

use petalflow_graph::{MAX_KEYS, Rule};
use proc_macro2::Ident;
use syn::ext::IdentExt as _;
use syn::{Data, Fields};

use super::ast::StateAst;
use super::model::{Initial, Key, State, stand_in};
use super::nil::ambiguous;
use crate::errors::Errors;
use crate::options::clash;

/// What a state must look like, for messages.
const FORM: &str =
    "a state is a struct with named fields: `#[state] struct Essay { topic: String }`";

/// Whether a state can be made of the item, even if only one without keys. If not, the item is emitted alone.
pub(crate) fn form(ast: &StateAst, errors: &mut Errors) -> bool {
    let item = &ast.item;
    match &item.data {
        Data::Struct(data) => match &data.fields {
            Fields::Named(_) => {}
            Fields::Unnamed(fields) => {
                errors.at(
                    fields,
                    format_args!(
                        "the fields of a state need names, because they are its keys: {FORM}"
                    ),
                );
            }
            Fields::Unit => {
                errors.at(
                    &item.ident,
                    format_args!(
                        "a state without keys is written with braces: `struct {} {{}}`",
                        item.ident
                    ),
                );
            }
        },
        Data::Enum(data) => {
            errors.at(
                data.enum_token,
                format_args!("an enum cannot be a state: {FORM}"),
            );
        }
        Data::Union(data) => {
            errors.at(
                data.union_token,
                format_args!("a union cannot be a state: {FORM}"),
            );
        }
    }
    if !item.generics.params.is_empty() {
        let message = "a state cannot be generic, because each of its keys becomes a type: name the type that the flow uses";
        errors.at(&item.generics, message);
        return false;
    }
    true
}

/// Checks the keys.
pub(crate) fn all(state: &mut State, errors: &mut Errors) {
    not_too_many_keys(state, errors);
    names_are_free(state, errors);
    for key in &state.keys {
        marks_make_sense(key, errors);
        turn_has_a_default(key, errors);
        if !state.volatile {
            value_comes_back(key, errors);
        }
    }
    ids_differ(state, errors);
}

fn not_too_many_keys(state: &mut State, errors: &mut Errors) {
    if let Some(key) = state.keys.get(MAX_KEYS) {
        let message =
            format_args!("a state has at most {MAX_KEYS} keys: group some of them in a struct");
        errors.rule(Rule::TooManyKeys, &key.field, message);
        state.keys.truncate(MAX_KEYS);
        state.complete = false;
    }
}

/// The types that `#[state]` makes must not share a name.
fn names_are_free(state: &mut State, errors: &mut Errors) {
    let mut taken: Vec<(Ident, String)> = vec![
        (state.ident.clone(), "the state itself".into()),
        (state.input.clone(), "the state's input".into()),
        (state.update.clone(), "the state's update".into()),
    ];
    for (index, key) in state.keys.iter_mut().enumerate() {
        if let Some((_, owner)) = taken
            .iter()
            .find(|(ident, _)| ident.unraw() == key.newtype.unraw())
        {
            let message = format!(
                "the type of key `{}` would be `{}`, which is {owner}: name it with `#[key(name = {}Value)]`",
                key.name, key.newtype, key.newtype
            );
            errors.at(&key.newtype, message);
            key.newtype = stand_in(&key.newtype, index);
        }
        taken.push((
            key.newtype.clone(),
            format!("the type of key `{}`", key.name),
        ));
    }
}

/// Pairs of options that cannot both mean something.
fn marks_make_sense(key: &Key, errors: &mut Errors) {
    let marks = &key.marks;
    let ephemeral = "an `ephemeral` key is gone after one superstep";
    if let Some(ephemeral_at) = &marks.ephemeral {
        if marks.input.is_some() {
            clash(
                errors,
                ephemeral_at,
                &format!(
                    "{ephemeral}, so input for it would be lost: remove `ephemeral` or `input`"
                ),
            );
        }
        if marks.output.is_some() {
            clash(
                errors,
                ephemeral_at,
                &format!(
                    "{ephemeral}, so it cannot be an `output`: remove `ephemeral` or `output`"
                ),
            );
        }
        if marks.turn.is_some() {
            clash(
                errors,
                ephemeral_at,
                &format!("{ephemeral}, so it never lasts until the next turn: remove `turn`"),
            );
        }
    }
    if let (Some(_), Some(id)) = (&marks.untracked, &key.id) {
        errors.rule(
            Rule::Option,
            id,
            "an `untracked` key is never stored, so it needs no `id`: remove `untracked` or `id`",
        );
    }
}

/// A key that goes back to its default must have one.
fn turn_has_a_default(key: &Key, errors: &mut Errors) {
    if let Some(turn) = &key.marks.turn
        && !key.has_default()
    {
        let message = format!(
            "key `{}` comes from the input and has no default to return to: add `default`, or remove `turn`",
            key.name
        );
        clash(errors, turn, &message);
    }
    debug_assert!(key.has_default() || matches!(key.initial, Initial::Unsaid));
}

/// What is stored must be what is read.
fn value_comes_back(key: &Key, errors: &mut Errors) {
    if key.marks.untracked.is_some() {
        return;
    }
    if let Some((option, inner)) = ambiguous(&key.ty) {
        let message = format!(
            "key `{}` would not survive a store, which reads `Some({inner})` as `None`: use your own enum, or mark the key `untracked`",
            key.name
        );
        errors.at(option, message);
    }
}

/// Two keys must not be stored under one name.
fn ids_differ(state: &State, errors: &mut Errors) {
    let stored = |key: &Key| {
        key.id
            .as_ref()
            .map_or_else(|| key.name.clone(), syn::LitStr::value)
    };
    for (index, key) in state.keys.iter().enumerate() {
        let Some(id) = &key.id else { continue };
        let other = state.keys.iter().enumerate().find(|(at, other)| {
            let earlier_or_unnamed = *at < index || other.id.is_none();
            *at != index && earlier_or_unnamed && stored(other) == id.value()
        });
        if let Some((_, other)) = other {
            errors.rule(
                Rule::Option,
                id,
                format_args!(
                    "key `{}` is already stored as \"{}\": two keys need two ids",
                    other.name,
                    id.value()
                ),
            );
        }
    }
}
