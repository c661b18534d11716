//! A tool with which an agent waits for a time.

use std::time::Duration;

use petalflow::interrupt::{Ask, Expiry};
use petalflow::tool::{FuncTool, ToolContext};
use petalflow::{BoxError, Context};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The name of the tool that [`sleep_tool`] makes.
pub const SLEEP: &str = "sleep";

/// A tool `sleep` with which the agent waits, for up to the `longest` time: until a job has ended, or until tomorrow.
///
/// On a thread, nothing is held meanwhile: it waits for the question [`EndSleep`], which expires when the time has come. A person can
/// answer it to end the sleep early, also over HTTP, in the studio and over each protocol, and the agent reads the answer.
/// [`Threads::wake`](petalflow::thread::Threads::wake) and a server continue the thread when the time has come. In a run without a store,
/// it is a timer of tokio that nobody can end.
///
/// A longer time, and none, are errors that the model reads.
///
/// ```
/// use std::time::Duration;
/// use petalflow::checkpoint::InMemoryStore;
/// use petalflow_agent::Agent;
/// use petalflow_agent::human::{EndSleep, sleep_tool};
/// use petalflow_llm::{Reply, ScriptedModel};
/// use serde_json::json;
///
/// const DAY: Duration = Duration::from_secs(86_400);
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let wait = Reply::call("sleep", json!({ "seconds": 86_400, "reason": "the report is not ready" }));
/// let model = ScriptedModel::new([wait, "Here it is.".into()]);
/// let agents = Agent::new(model).tool(sleep_tool(7 * DAY)).store(&InMemoryStore::new());
/// let thread = agents.thread("ann");
/// assert_eq!(thread.run("The report, please.").await?.interrupts().len(), 1);
///
/// // A person does not want to wait until tomorrow.
/// let ended = thread.answer::<EndSleep>(Some("It is ready now.".into())).await?;
/// assert_eq!(ended.into_finished()?.answer(), "Here it is.");
/// # Ok(())
/// # }
/// ```
pub fn sleep_tool(longest: Duration) -> FuncTool {
    let description = format!(
        "Waits for a time, at most {} seconds, before you go on. A person may end it early.",
        longest.as_secs()
    );
    FuncTool::with_context(SLEEP, description, move |arguments, cx| {
        sleep(longest, arguments, cx)
    })
}

/// The question of the tool that [`sleep_tool`] makes: whether the agent is to go on before the time has come.
///
/// The answer `Some` has words for the agent. `None`, which is also the answer at the end of the time, has none.
#[derive(Clone, Debug, Serialize)]
pub struct EndSleep {
    /// How long the agent sleeps, in seconds.
    pub seconds: u64,
    /// What the agent waits for, in its words.
    pub reason: String,
    /// The call of the tool.
    #[serde(skip)]
    call: String,
}

impl Ask for EndSleep {
    type Answer = Option<String>;
    const NAME: &'static str = "end-sleep";

    fn key(&self) -> String {
        self.call.clone()
    }

    fn expires(&self) -> Option<Expiry<Self::Answer>> {
        Some(Expiry {
            after: Duration::from_secs(self.seconds),
            answer: None,
        })
    }
}

#[derive(Deserialize, JsonSchema)]
struct Arguments {
    /// How long to wait, in seconds.
    seconds: u64,
    /// What you wait for. People read it.
    reason: String,
}

/// What the model reads.
#[derive(Serialize)]
struct Slept {
    /// What a person says who has ended the sleep early.
    #[serde(skip_serializing_if = "Option::is_none")]
    ended_early: Option<String>,
    slept: bool,
}

async fn sleep(
    longest: Duration,
    arguments: Arguments,
    cx: ToolContext,
) -> Result<Slept, BoxError> {
    let Arguments { seconds, reason } = arguments;
    let longest = longest.as_secs();
    if seconds == 0 || seconds > longest {
        return Err(format!("`seconds` is {seconds}: give a number from 1 to {longest}").into());
    }
    let run: Context = cx.context().ok_or("the tool `sleep` works only in a run")?;
    let call = cx.call_id.clone();
    let question = EndSleep {
        seconds,
        reason,
        call,
    };
    let ended_early = if let Ok(answer) = run.ask(question).await {
        answer
    } else {
        // The run has no thread: nobody could answer.
        run.sleep(Duration::from_secs(seconds)).await?;
        None
    };
    Ok(Slept {
        slept: ended_early.is_none(),
        ended_early,
    })
}
