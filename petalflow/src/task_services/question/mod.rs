//! A question to a person, from the node that asks to the node that gets the answer.
//!
//! 1. **Asked** ([`ask`]). A node calls `cx.ask`. If the thread has an answer to this question, the node gets it at once.
//!    Otherwise the question is added to those of its task, and the future of `cx.ask` stays pending.
//! 2. **The task waits** ([`waiting`]). The executor polls each task of a stored run with [`until_asked`]. A task that is pending
//!    and has a question is dropped. If it ends although it has asked, for example in a `select!`, its question is withdrawn.
//! 3. **Told.** If other tasks of the superstep still run, the driver stores the question at once, and tells the listeners of the
//!    run. A question of a sub-flow is told in each flow around it ([`parent_task`]).
//! 4. **Answered while the others run** ([`live_questions`]). The run records an answer that it is given in a checkpoint, adds it to
//!    its [`AnswerBook`], and runs the task again: step 6. A question that expires in the meantime gets its answer from the run.
//! 5. **The run stops.** When the other tasks of the superstep have ended, the persistence takes the questions
//!    ([`TaskServices::questions`]) and stores them beside the results of the tasks that finished. The run ends with
//!    [`RunErrorKind::Interrupted`](crate::run::RunErrorKind::Interrupted). A resume checks each answer ([`answer`]) against what
//!    the thread waits for, and records it in the next checkpoint. Questions that have expired are recorded as answers without
//!    bytes.
//! 6. **The task runs again.** The run has the recorded answers. The node runs from its beginning, asks again, and step 1 returns
//!    the answer.
//!
//! What a question is, with its id and its form in a store, is in `petalflow_store::question`. An `interrupt before` or
//! `interrupt after` of a flow waits in the same way from step 3 on; `exec` decides where. A decision in step 4 lets the task run,
//! skips it, or ends the run. One that edits the state is refused until step 5, because the nodes that run have the state.

pub(crate) mod answer;
mod answer_book;
mod ask;
mod expiries;
mod live_questions;
mod parent_task;
mod waiting;
mod waiting_question;

pub(crate) use self::answer_book::AnswerBook;
pub(crate) use self::live_questions::{GivenAnswers, LiveQuestions};
pub(crate) use self::waiting::until_asked;
pub(in crate::task_services) use self::waiting_question::TaskQuestions;
pub(crate) use self::waiting_question::WaitingQuestion;
