//! One checkpoint of a file.

use serde_json::{Map, Value, json};

use super::error::{FileError, REMOVED};
use super::fields::Fields;
use super::removed::is_text;
use crate::checkpoint::{
    AnswerEntry, Cause, DecisionKind, DecisionRecord, Header, KeyKind, Outline, OwnedKey, Record,
    TaskEntry, key_lines,
};
use petalflow_store::codec::{encode, from_form, hex, to_form};

/// A checkpoint as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileCheckpoint {
    pub(crate) seq: u64,
    pub(crate) base: u64,
    pub(crate) created_ms: u64,
    pub(crate) record: Record,
}

const CAUSES: [Cause; 5] = [
    Cause::Input,
    Cause::Superstep,
    Cause::Update,
    Cause::Fork,
    Cause::Rejected,
];

/// The checkpoint as JSON. Values of these keys are left out.
pub(super) fn to_json(checkpoint: &FileCheckpoint, removed: &[String]) -> Map<String, Value> {
    let Header {
        flow,
        incarnation,
        graph,
        version,
        schema,
        cause,
        parent,
        origin,
        turn,
        superstep,
        owner,
        frontier,
        deferred,
        joins,
        interrupt_points,
        answers,
        notes,
        outline,
    } = &checkpoint.record.header;
    let mut map = Map::new();
    let mut set = |name: &str, value: Value| drop(map.insert(name.into(), value));
    set("number", checkpoint.seq.into());
    set("base", checkpoint.base.into());
    set("created_ms", checkpoint.created_ms.into());
    set("cause", cause.to_string().into());
    set("turn", (*turn).into());
    set("superstep", (*superstep).into());
    set("origin", (*origin).into());
    set("parent", (*parent).into());
    if let Some(outline) = outline {
        let keys = key_lines(&outline.keys).into_iter();
        let lines = keys.chain(outline.graph.lines()).map(|line| line.text);
        set(
            "program",
            json!({
                "flow": &**flow,
                "graph": format!("{graph:016x}"),
                "state": format!("{schema:016x}"),
                "version": version,
                "incarnation": incarnation,
                "outline": lines.collect::<Vec<_>>(),
            }),
        );
    }
    if let Some(owner) = owner {
        set("owner", hex(owner).into());
    }
    set("tasks", frontier.iter().map(task).collect());
    if !deferred.is_empty() {
        set("deferred", deferred.iter().map(task).collect());
    }
    if !joins.is_empty() {
        let joins = joins.iter();
        let joins = joins.map(|(join, sides)| json!({ "join": join, "arrived": sides }));
        set("joins", joins.collect());
    }
    if !interrupt_points.is_empty() {
        set("waits_after", interrupt_points.clone().into());
    }
    if !answers.is_empty() {
        let answers = answers.iter().map(|answer| {
            json!({ "id": hex(&answer.id), "name": answer.name, "value": to_form(&answer.bytes) })
        });
        set("answers", answers.collect());
    }
    if !notes.is_empty() {
        set("decisions", notes.iter().map(note).collect());
    }
    let keys = checkpoint.record.keys.iter();
    set("keys", keys.map(|entry| key(entry, removed)).collect());
    map
}

fn task(task: &TaskEntry) -> Value {
    let mut map = Map::from_iter([("node".to_string(), Value::from(&*task.node))]);
    if let Some(send) = task.send {
        map.insert("index".into(), send.into());
    }
    if let Some(item) = &task.item {
        map.insert("item".into(), to_form(item));
    }
    map.into()
}

fn note(note: &DecisionRecord) -> Value {
    json!({
        "node": note.node,
        "decision": note.decision.to_string(),
        "by": note.by,
        "reason": note.reason,
        "at_ms": note.at_ms,
    })
}

fn key(entry: &OwnedKey, removed: &[String]) -> Value {
    let (name, content) = match entry.kind {
        KeyKind::Unset => ("unset", true.into()),
        KeyKind::Lost => ("not_stored", true.into()),
        _ if removed.contains(&entry.id) => ("value", REMOVED.into()),
        KeyKind::Value => ("value", to_form(&entry.bytes)),
        KeyKind::Delta => ("writes", to_form(&entry.bytes)),
    };
    json!({ "key": entry.id, name: content })
}

/// The checkpoint, and the header of its base, if it has another one.
pub(super) fn from_json(
    fields: &Fields<'_>,
    removed: &[String],
    base: Option<&Header>,
) -> Result<FileCheckpoint, FileError> {
    let (seq, base_seq) = (fields.number("number")?, fields.number("base")?);
    let mut header = Header::default();
    match (fields.get("program"), base) {
        (Some(program), _) if base_seq == seq => read_program(&mut header, program)?,
        (None, Some(base)) if base_seq != seq => {
            header.flow = base.flow.clone();
            (header.incarnation, header.graph) = (base.incarnation, base.graph);
            (header.version, header.schema) = (base.version, base.schema);
        }
        _ => {
            let problem = "the checkpoint that `base` names has a `program`, and no other";
            return Err(fields.wrong("program", problem));
        }
    }
    let cause = fields.text("cause")?;
    let known = CAUSES.into_iter().find(|known| known.to_string() == cause);
    header.cause = known.ok_or_else(|| fields.wrong("cause", "an unknown cause"))?;
    header.parent = fields.optional_number("parent")?;
    header.origin = fields.number("origin")?;
    header.turn = fields.number("turn")?;
    header.superstep = fields.number("superstep")?;
    header.owner = fields.optional_id("owner")?;
    header.frontier = tasks(fields, "tasks")?;
    header.deferred = tasks(fields, "deferred")?;
    header.interrupt_points = fields.texts("waits_after")?;
    for join in fields.objects("joins")? {
        let join = (join.text("join")?.to_string(), join.texts("arrived")?);
        header.joins.push(join);
    }
    for answer in fields.objects("answers")? {
        header.answers.push(AnswerEntry {
            id: answer.id("id")?,
            name: answer.text("name")?.into(),
            bytes: answer.form("value")?,
        });
    }
    for note in fields.objects("decisions")? {
        header.notes.push(read_note(&note)?);
    }
    let outline = header
        .outline
        .as_ref()
        .or(base.and_then(|base| base.outline.as_ref()));
    let mut keys = Vec::new();
    for entry in fields.objects("keys")? {
        keys.extend(read_key(&entry, removed, outline)?);
    }
    Ok(FileCheckpoint {
        seq,
        base: base_seq,
        created_ms: fields.number("created_ms")?,
        record: Record { header, keys },
    })
}

fn read_program(header: &mut Header, program: &Value) -> Result<(), FileError> {
    let program = Fields::of(program, "program".into())?;
    let mut outline = Outline::default();
    for line in program.texts("outline")? {
        outline.add_line(&line);
    }
    header.flow = program.text("flow")?.into();
    header.graph = program.hash("graph")?;
    header.schema = program.hash("state")?;
    let version = u32::try_from(program.number("version")?);
    header.version = version.map_err(|problem| program.wrong("version", problem))?;
    header.incarnation = program.number("incarnation")?;
    header.outline = Some(outline.sorted());
    Ok(())
}

fn tasks(fields: &Fields<'_>, name: &str) -> Result<Vec<TaskEntry>, FileError> {
    let mut tasks = Vec::new();
    for task in fields.objects(name)? {
        let index = task.optional_number("index")?.map(u32::try_from);
        let send = index
            .transpose()
            .map_err(|problem| task.wrong("index", problem))?;
        let item = task.get("item").map(|_| task.form("item")).transpose()?;
        let node = task.text("node")?.into();
        tasks.push(TaskEntry { node, send, item });
    }
    Ok(tasks)
}

fn read_note(note: &Fields<'_>) -> Result<DecisionRecord, FileError> {
    let decision = DecisionKind::named(note.text("decision")?);
    let decision = decision.ok_or_else(|| note.wrong("decision", "an unknown decision"))?;
    let mut read = DecisionRecord::new(note.text("node")?.into(), decision, note.number("at_ms")?);
    read.by = note.optional_text("by")?.map(Into::into);
    read.reason = note.optional_text("reason")?.map(Into::into);
    Ok(read)
}

/// The entry of a key. A value that was removed is the marker if the key is a text, and otherwise the default of the key.
fn read_key(
    entry: &Fields<'_>,
    removed: &[String],
    outline: Option<&Outline>,
) -> Result<Option<OwnedKey>, FileError> {
    let id = entry.text("key")?.to_string();
    let with = |kind, bytes| {
        Some(OwnedKey {
            id: id.clone(),
            kind,
            bytes,
        })
    };
    if removed.contains(&id) && entry.get("value").is_some() {
        if is_text(outline, &id) {
            let mut bytes = Vec::new();
            let encoded = encode(REMOVED, &mut bytes);
            encoded.map_err(|problem| entry.wrong("value", problem))?;
            return Ok(with(KeyKind::Value, bytes));
        }
        return Ok(with(KeyKind::Unset, Vec::new()));
    }
    Ok(if entry.get("unset").is_some() {
        with(KeyKind::Unset, Vec::new())
    } else if entry.get("not_stored").is_some() {
        with(KeyKind::Lost, Vec::new())
    } else if entry.get("writes").is_some() {
        with(KeyKind::Delta, entry.form("writes")?)
    } else {
        let value = from_form(entry.value("value")?);
        with(
            KeyKind::Value,
            value.map_err(|problem| entry.wrong("value", problem))?,
        )
    })
}
