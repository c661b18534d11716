//! From the events of an agent to the updates of a session.

use std::collections::HashMap;
use std::path::PathBuf;

use agent_client_protocol::v1::schema::{
    ContentBlock, ContentChunk, ImageContent, MessageId, Plan as PlanUpdate, PlanEntry,
    PlanEntryPriority, PlanEntryStatus, SessionUpdate, ToolCall as CallUpdate, ToolCallId,
    ToolCallStatus, ToolCallUpdate, ToolCallUpdateFields, ToolKind,
};
use petalflow::event::{CustomEvent, Namespace};
use petalflow::tool::{ToolCall, ToolResult};
use petalflow_agent::deep::{FileChange, Plan, PlanChanged, PlanState};
use petalflow_agent::human::{CONFIRMATION, CREDENTIAL};
use petalflow_agent::{AgentEvent, Conversation};
use petalflow_llm::message::{Media, MediaSource};
use petalflow_llm::response::FinishReason;
use petalflow_llm::{Part, Role};

use crate::call;
use crate::called::{self, Called};
use crate::said::Said;

/// Makes the updates of a session. Called agents do not speak with the person: only their calls are shown.
#[derive(Debug)]
pub(crate) struct Updates {
    /// Where the agent changes files.
    folder: Option<PathBuf>,
    /// The calls as the editor knows them, by the agent that makes them and by the id that the model gave them.
    calls: HashMap<(Namespace, String), Shown>,
    /// The newest call with each id of a model, of all agents.
    newest: HashMap<String, ToolCallId>,
    text: Said,
    thought: Said,
}

#[derive(Clone, Debug)]
struct Shown {
    id: ToolCallId,
    kind: ToolKind,
}

impl Updates {
    pub(crate) fn new(folder: Option<PathBuf>) -> Self {
        Updates {
            folder,
            calls: HashMap::new(),
            newest: HashMap::new(),
            text: Said::default(),
            thought: Said::default(),
        }
    }

    /// All updates of a conversation with the runs of called agents, for an editor that opens it.
    pub(crate) fn replay(
        &mut self,
        talk: &Conversation,
        mut runs: Vec<Called>,
    ) -> Vec<SessionUpdate> {
        let mut updates = Vec::new();
        called::forget(&mut runs, &talk.events);
        for event in &talk.events {
            if event.is_from_user() {
                updates.extend(from_person(event));
                continue;
            }
            updates.extend(self.stored(&Namespace::ROOT, event));
            updates.extend(self.called(event, &mut runs));
        }
        let plan = Plan::of(talk);
        if !plan.items.is_empty() {
            updates.push(plan_update(&plan));
        }
        updates
    }

    /// The updates for a stored event, with the changes of files that its calls have made.
    fn stored(&mut self, namespace: &Namespace, event: &AgentEvent) -> Vec<SessionUpdate> {
        let calls = calls_of(event);
        let changes: Vec<FileChange> = calls.filter_map(FileChange::of_call).collect();
        let mut updates = self.event(namespace, event);
        let changes = changes.into_iter();
        updates.extend(changes.filter_map(|it| self.changed(namespace, it)));
        updates
    }

    /// The updates for the calls of the agents that a stored event has called and that have not answered.
    fn called(&mut self, event: &AgentEvent, runs: &mut Vec<Called>) -> Vec<SessionUpdate> {
        let mut updates = Vec::new();
        for call in calls_of(event) {
            let Some(run) = called::take(runs, call) else {
                continue;
            };
            called::forget(runs, &run.events);
            for event in &run.events {
                let stored = self.stored(&run.namespace, event).into_iter();
                updates.extend(stored.filter(is_about_call));
                updates.extend(self.called(event, runs));
            }
        }
        updates
    }

    /// Learns the calls of a conversation, whose results may come now.
    pub(crate) fn know(&mut self, talk: &Conversation) {
        for event in &talk.events {
            for call in calls_of(event) {
                self.add_call(&Namespace::ROOT, event, call);
            }
        }
    }

    /// The updates for a piece of a message.
    pub(crate) fn piece(&mut self, piece: &AgentEvent) -> Vec<SessionUpdate> {
        if piece.branch.is_some() {
            return Vec::new();
        }
        let (text, thought) = words(piece);
        let id = message_id(piece);
        let thought = Some(thought).filter(|it| !it.is_empty());
        let thought = thought.and_then(|text| self.thought.piece(&text));
        let text = Some(text).filter(|it| !it.is_empty());
        let text = text.and_then(|text| self.text.piece(&text));
        said(id.as_ref(), thought, text)
    }

    /// The attempt that has written the last pieces has failed.
    pub(crate) fn retry(&mut self) {
        self.text.again();
        self.thought.again();
    }

    /// The updates for a message or an action. `namespace`: that of the agent's flow.
    pub(crate) fn event(
        &mut self,
        namespace: &Namespace,
        event: &AgentEvent,
    ) -> Vec<SessionUpdate> {
        // The request for another answer is a message to the model.
        let is_to_model = event
            .message
            .as_ref()
            .is_some_and(|it| it.role == Role::User);
        if event.is_from_user() || is_to_model {
            return Vec::new();
        }
        let mut updates = Vec::new();
        let has_results = results_of(event).next().is_some();
        if event.branch.is_none() && !has_results {
            let (mut text, thought) = words(event);
            if event.repair.is_some() {
                text.clear();
            }
            if text.is_empty() && event.finish == Some(FinishReason::Refusal) {
                text = event.finish_message.clone().unwrap_or_default();
            }
            let id = message_id(event);
            let (thought, text) = (self.thought.whole(&thought), self.text.whole(&text));
            updates.extend(said(id.as_ref(), thought, text));
            updates.extend(media_of(event).map(|image| agent_chunk(image, id.as_ref())));
        }
        for call in calls_of(event) {
            updates.push(self.call(namespace, event, call));
        }
        for result in results_of(event) {
            let waits = event
                .actions
                .requested_confirmations
                .contains_key(&result.call_id)
                || event
                    .actions
                    .requested_credentials
                    .contains_key(&result.call_id);
            updates.extend(self.result(namespace, result, waits));
        }
        updates
    }

    /// The update for a value that a tool has emitted.
    pub(crate) fn custom(
        &self,
        namespace: &Namespace,
        custom: &CustomEvent,
    ) -> Option<SessionUpdate> {
        if let Some(changed) = custom.downcast_ref::<PlanChanged>() {
            return Some(plan_update(&changed.plan));
        }
        let change = custom.downcast_ref::<FileChange>()?;
        self.changed(namespace, change.clone())
    }

    /// The newest call with this id of a model, as the editor knows it.
    pub(crate) fn shown(&self, call: &str) -> ToolCallId {
        let shown = self.newest.get(call).cloned();
        shown.unwrap_or_else(|| ToolCallId::new(call))
    }

    /// What a call is about, without its state.
    pub(crate) fn fields(&self, call: &ToolCall) -> ToolCallUpdateFields {
        let folder = self.folder.as_deref();
        let places = folder.map(|folder| call::locations(folder, call));
        ToolCallUpdateFields::new()
            .title(call::title(call))
            .name(call.name.clone())
            .kind(call::kind(&call.name))
            .locations(places.unwrap_or_default())
            .raw_input(call.arguments.clone())
    }

    fn call(
        &mut self,
        namespace: &Namespace,
        event: &AgentEvent,
        call: &ToolCall,
    ) -> SessionUpdate {
        let id = self.add_call(namespace, event, call);
        let mut update = CallUpdate::new(id, call::title(call));
        update.update(self.fields(call).status(ToolCallStatus::InProgress));
        SessionUpdate::ToolCall(update)
    }

    fn add_call(
        &mut self,
        namespace: &Namespace,
        event: &AgentEvent,
        call: &ToolCall,
    ) -> ToolCallId {
        // Some servers give calls of different answers the same id.
        let id = ToolCallId::new(format!("{}/{}", event.id, call.id));
        let shown = Shown {
            id: id.clone(),
            kind: call::kind(&call.name),
        };
        self.calls
            .insert((namespace.clone(), call.id.clone()), shown);
        self.newest.insert(call.id.clone(), id.clone());
        id
    }

    fn result(
        &self,
        namespace: &Namespace,
        result: &ToolResult,
        waits: bool,
    ) -> Option<SessionUpdate> {
        let shown = self
            .calls
            .get(&(namespace.clone(), result.call_id.clone()))?;
        let fields = ToolCallUpdateFields::new();
        let fields = if waits {
            fields.status(ToolCallStatus::Pending)
        } else if result.is_error {
            let content = vec![call::text(&result.content).into()];
            fields
                .status(ToolCallStatus::Failed)
                .content(content)
                .raw_output(result.content.clone())
        } else {
            let fields = fields
                .status(ToolCallStatus::Completed)
                .raw_output(result.content.clone());
            // The diff of a change stays.
            if shown.kind == ToolKind::Edit {
                fields
            } else {
                fields.content(vec![call::text(&result.content).into()])
            }
        };
        Some(call_update(shown.id.clone(), fields))
    }

    fn changed(&self, namespace: &Namespace, change: FileChange) -> Option<SessionUpdate> {
        let folder = self.folder.as_deref()?;
        let shown = self.calls.get(&(namespace.clone(), change.call.clone()))?;
        let fields = ToolCallUpdateFields::new().content(vec![call::diff(folder, change)]);
        Some(call_update(shown.id.clone(), fields))
    }
}

fn is_about_call(update: &SessionUpdate) -> bool {
    matches!(
        update,
        SessionUpdate::ToolCall(_) | SessionUpdate::ToolCallUpdate(_)
    )
}

pub(crate) fn call_update(id: ToolCallId, fields: ToolCallUpdateFields) -> SessionUpdate {
    SessionUpdate::ToolCallUpdate(ToolCallUpdate::new(id, fields))
}

/// A text of the agent that is not from its model.
pub(crate) fn notice(text: impl Into<String>) -> SessionUpdate {
    agent_chunk(text.into().into(), None)
}

fn plan_update(plan: &Plan) -> SessionUpdate {
    let items = plan.items.iter();
    let entries = items.map(|item| {
        let status = match item.state {
            PlanState::Pending => PlanEntryStatus::Pending,
            PlanState::Active => PlanEntryStatus::InProgress,
            PlanState::Done => PlanEntryStatus::Completed,
        };
        // Our plans have no priorities.
        PlanEntry::new(item.text.clone(), PlanEntryPriority::Medium, status)
    });
    SessionUpdate::Plan(PlanUpdate::new(entries.collect()))
}

fn parts(event: &AgentEvent) -> impl Iterator<Item = &Part> {
    event.message.iter().flat_map(|message| &message.parts)
}

/// The calls of tools. Requests to a person are permissions, which an editor is asked for.
fn calls_of(event: &AgentEvent) -> impl Iterator<Item = &ToolCall> {
    parts(event).filter_map(|part| match part {
        Part::Call(call) if ![CONFIRMATION, CREDENTIAL].contains(&&*call.name) => Some(call),
        _ => None,
    })
}

fn results_of(event: &AgentEvent) -> impl Iterator<Item = &ToolResult> {
    parts(event).filter_map(|part| match part {
        Part::Result(result) if ![CONFIRMATION, CREDENTIAL].contains(&&*result.name) => {
            Some(result)
        }
        _ => None,
    })
}

/// The text and the reasoning of a message.
fn words(event: &AgentEvent) -> (String, String) {
    let (mut text, mut thought) = (String::new(), String::new());
    for part in parts(event) {
        match part {
            Part::Text(part) => text.push_str(&part.text),
            Part::Thought(part) => thought.push_str(&part.text),
            _ => {}
        }
    }
    (text, thought)
}

fn message_id(event: &AgentEvent) -> Option<MessageId> {
    let id = Some(&*event.id).filter(|id| !id.is_empty());
    id.map(MessageId::new)
}

fn said(
    id: Option<&MessageId>,
    thought: Option<String>,
    text: Option<String>,
) -> Vec<SessionUpdate> {
    let thought = thought.map(|text| {
        SessionUpdate::AgentThoughtChunk(ContentChunk::new(text.into()).message_id(id.cloned()))
    });
    let text = text.map(|text| agent_chunk(text.into(), id));
    thought.into_iter().chain(text).collect()
}

fn agent_chunk(content: ContentBlock, id: Option<&MessageId>) -> SessionUpdate {
    SessionUpdate::AgentMessageChunk(ContentChunk::new(content).message_id(id.cloned()))
}

fn from_person(event: &AgentEvent) -> Vec<SessionUpdate> {
    let id = message_id(event);
    let blocks = parts(event).filter_map(|part| match part {
        Part::Text(text) => Some(text.text.as_str().into()),
        Part::Media(media) => image(media),
        _ => None,
    });
    let chunk = |block| ContentChunk::new(block).message_id(id.clone());
    blocks
        .map(|block| SessionUpdate::UserMessageChunk(chunk(block)))
        .collect()
}

fn media_of(event: &AgentEvent) -> impl Iterator<Item = ContentBlock> {
    parts(event).filter_map(|part| match part {
        Part::Media(media) => image(media),
        _ => None,
    })
}

fn image(media: &Media) -> Option<ContentBlock> {
    let MediaSource::Base64(data) = &media.source else {
        return None;
    };
    let image = ImageContent::new(data.as_str(), media.media_type.as_str());
    media
        .media_type
        .starts_with("image/")
        .then_some(ContentBlock::Image(image))
}
