//! The steps: an agent investigates a complaint, a person decides, and the customer gets a reply.

use crate::Result;
use crate::model::{Message, Model};
use crate::store::{Complaint, Store};
use crate::tools;

const INSTRUCTIONS: &str =
    "Look up the order and the policy. Then propose what to do, in one sentence.";
const MAX_ROUNDS: usize = 10;

/// What the steps use.
#[derive(Clone)]
pub struct Flow {
    pub store: Store,
    pub model: Model,
}

impl Flow {
    /// Continues a complaint until it waits for an answer or has a reply.
    pub async fn run(&self, id: String) -> Result<()> {
        let Some(mut complaint) = self.store.get(id).await? else {
            return Err("there is no such complaint".into());
        };
        let result = self.steps(&mut complaint).await;
        if result.is_err() {
            complaint.status = "failed".into();
            self.store.update(&complaint).await?;
        }
        result
    }

    async fn steps(&self, complaint: &mut Complaint) -> Result<()> {
        let proposal = match &complaint.proposal {
            Some(proposal) => proposal.clone(),
            None => self.investigate(complaint).await?,
        };
        let Some(accepted) = complaint.answer else {
            complaint.status = "waiting".into();
            complaint.proposal = Some(proposal);
            return self.store.update(complaint).await;
        };
        complaint.reply = Some(if accepted {
            accept(&proposal)
        } else {
            decline(&complaint.text)
        });
        complaint.status = "finished".into();
        self.store.update(complaint).await
    }

    /// Asks the model and calls its tools until it answers. Each message is stored, so that a crash repeats none.
    async fn investigate(&self, complaint: &mut Complaint) -> Result<String> {
        let tools = tools::schemas();
        if complaint.messages.is_empty() {
            complaint
                .messages
                .push(Message::new("system", INSTRUCTIONS));
            complaint
                .messages
                .push(Message::new("user", complaint.text.clone()));
        }
        for _ in 0..MAX_ROUNDS {
            let message = self.model.complete(&complaint.messages, &tools).await?;
            let calls = message.tool_calls.clone();
            if calls.is_empty() {
                return Ok(message.content.unwrap_or_default());
            }
            complaint.messages.push(message);
            for call in calls {
                let result = Message::new("tool", tools::call(&call));
                complaint.messages.push(Message {
                    tool_call_id: Some(call.id),
                    ..result
                });
            }
            self.store.update(complaint).await?;
        }
        Err(format!("the model did not answer within {MAX_ROUNDS} rounds").into())
    }
}

fn accept(proposal: &str) -> String {
    format!("We looked into it. {proposal}")
}

fn decline(text: &str) -> String {
    format!("We are sorry that we cannot help you with this: {text}")
}
