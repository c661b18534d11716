//! Computes the state from the records of a chain of checkpoints.

use crate::checkpoint::{KeyKind, KeyOutline, Record, key_lines};
use crate::durable::record::fingerprint::Fingerprint;
use crate::erased::{AnyCodec, StateBox, StateType};
use crate::migration::{Log, Migration, Named};
use crate::outcome::ThreadError;
use crate::state::{KeyFlag, KeyMeta, KeySet, Values};
use crate::upgrade::{Change, InUse, difference, key_changes};
use petalflow_store::codec::CodecError;

/// The state after a chain of records, and the keys that have a value. The first record builds on no other.
///
/// Records of an older version of the state are migrated, with the tasks in the last record. Fails if the result does not fit
/// this program.
pub(crate) fn replay(
    records: &mut [Record],
    codec: AnyCodec,
    program: &Fingerprint,
    thread: &str,
) -> Result<(StateBox, KeySet, KeySet), ThreadError> {
    let ty = codec.ty;
    let Some(first) = records.first() else {
        return Err(ThreadError::Unknown {
            thread: thread.into(),
        });
    };
    let was = first.header.outline.clone().unwrap_or_default();
    let changed = |problem: String| ThreadError::Changed {
        thread: thread.into(),
        problem,
        diff: difference(key_lines(&was.keys), key_lines(&program.outline.keys)),
    };
    if first.header.flow != program.flow {
        return Err(ThreadError::Changed {
            thread: thread.into(),
            problem: format!(
                "it belongs to the flow `{}`, and this is `{}`: a flow that was renamed keeps its name in storage with `#[flow(id = \"{}\")]`",
                first.header.flow, program.flow, first.header.flow
            ),
            diff: Vec::new(),
        });
    }
    // After a change of the program a checkpoint builds on no other, so a chain has one version.
    let version = records.iter().map(|record| record.header.version).max();
    let version = version.unwrap_or_default();
    if version > program.version {
        return Err(changed(format!(
            "it was written by a newer program, at version {version} of `{}`, and this one is at version {}: read it with that program",
            ty.name, program.version
        )));
    }
    let mut logs = logs(records);
    if let Some(migrate) = program.migrate.filter(|_| version < program.version)
        && let Some(last) = records.last_mut()
    {
        let header = &mut last.header;
        let (to_run, deferred) = (header.frontier.len(), &mut header.deferred);
        let tasks = std::mem::take(&mut header.frontier).into_iter();
        let mut migration = Migration::new(logs, tasks.chain(deferred.drain(..)).collect());
        migrate(version, &mut migration).map_err(|error| {
            changed(format!(
                "the migration from version {version} of `{}` to {} failed: {}",
                ty.name,
                program.version,
                crate::error::message_with_sources(&*error)
            ))
        })?;
        let mut tasks;
        (logs, tasks) = migration.into_parts();
        header.deferred = tasks.split_off(to_run.min(tasks.len()));
        header.frontier = tasks;
    }
    fits(ty, &logs, program).map_err(&changed)?;
    load(&logs, codec).map_err(changed)
}

/// The stored value and writes of each key: the newest value, and the later writes.
pub(in crate::durable) fn logs(records: &mut [Record]) -> Named<Log> {
    let outline = records
        .first()
        .and_then(|first| first.header.outline.as_ref());
    let keys = outline.map_or_else(Vec::new, |outline| outline.keys.clone());
    let mut logs: Named<Log> = Named::default();
    let mut last_superstep = None;
    for record in records {
        // Values that last one superstep are removed at the next superstep. They remain in checkpoints without a superstep,
        // such as those of answers and edits.
        let superstep = Some((record.header.turn, record.header.superstep));
        if last_superstep != superstep {
            last_superstep = superstep;
            let ephemeral = |log: &&mut Log| log.outline.as_ref().is_some_and(|key| key.ephemeral);
            for log in logs.values_mut().filter(ephemeral) {
                log.lose();
            }
        }
        for entry in std::mem::take(&mut record.keys) {
            let log = logs.get_or(&entry.id, || Log {
                outline: KeyOutline::find(&keys, &entry.id).cloned(),
                ..Log::default()
            });
            if entry.kind == KeyKind::Delta {
                log.writes.push(entry.bytes);
                continue;
            }
            log.lose();
            log.lost = entry.kind == KeyKind::Lost;
            if entry.kind == KeyKind::Value {
                log.value = Some(entry.bytes);
                log.unset = false;
            }
        }
    }
    logs
}

/// Checks that this program can use the stored keys.
fn fits(ty: &StateType, logs: &Named<Log>, program: &Fingerprint) -> Result<(), String> {
    let keys = |with: fn(&Log) -> bool| {
        let keys = logs.iter().filter(move |(_, log)| with(log));
        keys.map(|(key, _)| key.clone()).collect()
    };
    let was: Vec<KeyOutline> = logs
        .iter()
        .filter_map(|(_, log)| log.outline.clone())
        .collect();
    let mut changes = key_changes(&was, &program.outline.keys);
    // A key that a migration has added has no outline.
    let unknown = logs.iter().map(|(key, _)| key);
    let unknown = unknown.filter(|key| key_index(ty, key).is_none());
    changes.extend(unknown.map(|key| Change::KeyRemoved { key: key.clone() }));
    let mut used = InUse {
        values: keys(|log| log.value.is_some()),
        writes: keys(|log| !log.writes.is_empty()),
        folded: keys(Log::depends_on_reducer),
        ..InUse::default()
    };
    // The removal of a key without contents loses nothing.
    used.values
        .retain(|key| logs.get(key).is_some_and(Log::holds) || key_index(ty, key).is_some());
    let breaking = changes.iter().find(|change| change.breaks(&used));
    breaking.map_or(Ok(()), |change| Err(change.problem(ty.name)))
}

/// The index of the key with a stored name.
fn key_index(ty: &StateType, id: &str) -> Option<usize> {
    let mut keys = ty.keys.iter();
    keys.position(|key| key.id == id && !key.has(KeyFlag::Untracked))
}

/// Decodes the state. Returns it with the keys that have a value, and those whose value was not stored.
fn load(logs: &Named<Log>, codec: AnyCodec) -> Result<(StateBox, KeySet, KeySet), String> {
    let ty = codec.ty;
    let mut values = Values::new(ty.keys.len());
    let mut written = KeyMeta::set(ty.keys, KeyFlag::Assigned);
    let known = || {
        logs.iter()
            .filter_map(|(id, log)| Some((key_index(ty, id)?, log)))
    };
    for (key, log) in known() {
        if let Some(value) = &log.value {
            values.set(key, value);
            written.insert(key);
        } else if log.unset {
            written = written.minus(KeySet::of(key));
        }
    }
    let mut state = (codec.load)(&values).map_err(|problem| {
        // The problem does not name the key.
        let unreadable = known().find_map(|(key, log)| {
            let value = log.value.as_ref()?;
            let read = (codec.load_value)(&mut *(ty.no_effects)(), key, value);
            Some((key, log, read.err()?))
        });
        match unreadable {
            Some((key, log, problem)) => cannot_read(&ty.keys[key], log, &problem),
            None => problem.to_string(),
        }
    })?;
    for (key, log) in known() {
        // Each in an update of its own, because one node may have removed what another wrote.
        for bytes in &log.writes {
            let mut writes = (ty.no_effects)();
            (codec.load_writes)(&mut *writes, key, bytes)
                .map_err(|problem| cannot_read(&ty.keys[key], log, &problem))?;
            state.commit(&mut *writes, KeySet::NONE, &mut written);
        }
    }
    let mut lost = KeySet::NONE;
    for key in ty.keys_with_noted_loss().iter() {
        if logs.get(ty.keys[key].id).is_some_and(|log| log.lost) {
            lost.insert(key);
        }
    }
    Ok((state, written, lost))
}

fn cannot_read(key: &KeyMeta, log: &Log, problem: &CodecError) -> String {
    let KeyMeta { name, id, ty, .. } = key;
    let was = log.outline.as_ref().map_or("", |key| &key.ty);
    let was = if was.is_empty() { "Old" } else { was };
    format!(
        "the value of the key `{name}` cannot be read as `{ty}`: {problem}; convert it in a migration, `migration.map(\"{id}\", |old: {was}| ..)`"
    )
}
