//! The models, tools and functions that documents name, from the options of a command.

use std::collections::BTreeSet;
use std::path::PathBuf;

use petalflow::tool::FuncTool;
use petalflow_documents::Changes;
use petalflow_documents::Services;
use petalflow_documents::document::{Catalog, GraphDefinition, Needs, ToolMode};
use petalflow_documents::kinds::{AutoHandler, FuncNode, ThreadHandler};
use petalflow_llm::{LlmClient, ScriptedModel};
use serde_json::{Map, Value, json};
use std::sync::Arc;

use crate::environment::Variable;
use crate::exit::{Exit, Failure, Result};
use crate::program_tool::ProgramTool;
use crate::script;
#[cfg(feature = "providers")]
use crate::token_command::TokenCommand;

/// The models and tools of a run.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct ServiceArgs {
    /// Take the replies of all models from a file, in order. It is a list of texts and of calls
    #[arg(long, value_name = "FILE")]
    pub(crate) script: Option<PathBuf>,

    /// Run a program for a tool or function: JSON on stdin, JSON or text on stdout. Can be repeated
    #[arg(long = "tool", value_name = "NAME=COMMAND")]
    pub(crate) tools: Vec<ProgramTool>,

    /// Set a variable of the environment, for tools and keys. Can be repeated. The list of processes shows options to everyone, so
    /// set secrets in the environment itself
    #[arg(long = "env", value_name = "NAME=VALUE")]
    pub(crate) variables: Vec<Variable>,

    /// Ask this model where a document names none, such as `gpt-5-mini` or `ollama::qwen3`
    #[cfg(feature = "providers")]
    #[arg(long, value_name = "MODEL", conflicts_with = "script")]
    pub(crate) model: Option<String>,

    /// Run a program that prints a token for models of Azure and Vertex AI, such as `gcloud auth print-access-token`
    #[cfg(feature = "providers")]
    #[arg(long, value_name = "COMMAND", conflicts_with = "script")]
    pub(crate) token_command: Option<TokenCommand>,
}

impl ServiceArgs {
    /// The names that documents can use.
    pub(crate) fn catalog(&self) -> Catalog {
        let tools = self.tools.iter();
        tools.fold(Catalog::default(), |catalog, tool| {
            catalog.tool(&tool.name, ToolMode::Standalone)
        })
    }

    /// The services of a graph. A question pauses the thread.
    pub(crate) fn services(&self, graph: &GraphDefinition) -> Result<Services> {
        let needs = graph.needs();
        self.models(graph, &needs, self.without_models(&needs))
    }

    /// The tools and functions of a graph. A question pauses the thread.
    pub(crate) fn without_models(&self, needs: &Needs) -> Services {
        let mut services = Services::new().human(ThreadHandler);
        for tool in &self.tools {
            if needs.functions.contains(&tool.name) {
                services = services.function(&tool.name, program_node(tool.clone()));
            } else {
                services = services.tool(tool.tool());
            }
        }
        services
    }

    /// Services with the specifications of the tools, and models that nothing asks. A question pauses the thread.
    pub(crate) fn silent(&self, needs: &Needs) -> Services {
        let given: BTreeSet<&str> = self.tools.iter().map(|tool| &*tool.name).collect();
        let missing = |name: &&String| !given.contains(&***name);
        let mut services = self.without_models(needs).any_model(silent_model());
        for tool in needs.tools.iter().filter(missing) {
            services = services.tool(placeholder(tool));
        }
        for node in needs.functions.iter().filter(missing) {
            services = services.function(node, FuncNode::noop());
        }
        services
    }

    fn models(
        &self,
        graph: &GraphDefinition,
        needs: &Needs,
        services: Services,
    ) -> Result<Services> {
        // A wrong script is reported also if no node needs a model.
        if let Some(path) = &self.script {
            return Ok(services.any_model(script::read(path)?));
        }
        if needs.providers.is_empty() && !needs.any_model {
            return Ok(services);
        }
        self.providers(graph, needs, services)
    }

    #[cfg(feature = "providers")]
    fn providers(
        &self,
        graph: &GraphDefinition,
        needs: &Needs,
        mut services: Services,
    ) -> Result<Services> {
        for provider in &needs.providers {
            let model = model_for_provider(graph, provider)
                .or(self.model.as_deref())
                .ok_or_else(|| {
                    Failure::new(
                        Exit::Missing,
                        format_args!("no node of provider `{provider}` names a model"),
                    )
                    .hint("name it in the document, or with `--model MODEL`")
                })?;
            let name = prefix(provider);
            services = services.model(provider, self.provider_model(&format!("{name}::{model}"))?);
        }
        Ok(match &self.model {
            Some(model) => services.any_model(self.provider_model(model)?),
            None => services,
        })
    }

    #[cfg(not(feature = "providers"))]
    #[expect(
        clippy::unused_self,
        reason = "with the feature `providers` it is used"
    )]
    fn providers(&self, _: &GraphDefinition, needs: &Needs, _: Services) -> Result<Services> {
        let names: Vec<&str> = needs.providers.iter().map(String::as_str).collect();
        let models = if names.is_empty() {
            "a model".into()
        } else {
            format!("models of {}", names.join(", "))
        };
        Err(missing_providers(&models))
    }

    #[cfg(feature = "providers")]
    fn provider_model(&self, name: &str) -> Result<petalflow_llm::ProviderModel> {
        let model = petalflow_llm::ProviderModel::new(name)
            .map_err(|error| Failure::new(Exit::Missing, error))?;
        let cloud = name.split_once("::").map(|(prefix, _)| prefix);
        // Other providers must not see it.
        let takes_token = matches!(cloud, Some("azure" | "azure_resp" | "vertex"));
        Ok(match &self.token_command {
            Some(command) if takes_token => command.give_to(model),
            _ => model,
        })
    }

    /// The model of an agent that is served to an editor, if its replies are not from a script.
    #[cfg(feature = "acp")]
    pub(crate) fn model_of_agent(
        &self,
        agent: &petalflow_documents::document::Agent,
    ) -> Result<Arc<dyn LlmClient>> {
        #[cfg(feature = "providers")]
        return Ok(Arc::new(self.provider_model(&format!(
            "{}::{}",
            prefix(&agent.provider),
            agent.model
        ))?));
        #[cfg(not(feature = "providers"))]
        Err(missing_providers(&format!("a model of {}", agent.provider)))
    }

    /// The model that all agents share, if their replies are from a script.
    #[cfg(feature = "acp")]
    pub(crate) fn scripted_model(&self) -> Result<Option<Arc<dyn LlmClient>>> {
        let Some(path) = &self.script else {
            return Ok(None);
        };
        Ok(Some(Arc::new(script::read(path)?)))
    }

    /// The model of a conversation.
    pub(crate) fn model_of_conversation(&self) -> Result<Arc<dyn LlmClient>> {
        if let Some(path) = &self.script {
            return Ok(Arc::new(script::read(path)?));
        }
        #[cfg(feature = "providers")]
        return match &self.model {
            Some(model) => Ok(Arc::new(self.provider_model(model)?)),
            None => Err(Failure::new(Exit::Missing, "the conversation has no model")
                .hint("name it with `--model MODEL`, or give its replies with `--script FILE`")),
        };
        #[cfg(not(feature = "providers"))]
        Err(missing_providers("a model"))
    }
}

#[cfg(not(feature = "providers"))]
fn missing_providers(models: &str) -> Failure {
    Failure::new(
        Exit::Missing,
        format_args!("the document asks {models}, and this program was built without models of providers"),
    )
    .hint("install it with `cargo install petalflow-cli --features providers`, or give the replies with `--script FILE`")
}

/// The prefix of the names of models of a provider that a document names.
#[cfg(feature = "providers")]
fn prefix(provider: &str) -> &str {
    match provider {
        "google" => "gemini",
        other => other,
    }
}

/// The model that the first node of a provider names.
#[cfg(feature = "providers")]
fn model_for_provider<'g>(graph: &'g GraphDefinition, provider: &str) -> Option<&'g str> {
    graph.nodes.iter().find_map(|node| {
        let text = |name: &str| node.config.get(name).and_then(Value::as_str);
        text("model").filter(|_| text("provider") == Some(provider))
    })
}

/// A node that runs a program: it reads the variables and the input, and prints the variables that it sets.
fn program_node(program: ProgramTool) -> FuncNode {
    FuncNode::new(move |envelope| {
        let program = program.clone();
        async move {
            let input = json!({ "input": envelope.input.as_deref(), "vars": envelope.vars });
            match program.call(&input).await? {
                Value::Object(vars) => Ok(vars
                    .into_iter()
                    .fold(Changes::new(), |changes, (name, value)| changes.var(name, value))),
                _ => Err("the program of a node of type `func` prints an object with the variables that it sets".into()),
            }
        }
    })
}

/// Placeholders with which any graph can be loaded, to draw or check it. It cannot run.
pub(crate) fn placeholders(needs: &Needs) -> Services {
    let mut services = Services::new()
        .any_model(silent_model())
        .human(AutoHandler::approve());
    for tool in &needs.tools {
        services = services.tool(placeholder(tool));
    }
    for node in &needs.functions {
        services = services.function(node, FuncNode::noop());
    }
    services
}

/// A model that cannot answer.
fn silent_model() -> ScriptedModel {
    ScriptedModel::new([] as [&str; 0])
}

fn placeholder(tool: &str) -> FuncTool {
    FuncTool::new(tool, "", |_: Value| async { Ok(Map::new()) })
}
