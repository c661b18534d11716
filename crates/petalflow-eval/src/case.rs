//! Cases: what a user says, and what is expected of the agent.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A case: the messages of a user in one conversation, and what is expected of each answer.
///
/// ```
/// use petalflow_eval::Case;
/// use serde_json::json;
///
/// let case = Case::new("capitals")
///     .state("language", "English")
///     .turn("What is the capital of France?", |turn| turn.output("Paris"))
///     .turn("As JSON?", |turn| turn.json(json!({ "capital": "Paris" })));
/// assert_eq!(case.turns.len(), 2);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Case {
    /// The name. It is unique in an evaluation.
    pub name: String,
    /// The state of the conversation when it begins.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub state: Map<String, Value>,
    /// The turns, in order.
    pub turns: Vec<CaseTurn>,
}

/// One turn of a [`Case`]. A scorer ignores a turn that does not have what it compares.
///
/// ```
/// use petalflow_eval::CaseTurn;
///
/// let turn = CaseTurn::new("What is the capital of France?").output("Paris").rubric("The answer is one word.");
/// assert_eq!(turn.output.as_deref(), Some("Paris"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct CaseTurn {
    /// The message of the user.
    pub input: String,
    /// The expected answer, or a part or a pattern of it, as the scorer reads it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// The fields that the answer must have as JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub json: Option<Value>,
    /// The expected calls of tools. An empty list expects that there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<Vec<ExpectedCall>>,
    /// What a judge checks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rubric: Option<String>,
}

/// An expected call of a tool.
///
/// ```
/// use petalflow_eval::ExpectedCall;
/// use serde_json::json;
///
/// let any_city: ExpectedCall = serde_json::from_value(json!({ "name": "weather" }))?;
/// assert_eq!(any_city.arguments, None);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedCall {
    /// The name of the tool.
    pub name: String,
    /// The arguments. The call may have others. `None` allows any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Value>,
}

impl Case {
    /// A case without turns.
    pub fn new(name: impl Into<String>) -> Self {
        Case {
            name: name.into(),
            ..Self::default()
        }
    }

    /// Sets a value of the conversation's state.
    #[must_use]
    pub fn state(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.state.insert(key.into(), value.into());
        self
    }

    /// Adds a turn.
    #[must_use]
    pub fn turn(
        mut self,
        input: impl Into<String>,
        expect: impl FnOnce(CaseTurn) -> CaseTurn,
    ) -> Self {
        self.turns.push(expect(CaseTurn::new(input)));
        self
    }
}

impl CaseTurn {
    /// A turn that expects nothing.
    pub fn new(input: impl Into<String>) -> Self {
        CaseTurn {
            input: input.into(),
            ..Self::default()
        }
    }

    /// Sets the expected answer.
    #[must_use]
    pub fn output(mut self, output: impl Into<String>) -> Self {
        self.output = Some(output.into());
        self
    }

    /// Sets the fields that the answer must have.
    #[must_use]
    pub fn json(mut self, fields: Value) -> Self {
        self.json = Some(fields);
        self
    }

    /// Adds an expected call with at least these arguments.
    #[must_use]
    pub fn call(self, name: impl Into<String>, arguments: Value) -> Self {
        self.expected_call(name, Some(arguments))
    }

    /// Adds an expected call with any arguments.
    ///
    /// ```
    /// use petalflow_eval::CaseTurn;
    ///
    /// let turn = CaseTurn::new("Will it rain?").any_call("weather");
    /// let calls = turn.calls.unwrap();
    /// assert_eq!((calls[0].name.as_str(), &calls[0].arguments), ("weather", &None));
    /// ```
    #[must_use]
    pub fn any_call(self, name: impl Into<String>) -> Self {
        self.expected_call(name, None)
    }

    fn expected_call(mut self, name: impl Into<String>, arguments: Option<Value>) -> Self {
        let call = ExpectedCall {
            name: name.into(),
            arguments,
        };
        self.calls.get_or_insert_default().push(call);
        self
    }

    /// Expects that no tool is called.
    ///
    /// ```
    /// use petalflow_eval::CaseTurn;
    ///
    /// let turn = CaseTurn::new("Thank you!").no_calls();
    /// assert_eq!(turn.calls, Some(vec![]));
    /// ```
    #[must_use]
    pub fn no_calls(mut self) -> Self {
        self.calls = Some(Vec::new());
        self
    }

    /// Sets what a judge checks.
    #[must_use]
    pub fn rubric(mut self, rubric: impl Into<String>) -> Self {
        self.rubric = Some(rubric.into());
        self
    }
}
