//! Serves an agent of a document to an editor.

use std::path::PathBuf;
use std::sync::Arc;

use petalflow::tool::Tool;
use petalflow_acp::{AcpServer, SessionAgent};
use petalflow_agent::deep::{ApprovalPolicy, Calls, DeepAgent, Workspace};
use petalflow_agent::{Agent, Limits, Mode};
use petalflow_documents::document::{Agent as WorkflowAgent, AgentWorkflow, Definition};
use petalflow_llm::LlmClient;

use crate::exit::{Exit, Failure, Result};
use crate::load;
use crate::services::ServiceArgs;
use crate::store::StoreArgs;
use crate::terminal::{self, WARNING};

/// The tools that change files.
const CHANGES: &str = "{write,edit}_file";
/// The sub-agent that each agent for long work has.
const WORKER: &str = "worker";

#[derive(Debug, clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct Args {
    /// The agent workflow in JSON or YAML. Its agents are used, and the prompts of the editor are the tasks
    file: PathBuf,

    /// The agent with which the editor talks. It can give work to the others
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,

    /// Make calls of a tool without asking: its name, or a pattern such as `write_*`. Can be repeated. Otherwise the editor asks
    /// before a file is changed and before a program of `--tool` is run
    #[arg(long = "allow", value_name = "TOOL")]
    allowed: Vec<String>,

    /// Take images in prompts, for models that read them
    #[arg(long)]
    images: bool,

    #[command(flatten)]
    pub(super) services: ServiceArgs,

    #[command(flatten)]
    store: StoreArgs,
}

const AFTER: &str = "\
Examples:
  petalflow acp research.agent.yaml --agent writer --store sessions.db
  petalflow acp research.agent.yaml --agent writer --script talk.json --allow 'write_*'

An editor starts this command and talks with it over stdin and stdout by the Agent Client
Protocol: the guide `acp` has the settings. The agent works on the files of the folder that is
open in the editor. With a store, sessions continue after the editor was closed.";

pub(crate) async fn run(args: Args) -> Result {
    let (file, definition) = load::read_definition(&args.file, &args.services.catalog())?;
    let Definition::Agents(workflow) = definition else {
        return Err(Failure::new(
            Exit::WrongKind,
            format_args!("`{}` is a graph, and has no agents", file.name()),
        )
        .hint("serve an agent workflow: a document with `agents`"));
    };
    let agents = Agents::of(&args, workflow)?;
    let policy = args.policy()?;
    let store = args.store.open_or_memory().await?;
    if args.store.store.is_none() {
        terminal::note(format_args!(
            "{WARNING}warning:{WARNING:#} without `--store` sessions are lost when the editor is closed"
        ));
    }
    let name = agents.main.name.clone();
    let mut server = AcpServer::new(&store, move |session| {
        let files = Workspace::folder(session.folder())?;
        let agent = agents.build(&files).approvals(policy.clone());
        Ok(SessionAgent::from(agent).files(files))
    });
    server = server.named(name, env!("CARGO_PKG_VERSION"));
    if args.images {
        server = server.images();
    }
    server
        .stdio()
        .await
        .map_err(|error| Failure::new(Exit::Failed, error))?;
    Ok(Exit::Done)
}

impl Args {
    /// What is asked about: changes of files, and programs, unless they are allowed.
    fn policy(&self) -> Result<ApprovalPolicy> {
        let invalid = |error| Failure::new(Exit::Usage, format_args!("`--allow`: {error}"));
        let mut policy = ApprovalPolicy::new();
        for tool in &self.allowed {
            policy = policy.allow(Calls::to(tool)).map_err(invalid)?;
        }
        let programs = self.services.tools.iter().map(|tool| tool.name.as_str());
        for tool in [CHANGES].into_iter().chain(programs) {
            policy = policy.ask(Calls::to(tool)).map_err(invalid)?;
        }
        Ok(policy)
    }
}

/// The agents of a document.
struct Agents {
    main: Member,
    others: Vec<Member>,
}

/// An agent of a document, with what it needs.
struct Member {
    name: String,
    agent: WorkflowAgent,
    model: Arc<dyn LlmClient>,
    tools: Vec<Arc<dyn Tool>>,
}

impl Agents {
    fn of(args: &Args, workflow: AgentWorkflow) -> Result<Self> {
        let names: Vec<&str> = workflow.agents.keys().map(String::as_str).collect();
        let listed = format!("the document has: {}", names.join(", "));
        let main = match (&args.agent, &names[..]) {
            (Some(name), _) => name.clone(),
            (None, [name]) => (*name).to_string(),
            (None, _) => {
                return Err(Failure::new(Exit::Usage, "the document has several agents")
                    .hint(format_args!("name one with `--agent NAME`; {listed}")));
            }
        };
        if !workflow.agents.contains_key(&main) {
            return Err(
                Failure::new(Exit::Usage, format_args!("there is no agent `{main}`")).hint(listed),
            );
        }
        if workflow.agents.contains_key(WORKER) {
            let text = format_args!("an agent is called `{WORKER}`");
            return Err(Failure::new(Exit::Invalid, text)
                .hint("give it another name: each agent has a sub-agent with this one"));
        }
        let script = args.services.scripted_model()?;
        let members = workflow.agents.into_iter();
        let members: Result<Vec<Member>> = members
            .map(|(name, agent)| {
                let model = match &script {
                    Some(script) => Arc::clone(script),
                    None => args.services.model_of_agent(&agent)?,
                };
                Ok(Member::of(args, name, agent, model))
            })
            .collect();
        let (mut first, others): (Vec<_>, Vec<_>) =
            members?.into_iter().partition(|member| member.name == main);
        let Some(main) = first.pop() else {
            return Err(Failure::new(Exit::Invalid, "the document has no agents"));
        };
        Ok(Agents { main, others })
    }

    /// The agent of a session over these files.
    fn build(&self, files: &Workspace) -> Agent {
        let main = &self.main;
        let deep = DeepAgent::new(Arc::clone(&main.model))
            .workspace(files.clone())
            .tools(main.tools.iter().cloned());
        let others = self.others.iter().map(|member| member.sub_agent(files));
        let agent = others.fold(deep, DeepAgent::sub_agent).build();
        main.configured(agent)
    }
}

impl Member {
    fn of(args: &Args, name: String, agent: WorkflowAgent, model: Arc<dyn LlmClient>) -> Self {
        let tools = agent.tools.iter().filter_map(|wanted| {
            let program = args
                .services
                .tools
                .iter()
                .find(|tool| tool.name == *wanted)?;
            Some(Arc::new(program.tool()) as Arc<dyn Tool>)
        });
        Member {
            name,
            tools: tools.collect(),
            model,
            agent,
        }
    }

    /// The agent as one that another agent calls.
    fn sub_agent(&self, files: &Workspace) -> Agent {
        let agent = Agent::new(Arc::clone(&self.model))
            .description(format!("{}: {}", self.agent.role, self.agent.goal))
            .mode(Mode::SingleTurn)
            .tools(self.tools.iter().cloned())
            .workspace(files.clone());
        self.configured(agent).call_limits(self.call_limits())
    }

    /// The limits of one call of the agent by another.
    fn call_limits(&self) -> Limits {
        let Some(set) = &self.agent.call_limits else {
            return Limits::new();
        };
        let limited =
            |limits: Limits, limit: Option<u64>, set: fn(Limits, u64) -> Limits| match limit {
                Some(limit) => set(limits, limit),
                None => limits,
            };
        let limits = limited(Limits::new(), set.requests, Limits::requests);
        let limits = limited(limits, set.tool_calls, Limits::tool_calls);
        let limits = limited(limits, set.input_tokens, Limits::input_tokens);
        let limits = limited(limits, set.output_tokens, Limits::output_tokens);
        let limits = limited(limits, set.total_tokens, Limits::total_tokens);
        match set.cost {
            Some(dollars) => limits.cost(dollars),
            None => limits,
        }
    }

    fn configured(&self, agent: Agent) -> Agent {
        let WorkflowAgent {
            role,
            goal,
            backstory,
            config,
            ..
        } = &self.agent;
        let mut text = format!("You are a {role}.\n\nGoal: {goal}");
        if !backstory.is_empty() {
            text.push_str("\n\nBackstory: ");
            text.push_str(backstory);
        }
        let number = |name: &str| config.get(name).and_then(serde_json::Value::as_f64);
        let (temperature, max_tokens) = (number("temperature"), number("max_tokens"));
        agent
            .name(self.name.as_str())
            // Not a template: braces stay as they are.
            .instructions_with(move |_| Ok(text.clone()))
            .request(|request| {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "providers take no more digits, and no negative tokens"
                )]
                {
                    request.temperature = temperature.map(|it| it as f32);
                    request.max_tokens = max_tokens.map(|it| it as u32);
                }
            })
    }
}
