//! The tool of the agent, which runs commands.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use petalflow::prelude::*;
use petalflow::tool::ToolContext;
use serde_json::{Value, json};
use tokio::io::AsyncReadExt;

/// The first line that a command prints to end the work.
pub(super) const DONE: &str = "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT";
/// The key of the conversation's state with what the command printed after that line.
pub(super) const SUBMISSION: &str = "submission";

/// The model reads this many characters of the start and the end of an output that has twice as many.
const PART: usize = 5_000;

/// Programs that wait for keys, or that print a line again and again, do neither.
const VARIABLES: [(&str, &str); 5] = [
    ("PAGER", "cat"),
    ("MANPAGER", "cat"),
    ("LESS", "-R"),
    ("PIP_PROGRESS_BAR", "off"),
    ("TQDM_DISABLE", "1"),
];

/// Where commands run.
#[derive(Clone, Debug)]
pub struct Workplace {
    /// The folder in which each command begins.
    pub folder: PathBuf,
    /// How long a command may run.
    pub longest: Duration,
}

/// What a command has done.
#[derive(Debug, Default)]
pub(super) struct Ran {
    pub(super) status: i32,
    pub(super) output: String,
    problem: Option<String>,
}

impl Workplace {
    /// Runs a command of `sh`. If it runs too long, everything that it has started is killed.
    pub(super) async fn run(&self, command: &str) -> Ran {
        match self.try_run(command).await {
            Ok(ran) => ran,
            Err(error) => Ran {
                status: -1,
                problem: Some(format!("the command cannot be started: {error}")),
                ..Ran::default()
            },
        }
    }

    async fn try_run(&self, command: &str) -> std::io::Result<Ran> {
        let mut shell = tokio::process::Command::new("sh");
        // In one stream, so that the lines have their order.
        shell.args(["-c", &format!("exec 2>&1\n{command}")]);
        shell.current_dir(&self.folder).envs(VARIABLES);
        shell.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut process = shell.process_group(0).kill_on_drop(true).spawn()?;
        let (mut output, mut bytes) = (process.stdout.take(), Vec::new());
        let whole = async {
            if let Some(output) = &mut output {
                output.read_to_end(&mut bytes).await?;
            }
            process.wait().await
        };
        let ended = tokio::time::timeout(self.longest, whole).await;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        if let Ok(status) = ended {
            return Ok(Ran {
                status: status?.code().unwrap_or(-1),
                output: text(&bytes),
                problem: None,
            });
        }
        if let Some(group) = process.id() {
            let mut kill = tokio::process::Command::new("kill");
            let kill = kill.args(["-KILL", "--", &format!("-{group}")]);
            kill.status().await?;
        }
        let problem = format!(
            "the command took longer than {:?} and was killed",
            self.longest
        );
        Ok(Ran {
            status: -1,
            output: text(&bytes),
            problem: Some(problem),
        })
    }
}

impl Ran {
    /// What the model reads.
    pub(super) fn observation(&self) -> Value {
        let length = self.output.chars().count();
        let mut observation = if length < 2 * PART {
            json!({ "returncode": self.status, "output": self.output })
        } else {
            let head: String = self.output.chars().take(PART).collect();
            let tail: String = self.output.chars().skip(length - PART).collect();
            json!({
                "returncode": self.status, "output_head": head, "output_tail": tail,
                "elided_chars": length - 2 * PART, "warning": "The output is too long.",
            })
        };
        if let Some(problem) = &self.problem {
            observation["exception_info"] = problem.clone().into();
        }
        observation
    }

    /// What was printed after the line that ends the work. None if it is not there.
    fn submission(&self) -> Option<&str> {
        let (first, rest) = self.output.trim_start().split_once('\n')?;
        (self.status == 0 && first.trim() == DONE).then_some(rest)
    }
}

/// Runs a command.
#[tool]
pub(super) async fn bash(
    /// The command.
    command: String,
    workplace: Managed<Workplace>,
    cx: ToolContext,
) -> Value {
    let ran = workplace.run(&command).await;
    if let Some(submission) = ran.submission() {
        cx.set_state(SUBMISSION, submission);
        // The model is not asked again.
        cx.actions().skip_summarization = true;
    }
    ran.observation()
}

#[cfg(test)]
mod tests {
    use super::{PART, Ran};

    fn printed(output: &str) -> Ran {
        Ran {
            output: output.into(),
            ..Ran::default()
        }
    }

    #[test]
    fn f44_the_middle_of_a_long_output_is_left_out() {
        let short = printed(&"é".repeat(2 * PART - 1)).observation();
        assert!(short["output"].is_string());
        let long = printed(&format!("{}ab{}", "é".repeat(PART), "z".repeat(PART))).observation();
        assert_eq!(long["elided_chars"], 2);
        assert_eq!(long["output_head"], "é".repeat(PART));
        assert_eq!(long["output_tail"], "z".repeat(PART));
    }

    #[test]
    fn f44_only_the_first_line_of_a_command_without_an_error_ends_the_work() {
        let done = "\n COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT\nthe patch\n";
        assert_eq!(printed(done).submission(), Some("the patch\n"));
        assert_eq!(printed(&format!("a\n{done}")).submission(), None);
        let failed = Ran {
            status: 1,
            ..printed(done)
        };
        assert_eq!(failed.submission(), None);
    }
}
