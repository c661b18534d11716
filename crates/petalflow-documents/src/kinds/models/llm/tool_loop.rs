//! A model with tools: asks it and calls the tools, until it answers.

use std::sync::Arc;

use futures_util::FutureExt as _;
use petalflow::BoxError;
use petalflow::tool::ToolCall;
use petalflow_llm::nodes::{call_tools, stream_model};
use petalflow_llm::{
    ChatMessage, LlmClient, LlmError, LlmErrorKind, LlmRequest, LlmResponse, TokenUsage,
};

use super::super::noted::noted;
use super::LlmNode;
use crate::kinds::Call;

impl LlmNode {
    /// Asks the model, and calls the tools that it asks for, until it answers. Returns the answer, with the usage of all
    /// answers, and the messages before it.
    pub(super) async fn ask_with_tools(
        &self,
        client: &dyn LlmClient,
        prompt: String,
        call: Call<'_>,
    ) -> Result<(LlmResponse, Vec<ChatMessage>), BoxError> {
        let cx = call.cx;
        let mut messages = vec![ChatMessage::user(prompt)];
        let mut usage = TokenUsage::default();
        let mut calls_before = 0;
        for round in 1..=self.max_rounds {
            let request = LlmRequest {
                messages: Arc::new(messages.clone()),
                ..self.request.clone()
            };
            let attempt = |attempt| {
                let answer = stream_model(client, &request, cx, attempt);
                // The tool says what is wrong with its arguments, and the model reads it.
                answer.map(|answer| match answer {
                    Err(LlmError {
                        kind: LlmErrorKind::Arguments { response },
                        ..
                    }) => Ok(*response),
                    answer => answer,
                })
            };
            // A map runs this node several times in one task, under different names.
            let name = format!("{} answer {round}", call.name);
            let attempts = self.call.run("LLM call", attempt);
            let answer = cx.once(&name, noted(&request, call, attempts));
            let mut response: LlmResponse = answer.await?;
            usage += response.usage;
            response.usage = usage;
            self.budget.check(&usage)?;
            let calls: Vec<&ToolCall> = response.calls().collect();
            if calls.is_empty() {
                return Ok((response, messages));
            }
            if round == self.max_rounds {
                break;
            }
            let name = format!("{} ", call.name);
            let results = call_tools(&self.tools, &calls, (&name, calls_before), cx).await?;
            calls_before += calls.len();
            messages.extend(response.message);
            messages.push(ChatMessage::results(results));
        }
        let rounds = self.max_rounds;
        Err(format!("the model was asked {rounds} times, and its last answer calls tools again; raise `max_rounds`").into())
    }
}
