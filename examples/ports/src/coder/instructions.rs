//! What the model is told.

use super::shell::DONE;

pub(super) const SYSTEM: &str = "You work with a computer for a person.";

/// The first message.
pub(super) fn task(task: &str, system: &str) -> String {
    format!(
        "Solve this: {task}\n\n\
         Work in steps: read the files that matter, write a script that shows the problem, change the program, run the script \
         again, and try the limits of your change.\n\n\
         Each answer says what you do and why, and calls `bash` at least once. Each command runs in a new shell: a change of \
         the folder or of a variable is lost, so write `cd FOLDER && NAME=VALUE COMMAND`. You read what the command prints \
         before your next answer.\n\n\
         When all is done, run `echo {DONE}` alone, in no command with others. You cannot go on after it.\n\n\
         The system: {system}\n\n\
         Write a file with `cat <<'EOF' > FILE`, change one with `sed -i 's/OLD/NEW/' FILE`, and read a part of one with \
         `nl -ba FILE | sed -n '10,20p'`."
    )
}

/// The answer to an answer without a command.
pub(super) fn without_command(was_cut: bool) -> String {
    if was_cut {
        return "Your answer reached its longest length before it called `bash`. Be brief, and end with one call.".into();
    }
    format!(
        "Your answer has no call. Each answer calls `bash` with a command at least once: {{\"command\": \"ls\"}}. To end the \
         work, run `echo {DONE}` alone."
    )
}
