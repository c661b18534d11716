//! Execution of code that a model writes.

use petalflow::{BoxError, Context, async_trait};

/// Executor of the code that a model writes: in a sandbox, on a server, or in an interpreter within the program.
///
/// The instructions tell the model to put code into a block that begins with ```` ```tool_code ````. A block of the
/// [language](Self::language) is also run. An answer ends with its first such block. The code runs in a step of its
/// own. Once its result is stored, the code is not run again. The model continues with the output.
///
/// ```
/// use petalflow_agent::Agent;
/// use petalflow_agent::extension::{CodeExecutor, CodeOutput};
/// use petalflow_llm::ScriptedModel;
/// use petalflow::{BoxError, Context, async_trait};
///
/// /// Adds numbers.
/// struct Adder;
///
/// #[async_trait]
/// impl CodeExecutor for Adder {
///     async fn execute(&self, code: &str, _: &Context) -> Result<CodeOutput, BoxError> {
///         let numbers: Result<Vec<i64>, _> = code.split('+').map(|number| number.trim().parse()).collect();
///         Ok(match numbers {
///             Ok(numbers) => CodeOutput::printed(numbers.iter().sum::<i64>().to_string()),
///             Err(error) => CodeOutput::failed(error.to_string()),
///         })
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// # let model = ScriptedModel::new(["Let me see.\n```tool_code\n17 + 25\n```", "It is 42."]);
/// let talk = Agent::new(model).code_executor(Adder).run("17 + 25?").await?;
/// assert_eq!(talk.answer(), "It is 42.");
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait CodeExecutor: Send + Sync + 'static {
    /// Runs code. Code that fails returns [`CodeOutput::failed`]: the model reads the error and can correct the code.
    ///
    /// # Errors
    ///
    /// If the code cannot be run at all. The error ends the turn.
    ///
    /// # Cancel safety
    ///
    /// The future may be dropped at any time. The code should stop then.
    async fn execute(&self, code: &str, cx: &Context) -> Result<CodeOutput, BoxError>;

    /// The language of the code, as written after the opening fence of a block. Default: `python`.
    #[expect(
        clippy::unnecessary_literal_bound,
        reason = "others may return what they hold"
    )]
    fn language(&self) -> &str {
        "python"
    }

    /// The maximum number of consecutive retries of failed code in a turn. After that, code is not run. Default: 2.
    fn retries(&self) -> u32 {
        2
    }
}

/// The output of code.
///
/// ```
/// use petalflow_agent::extension::CodeOutput;
///
/// assert!(!CodeOutput::failed("division by zero").ok);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CodeOutput {
    /// Whether the code ran to its end.
    pub ok: bool,
    /// The output, or the error.
    pub text: String,
}

impl CodeOutput {
    /// The output of code that ran to its end.
    pub fn printed(text: impl Into<String>) -> Self {
        CodeOutput {
            ok: true,
            text: text.into(),
        }
    }

    /// The error of code that failed.
    pub fn failed(text: impl Into<String>) -> Self {
        CodeOutput {
            ok: false,
            text: text.into(),
        }
    }
}
