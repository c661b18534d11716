//! The settings of a server.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::http::request::Parts;
use petalflow::checkpoint::Store;
use petalflow::run::CancelToken;
use petalflow::state::{State, Storable};
use petalflow::thread::StoredThreads;
use petalflow::{Flow, Launch};
use petalflow_documents::Envelope;
use petalflow_documents::builder::EnvelopeFlow;
use petalflow_documents::document::ReadGraph;
use petalflow_documents::kinds::{Refusal, TriggerAuth, WebhookTriggerNode};
use petalflow_documents::{Services, document_version, load};
use serde::de::DeserializeOwned;

use crate::access::{Access, AccessHook};
use crate::bulk::Bulk;
use crate::hook::Hook;
use crate::idempotency::{self, Keys};
#[cfg(feature = "memory")]
use crate::memory::ServedMemory;
use crate::message_queue::Queue;
#[cfg(feature = "metrics")]
use crate::metrics::ModelMetrics;
use crate::name::check_name;
use crate::notify::{Notifications, Notifier};
use crate::retention::{Rules, ThreadRetention};
#[cfg(feature = "schedules")]
use crate::schedule::{Schedule, Schedules};
use crate::served::{EventLog, HookThreads, ServedFlow, ServedThreads};
use crate::settings::{Listener, Protocols, Settings};
use crate::{Limits, Server, SetupError, SetupErrors};

/// The settings of a [`Server`]. The [crate](crate) has an example.
///
/// ```
/// use petalflow::checkpoint::InMemoryStore;
/// use petalflow_documents::builder::EnvelopeBuilder;
/// use petalflow_documents::kinds::{TriggerAuth, WebhookTriggerConfig, WebhookTriggerNode};
/// use petalflow_server::{Limits, Server};
///
/// # let trigger = WebhookTriggerNode::new(WebhookTriggerConfig::default())?;
/// # let flow = EnvelopeBuilder::new("orders").add_node("incoming", trigger).build()?;
/// let auth = TriggerAuth::HeaderToken { header: "X-Token".into(), token: "secret".into() };
/// let server = Server::builder(&InMemoryStore::new())
///     .webhooks("orders", &flow)
///     .threads(auth)
///     .limits(Limits { max_runs: 10, ..Limits::default() })
///     .idempotency_header("X-GitHub-Delivery")
///     .event_log(100)
///     .build()?;
/// assert_eq!(server.paths().len(), 1);
/// # Ok::<(), petalflow::BoxError>(())
/// ```
pub struct ServerBuilder {
    store: Arc<dyn Store>,
    store_type: &'static str,
    stop: CancelToken,
    hooks: Vec<PendingHook>,
    /// The flows that clients start, by name.
    flows: Vec<(String, WithLog<dyn ServedThreads>)>,
    threads: Option<TriggerAuth>,
    access: Option<AccessHook>,
    shows_stored: bool,
    limits: Limits,
    pub(crate) key_header: String,
    pub(crate) key_retention: Duration,
    /// Which finished threads of which flows are kept.
    pub(crate) retention: BTreeMap<String, ThreadRetention>,
    #[cfg(feature = "memory")]
    pub(crate) memory: Option<ServedMemory>,
    #[cfg(feature = "metrics")]
    pub(crate) models: ModelMetrics,
    event_log: u64,
    pub(crate) hosts: Vec<String>,
    pub(crate) routes: Router,
    pub(crate) listener: Option<Listener>,
    pub(crate) notifier: Option<Arc<dyn Notifier>>,
    pub(crate) protocols: Protocols,
    /// The agents whose threads an engine keeps without their events.
    pub(crate) unlogged: Vec<String>,
    #[cfg(feature = "schedules")]
    schedules: Vec<Schedule>,
    /// The flows that schedules begin.
    scheduled: BTreeSet<String>,
    errors: Vec<SetupError>,
}

/// A trigger before all settings are known.
struct PendingHook {
    workflow: String,
    trigger: String,
    node: WebhookTriggerNode,
    threads: WithLog<dyn HookThreads>,
}

/// Makes the threads of a flow, with a log of this many events.
type WithLog<T> = Box<dyn FnOnce(EventLog) -> Arc<T> + Send>;

impl fmt::Debug for ServerBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hooks = self.hooks.iter();
        let hooks: Vec<_> = hooks.map(|hook| (&hook.workflow, &hook.trigger)).collect();
        f.debug_struct("ServerBuilder")
            .field("hooks", &hooks)
            .field("threads", &self.threads)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

impl Server {
    /// Begins the settings of a server whose threads are in this store. An `Arc<dyn Store>` is a store.
    pub fn builder<S: Store + Clone>(store: &S) -> ServerBuilder {
        ServerBuilder::new(Arc::new(store.clone()), std::any::type_name::<S>())
    }
}

impl ServerBuilder {
    fn new(store: Arc<dyn Store>, store_type: &'static str) -> Self {
        ServerBuilder {
            store,
            store_type,
            stop: CancelToken::new(),
            hooks: Vec::new(),
            flows: Vec::new(),
            threads: None,
            access: None,
            shows_stored: false,
            limits: Limits::default(),
            key_header: "idempotency-key".into(),
            key_retention: idempotency::RETENTION,
            retention: BTreeMap::new(),
            #[cfg(feature = "memory")]
            memory: None,
            #[cfg(feature = "metrics")]
            models: ModelMetrics::new(),
            event_log: 1_000,
            hosts: Vec::new(),
            routes: Router::new(),
            listener: None,
            notifier: None,
            protocols: Protocols::default(),
            unlogged: Vec::new(),
            #[cfg(feature = "schedules")]
            schedules: Vec::new(),
            scheduled: BTreeSet::new(),
            errors: Vec::new(),
        }
    }

    /// Serves a document: its webhook triggers, or the graph itself if it has none. A request to a trigger runs the graph from
    /// this trigger, whatever the entry of the document is. A timeout of the trigger is that of its runs.
    ///
    /// The document is a `&GraphDefinition`, or a [`ReadGraph`], whose settings are not read again.
    ///
    /// To let people answer questions over HTTP, give the services a
    /// [`ThreadHandler`](petalflow_documents::kinds::ThreadHandler), and call [`threads`](Self::threads).
    ///
    /// ```
    /// use petalflow::checkpoint::InMemoryStore;
    /// use petalflow_documents::document::{Catalog, Source};
    /// use petalflow_documents::Services;
    /// use petalflow_server::Server;
    ///
    /// let source = Source::new("orders.graph.yaml", "
    /// id: orders
    /// version: '1.0'
    /// kind: graph
    /// nodes:
    ///   - { id: incoming, type: webhook_trigger, config: { auth: { type: none } } }
    /// edges: []
    /// ");
    /// let graph = source.check(&Catalog::default())?.graph(&Catalog::default());
    /// let server = Server::builder(&InMemoryStore::new()).document(&graph, &Services::new()).build()?;
    /// assert_eq!(server.paths(), ["/workflows/orders/webhooks/incoming"]);
    /// # Ok::<(), petalflow::BoxError>(())
    /// ```
    #[must_use]
    pub fn document(mut self, graph: impl Into<ReadGraph>, services: &Services) -> Self {
        let read = graph.into();
        let nodes = read.definition.nodes.iter();
        let triggers = nodes.filter(|node| node.kind == "webhook_trigger");
        let triggers: Vec<String> = triggers.map(|node| node.id.clone()).collect();
        // Each trigger is an entry of the same document, and so its threads have the same version.
        let version = match document_version(&read.definition) {
            Ok(version) => version,
            Err(error) => {
                let (workflow, problem) = (read.definition.id.clone(), error.to_string());
                self.errors.push(SetupError::Version { workflow, problem });
                return self;
            }
        };
        if triggers.is_empty() {
            let name = read.definition.id.clone();
            return match load(read, services) {
                Ok(flow) => {
                    let launch = flow.with_version(version).launch();
                    self.serve_flow(ServedFlow::over_envelope(launch).named(name))
                }
                Err(error) => {
                    self.errors.push(error.into());
                    self
                }
            };
        }
        for trigger in triggers {
            let mut read = read.clone();
            read.definition.entry = trigger;
            let workflow = read.definition.id.clone();
            match load(read, services) {
                Ok(flow) => self = self.webhooks(workflow, &flow.with_version(version.clone())),
                Err(error) => {
                    // The other triggers have the same nodes, and so the same mistakes.
                    self.errors.push(error.into());
                    break;
                }
            }
        }
        self
    }

    /// Serves the trigger with which a graph begins, under this name of the graph.
    ///
    /// ```
    /// use petalflow::checkpoint::InMemoryStore;
    /// use petalflow_documents::builder::EnvelopeBuilder;
    /// use petalflow_documents::kinds::{NoopNode, WebhookTriggerConfig, WebhookTriggerNode};
    /// use petalflow_server::Server;
    ///
    /// # fn main() -> Result<(), petalflow::BoxError> {
    /// let trigger = WebhookTriggerNode::new(WebhookTriggerConfig::default())?;
    /// let flow = EnvelopeBuilder::new("orders").add_node("incoming", trigger).edge("store", NoopNode).build()?;
    /// let server = Server::builder(&InMemoryStore::new()).webhooks("orders", &flow).build()?;
    /// # let _ = server;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn webhooks(mut self, workflow: impl Into<String>, flow: &EnvelopeFlow) -> Self {
        let workflow = workflow.into();
        let Some((id, trigger)) = flow.trigger() else {
            self.errors.push(SetupError::NoTrigger { workflow });
            return self;
        };
        self.webhook(workflow, id, trigger.clone(), flow.launch())
    }

    /// Serves a trigger of any flow over an [`Envelope`], with the settings of a launch. The server sets the launch's token for
    /// cancellation, and its timeout if the trigger has one.
    ///
    /// ```
    /// use petalflow::checkpoint::InMemoryStore;
    /// use petalflow::prelude::*;
    /// use petalflow_documents::Envelope;
    /// use petalflow_documents::kinds::{WebhookTriggerConfig, WebhookTriggerNode};
    /// use petalflow_server::Server;
    ///
    /// fn trigger() -> WebhookTriggerNode {
    ///     WebhookTriggerNode::new(WebhookTriggerConfig::default()).expect("the default settings are right")
    /// }
    ///
    /// flow! {
    ///     Orders(Envelope) {
    ///         START -> incoming;
    ///         node incoming: WebhookTriggerNode = trigger();
    ///     }
    /// }
    ///
    /// # fn main() -> petalflow::Result<()> {
    /// let server = Server::builder(&InMemoryStore::new())
    ///     .webhook("orders", "incoming", trigger(), Orders::new().launch().limit(50))
    ///     .build()?;
    /// # let _ = server;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn webhook<F: Flow<State = Envelope>>(
        mut self,
        workflow: impl Into<String>,
        trigger: impl Into<String>,
        node: WebhookTriggerNode,
        launch: Launch<F>,
    ) -> Self {
        let (workflow, trigger) = (workflow.into(), trigger.into());
        for name in [&workflow, &trigger] {
            self.errors.extend(check_name(name).err());
        }
        let mut hooks = self.hooks.iter();
        if hooks.any(|hook| hook.workflow == workflow && hook.trigger == trigger) {
            self.errors
                .push(SetupError::Duplicate { workflow, trigger });
            return self;
        }
        let timeout = node.config().timeout.0;
        let launch = if timeout.is_zero() {
            launch
        } else {
            launch.timeout(timeout)
        };
        let served = ServedFlow::over_envelope(launch).named(workflow.clone());
        let served = served.with_trigger(trigger.clone());
        let store = Arc::clone(&self.store);
        self.hooks.push(PendingHook {
            workflow,
            trigger,
            node,
            threads: Box::new(move |log| Arc::new(served.with_store(&store, log))),
        });
        self
    }

    /// Serves a flow: clients start threads of it, see them, and steer them, at the addresses of [`threads`](Self::threads).
    ///
    /// [`serve_flow`](Self::serve_flow) has more settings: another name, questions that clients answer, secret keys.
    ///
    /// ```
    /// use petalflow::checkpoint::InMemoryStore;
    /// use petalflow::prelude::*;
    /// use petalflow_documents::kinds::TriggerAuth;
    /// use petalflow_server::Server;
    ///
    /// #[state]
    /// struct Essay {
    ///     #[key(input)]
    ///     topic: String,
    ///     draft: String,
    /// }
    ///
    /// #[node(Essay)]
    /// async fn write(topic: &str) -> EssayDraft {
    ///     EssayDraft(format!("All about {topic}."))
    /// }
    ///
    /// flow!(Write(Essay) { write });
    ///
    /// # fn main() -> petalflow::Result<()> {
    /// let auth = TriggerAuth::HeaderToken { header: "X-Token".into(), token: "secret".into() };
    /// let server = Server::builder(&InMemoryStore::new()).flow(Write::new()).threads(auth).build()?;
    /// let app: axum::Router = server.router();
    /// # let _ = app;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn flow<F>(self, launch: Launch<F>) -> Self
    where
        F: Flow<State: Storable + State<Input: DeserializeOwned>>,
    {
        self.serve_flow(ServedFlow::new(launch))
    }

    /// Serves a flow with settings of its own. See [`ServedFlow`].
    #[must_use]
    pub fn serve_flow<F: Flow<State: Storable>>(self, flow: ServedFlow<F>) -> Self {
        let store = Arc::clone(&self.store);
        self.add(flow, move |flow, log| {
            Arc::new(flow.with_store(&store, log))
        })
    }

    /// Adds a flow, whose threads are made when all settings are known.
    pub(crate) fn add<F: Flow<State: Storable>>(
        mut self,
        flow: ServedFlow<F>,
        threads: impl FnOnce(ServedFlow<F>, EventLog) -> Arc<dyn ServedThreads> + Send + 'static,
    ) -> Self {
        self.errors.extend(flow.check());
        let name = flow.name().to_string();
        if self.flows.iter().any(|(known, _)| *known == name) {
            self.errors.push(SetupError::DuplicateFlow { name });
            return self;
        }
        self.flows
            .push((name, Box::new(move |log| threads(flow, log))));
        self
    }

    /// Begins threads of a served flow at planned times. See [`Schedule`].
    #[cfg(feature = "schedules")]
    #[must_use]
    pub fn schedule(mut self, schedule: Schedule) -> Self {
        self.scheduled.insert(schedule.flow().to_string());
        self.schedules.push(schedule);
        self
    }

    /// Serves the addresses of flows and of threads: starting them, their state, their events, answers to their questions, and
    /// what a person may do with them. A request needs this token. By default they are not served, because a client that may
    /// deliver webhooks is often not allowed to read threads or to answer questions.
    ///
    /// With [`TriggerAuth::None`], everyone may read and answer. Then put authentication of your own in front of the router.
    #[must_use]
    pub fn threads(mut self, auth: TriggerAuth) -> Self {
        self.threads = Some(auth);
        self
    }

    /// Shows the threads of all other programs in the store too, without their types: the names of keys and nodes are those in the
    /// store, and keys that are marked `secret` are shown too. Such threads can only be read, so a request that changes one gets
    /// 403. Their flows have the kind [`Stored`](crate::FlowKind::Stored).
    ///
    /// ```
    /// use petalflow::checkpoint::InMemoryStore;
    /// use petalflow_documents::kinds::TriggerAuth;
    /// use petalflow_server::Server;
    ///
    /// # fn main() -> petalflow::Result<()> {
    /// let auth = TriggerAuth::HeaderToken { header: "X-Token".into(), token: "secret".into() };
    /// let server = Server::builder(&InMemoryStore::new()).stored_threads().threads(auth).build()?;
    /// # let _ = server;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn stored_threads(mut self) -> Self {
        self.shows_stored = true;
        self
    }

    /// Decides for each request which threads its caller may see and change. By default all callers with the token may see all
    /// threads. A thread that the caller may not see does not exist for the caller: the response is 404.
    ///
    /// A layer of the program's own authenticates the user, and leaves what it knows in the extensions of the request, where
    /// this function finds it. Threads that webhooks and schedules start have no label of a user.
    ///
    /// ```
    /// use axum::http::request::Parts;
    /// use petalflow::checkpoint::InMemoryStore;
    /// use petalflow_server::{Access, Server};
    ///
    /// /// What the program's own layer leaves in the extensions.
    /// #[derive(Clone)]
    /// struct User {
    ///     id: String,
    ///     is_admin: bool,
    /// }
    ///
    /// let builder = Server::builder(&InMemoryStore::new()).access(|request: &Parts| {
    ///     match request.extensions.get::<User>() {
    ///         Some(user) if user.is_admin => Access::All,
    ///         Some(user) => Access::label("user", &user.id),
    ///         None => Access::None,
    ///     }
    /// });
    /// # let _ = builder;
    /// ```
    #[must_use]
    pub fn access(mut self, hook: impl Fn(&Parts) -> Access + Send + Sync + 'static) -> Self {
        self.access = Some(Arc::new(hook));
        self
    }

    /// Sets the limits on clients.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets how many events of a thread are stored at least, for clients that receive them. The default is 1,000. With 0, none
    /// are stored and none are sent. The supersteps and checkpoints of flows inside the graph, such as those of an agent, are left
    /// out. See [`Threads::event_log`](petalflow::thread::Threads::event_log).
    #[must_use]
    pub fn event_log(mut self, events: u64) -> Self {
        self.event_log = events;
        self
    }

    /// Whether a flow or a graph with webhooks has this name.
    pub(crate) fn serves(&self, name: &str) -> bool {
        let is_hook = |hook: &PendingHook| hook.workflow == name;
        self.flows.iter().any(|(flow, _)| flow == name) || self.hooks.iter().any(is_hook)
    }

    /// What is wrong with the tokens and secrets that callers need.
    fn auth_problems(&self) -> Vec<SetupError> {
        let no_headers = BTreeMap::new();
        let problem = |what: String, auth: &TriggerAuth| match auth.check(&no_headers) {
            Err(Refusal::NoToken { variable }) => Some(SetupError::NoToken { what, variable }),
            Err(Refusal::EmptyToken) => Some(SetupError::EmptyToken { what }),
            Err(Refusal::Secret) => Some(SetupError::Secret { what }),
            _ => None,
        };
        let of_hooks = self.hooks.iter().filter_map(|hook| {
            let what = format!("trigger `{}` of graph `{}`", hook.trigger, hook.workflow);
            problem(what, &hook.node.config().auth)
        });
        let threads = self.threads.iter();
        let of_threads = threads.flat_map(|auth| {
            let signed = auth.signs_body().then_some(SetupError::SignedThreads);
            let unusable = problem("the address of threads".into(), auth);
            unusable.into_iter().chain(signed)
        });
        of_hooks.chain(of_threads).collect()
    }

    /// Checks the settings.
    ///
    /// # Errors
    ///
    /// All mistakes at once.
    pub fn build(mut self) -> Result<Server, SetupErrors> {
        let mut errors = std::mem::take(&mut self.errors);
        let serves_nothing = self.hooks.is_empty() && self.flows.is_empty() && !self.shows_stored;
        if serves_nothing && errors.is_empty() {
            errors.push(SetupError::Empty);
        }
        let mut unstarted = self
            .flows
            .iter()
            .filter(|(name, _)| !self.scheduled.contains(name));
        if let (None, Some((name, _))) = (&self.threads, unstarted.next()) {
            let name = name.clone();
            errors.push(SetupError::NoThreads { name });
        }
        errors.extend(self.auth_problems());
        #[cfg(feature = "a2a")]
        if let Some(a2a) = &self.protocols.a2a {
            let is_served = |name: &str| self.flows.iter().any(|(flow, _)| flow == name);
            let unknown = a2a.names().filter(|name| !is_served(name));
            errors.extend(unknown.map(|name| SetupError::NoAgent { name: name.into() }));
        }
        #[cfg(feature = "mcp")]
        errors.extend(
            self.protocols
                .taken(self.flows.iter().map(|(name, _)| name)),
        );
        errors.extend(crate::host::problems(&self.hosts));
        errors.extend(self.unlogged_problems());
        errors.extend(self.retention_problems());
        if self.event_log == 0
            && let Some(protocol) = self.protocols.first()
        {
            errors.push(SetupError::NoEvents { protocol });
        }
        let log = EventLog(self.event_log);
        let flows = self.flows.into_iter().map(|(_, threads)| threads(log));
        let flows: Vec<_> = flows.collect();
        #[cfg(feature = "schedules")]
        let schedules = Schedules::read(self.schedules, &flows, &self.store, &mut errors);
        if !errors.is_empty() {
            return Err(SetupErrors(errors));
        }
        let hooks = self.hooks.into_iter().map(|hook| Hook {
            workflow: hook.workflow,
            trigger: hook.trigger,
            node: hook.node,
            threads: (hook.threads)(log),
        });
        Ok(Server::new(Settings {
            hooks: hooks.collect(),
            flows,
            bulk: Bulk::new(&self.store, log),
            #[cfg(feature = "schedules")]
            schedules,
            stored: self.shows_stored.then(|| StoredThreads::new(&self.store)),
            notifications: self
                .notifier
                .map(|notifier| Notifications::new(notifier, &self.store)),
            keys: Keys::new(&self.store, self.key_retention),
            queue: Queue::new(&self.store),
            retention: Rules::new(self.retention, &self.store),
            #[cfg(feature = "memory")]
            memory: self.memory,
            #[cfg(feature = "metrics")]
            models: self.models,
            store: self.store,
            store_type: self.store_type,
            stop: self.stop,
            threads: self.threads,
            access: self.access,
            limits: self.limits,
            key_header: self.key_header,
            hosts: self.hosts,
            routes: self.routes,
            listener: self.listener,
            #[cfg(any(
                feature = "a2a",
                feature = "ag-ui",
                feature = "mcp",
                feature = "openai"
            ))]
            protocols: self.protocols,
        }))
    }
}
