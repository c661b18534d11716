//! From a thread's checkpoints to a run that can go on.

use std::collections::HashMap;
use std::sync::Arc;

use super::changes::{Changes, Entries};
use super::desk::{Answers, Desk, now_ms};
use super::journal::{Barrier, Journal, header};
use super::program::Program;
use super::replay::replay;
use super::task::{Finished, load, load_finished};
use super::{Command, Nested, StoredStart};
use crate::checkpoint::{
    AnswerEntry, Archive, Cause, Header, Note, Outline, Record, Stored, StoredWrite, TaskEntry,
    decode,
};
use crate::flow::Wiring;
use crate::interrupt::{
    Answer, AnswerError, Approval, Decision, Interrupt, InterruptId, InterruptKind, Resume,
};
use crate::node::task_id;
use crate::state::{StateCodec, Trait};
use crate::superstep::{Planner, Task};
use crate::thread::ThreadError;
use crate::upgrade::{Change, Held, InUse, NodeLine, changes, difference};
use crate::{Flow, KeyMeta, KeySet, Namespace, State, TaskId};

/// A run that is ready to go on.
pub(crate) struct Opened<S: State> {
    pub(crate) state: S,
    pub(crate) written: KeySet,
    pub(crate) planner: Planner,
    pub(crate) frontier: Vec<Task>,
    pub(crate) superstep: u64,
    pub(crate) journal: Journal<S>,
    pub(crate) desk: Desk,
    /// What tasks of the frontier have left already.
    pub(crate) finished: HashMap<TaskId, Finished<S>>,
    /// What must be answered before anything runs.
    pub(crate) waiting: Vec<Interrupt>,
    /// A person has ended the run here.
    pub(crate) rejected: Option<Note>,
}

/// A checkpoint that was read and fits the program.
pub(crate) struct Head<S: State> {
    pub(crate) state: S,
    pub(crate) written: KeySet,
    pub(crate) record: Record,
    pub(crate) seq: u64,
    pub(crate) base: u64,
    pub(crate) sizes: (u64, u64),
    pub(crate) created_ms: u64,
    /// The bytes of the checkpoint itself.
    pub(crate) last: u64,
    /// The lines of the program that wrote the base.
    pub(crate) outline: Outline,
    /// What tasks have left beside it.
    pub(crate) writes: Vec<StoredWrite>,
}

/// Reads a checkpoint: the newest, or the one of this number.
pub(crate) async fn read<S: State>(
    archive: &Archive,
    namespace: &str,
    seq: Option<u64>,
    codec: &StateCodec<S>,
    program: &Program,
) -> Result<Option<Head<S>>, ThreadError> {
    let Some(Stored { chain, mut writes }) = archive.read(namespace, seq).await? else {
        return Ok(None);
    };
    let damaged = |problem: String| {
        ThreadError::Store(crate::checkpoint::StoreError::Damaged {
            thread: archive.thread.to_string(),
            problem,
        })
    };
    let Some(newest) = chain.last() else {
        return Err(damaged("a checkpoint without itself".into()));
    };
    let (seq, base, created_ms) = (newest.seq, newest.base, newest.created_ms);
    let size = |checkpoint: &crate::checkpoint::StoredCheckpoint| checkpoint.bytes.len() as u64;
    let sizes = (
        chain.first().map_or(0, size),
        chain.iter().skip(1).map(size).sum(),
    );
    let mut records = chain
        .iter()
        .map(|checkpoint| {
            Record::decode(&checkpoint.bytes)
                .map_err(|problem| damaged(format!("checkpoint {}: {problem}", checkpoint.seq)))
        })
        .collect::<Result<Vec<_>, _>>()?;
    // Seals cover each checkpoint, not that all are there.
    let parents = records.iter().skip(1).map(|record| record.header.parent);
    let before = chain.iter().map(|checkpoint| Some(checkpoint.seq));
    let follows = parents.zip(before).all(|(parent, before)| parent == before);
    if !follows || chain.first().is_some_and(|first| first.base != first.seq) {
        return Err(damaged(format!(
            "of what checkpoint {seq} builds on, from {base} on, something is missing"
        )));
    }
    let last = size(newest);
    let outline = records
        .first()
        .and_then(|record| record.header.outline.clone())
        .unwrap_or_default();
    let (state, written) = replay(&mut records, codec, program, &archive.thread)?;
    let Some(record) = records.into_iter().next_back() else {
        return Err(damaged("a checkpoint without itself".into()));
    };
    if record.header.origin != seq {
        writes = archive.writes(namespace, record.header.origin).await?;
    }
    Ok(Some(Head {
        state,
        written,
        record,
        seq,
        base,
        sizes,
        created_ms,
        last,
        outline,
        writes,
    }))
}

/// What a thread waits for, with the tasks that wait: what was asked and not answered.
pub(crate) fn waiting(
    archive: &Archive,
    namespace: &str,
    wiring: &Wiring,
    record: &Record,
    writes: &[StoredWrite],
) -> Result<Vec<(TaskId, Interrupt)>, ThreadError> {
    let header = &record.header;
    let answered = |id: InterruptId| {
        header
            .answers
            .iter()
            .any(|answer| answer.id == id.to_bytes())
    };
    let mut waiting = Vec::new();
    for write in writes.iter().filter(|write| write.name.starts_with("ask/")) {
        let interrupt: Interrupt =
            decode(&write.bytes).map_err(ThreadError::value("a stored question"))?;
        if !answered(interrupt.id) {
            waiting.push((write.task, interrupt));
        }
    }
    for node in &header.gates {
        let (task, mut interrupt) = gate(archive, namespace, header.origin, node, true);
        if let Some(place) = wiring.place_of(node) {
            interrupt.node = wiring.name(place).into();
        }
        if !answered(interrupt.id) {
            waiting.push((task, interrupt));
        }
    }
    Ok(waiting)
}

/// The interrupt before or after a node.
pub(crate) fn gate(
    archive: &Archive,
    namespace: &str,
    origin: u64,
    node: &str,
    after: bool,
) -> (TaskId, Interrupt) {
    let task = task_id(&archive.thread, namespace, origin, node, None);
    let (key, kind) = if after {
        ("after", InterruptKind::After)
    } else {
        ("before", InterruptKind::Before)
    };
    let interrupt = Interrupt {
        id: InterruptId::of(task, key),
        node: node.into(),
        namespace: namespace.into(),
        index: None,
        kind,
        asked_ms: now_ms(),
        expires_ms: None,
    };
    (task, interrupt)
}

/// Opens a thread, or a flow within one, and does to it what was asked for.
pub(crate) async fn open<F: Flow>(
    flow: &F,
    wiring: &Wiring,
    start: StoredStart<F::State>,
) -> Result<Opened<F::State>, ThreadError> {
    let StoredStart {
        archive,
        namespace,
        durability,
        command,
        nested,
        discard,
        ..
    } = start;
    let codec = F::State::codec().ok_or_else(|| {
        ThreadError::Request(format!("the state `{}` cannot be stored", F::State::NAME))
    })?;
    let program = Program::of::<F::State>(flow.stored_name(), wiring);
    let head = read(&archive, namespace.as_str(), None, &codec, &program).await?;
    let header = header(&program);
    let mut opening = Opening {
        wiring,
        planner: Planner::new(wiring),
        journal: Journal {
            archive,
            namespace: namespace.to_string(),
            codec,
            program,
            durability,
            newest: head.as_ref().map(|head| head.seq),
            parent: None,
            base: 0,
            sizes: (0, 0),
            seq: 0,
            unsettled: 0,
            header,
            changes: Changes::default(),
            made: None,
            entries: Entries::default(),
            buffer: Vec::new(),
            begin: Vec::new(),
            saved: true,
            torn: false,
            durable: Arc::default(),
            above: None,
            in_flight: None,
            jotted: 0,
            was: head
                .as_ref()
                .map(|head| head.outline.clone())
                .unwrap_or_default(),
        },
        namespace,
    };
    let owner = nested.as_ref().map(|nested| nested.owner.to_bytes());
    opening.journal.header.owner = owner;
    match (command, head) {
        (Command::Input(input), None) => {
            let Some(Nested { answers, above, .. }) = nested else {
                return opening.begin(input).await;
            };
            opening.journal.above = Some(above);
            let mut opened = opening.begin(input).await?;
            opened.desk.answers = answers;
            Ok(opened)
        }
        (Command::Input(input), Some(head)) => match nested {
            None => {
                if !discard {
                    opening.nothing_waits(&head)?;
                }
                opening.turn(head, input).await
            }
            Some(Nested {
                answers,
                keep,
                above,
                ..
            }) => {
                opening.journal.above = Some(above);
                let own = head.record.header.owner == owner;
                let mut head = head;
                if own {
                    // What people have decided here, too, is kept by the outermost flow.
                    let decided = answers.iter().map(|(id, (name, bytes))| AnswerEntry {
                        id: id.to_bytes(),
                        name: name.clone(),
                        bytes: bytes.clone(),
                    });
                    head.record.header.answers.extend(decided);
                }
                let mut opened = if own {
                    opening.resume(head, Resume::new()).await?
                } else if keep {
                    opening.turn(head, input).await?
                } else {
                    opening.journal.seq = head.seq;
                    opening.journal.unsettled = head.record.header.origin;
                    opening.begin(input).await?
                };
                // What people say is recorded by the outermost flow.
                let said = |interrupt: &Interrupt| answers.contains_key(&interrupt.id);
                opened.waiting.retain(|interrupt| !said(interrupt));
                opened.desk.answers = answers;
                Ok(opened)
            }
        },
        (Command::Resume(resume), Some(head)) => opening.resume(head, *resume).await,
        (Command::Resume(_), None) => Err(ThreadError::Unknown {
            thread: opening.journal.archive.thread.to_string(),
        }),
    }
}

struct Opening<'a, S: State> {
    wiring: &'a Wiring,
    planner: Planner,
    journal: Journal<S>,
    namespace: Namespace,
}

impl<S: State> Opening<'_, S> {
    /// A new thread, or a flow within one that starts afresh.
    async fn begin(mut self, input: S::Input) -> Result<Opened<S>, ThreadError> {
        let (state, written) = S::start(input);
        self.journal.header.turn = 1;
        self.start(state, written).await
    }

    /// A question that somebody may be thinking about is not dropped unsaid.
    fn nothing_waits(&self, head: &Head<S>) -> Result<(), ThreadError> {
        let archive = &self.journal.archive;
        let waits = waiting(
            archive,
            self.namespace.as_str(),
            self.wiring,
            &head.record,
            &head.writes,
        )?;
        let now = now_ms();
        let waiting: Vec<Interrupt> = only(&waits)
            .into_iter()
            .filter(|interrupt| interrupt.expires_ms.is_none_or(|at| at > now))
            .collect();
        if waiting.is_empty() {
            return Ok(());
        }
        Err(ThreadError::Waiting {
            thread: archive.thread.to_string(),
            waiting,
        })
    }

    /// A new turn of a thread: what it knows stays, but for the keys of a turn.
    async fn turn(mut self, head: Head<S>, input: S::Input) -> Result<Opened<S>, ThreadError> {
        let Head {
            mut state,
            mut written,
            record,
            ..
        } = head;
        self.follow(head.seq, head.base, head.sizes, &record.header);
        self.journal.header.turn = record.header.turn + 1;
        let turn = const { KeyMeta::set(S::KEYS, Trait::Turn) }.union(S::EPHEMERAL);
        let assigned = const { KeyMeta::set(S::KEYS, Trait::Assigned) };
        state.reset(turn);
        written = written.minus(turn).union(assigned);
        self.journal.changes.touch::<S>(turn);
        self.write(&mut state, &mut written, S::input(input))?;
        self.start(state, written).await
    }

    /// Plans the first superstep of a turn.
    async fn start(mut self, state: S, written: KeySet) -> Result<Opened<S>, ThreadError> {
        let mut frontier = Vec::new();
        self.planner.start(self.wiring, &mut frontier);
        self.journal.seq = self.journal.newest.map_or(0, |newest| newest + 1);
        self.journal.header.origin = self.journal.seq;
        self.journal.header.cause = Cause::Input;
        self.mark(&state, written, &frontier, 0).await?;
        self.opened(state, written, frontier, 0, &[])
    }

    /// Goes on where the thread stopped.
    async fn resume(mut self, head: Head<S>, resume: Resume<S>) -> Result<Opened<S>, ThreadError> {
        let Head {
            mut state,
            mut written,
            record,
            writes,
            ..
        } = head;
        self.follow(head.seq, head.base, head.sizes, &record.header);
        let archive = self.journal.archive.clone();
        let waits = waiting(
            &archive,
            self.namespace.as_str(),
            self.wiring,
            &record,
            &writes,
        )?;
        let origin = record.header.origin;
        let header = record.header;
        let superstep = header.superstep;
        self.journal.header.turn = header.turn;
        self.journal.header.origin = origin;
        self.journal.header.owner = header.owner;
        self.journal.header.gates.clone_from(&header.gates);
        self.journal.header.answers.clone_from(&header.answers);
        let Resume {
            answers,
            approvals,
            updates,
            goto,
        } = resume;
        let changed =
            !answers.is_empty() || !approvals.is_empty() || !updates.is_empty() || !goto.is_empty();
        // Whoever asks again after a crash hears the same.
        let mut rejected = (header.cause == Cause::Rejected && !changed)
            .then(|| {
                header
                    .notes
                    .iter()
                    .rfind(|note| note.decision == "rejected")
                    .cloned()
            })
            .flatten();
        // Where a person says where to go on, it need not be known where the run would have.
        let mut frontier = Vec::new();
        if goto.is_empty() {
            let waits = goes_on(self.wiring, &self.journal, header)?;
            frontier = waits.frontier;
            self.planner.restore(waits.deferred, &waits.arrived);
        }
        let mut waiting = waits;
        for answer in answers {
            self.answer(answer, &mut waiting)?;
        }
        for update in updates {
            let update = update.map_err(|error| AnswerError::Value(error.to_string()))?;
            self.write(&mut state, &mut written, update)?;
        }
        for (id, approval) in approvals {
            let decided = self.decide(id, &approval, &mut waiting)?;
            let note = |node: String| Note {
                node,
                decision: approval.decision.word().into(),
                by: approval.by.clone(),
                reason: approval.reason.clone(),
                at_ms: now_ms(),
            };
            for interrupt in &decided {
                self.journal.note(note(interrupt.node.clone()));
            }
            match approval.decision {
                Decision::Approve => {}
                Decision::Skip => {
                    for interrupt in &decided {
                        self.can_skip(interrupt)?;
                    }
                }
                Decision::Edit(edit) => {
                    for interrupt in &decided {
                        self.can_edit(interrupt)?;
                    }
                    let update = edit.map_err(|error| AnswerError::Value(error.to_string()))?;
                    self.write(&mut state, &mut written, update)?;
                }
                Decision::Reject => {
                    rejected = decided
                        .first()
                        .map(|interrupt| note(interrupt.node.clone()));
                }
            }
        }
        if rejected.is_some() {
            frontier.clear();
            self.planner = Planner::new(self.wiring);
            self.journal.header.gates.clear();
            waiting.clear();
        }
        if !goto.is_empty() {
            self.planner = Planner::new(self.wiring);
            frontier = self.go_to(&goto)?;
            self.journal.header.gates.clear();
            self.journal.header.answers.clear();
            self.journal.header.origin = head.seq + 1;
            waiting.clear();
        }
        if changed {
            self.journal.seq = head.seq + 1;
            self.journal.header.cause = if rejected.is_some() {
                Cause::Rejected
            } else {
                Cause::Update
            };
            if rejected.is_some() {
                self.journal.header.origin = self.journal.seq;
            }
            self.mark(&state, written, &frontier, superstep).await?;
        } else {
            self.describe(&frontier, superstep)?;
        }
        let gates: Vec<Interrupt> = waiting
            .into_iter()
            .map(|(_, interrupt)| interrupt)
            .filter(|interrupt| interrupt.kind == InterruptKind::After)
            .collect();
        let mut opened = self.opened(state, written, frontier, superstep, &writes)?;
        opened.waiting = gates;
        opened.rejected = rejected;
        Ok(opened)
    }

    /// The next checkpoint follows this one, which is the newest.
    fn follow(&mut self, seq: u64, base: u64, sizes: (u64, u64), header: &Header) {
        let journal = &mut self.journal;
        let origin = header.origin;
        journal.seq = seq;
        journal.parent = journal.program.wrote(header).then_some(seq);
        journal.header.parent = Some(seq);
        journal.base = base;
        journal.sizes = sizes;
        journal.unsettled = origin;
    }

    fn write(
        &mut self,
        state: &mut S,
        written: &mut KeySet,
        mut update: S::Update,
    ) -> Result<(), ThreadError> {
        use crate::Update as _;
        let checked = state.validate(&mut std::iter::once(&update));
        checked.map_err(|error| {
            ThreadError::Request(format!("the update cannot be applied: {error}"))
        })?;
        let overwritten = update.overwritten();
        self.journal.absorb(std::iter::once(&update), overwritten)?;
        // Not a superstep: what lasts one is still there.
        state.commit(&mut update, overwritten, written);
        Ok(())
    }

    fn describe(&mut self, frontier: &[Task], superstep: u64) -> Result<(), ThreadError> {
        let gates = std::mem::take(&mut self.journal.header.gates);
        self.journal.describe(Barrier {
            wiring: self.wiring,
            planner: &self.planner,
            frontier,
            superstep,
            gates,
        })
    }

    /// Writes a checkpoint, unless the run keeps all of them for its end.
    async fn mark(
        &mut self,
        state: &S,
        written: KeySet,
        frontier: &[Task],
        superstep: u64,
    ) -> Result<(), ThreadError> {
        self.describe(frontier, superstep)?;
        self.journal.saved = false;
        // What a person said must not be lost, whatever the durability.
        let input = self.journal.header.cause == Cause::Input;
        if input && self.journal.durability == crate::thread::Durability::Exit {
            return Ok(());
        }
        self.journal.save(state, written).await?;
        if input {
            return Ok(());
        }
        self.journal.land().await
    }

    fn answer(
        &mut self,
        answer: Answer,
        waiting: &mut Vec<(TaskId, Interrupt)>,
    ) -> Result<(), ThreadError> {
        let known = waiting
            .iter()
            .position(|(_, interrupt)| interrupt.id == answer.id);
        let Some(place) = known else {
            return Err(AnswerError::Unknown {
                id: answer.id,
                waiting: only(waiting),
            }
            .into());
        };
        let (_, interrupt) = &waiting[place];
        match &interrupt.kind {
            InterruptKind::Ask { name, .. } if name == answer.name => {}
            _ => {
                return Err(AnswerError::OtherQuestion {
                    id: answer.id,
                    expected: interrupt.what().into(),
                    found: answer.name.into(),
                }
                .into());
            }
        }
        waiting.remove(place);
        self.journal.header.answers.push(AnswerEntry {
            id: answer.id.to_bytes(),
            name: answer.name.into(),
            bytes: answer.bytes,
        });
        Ok(())
    }

    /// Records a decision, and says of which interrupts it is one.
    fn decide(
        &mut self,
        id: Option<InterruptId>,
        approval: &Approval<S>,
        waiting: &mut Vec<(TaskId, Interrupt)>,
    ) -> Result<Vec<Interrupt>, ThreadError> {
        let gates = |interrupt: &Interrupt| {
            !matches!(interrupt.kind, InterruptKind::Ask { .. })
                && id.is_none_or(|id| interrupt.id == id)
        };
        let decided: Vec<Interrupt> = waiting
            .extract_if(.., |(_, interrupt)| gates(interrupt))
            .map(|(_, interrupt)| interrupt)
            .collect();
        if decided.is_empty() {
            let problem = match id {
                Some(id) => AnswerError::Unknown {
                    id,
                    waiting: only(waiting),
                },
                None => AnswerError::Value("the thread does not wait for an approval".to_string()),
            };
            return Err(problem.into());
        }
        for interrupt in &decided {
            self.journal.header.answers.push(AnswerEntry {
                id: interrupt.id.to_bytes(),
                name: approval.decision.word().into(),
                bytes: Vec::new(),
            });
        }
        Ok(decided)
    }

    /// A node that chooses where to go cannot be skipped: nothing would say where the run goes on.
    fn can_skip(&self, interrupt: &Interrupt) -> Result<(), ThreadError> {
        if interrupt.namespace != self.namespace.as_str() {
            return Ok(());
        }
        let node = self.wiring.named(&interrupt.node);
        let routes = node.is_some_and(|node| !self.wiring.routes[node as usize].is_empty());
        if routes && interrupt.kind == InterruptKind::Before {
            return Err(AnswerError::Value(format!(
                "node `{}` cannot be skipped, because it chooses where the run goes on: use `Resume::goto` to say where",
                interrupt.node
            ))
            .into());
        }
        Ok(())
    }

    /// The state of a flow inside another cannot be reached from outside.
    fn can_edit(&self, interrupt: &Interrupt) -> Result<(), ThreadError> {
        if interrupt.namespace == self.namespace.as_str() {
            return Ok(());
        }
        Err(AnswerError::Value(format!(
            "the run waits inside `{}`, whose state cannot be edited from outside: approve, reject or skip node `{}`",
            interrupt.namespace, interrupt.node
        ))
        .into())
    }

    fn go_to(&self, nodes: &[String]) -> Result<Vec<Task>, ThreadError> {
        let mut places = Vec::new();
        for name in nodes {
            places.push(node_of(self.wiring, name)?);
        }
        places.sort_unstable();
        places.dedup();
        for place in &places {
            if self.wiring.takes[*place as usize] {
                return Err(ThreadError::Request(format!(
                    "the run cannot go on at node `{}`, because it takes an item that only an edge can deliver",
                    self.wiring.name(*place)
                )));
            }
        }
        Ok(places.into_iter().map(Task::plain).collect())
    }

    fn opened(
        self,
        state: S,
        written: KeySet,
        frontier: Vec<Task>,
        superstep: u64,
        writes: &[StoredWrite],
    ) -> Result<Opened<S>, ThreadError> {
        let Opening {
            wiring,
            planner,
            journal,
            namespace,
        } = self;
        let answers: Answers = journal
            .header
            .answers
            .iter()
            .map(|answer| {
                let answered = (answer.name.clone(), answer.bytes.clone());
                (InterruptId::from_bytes(answer.id), answered)
            })
            .collect();
        let offset = journal.header.origin.wrapping_sub(superstep);
        let mut desk = Desk::new(
            journal.archive.clone(),
            journal.durability,
            namespace,
            offset,
            Arc::new(answers),
            Arc::clone(&journal.durable),
        );
        journal.note_durable();
        desk.recall(writes)
            .map_err(|error| ThreadError::Request(error.to_string()))?;
        let mut finished = HashMap::new();
        for task in &frontier {
            let id = task_id(
                &journal.archive.thread,
                &journal.namespace,
                journal.header.origin,
                wiring.stored_name(task.node),
                task.send,
            );
            let done = writes
                .iter()
                .find(|write| write.task == id && write.name == "done");
            if let Some(write) = done
                && let Some(done) = load_finished(
                    &journal.codec,
                    (&journal.program, &journal.was),
                    wiring,
                    task.node,
                    &write.bytes,
                )
                .map_err(ThreadError::value(format!(
                    "what node `{}` left",
                    wiring.name(task.node)
                )))?
            {
                finished.insert(id, done);
            }
        }
        Ok(Opened {
            state,
            written,
            planner,
            frontier,
            superstep,
            journal,
            desk,
            finished,
            waiting: Vec::new(),
            rejected: None,
        })
    }
}

/// Where a thread goes on.
pub(crate) struct GoesOn {
    pub(crate) frontier: Vec<Task>,
    pub(crate) deferred: Vec<Task>,
    /// The arrivals that joins hold, in numbers.
    pub(crate) arrived: Vec<(u32, u32)>,
}

/// Where a thread goes on, if this program has the nodes and joins for it.
pub(crate) fn goes_on<S: State>(
    wiring: &Wiring,
    journal: &Journal<S>,
    header: Header,
) -> Result<GoesOn, ThreadError> {
    fits(journal, &header)?;
    Ok(GoesOn {
        frontier: tasks(wiring, journal, header.frontier)?,
        deferred: tasks(wiring, journal, header.deferred)?,
        arrived: arrived(journal, header.joins)?,
    })
}

/// Whether nothing has changed that the thread needs to go on.
fn fits<S: State>(journal: &Journal<S>, header: &Header) -> Result<(), ThreadError> {
    let mut used = InUse::default();
    for task in header.frontier.iter().chain(&header.deferred) {
        used.nodes.insert(task.node.clone());
        if task.item.is_none() {
            used.bare.insert(task.node.clone());
        }
    }
    used.joins = header.joins.iter().map(|(name, _)| name.clone()).collect();
    // Of the keys a migration may have made others: they have been looked at.
    let graph = |outline: &Outline| Outline {
        graph: outline.graph.clone(),
        schema: Vec::new(),
    };
    let changes = changes(&graph(&journal.was), &graph(&journal.program.outline));
    let strands = changes
        .iter()
        .find(|change| change.strands(Held::Just(&used)));
    strands.map_or(Ok(()), |change| Err(changed(journal, change)))
}

/// The tasks that were stored, by the names of their nodes.
fn tasks<S: State>(
    wiring: &Wiring,
    journal: &Journal<S>,
    entries: Vec<TaskEntry>,
) -> Result<Vec<Task>, ThreadError> {
    let mut tasks = Vec::with_capacity(entries.len());
    for entry in entries {
        let name = entry.node.clone();
        let Some(node) = wiring.place_of(&name) else {
            return Err(changed(journal, &Change::NodeRemoved { node: name }));
        };
        tasks.push(load(wiring, node, entry, |problem| {
            let was = item_type(&journal.was, &name);
            let problem = format!(
                "the item of node `{name}` cannot be read: {problem}; convert it in a migration, `migration.map_item(\"{name}\", |old: {was}| ..)`; `Resume::goto` says where else to go on"
            );
            refused(journal, problem)
        })?);
    }
    // By place, as planning would have it: the declaration may have changed.
    tasks.sort_by_key(|task| task.node);
    Ok(tasks)
}

/// The type of the items that a node took.
fn item_type(was: &Outline, node: &str) -> String {
    let lines = was.graph.iter().filter_map(|line| NodeLine::parse(line));
    let mut items = lines
        .filter(|line| line.name == node)
        .filter_map(|line| line.takes);
    items.next().map_or_else(|| "Old".into(), Into::into)
}

/// The arrivals that joins held, in numbers.
fn arrived<S: State>(
    journal: &Journal<S>,
    joins: Vec<(String, Vec<String>)>,
) -> Result<Vec<(u32, u32)>, ThreadError> {
    let mut arrived = Vec::new();
    for (name, sides) in joins {
        let known = journal
            .program
            .joins
            .iter()
            .position(|join| join.name == name);
        let Some(join) = known else {
            return Err(changed(journal, &Change::JoinRemoved { join: name }));
        };
        for side in sides {
            let known = &journal.program.joins[join].sides;
            let place = known.iter().position(|known| *known == side);
            arrived.push((
                petalflow_graph::index(join),
                petalflow_graph::index(place.unwrap_or_default()),
            ));
        }
    }
    Ok(arrived)
}

/// The program does not fit what is stored.
fn changed<S: State>(journal: &Journal<S>, change: &Change) -> ThreadError {
    refused(journal, change.problem(S::NAME))
}

fn refused<S: State>(journal: &Journal<S>, problem: String) -> ThreadError {
    ThreadError::Changed {
        thread: journal.archive.thread.to_string(),
        problem,
        diff: difference(&journal.was.graph, &journal.program.outline.graph),
    }
}

/// The place of a node that a user named.
pub(crate) fn node_of(wiring: &Wiring, name: &str) -> Result<u32, ThreadError> {
    wiring.named(name).ok_or_else(|| {
        let nodes: Vec<&str> = wiring
            .graph()
            .nodes()
            .iter()
            .map(|node| &*node.name)
            .collect();
        let similar = petalflow_graph::similar(name, nodes.iter().copied());
        let hint = similar.map_or_else(
            || format!("the nodes are {}", nodes.join(", ")),
            |similar| format!("did you mean `{similar}`?"),
        );
        ThreadError::Request(format!("there is no node `{name}`; {hint}"))
    })
}

fn only(waiting: &[(TaskId, Interrupt)]) -> Vec<Interrupt> {
    waiting
        .iter()
        .map(|(_, interrupt)| interrupt.clone())
        .collect()
}
