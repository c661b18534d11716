//! The methods of [`Agent`] that say which answers it gives.

use std::sync::Arc;

use petalflow::state::InputOf;
use petalflow::tool::{Partial, Tool};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::Agent;
use crate::output::Output;
use crate::{Conversation, OutputStream};

/// The methods that say which answers the agent gives.
impl Agent {
    /// Asks the model for answers of type `T`. [`Conversation::output`](crate::Conversation::output) parses them.
    ///
    /// An answer that is no `T` goes back to the model, with all its mistakes: see [`max_repairs`](Self::max_repairs). So
    /// does one that is beyond a limit of the schema, such as `#[schemars(range(max = 1))]`. What a callback answers instead
    /// of the model is not checked.
    ///
    /// ```
    /// use petalflow_agent::Agent;
    /// # use petalflow_llm::ScriptedModel;
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Flower {
    ///     petals: u32,
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// # let model = ScriptedModel::new([r#"{"petals": 5}"#]);
    /// let agent = Agent::new(model).output::<Flower>();
    /// let rose: Flower = agent.run("A wild rose?").await?.output()?;
    /// assert_eq!(rose.petals, 5);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn output<T: Answer>(self) -> Self {
        self.edit(|agent| agent.output = Some(Output::of::<T>(|_| Ok(()))))
    }

    /// Asks the model for answers of type `T` that pass a check of the program, like [`output`](Self::output). The text of the
    /// error goes back to the model, which answers again.
    ///
    /// ```
    /// use petalflow_agent::Agent;
    /// # use petalflow_llm::ScriptedModel;
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Trip {
    ///     from: String,
    ///     to: String,
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// # let same = r#"{"from": "Ghent", "to": "Ghent"}"#;
    /// # let model = ScriptedModel::new([same, r#"{"from": "Ghent", "to": "Bruges"}"#]);
    /// let agent = Agent::new(model).valid_output(|trip: &Trip| {
    ///     if trip.from == trip.to {
    ///         return Err("a trip leads to another place");
    ///     }
    ///     Ok(())
    /// });
    /// let trip: Trip = agent.run("A trip, please.").await?.output()?;
    /// assert_eq!(trip.to, "Bruges");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn valid_output<T: Answer, E: std::fmt::Display>(
        self,
        validate: impl Fn(&T) -> Result<(), E> + Send + Sync + 'static,
    ) -> Self {
        let validate = move |answer: &T| validate(answer).map_err(|error| error.to_string());
        self.edit(|agent| agent.output = Some(Output::of::<T>(validate)))
    }

    /// Adds a check of the typed answers that takes time, or what the run has: a function with
    /// [`#[tool]`](macro@petalflow::tool), or a [`FuncTool`](petalflow::tool::FuncTool). It can be `async`, and take a
    /// [`Context`](petalflow::Context) and [`Managed`](petalflow::Managed) values. Its only parameter is the answer, or its parameters
    /// are the fields of the answer. The model does not see it.
    ///
    /// The text of its error goes back to the model, as that of [`valid_output`](Self::valid_output) does. Validators run in the
    /// order in which they were added, after the form of the answer was checked, up to the first error. What they return does not
    /// count. They run in the step of the model call, or of the call that gives the answer: one that is interrupted begins again
    /// with this step. For effects, and for questions to a person, use an [output function](Self::output_function).
    ///
    /// ```
    /// use petalflow::prelude::*;
    /// use petalflow_agent::Agent;
    /// # use petalflow_llm::ScriptedModel;
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Trip {
    ///     from: String,
    ///     to: String,
    /// }
    ///
    /// struct Stations(Vec<&'static str>);
    ///
    /// /// Checks that both places have a station.
    /// #[tool]
    /// async fn have_stations(trip: Trip, stations: Managed<Stations>) -> Result<(), String> {
    ///     let mut places = [&trip.from, &trip.to].into_iter();
    ///     match places.find(|place| !stations.0.contains(&place.as_str())) {
    ///         Some(place) => Err(format!("`{place}` has no station")),
    ///         None => Ok(()),
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// # let (nowhere, there) = (r#"{"from": "Ghent", "to": "Oz"}"#, r#"{"from": "Ghent", "to": "Bruges"}"#);
    /// # let model = ScriptedModel::new([nowhere, there]);
    /// let agent = Agent::new(model).output::<Trip>().output_validator(have_stations {});
    /// let launch = agent.launch().manage(Stations(vec!["Ghent", "Bruges"]));
    /// let trip: Trip = launch.run("A trip, please.").await?.output()?;
    /// assert_eq!(trip.to, "Bruges");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn output_validator(self, validator: impl Tool) -> Self {
        self.edit(|agent| agent.output_validators.push(Arc::new(validator)))
    }

    /// Adds a function whose result is the answer. The model ends the turn by calling it, and gives its arguments. It is a tool in
    /// everything else: it has its own step in the turn, which is stored and not repeated, takes [`Managed`](petalflow::Managed)
    /// values, may ask a person first, and has timeouts. With several of them, the model chooses one.
    ///
    /// [`Conversation::output`] reads the result. Its text is [`Conversation::answer`]: a text as it is, and everything else as
    /// JSON. The text of an error goes back to the model, which calls it again: see [`max_repairs`](Self::max_repairs). So does an
    /// answer that is written as text, unless [`output`](Self::output) asks for such answers. Of several calls in one message, the
    /// first one is made.
    ///
    /// ```
    /// use petalflow::prelude::*;
    /// use petalflow_agent::Agent;
    /// # use petalflow_llm::{Reply, ScriptedModel};
    /// # use serde_json::json;
    ///
    /// #[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize)]
    /// struct Ticket {
    ///     number: u32,
    /// }
    ///
    /// /// Books a seat.
    /// #[tool]
    /// async fn book(train: String, seat: u32) -> Result<Ticket, String> {
    ///     match seat {
    ///         1..=80 => Ok(Ticket { number: 1000 + seat }),
    ///         _ => Err(format!("{train} has the seats 1 to 80")),
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// # let call = |seat: u32| Reply::call("book", json!({ "train": "IC 1", "seat": seat }));
    /// # let model = ScriptedModel::new([call(99), call(7)]);
    /// let agent = Agent::new(model).output_function(book {});
    /// let ticket: Ticket = agent.run("A seat in IC 1, please.").await?.output()?;
    /// assert_eq!(ticket, Ticket { number: 1007 });
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn output_function(self, function: impl Tool) -> Self {
        self.edit(|agent| {
            agent.output_functions.push(function.spec().name.clone());
            agent.tools.push(Arc::new(function));
        })
    }

    /// Runs one turn as a stream of what is known of the typed answer, which ends with the conversation. The agent
    /// [streams](Self::streaming).
    ///
    /// ```
    /// use petalflow::tool::Partial;
    /// use petalflow_agent::Agent;
    /// # use petalflow_llm::{Reply, ScriptedModel};
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema, Partial)]
    /// struct Flower {
    ///     name: String,
    ///     petals: u32,
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// # let model = ScriptedModel::new([Reply::chunks([r#"{"name": "rose", "pet"#, r#"als": 5}"#])]);
    /// let agent = Agent::new(model).output::<Flower>();
    /// let mut flowers = agent.stream_output::<Flower>("A wild rose?");
    /// let first: FlowerPartial = flowers.next().await.expect("the model writes");
    /// assert_eq!((first.name.as_deref(), first.petals), (Some("rose"), None));
    /// let flower: Flower = flowers.finish().await?.output()?;
    /// assert_eq!(flower.petals, 5);
    /// # Ok(())
    /// # }
    /// ```
    pub fn stream_output<T: Partial>(&self, input: impl InputOf<Conversation>) -> OutputStream<T> {
        self.clone().streaming().events(input).outputs()
    }
}

/// The type of an answer that [`Agent::output`] requests.
///
/// ```
/// use petalflow_agent::{Agent, Answer};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Flower {
///     petals: u32,
/// }
///
/// fn asks<T: Answer>(agent: Agent) -> Agent {
///     agent.output::<T>()
/// }
///
/// asks::<Flower>(Agent::named("botanist"));
/// ```
#[diagnostic::on_unimplemented(
    message = "an agent cannot answer with a `{Self}`",
    label = "has no JSON Schema, or cannot be read from JSON",
    note = "derive both for it: `#[derive(serde::Deserialize, schemars::JsonSchema)]`"
)]
pub trait Answer: JsonSchema + DeserializeOwned {}

#[diagnostic::do_not_recommend]
impl<T: JsonSchema + DeserializeOwned> Answer for T {}
