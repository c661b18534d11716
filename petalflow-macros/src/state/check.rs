//! The rules of a state. They only read the model, and emit no code.

use petalflow_graph::{MAX_KEYS, Rule, messages};
use syn::{Data, Fields};

use super::ast::{StateArgs, StateAst};
use super::model::{Key, Reducer, State};
use super::nil::ambiguous;
use crate::errors::Errors;

/// The input of the rules.
pub(crate) struct Cx<'a> {
    pub(crate) args: &'a StateArgs,
    pub(crate) ast: &'a StateAst,
    pub(crate) state: &'a State,
}

/// The rules, in the order in which violations are reported.
const RULES: &[fn(&Cx<'_>, &mut Errors)] = &[
    version_and_migration_are_together,
    schemas_need_the_feature,
    item_is_a_struct_with_named_fields,
    item_is_not_generic,
    keys_have_one_reducer,
    keys_fit_in_a_key_set,
    generated_types_have_different_names,
    ephemeral_keys_are_not_needed_later,
    untracked_keys_have_no_id,
    inbox_keys_can_take_messages,
    received_keys_can_be_sent,
    indexed_keys_are_stored_in_clear,
    turn_keys_have_a_default,
    untracked_inputs_have_a_default,
    stored_values_are_unambiguous,
    stored_names_are_unique,
];

/// Checks the state.
pub(crate) fn all(cx: &Cx<'_>, errors: &mut Errors) {
    for rule in RULES {
        rule(cx, errors);
    }
}

/// PF024: schemas are there with the feature `tool`.
fn schemas_need_the_feature(cx: &Cx<'_>, errors: &mut Errors) {
    if let Some(schema) = cx.args.schema.as_ref().filter(|_| !cfg!(feature = "tool")) {
        let message = "`schema` needs the feature `tool` of petalflow: add it in Cargo.toml";
        errors.rule(Rule::Option, schema, message);
    }
}

/// PF024: a version has a migration to it, and a state that is not stored has neither.
fn version_and_migration_are_together(cx: &Cx<'_>, errors: &mut Errors) {
    let message = match (&cx.args.version, &cx.args.migrate) {
        (Some((name, _)), _) | (_, Some((name, _))) if cx.args.volatile => {
            let message = format_args!(
                "a `volatile` state is never stored, so there is nothing to migrate: remove `{name}` or `volatile`"
            );
            errors.rule(Rule::Option, name, message);
            return;
        }
        (Some((name, _)), None) => (
            name,
            "`version` needs `migrate = path`: the function that converts stored threads of lower versions to this one",
        ),
        (None, Some((name, _))) => (
            name,
            "`migrate` needs `version = 1`: it is called for stored threads of a lower version",
        ),
        (Some(_), Some(_)) | (None, None) => return,
    };
    errors.rule(Rule::Option, message.0, message.1);
}

/// The fields of the item can be keys.
fn item_is_a_struct_with_named_fields(cx: &Cx<'_>, errors: &mut Errors) {
    const FORM: &str =
        "a state is a struct with named fields: `#[state] struct Essay { topic: String }`";
    let item = &cx.ast.item;
    match &item.data {
        Data::Struct(data) => match &data.fields {
            Fields::Named(_) => {}
            Fields::Unnamed(fields) => errors.at(
                fields,
                format_args!("the fields of a state need names, because they are its keys: {FORM}"),
            ),
            Fields::Unit => errors.at(
                &item.ident,
                format_args!(
                    "a state without keys is written with braces: `struct {} {{}}`",
                    item.ident
                ),
            ),
        },
        Data::Enum(data) => errors.at(
            data.enum_token,
            format_args!("an enum cannot be a state: {FORM}"),
        ),
        Data::Union(data) => errors.at(
            data.union_token,
            format_args!("a union cannot be a state: {FORM}"),
        ),
    }
}

fn item_is_not_generic(cx: &Cx<'_>, errors: &mut Errors) {
    if cx.ast.is_generic() {
        let message = "a state cannot be generic, because each of its keys becomes a type: name the type that the flow uses";
        errors.at(&cx.ast.item.generics, message);
    }
}

/// PF024: a key has one reducer.
fn keys_have_one_reducer(cx: &Cx<'_>, errors: &mut Errors) {
    for key in &cx.state.keys {
        let Some((first, others)) = key.reducers.split_first() else {
            continue;
        };
        for other in others {
            let message = format_args!(
                "a key has one reducer, and `{first}` is already given: remove `{other}` or `{first}`"
            );
            errors.rule(Rule::Option, other, message);
        }
    }
}

/// PF027: a set of keys has a bit for each key.
fn keys_fit_in_a_key_set(cx: &Cx<'_>, errors: &mut Errors) {
    if let Some(field) = &cx.state.first_surplus_field {
        let message = messages::too_many_keys(&cx.state.ident.to_string(), cx.state.field_count);
        errors.rule(Rule::TooManyKeys, field, message);
    }
    const { assert!(MAX_KEYS == 256, "the message contains this number") }
}

fn generated_types_have_different_names(cx: &Cx<'_>, errors: &mut Errors) {
    for key in &cx.state.keys {
        if let Some((newtype, owner)) = &key.name_clash {
            let returned = if key.named_like_value {
                format!(", and return `{newtype}Value(value)` from a node that writes it")
            } else {
                String::new()
            };
            let message = format_args!(
                "the type of key `{}` would be `{newtype}`, which is {owner}: name it with `#[key(name = {newtype}Value)]`{returned}",
                key.name
            );
            errors.at(newtype, message);
        }
    }
}

/// PF024: no option of an `ephemeral` key needs its value after the superstep.
fn ephemeral_keys_are_not_needed_later(cx: &Cx<'_>, errors: &mut Errors) {
    for Key { flags, .. } in &cx.state.keys {
        let Some(ephemeral) = &flags.ephemeral else {
            continue;
        };
        let clashes = [
            (
                &flags.input,
                "so input for it would be lost: remove `ephemeral` or `input`",
            ),
            (
                &flags.output,
                "so it cannot be an `output`: remove `ephemeral` or `output`",
            ),
            (
                &flags.turn,
                "so it never lasts until the next turn: remove `turn`",
            ),
        ];
        for (flag, message) in &clashes {
            if flag.is_some() {
                let message =
                    format_args!("an `ephemeral` key is gone after one superstep, {message}");
                errors.rule(Rule::Option, ephemeral, message);
            }
        }
    }
}

/// PF024: a key that takes messages is stored, and has a reducer, because nodes may write it at the same time.
fn inbox_keys_can_take_messages(cx: &Cx<'_>, errors: &mut Errors) {
    for key in &cx.state.keys {
        let Some(inbox) = &key.flags.inbox else {
            continue;
        };
        let message = if cx.state.volatile {
            "only a thread takes messages, and a `volatile` state has no threads: remove `inbox` or `volatile`"
        } else if key.flags.untracked.is_some() || key.flags.ephemeral.is_some() {
            "a key that takes messages retains them, so it is neither `untracked` nor `ephemeral`: remove one of the two"
        } else if matches!(key.reducer, Reducer::Replace) && !key.broken {
            "a message can arrive while a node writes the key, so the key needs a reducer: add for example `append`, `merge` or `sum`"
        } else {
            continue;
        };
        errors.rule(Rule::Option, inbox, message);
    }
}

/// PF024: nodes receive the messages of a key from a store, and its reducer does not take them as well.
fn received_keys_can_be_sent(cx: &Cx<'_>, errors: &mut Errors) {
    for Key { flags, .. } in &cx.state.keys {
        let Some(receive) = &flags.receive else {
            continue;
        };
        let message = if cx.state.volatile {
            "messages are stored, and nothing of a `volatile` state is: remove `receive` or `volatile`"
        } else if flags.inbox.is_some() {
            "a message is folded into the key, or a node receives it: remove `inbox` or `receive`"
        } else if flags.untracked.is_some() {
            "a message is stored, and the values of an `untracked` key are not: remove one of the two"
        } else {
            continue;
        };
        errors.rule(Rule::Option, receive, message);
    }
}

/// PF024: the index of threads has the values of a key in clear, as they are at the newest checkpoint.
fn indexed_keys_are_stored_in_clear(cx: &Cx<'_>, errors: &mut Errors) {
    for Key { flags, .. } in &cx.state.keys {
        let Some(indexed) = &flags.indexed else {
            continue;
        };
        let message = if cx.state.volatile {
            "threads are found by their stored values, and nothing of a `volatile` state is stored: remove `indexed` or `volatile`"
        } else if flags.secret.is_some() {
            "the index of threads has the values of a key in clear, and lists show them, so a `secret` key cannot be in it: remove `indexed` or `secret`"
        } else if flags.untracked.is_some() {
            "threads are found by their stored values, and those of an `untracked` key are not stored: remove `indexed` or `untracked`"
        } else if flags.ephemeral.is_some() {
            "an `ephemeral` key is gone after one superstep, so no thread would be found by it: remove `indexed` or `ephemeral`"
        } else {
            continue;
        };
        errors.rule(Rule::Option, indexed, message);
    }
}

/// PF024.
fn untracked_keys_have_no_id(cx: &Cx<'_>, errors: &mut Errors) {
    for key in &cx.state.keys {
        if let (Some(_), Some(id)) = (&key.flags.untracked, &key.id) {
            let message = "an `untracked` key is never stored, so it needs no `id`: remove `untracked` or `id`";
            errors.rule(Rule::Option, id, message);
        }
    }
}

/// PF024: a key that a new turn resets has a default.
fn turn_keys_have_a_default(cx: &Cx<'_>, errors: &mut Errors) {
    for key in &cx.state.keys {
        if let Some(turn) = &key.flags.turn
            && !key.has_default()
        {
            let message = format_args!(
                "key `{}` comes from the input and has no default to return to: add `default`, or remove `turn`",
                key.name
            );
            errors.rule(Rule::Option, turn, message);
        }
    }
}

/// PF024: a thread that is loaded has a value for a key of the input that is not stored.
fn untracked_inputs_have_a_default(cx: &Cx<'_>, errors: &mut Errors) {
    if cx.state.volatile {
        return;
    }
    for key in &cx.state.keys {
        if let Some(untracked) = &key.flags.untracked
            && !key.has_default()
        {
            let message = format_args!(
                "key `{}` comes from the input and is never stored, so a thread that is resumed has no value for it: add `default`, remove `untracked`, or mark the state `#[state(volatile)]`",
                key.name
            );
            errors.rule(Rule::Option, untracked, message);
        }
    }
}

/// A stored value is equal to the value that is read back.
fn stored_values_are_unambiguous(cx: &Cx<'_>, errors: &mut Errors) {
    if cx.state.volatile {
        return;
    }
    for key in &cx.state.keys {
        if key.flags.untracked.is_none()
            && let Some((option, inner)) = ambiguous(&key.ty)
        {
            let message = format_args!(
                "key `{}` cannot be stored, because `Some({inner})` would be read back as `None`: use your own enum, or mark the key `untracked`",
                key.name
            );
            errors.at(option, message);
        }
    }
}

/// PF024: no two keys are stored under one name.
fn stored_names_are_unique(cx: &Cx<'_>, errors: &mut Errors) {
    let keys = &cx.state.keys;
    for (index, key) in keys.iter().enumerate() {
        let Some(id) = &key.id else { continue };
        // Of two keys with an `id`, the later one is reported.
        for (other_index, other) in keys.iter().enumerate() {
            if other_index != index
                && (other_index < index || other.id.is_none())
                && other.stored_name() == id.value()
            {
                let message = format_args!(
                    "key `{}` is already stored as \"{}\": two keys need two ids",
                    other.name,
                    id.value()
                );
                errors.rule(Rule::Option, id, message);
                break;
            }
        }
    }
}
