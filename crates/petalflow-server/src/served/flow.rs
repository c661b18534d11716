//! Flows that clients start and see: what a server knows of them.

use std::sync::Arc;

use petalflow::checkpoint::Store;
use petalflow::interrupt::Ask;
use petalflow::state::{KeyFlag, State, StateSchema, Storable, attribute_kinds, encode_keys};
use petalflow::tool::schema;
use petalflow::{Flow, Launch};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::json;

use super::drawing;
use super::facts::{Facts, FlowKind};
use super::forms::{Forms, ReadInput, keys};
use super::input_keys;
use super::question::{Questions, value_schema};
use super::remote::RemoteThreads;
use super::remote_flow::RemoteFlow;
use super::typed::{EventLog, TypedThreads};
use super::typed_flow::TypedFlow;
use crate::MultitaskStrategy;
use crate::error::SetupError;
use crate::name::check_name;

/// A flow with what a server needs to serve it: how its input is read, how its state is shown, and which of its questions
/// can be answered.
///
/// ```
/// use petalflow::checkpoint::InMemoryStore;
/// use petalflow::interrupt::Ask;
/// use petalflow::prelude::*;
/// use petalflow_server::{ServedFlow, Server};
/// use petalflow_documents::kinds::TriggerAuth;
///
/// #[derive(serde::Serialize, Ask)]
/// #[ask(answer = bool)]
/// struct MayPay {
///     cents: u64,
/// }
///
/// #[state]
/// struct Refund {
///     #[key(input)]
///     cents: u64,
///     paid: bool,
/// }
///
/// #[node(Refund)]
/// async fn pay(cents: &u64, cx: Context) -> petalflow::Result<RefundPaid> {
///     Ok(RefundPaid(cx.ask(MayPay { cents: *cents }).await?))
/// }
///
/// flow!(PayRefund(Refund) { pay });
///
/// # fn main() -> petalflow::Result<()> {
/// let refunds = ServedFlow::new(PayRefund::new()).named("refunds").question::<MayPay>();
/// let auth = TriggerAuth::HeaderToken { header: "X-Token".into(), token: "secret".into() };
/// let server = Server::builder(&InMemoryStore::new()).serve_flow(refunds).threads(auth).build()?;
/// # let _ = server;
/// # Ok(())
/// # }
/// ```
pub struct ServedFlow<F: Flow> {
    pub(crate) facts: Facts,
    launch: Launch<F>,
    pub(crate) forms: Forms<F>,
}

impl<F: Flow> std::fmt::Debug for ServedFlow<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServedFlow")
            .field("name", &self.facts.name)
            .finish_non_exhaustive()
    }
}

impl<F: Flow<State: Storable + State<Input: DeserializeOwned>>> ServedFlow<F> {
    /// A flow with the name that it has in the program. Its input is an object with the keys that are marked `input`.
    pub fn new(launch: Launch<F>) -> Self {
        let mut served = Self::reading(launch, |input| {
            // A flow may need no input.
            let input = if input.is_null() { json!({}) } else { input };
            // The error names the field.
            Ok(serde_path_to_error::deserialize(input)?)
        });
        served.facts.input = Some(input_keys::schema(<F::State as State>::KEYS));
        served
    }
}

impl<F: Flow<State: Storable>> ServedFlow<F> {
    /// A flow whose input is read by this function, such as an agent whose input is a text.
    ///
    /// ```
    /// use petalflow_agent::{Agent, ConversationInput};
    /// use petalflow_llm::ScriptedModel;
    /// use petalflow_server::{FlowKind, ServedFlow};
    ///
    /// let agent = Agent::new(ScriptedModel::new(["Hello."]));
    /// let served = ServedFlow::reading(agent.launch(), |input| {
    ///     Ok(ConversationInput::from(serde_json::from_value::<String>(input)?))
    /// });
    /// let served = served.named("librarian").kind(FlowKind::Agent).input_schema::<String>();
    /// # let _ = served;
    /// ```
    pub fn reading(launch: Launch<F>, input: ReadInput<F>) -> Self {
        let graph = launch.graph();
        ServedFlow {
            facts: Facts {
                name: launch.flow().name().to_string(),
                stored_name: launch.flow().stored_name().to_string(),
                kind: FlowKind::Flow,
                description: None,
                input: None,
                state: None,
                secrets: <F::State as State>::KEYS
                    .iter()
                    .filter(|key| key.has(KeyFlag::Secret))
                    .map(|key| key.name.to_string())
                    .collect(),
                attributes: attribute_kinds::<F::State>()
                    .into_iter()
                    .map(|(name, kind)| (name.to_string(), kind))
                    .collect(),
                graph: drawing::value(&graph),
                drawing: petalflow_graph::picture_without_style(&graph),
                trigger: None,
                multitask: MultitaskStrategy::default(),
                #[cfg(feature = "protocol")]
                holds_pieces: false,
            },
            launch,
            forms: Forms {
                input,
                state: |state| keys(&encode_keys(state)?),
                questions: Questions::default(),
                waits: None,
                #[cfg(feature = "protocol")]
                turn: None,
                #[cfg(feature = "protocol")]
                turn_end: None,
            },
        }
    }

    pub(crate) fn name(&self) -> &str {
        &self.facts.name
    }

    /// Sets the name in addresses and ids of threads.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.facts.name = name.into();
        self
    }

    /// Sets what kind of flow clients see.
    #[must_use]
    pub fn kind(mut self, kind: FlowKind) -> Self {
        self.facts.kind = kind;
        self
    }

    /// Sets what clients, and models that call it as a tool, read about the flow: what it does, and when to use it.
    ///
    /// ```
    /// # use petalflow::prelude::*;
    /// # use petalflow_server::ServedFlow;
    /// # #[state]
    /// # struct Essay { #[key(input)] topic: String, draft: String }
    /// # #[node(Essay)]
    /// # async fn write(topic: &str) -> EssayDraft { EssayDraft(topic.into()) }
    /// # flow!(Write(Essay) { write });
    /// let served = ServedFlow::new(Write::new()).description("Writes an essay about a topic.");
    /// # let _ = served;
    /// ```
    #[must_use]
    pub fn description(mut self, text: impl Into<String>) -> Self {
        self.facts.description = Some(text.into());
        self
    }

    /// Sets the JSON Schema of the input to that of a type, for clients that make a form of it. An input is read as the flow
    /// reads it, whatever the schema says.
    #[must_use]
    pub fn input_schema<T: JsonSchema>(mut self) -> Self {
        self.facts.input = Some(value_schema::<T>());
        self
    }

    /// Sets the JSON Schema of the state to that of a type.
    #[must_use]
    pub fn state_schema<T: JsonSchema>(mut self) -> Self {
        self.facts.state = Some(schema::of::<T>());
        self
    }

    /// Sets the JSON Schemas of the input and of the state to those of the state, which is marked `#[state(schema)]`.
    ///
    /// ```
    /// use petalflow::prelude::*;
    /// use petalflow_server::ServedFlow;
    ///
    /// #[state(schema)]
    /// struct Essay {
    ///     #[key(input)]
    ///     topic: String,
    ///     draft: String,
    /// }
    /// # #[node(Essay)]
    /// # async fn write(topic: &str) -> EssayDraft { EssayDraft(topic.into()) }
    /// # flow!(Write(Essay) { write });
    ///
    /// let served = ServedFlow::new(Write::new()).schemas();
    /// # let _ = served;
    /// ```
    #[must_use]
    pub fn schemas(mut self) -> Self
    where
        F::State: StateSchema,
    {
        self.facts.input = Some(F::State::input_schema());
        self.facts.state = Some(F::State::state_schema());
        self
    }

    /// Lets clients answer questions of this type. An answer is checked against the JSON Schema of its type.
    #[must_use]
    pub fn question<A: Ask<Answer: JsonSchema>>(mut self) -> Self {
        self.forms.questions.add::<A>();
        self
    }

    /// Sets what happens to a message that comes while a run of the thread works. By default it is refused. A request can name another
    /// strategy.
    ///
    /// ```
    /// use petalflow_agent::Agent;
    /// use petalflow_llm::ScriptedModel;
    /// use petalflow_server::{MultitaskStrategy, ServedFlow};
    ///
    /// let agent = Agent::new(ScriptedModel::new(["Hello."]));
    /// let served = ServedFlow::agent(&agent).named("librarian").multitask(MultitaskStrategy::Steer);
    /// # let _ = served;
    /// ```
    #[must_use]
    pub fn multitask(mut self, strategy: MultitaskStrategy) -> Self {
        self.facts.multitask = strategy;
        self
    }

    /// Never shows the value of this key of the state: clients see `null`. A key that is marked `#[key(secret)]` is never shown
    /// either. This is for keys of flows that are not your own. A key that is `indexed` cannot be secret: lists show its value.
    ///
    /// ```
    /// # use petalflow::prelude::*;
    /// # use petalflow_server::ServedFlow;
    /// #[state]
    /// struct Order {
    ///     #[key(input)]
    ///     card_number: String,
    ///     paid: bool,
    /// }
    /// # #[node(Order)]
    /// # async fn pay(card_number: &str) -> OrderPaid { OrderPaid(card_number.len() == 16) }
    /// # flow!(Pay(Order) { pay });
    ///
    /// let served = ServedFlow::new(Pay::new()).secret("card_number");
    /// # let _ = served;
    /// ```
    #[must_use]
    pub fn secret(mut self, key: impl Into<String>) -> Self {
        self.facts.secrets.push(key.into());
        self
    }

    /// The flow of a graph that begins with this webhook trigger.
    pub(crate) fn with_trigger(mut self, trigger: String) -> Self {
        self.facts.trigger = Some(trigger);
        self
    }

    /// The flow with the store of a server.
    pub(crate) fn with_store(self, store: &Arc<dyn Store>, log: EventLog) -> TypedThreads<F> {
        let (flow, launch) = self.typed();
        TypedThreads::new(flow, launch.store(store), log)
    }

    /// The flow with threads that an engine runs.
    pub(crate) fn with_engine(self, threads: Arc<dyn RemoteThreads<F>>) -> RemoteFlow<F> {
        RemoteFlow::new(self.typed().0, threads)
    }

    fn typed(self) -> (TypedFlow<F>, Launch<F>) {
        let flow = TypedFlow {
            facts: self.facts,
            forms: self.forms,
        };
        (flow, self.launch)
    }

    /// The mistakes of its settings.
    pub(crate) fn check(&self) -> Vec<SetupError> {
        let mut errors: Vec<_> = check_name(&self.facts.name).err().into_iter().collect();
        if self.facts.multitask == MultitaskStrategy::Steer && self.facts.kind != FlowKind::Agent {
            let flow = self.facts.name.clone();
            errors.push(SetupError::NotSteered { flow });
        }
        let keys = <F::State as State>::KEYS;
        let unknown = self.facts.secrets.iter();
        let unknown = unknown.filter(|secret| !keys.iter().any(|key| key.name == **secret));
        errors.extend(unknown.map(|secret| SetupError::NoKey {
            flow: self.facts.name.clone(),
            key: secret.clone(),
        }));
        let indexed = keys.iter().filter(|key| key.has(KeyFlag::Indexed));
        let indexed = indexed.filter(|key| self.facts.secrets.iter().any(|it| it == key.name));
        errors.extend(indexed.map(|key| SetupError::SecretIsIndexed {
            flow: self.facts.name.clone(),
            key: key.name.into(),
        }));
        errors
    }
}
