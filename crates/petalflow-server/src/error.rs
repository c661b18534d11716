//! The errors of the builder of a server.

use petalflow_documents::LoadError;

/// A mistake in the settings of a server.
///
/// ```
/// use petalflow_server::SetupError;
///
/// let error = SetupError::Duplicate { workflow: "orders".into(), trigger: "incoming".into() };
/// assert_eq!(error.to_string(), "there are two triggers `incoming` of graph `orders`: rename one");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SetupError {
    /// A document cannot be loaded.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A document cannot be written as JSON, of which its version is made.
    #[error("the version of graph `{workflow}` cannot be made: {problem}")]
    Version {
        /// The graph.
        workflow: String,
        /// The problem.
        problem: String,
    },
    /// A graph whose webhooks are to be served does not begin with a webhook trigger.
    #[error(
        "graph `{workflow}` has no webhook trigger: add a node of type `webhook_trigger`, and begin the graph with it"
    )]
    NoTrigger {
        /// The graph.
        workflow: String,
    },
    /// Two triggers have the same address.
    #[error("there are two triggers `{trigger}` of graph `{workflow}`: rename one")]
    Duplicate {
        /// The graph.
        workflow: String,
        /// The trigger.
        trigger: String,
    },
    /// The messages to a flow are to be read while it works, but it is no agent.
    #[error(
        "`{flow}` is no agent, and reads no messages while it works: use another `MultitaskStrategy`"
    )]
    NotSteered {
        /// The flow.
        flow: String,
    },
    /// A rule says which threads are kept of a flow that the server does not serve.
    #[error(
        "a retention is set for `{name}`, but there is no such flow: use the name of a flow that is served"
    )]
    NoRetention {
        /// The name.
        name: String,
    },
    /// A name cannot be part of an address.
    #[error(
        "`{name}` cannot be part of an address: use at most 128 ASCII letters, digits, `-`, `_`, `.` and `~`"
    )]
    Name {
        /// The name of a graph or of a trigger.
        name: String,
    },
    /// The environment variable with a token or secret is not set.
    #[error("{what} has no token or secret: set the environment variable `{variable}`")]
    NoToken {
        /// The trigger, or the addresses of threads.
        what: String,
        /// The variable.
        variable: String,
    },
    /// The token or secret is empty, so everyone would know it.
    #[error(
        "{what} has an empty token or secret: set one, or `env:NAME` for the environment variable `NAME`"
    )]
    EmptyToken {
        /// The trigger, or the addresses of threads.
        what: String,
    },
    /// A secret cannot be read.
    #[error(
        "{what} has a secret that is not of the form `whsec_BASE64`: copy it as the sender shows it"
    )]
    Secret {
        /// The trigger.
        what: String,
    },
    /// Requests for threads cannot be signed: many have no body.
    #[error(
        "the addresses of threads cannot ask for a signature: give `.threads(..)` a token, `TriggerAuth::HeaderToken`"
    )]
    SignedThreads,
    /// Two flows have the same name.
    #[error("there are two flows `{name}`: give one of them another name with `.named(..)`")]
    DuplicateFlow {
        /// The name.
        name: String,
    },
    /// A flow can be started only at the addresses of threads, which are not served, or by a schedule.
    #[error(
        "flow `{name}` cannot be started: serve the addresses of threads with `.threads(..)`, which sets their token"
    )]
    NoThreads {
        /// The name of the flow.
        name: String,
    },
    /// The settings of A2A name an agent that the server does not have.
    #[error("A2A cannot serve `{name}`: the server has no agent or conversation of this name")]
    NoAgent {
        /// The name.
        name: String,
    },
    /// The server has a tool of MCP with the name of a flow.
    #[error(
        "flow `{name}` cannot be a tool of MCP: the server has a tool `{name}` of its own; give the flow another name with `.named(..)`"
    )]
    ToolName {
        /// The name of the flow.
        name: String,
    },
    /// A protocol reads the events of threads, and none are stored.
    #[error("{protocol} needs the events of threads: store some with `.event_log(..)`")]
    NoEvents {
        /// The protocol.
        protocol: &'static str,
    },
    /// A protocol reads the log of threads, and the engine that keeps those of an agent has none.
    #[error(
        "{protocol} cannot serve `{name}`: the engine that keeps its threads logs no events; with Restate, set `RestateFlow::event_log`, or serve it with `.kind(FlowKind::Flow)`, at the addresses of threads only"
    )]
    NoLog {
        /// The name of the agent.
        name: String,
        /// The protocol.
        protocol: &'static str,
    },
    /// A host of [`hosts`](crate::ServerBuilder::hosts) has more than a name, such as a port, so all requests would be refused.
    #[error(
        "`{host}` is no host: write its name alone, such as `localhost`, without a scheme and a port"
    )]
    Host {
        /// The host.
        host: String,
    },
    /// A key that is to be secret does not exist.
    #[error("the state of flow `{flow}` has no key `{key}`, which is to be secret")]
    NoKey {
        /// The name of the flow.
        flow: String,
        /// The key.
        key: String,
    },
    /// A key that is to be secret is indexed.
    #[error(
        "key `{key}` of flow `{flow}` is to be secret, and it is `indexed`, so lists show its value: remove one of the two"
    )]
    SecretIsIndexed {
        /// The name of the flow.
        flow: String,
        /// The key.
        key: String,
    },
    /// A schedule has a wrong cron line, time zone or input, or names no flow.
    #[error("schedule `{name}`: {problem}")]
    Schedule {
        /// The name of the schedule.
        name: String,
        /// The problem.
        problem: String,
    },
    /// Two schedules have the same name.
    #[error("there are two schedules `{name}`: rename one")]
    DuplicateSchedule {
        /// The name.
        name: String,
    },
    /// There is nothing to serve.
    #[error("the server serves nothing: add a flow, an agent or a document")]
    Empty,
}

/// All mistakes in the settings of a server.
///
/// ```
/// use petalflow::checkpoint::InMemoryStore;
/// use petalflow_server::{Server, SetupError};
///
/// let errors = Server::builder(&InMemoryStore::new()).build().unwrap_err();
/// assert_eq!(errors.errors(), [SetupError::Empty]);
/// ```
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("the server cannot be built:\n  {}", error_list(.0))]
pub struct SetupErrors(pub(crate) Vec<SetupError>);

/// The message, which is what `main` prints if it returns the error.
impl std::fmt::Debug for SetupErrors {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

impl SetupErrors {
    /// The mistakes.
    pub fn errors(&self) -> &[SetupError] {
        &self.0
    }
}

fn error_list(errors: &[SetupError]) -> String {
    let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
    errors.join("\n  ")
}
