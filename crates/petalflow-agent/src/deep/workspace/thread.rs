//! Files in the state of a conversation.

use serde_json::Value;

use super::change::Change;
use super::listing::{Listing, MAX_FILES};
use petalflow::BoxError;
use petalflow::tool::ToolContext;

/// The start of the keys of files.
const PREFIX: &str = "file:";

/// The path of the file with this key, if it is the key of a file.
pub(super) fn path(key: &str) -> Option<&str> {
    key.strip_prefix(PREFIX)
}

fn key(path: &str) -> String {
    format!("{PREFIX}{path}")
}

pub(super) fn list(cx: &ToolContext) -> Listing {
    let keys = cx.state_keys().into_iter();
    let files = keys.filter(|key| matches!(cx.state(key), Some(Value::String(_))));
    let mut paths: Vec<String> = files.filter_map(|key| path(&key).map(Into::into)).collect();
    let is_cut = paths.len() > MAX_FILES;
    paths.truncate(MAX_FILES);
    Listing { paths, is_cut }
}

pub(super) fn text(cx: &ToolContext, path: &str) -> Option<String> {
    match cx.state(&key(path)) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    }
}

/// The change is part of the call's result, so it is stored with it or not at all.
pub(super) fn change(cx: &ToolContext, path: &str, change: &Change) -> Result<(), BoxError> {
    let after = change.apply(path, text(cx, path).as_deref())?;
    cx.set_state(key(path), after);
    Ok(())
}
