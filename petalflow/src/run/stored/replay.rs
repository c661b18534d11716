//! From records to a state.

use super::program::{Program, difference};
use crate::checkpoint::{KeyKind, Record};
use crate::state::{StateCodec, Trait, Update as _, Values};
use crate::superstep::expire;
use crate::thread::ThreadError;
use crate::{KeyMeta, KeySet, State};

/// The state behind a chain of records, of which the first stands alone, and which keys have a value.
pub(crate) fn replay<S: State>(
    records: &[Record],
    codec: &StateCodec<S>,
    program: &Program,
    thread: &str,
) -> Result<(S, KeySet), ThreadError> {
    let Some((first, rest)) = records.split_first() else {
        return Err(ThreadError::Unknown {
            thread: thread.into(),
        });
    };
    let was = first.header.outline.clone().unwrap_or_default();
    let changed = |problem: String| ThreadError::Changed {
        thread: thread.into(),
        problem,
        diff: difference(&was.schema, &program.outline.schema),
    };
    if first.header.flow != program.flow {
        return Err(ThreadError::Changed {
            thread: thread.into(),
            problem: format!(
                "it belongs to the flow `{}`, and this is `{}`",
                first.header.flow, program.flow
            ),
            diff: Vec::new(),
        });
    }
    let place = |id: &str| {
        S::KEYS
            .iter()
            .position(|key| key.id == id && !key.has(Trait::Untracked))
            .ok_or_else(|| {
                changed(format!(
                    "it has a value of the key `{id}`, which `{}` does not store; a key that was renamed keeps its name in storage with `#[key(id = \"{id}\")]`",
                    S::NAME
                ))
            })
    };
    let unreadable = |key: usize| {
        let (changed, name) = (&changed, S::KEYS[key].name);
        move |problem| {
            changed(format!(
                "the value of the key `{name}` cannot be read: {problem}"
            ))
        }
    };
    let mut values = Values::new(S::KEYS.len());
    let mut written = const { KeyMeta::set(S::KEYS, Trait::Assigned) };
    for entry in &first.keys {
        let key = place(&entry.id)?;
        values.set(key, &entry.bytes);
        written.insert(key);
    }
    let mut state = (codec.load)(&values).map_err(|problem| changed(problem.to_string()))?;
    let mut superstep = (first.header.turn, first.header.superstep);
    for record in rest {
        // What lasts for a superstep stays through what people do between two of them.
        let after = (record.header.turn, record.header.superstep);
        if std::mem::replace(&mut superstep, after) != after {
            expire(&mut state, &mut written);
        }
        let mut update = S::Update::default();
        for entry in &record.keys {
            let key = place(&entry.id)?;
            match entry.kind {
                KeyKind::Value => {
                    (codec.load_value)(&mut update, key, &entry.bytes).map_err(unreadable(key))?;
                }
                KeyKind::Unset => {
                    state.reset(KeySet::of(key));
                    written = written.minus(KeySet::of(key));
                }
                // One after the other: an update of its own each, because one node may have removed what another wrote.
                KeyKind::Delta => {
                    let mut writes = S::Update::default();
                    (codec.load_writes)(&mut writes, key, &entry.bytes).map_err(unreadable(key))?;
                    state.commit(&mut writes, KeySet::NONE, &mut written);
                }
            }
        }
        let overwritten = update.overwritten();
        state.commit(&mut update, overwritten, &mut written);
    }
    Ok((state, written))
}
