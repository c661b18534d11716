//! The steps: an agent investigates a complaint, a person decides, and the customer gets a reply.

use std::sync::Arc;

use crate::Result;
use crate::config::Config;
use crate::model::{Message, Model};
use crate::store::{Complaint, Store};
use crate::tools;

/// What the steps use.
#[derive(Clone)]
pub struct Flow {
    pub config: Arc<Config>,
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
            format!("{} {}", self.config.apology, complaint.text)
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
                .push(Message::new("system", self.config.instructions.clone()));
            complaint
                .messages
                .push(Message::new("user", complaint.text.clone()));
        }
        for _ in 0..self.config.max_rounds {
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
        Err(format!(
            "the model did not answer within {} rounds",
            self.config.max_rounds
        )
        .into())
    }
}

fn accept(proposal: &str) -> String {
    format!("We looked into it. {proposal}")
}
