//! The changes of the fields and variants in the values of keys.
//!
//! At run time, a stored value decides whether it can be read. `flow.lock` is checked before the deployment, where there is no
//! value. So the types of two programs are compared.

use crate::codec::{FieldOutline, KeyOutline, Line};

use super::reads::{is_plain, widens};

/// The problems of a thread whose values have the fields `was`, in a program that reads `is`.
pub(super) fn problems(was: &[FieldOutline], is: &[FieldOutline]) -> Vec<String> {
    let mut problems = Vec::new();
    let mut read = Vec::new();
    for old in was {
        match reader(is, &old.path) {
            Some(new) => {
                read.push(new);
                if !form_reads(&old.form, &new.form) {
                    problems.push(describe_changed(old, new));
                }
            }
            // What is inside of a field that is gone is gone with it.
            None if parent(&old.path).is_some_and(|path| reader(is, path).is_some()) => {
                problems.push(describe_removed(old, was));
            }
            None => {}
        }
    }
    for new in is {
        let is_read = |path: &str| read.iter().any(|field| field.path == path);
        let inside = parent(&new.path).filter(|path| is_read(path));
        let inside = inside.and_then(|path| find(is, path));
        if inside.is_some_and(is_struct) && !new.optional && !is_read(&new.path) {
            problems.push(describe_added(new));
        }
    }
    problems
}

/// The field that reads what is stored at this path, under its name or under another.
fn reader<'a>(fields: &'a [FieldOutline], path: &str) -> Option<&'a FieldOutline> {
    if let Some(same) = find(fields, path) {
        return Some(same);
    }
    let (around, name) = path.rsplit_once('.')?;
    let around = match around.rsplit_once('.') {
        Some((tuple, member)) if is_member(member) => {
            format!("{}.{member}", reader(fields, tuple)?.path)
        }
        _ => reader(fields, around)?.path.clone(),
    };
    fields.iter().find(|field| {
        let inside = field.path.rsplit_once('.');
        inside.is_some_and(|(parent, own)| {
            parent == around && (own == name || field.aliases.iter().any(|alias| alias == name))
        })
    })
}

/// Whether the line of its key says all about a field.
pub(super) fn is_said_by_its_key(field: &FieldOutline, keys: &[KeyOutline]) -> bool {
    let is_of = |key: &&KeyOutline| {
        let rest = field.path.strip_prefix(&*key.id);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    keys.iter().find(is_of).is_some_and(|key| is_plain(&key.ty))
}

pub(super) fn field_lines(fields: &[FieldOutline]) -> Vec<Line> {
    let line = |field: &FieldOutline| Line {
        name: field.path.clone(),
        text: format!("field {field}"),
    };
    fields.iter().map(line).collect()
}

fn find<'a>(fields: &'a [FieldOutline], path: &str) -> Option<&'a FieldOutline> {
    fields.iter().find(|field| field.path == path)
}

/// The path of the field or variant around this one. Members of tuples have no line of their own.
fn parent(path: &str) -> Option<&str> {
    let (parent, _) = path.rsplit_once('.')?;
    match parent.rsplit_once('.') {
        Some((around, last)) if is_member(last) => Some(around),
        _ => Some(parent),
    }
}

/// Whether a name in a path is the index of a member of a tuple.
fn is_member(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_struct(field: &FieldOutline) -> bool {
    field.form.ends_with("struct") || field.form.ends_with(')')
}

/// The key of a path, and the name in it.
fn names(path: &str) -> (&str, &str) {
    let key = path.split('.').next().unwrap_or(path);
    let name = path.rsplit('.').next().unwrap_or(path);
    (key, name)
}

fn describe_removed(old: &FieldOutline, was: &[FieldOutline]) -> String {
    let (key, name) = names(&old.path);
    let around = parent(&old.path).and_then(|path| find(was, path));
    if around.is_some_and(|around| around.form.ends_with("enum")) {
        return format!(
            "its value of the key `{key}` may have the variant `{name}`, which the program does not read: if it was renamed, give the new variant its old name as well, `#[serde(alias = \"{name}\")]`; otherwise convert the values in a migration, `migration.map(\"{key}\", ..)`"
        );
    }
    format!(
        "its value of the key `{key}` has the field `{name}`, which the program does not read: if it was renamed, give the new field its old name as well, `#[serde(alias = \"{name}\")]`; if it was removed, its content is lost"
    )
}

fn describe_added(new: &FieldOutline) -> String {
    let (key, name) = names(&new.path);
    format!(
        "its value of the key `{key}` has no field `{name}`, which the program needs: if it was renamed, give it its old name as well, `#[serde(alias = \"..\")]`; otherwise give it a default, `#[serde(default)]`, or convert the values in a migration, `migration.map(\"{key}\", ..)`"
    )
}

fn describe_changed(old: &FieldOutline, new: &FieldOutline) -> String {
    let (key, name) = names(&old.path);
    let what = if key == name {
        format!("its value of the key `{key}`")
    } else {
        format!("the field `{name}` in its value of the key `{key}`")
    };
    format!(
        "{what} is stored as `{}`, and the program reads `{}`: convert the values in a migration, `migration.map(\"{key}\", ..)`",
        old.form, new.form
    )
}

/// Whether a value of the form `is` can be read from every stored value of the form `was`.
fn form_reads(mut was: &str, mut is: &str) -> bool {
    loop {
        if was == is || is == "value" || widens(was, is) {
            return true;
        }
        let inside = |form: &'static str| -> Option<(&str, &str)> {
            Some((was.strip_prefix(form)?, is.strip_prefix(form)?))
        };
        let both = ["list of ", "map of ", "option of "].map(inside);
        (was, is) = match (
            both.into_iter().flatten().next(),
            is.strip_prefix("option of "),
        ) {
            (Some(both), _) => both,
            (None, Some(is)) => (was, is),
            (None, None) => return false,
        };
    }
}
