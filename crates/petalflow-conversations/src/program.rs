//! A document joined with the program's code: everything that a turn looks up, by name.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use petalflow::thread::DocumentVersion;
use petalflow::tool::{Tool, ToolSpec};
use petalflow_document_model::conversations::decision::Decision;
use petalflow_document_model::conversations::{
    Action, ContextStrategy, Conversation, Function, Handler, Next, Node, Parameters, Template,
    case_key,
};
use petalflow_llm::LlmClient;
use serde_json::Value;

use crate::error::NextError;
use crate::settings::Settings;
use crate::version::document_version;
use crate::{ActionHandler, BuildError, BuildErrors};

/// A conversation that can run.
pub(crate) struct Program {
    /// The document, with the descriptions and the parameters that are in code.
    pub(crate) document: Conversation,
    pub(crate) version: DocumentVersion,
    pub(crate) initial: String,
    pub(crate) steps: HashMap<String, Step>,
    pub(crate) model: Arc<dyn LlmClient>,
    pub(crate) actions: HashMap<String, Arc<dyn ActionHandler>>,
    pub(crate) strategy: ContextStrategy,
    pub(crate) summary_timeout: Duration,
    pub(crate) max_model_calls: u32,
    pub(crate) streaming: bool,
}

/// A node.
pub(crate) struct Step {
    pub(crate) role: Option<Template>,
    /// The messages that entering the node adds: with their roles, the role messages first.
    pub(crate) role_messages: Vec<(String, Template)>,
    pub(crate) task_messages: Vec<(String, Template)>,
    pub(crate) specs: Arc<[Arc<ToolSpec>]>,
    pub(crate) functions: HashMap<String, Offered>,
    pub(crate) pre_actions: Vec<Planned>,
    pub(crate) post_actions: Vec<Planned>,
    pub(crate) strategy: Option<ContextStrategy>,
    pub(crate) responds: bool,
}

/// A function that a node offers.
pub(crate) struct Offered {
    pub(crate) tool: Option<Arc<dyn Tool>>,
    /// The schema of the arguments, if the document describes them. Otherwise the tool checks them.
    pub(crate) described: Option<Arc<ToolSpec>>,
    pub(crate) timeout: Option<Duration>,
    /// Whether an interruption ends the call.
    pub(crate) is_cancelled: bool,
    pub(crate) next: Choice,
}

/// An action and its text.
pub(crate) struct Planned {
    pub(crate) action: Action,
    pub(crate) text: Option<Template>,
}

/// How a result chooses the next node.
pub(crate) enum Choice {
    Stay,
    Node(String),
    Branch {
        field: String,
        cases: HashMap<String, String>,
        default: Option<String>,
    },
    Decision(Decision),
}

impl Choice {
    /// The next node; `None` to stay.
    pub(crate) fn next(&self, result: &Value) -> Result<Option<String>, NextError> {
        Ok(match self {
            Choice::Stay => None,
            Choice::Node(node) => Some(node.clone()),
            Choice::Branch {
                field,
                cases,
                default,
            } => {
                let value = result
                    .get(field)
                    .ok_or_else(|| NextError::NoField(field.clone()))?;
                let key = case_key(value).ok_or_else(|| NextError::NoKey(field.clone()))?;
                cases.get(&key).or(default.as_ref()).cloned()
            }
            Choice::Decision(decision) => Some(decision.choose(result)?.into()),
        })
    }
}

/// Joins the document and the code.
pub(crate) fn build(
    settings: Settings,
    mut document: Conversation,
) -> Result<Program, BuildErrors> {
    // Before the code adds descriptions to it.
    let version = document_version(&document).map_err(|error| BuildErrors(vec![error]))?;
    let mut joiner = Joiner::new(&settings);
    let globals = joiner.functions("global_functions", &document.global_functions);
    let mut steps = HashMap::with_capacity(document.nodes.len());
    for (name, node) in &document.nodes {
        let step = joiner.step(name, node, &globals);
        steps.insert(name.clone(), step);
    }
    joiner.check_targets(&document);
    joiner.check_unused();
    joiner.describe(&mut document);
    let Joiner {
        mut errors,
        actions,
        ..
    } = joiner;
    let actions = actions
        .into_iter()
        .map(|(name, handler)| (name.into(), handler))
        .collect();
    match settings.model {
        Some(model) if errors.is_empty() => Ok(Program {
            initial: document.initial_node.clone(),
            document,
            version,
            steps,
            model,
            actions,
            strategy: settings.strategy,
            summary_timeout: settings.summary_timeout,
            max_model_calls: settings.max_model_calls,
            streaming: settings.streaming,
        }),
        Some(_) => Err(BuildErrors(errors)),
        None => {
            errors.insert(0, BuildError::NoModel);
            Err(BuildErrors(errors))
        }
    }
}

struct Joiner<'b> {
    settings: &'b Settings,
    tools: BTreeMap<&'b str, Arc<dyn Tool>>,
    actions: BTreeMap<&'b str, Arc<dyn ActionHandler>>,
    used_tools: BTreeSet<String>,
    used_actions: BTreeSet<String>,
    errors: Vec<BuildError>,
}

/// A function, with the description of it that the model reads.
#[derive(Clone)]
struct Joined {
    spec: Arc<ToolSpec>,
    tool: Option<Arc<dyn Tool>>,
    /// Whether the document describes the arguments.
    is_described: bool,
    next: Next,
}

impl<'b> Joiner<'b> {
    fn new(settings: &'b Settings) -> Self {
        let mut joiner = Joiner {
            settings,
            tools: BTreeMap::new(),
            actions: BTreeMap::new(),
            used_tools: BTreeSet::new(),
            used_actions: BTreeSet::new(),
            errors: Vec::new(),
        };
        for tool in &settings.tools {
            let name = tool.spec().name.as_str();
            if joiner.tools.insert(name, Arc::clone(tool)).is_some() {
                joiner
                    .errors
                    .push(BuildError::AmbiguousHandler(name.into()));
            }
        }
        for (name, handler) in &settings.actions {
            if joiner.actions.insert(name, Arc::clone(handler)).is_some() {
                joiner
                    .errors
                    .push(BuildError::AmbiguousAction(name.clone()));
            }
        }
        joiner
    }

    fn step(&mut self, name: &str, node: &Node, globals: &[Joined]) -> Step {
        let own = self.functions(name, &node.functions);
        let offered: Vec<Joined> = globals.iter().cloned().chain(own).collect();
        let place = format!("node `{name}`");
        let functions = offered.iter().map(|it| {
            let next = self.choice(&place, &it.spec.name, &it.next);
            let name = it.tool.as_deref().map(|tool| tool.spec().name.as_str());
            let offered = Offered {
                timeout: name.and_then(|name| self.settings.timeouts.get(name).copied()),
                is_cancelled: name.is_some_and(|name| self.settings.cancelled.contains(name)),
                tool: it.tool.clone(),
                described: it.is_described.then(|| Arc::clone(&it.spec)),
                next,
            };
            (it.spec.name.clone(), offered)
        });
        let functions = functions.collect();
        let mut messages = |messages: &[petalflow_document_model::conversations::Message]| {
            let messages = messages.iter();
            let messages = messages.map(|it| (it.role.clone(), self.template(&place, &it.content)));
            messages.collect::<Vec<_>>()
        };
        let role_messages = match &node.role_message {
            // A role message of its own goes before the deprecated list.
            Some(_) => Vec::new(),
            None => messages(&node.role_messages),
        };
        let task_messages = messages(&node.task_messages);
        Step {
            role: node
                .role_message
                .as_deref()
                .map(|text| self.template(&place, text)),
            role_messages,
            task_messages,
            specs: offered.iter().map(|it| Arc::clone(&it.spec)).collect(),
            functions,
            pre_actions: self.planned(&place, &node.pre_actions),
            post_actions: self.planned(&place, &node.post_actions),
            strategy: node.context_strategy.clone(),
            responds: node.respond_immediately,
        }
    }

    fn functions(&mut self, place: &str, functions: &[Function]) -> Vec<Joined> {
        let functions = functions.iter();
        functions
            .filter_map(|it| self.function(place, it))
            .collect()
    }

    fn function(&mut self, place: &str, function: &Function) -> Option<Joined> {
        let tool = match &function.handler {
            Handler::Nothing => None,
            Handler::Named(handler) => {
                let Some(tool) = self.tools.get(handler.as_str()) else {
                    self.errors.push(BuildError::NoHandler {
                        node: place.into(),
                        function: function.name.clone(),
                        handler: handler.clone(),
                    });
                    return None;
                };
                self.used_tools.insert(handler.clone());
                Some(Arc::clone(tool))
            }
        };
        let of_tool = tool.as_deref().map(Tool::spec);
        let description = match (&function.description, of_tool) {
            (Some(description), _) => description.clone(),
            (None, Some(spec)) => spec.description.clone(),
            (None, None) => String::new(),
        };
        let parameters = match (&function.parameters, of_tool) {
            (Some(parameters), _) => parameters.schema(),
            (None, Some(spec)) => spec.parameters.clone(),
            (None, None) => Parameters::default().schema(),
        };
        Some(Joined {
            spec: Arc::new(ToolSpec::new(&function.name, description, parameters)),
            is_described: function.parameters.is_some(),
            tool,
            next: function.next.clone(),
        })
    }

    /// Adds the descriptions and the parameters of functions that their code describes.
    fn describe(&self, document: &mut Conversation) {
        let of_nodes = document.nodes.values_mut().map(|node| &mut node.functions);
        for function in of_nodes.chain([&mut document.global_functions]).flatten() {
            let Handler::Named(handler) = &function.handler else {
                continue;
            };
            let Some(tool) = self.tools.get(handler.as_str()) else {
                continue;
            };
            let spec = tool.spec();
            if function.description.is_none() {
                function.description = Some(spec.description.clone());
            }
            if function.parameters.is_none() {
                function.parameters = Some(Parameters::of_schema(&spec.parameters));
            }
        }
    }

    fn choice(&mut self, place: &str, function: &str, next: &Next) -> Choice {
        match next {
            Next::Stay => Choice::Stay,
            Next::Node(node) => Choice::Node(node.clone()),
            Next::Branch(branch) => Choice::Branch {
                field: branch.field.clone(),
                cases: branch
                    .cases
                    .iter()
                    .filter_map(|(case, node)| {
                        Some((case_key(&Value::from(case.as_str()))?, node.clone()))
                    })
                    .collect(),
                default: branch.default.clone(),
            },
            Next::Decision(document) => {
                let mut decision = Decision::new(&document.default);
                for condition in &document.conditions {
                    let added =
                        decision.when(condition.operator, &condition.value, &condition.node);
                    if let Err(error) = added {
                        self.wrong(place, format!("function `{function}`: {error}"));
                    }
                }
                Choice::Decision(decision)
            }
        }
    }

    fn template(&mut self, place: &str, text: &str) -> Template {
        text.parse().unwrap_or_else(|error| {
            self.wrong(place, format!("{error}"));
            Template::default()
        })
    }

    fn planned(&mut self, place: &str, actions: &[Action]) -> Vec<Planned> {
        let planned = actions.iter().map(|action| {
            let handler = match (action.kind.as_str(), &action.handler) {
                (Action::TTS_SAY | Action::END_CONVERSATION, _) => None,
                (Action::FUNCTION, None) => {
                    self.wrong(place, "a `function` action needs a `handler`".into());
                    None
                }
                (_, Some(handler)) => Some(handler),
                (_, None) => Some(&action.kind),
            };
            if let Some(handler) = handler {
                self.used_actions.insert(handler.clone());
                if !self.actions.contains_key(handler.as_str()) {
                    self.errors.push(BuildError::NoAction {
                        place: format!("{place}, action `{}`", action.kind),
                        handler: handler.clone(),
                    });
                }
            }
            Planned {
                action: action.clone(),
                text: action
                    .text
                    .as_deref()
                    .map(|text| self.template(place, text)),
            }
        });
        planned.collect()
    }

    /// Documents that were read from a form have been checked; those built by hand have not.
    fn check_targets(&mut self, document: &Conversation) {
        if !document.nodes.contains_key(&document.initial_node) {
            let problem = format!("the first node `{}` does not exist", document.initial_node);
            self.wrong("the document", problem);
        }
        let of_nodes = document
            .nodes
            .iter()
            .map(|(name, node)| (name.as_str(), &node.functions));
        for (place, functions) in of_nodes.chain([("global_functions", &document.global_functions)])
        {
            for function in functions {
                for target in function.next.targets() {
                    if !document.nodes.contains_key(target) {
                        let problem = format!(
                            "function `{}` leads to node `{target}`, which does not exist",
                            function.name
                        );
                        self.wrong(&format!("node `{place}`"), problem);
                    }
                }
            }
        }
    }

    fn check_unused(&mut self) {
        let named = self
            .settings
            .timeouts
            .keys()
            .chain(&self.settings.cancelled);
        let unknown: BTreeSet<&String> = named
            .filter(|name| !self.tools.contains_key(name.as_str()))
            .collect();
        for name in unknown {
            self.errors.push(BuildError::UnknownTool(name.clone()));
        }
        for name in self.tools.keys() {
            if !self.used_tools.contains(*name) {
                self.errors.push(BuildError::UnusedHandler((*name).into()));
            }
        }
        for name in self.actions.keys() {
            if !self.used_actions.contains(*name) {
                self.errors.push(BuildError::UnusedAction((*name).into()));
            }
        }
    }

    fn wrong(&mut self, place: &str, problem: String) {
        self.errors.push(BuildError::Document {
            place: place.into(),
            problem,
        });
    }
}
