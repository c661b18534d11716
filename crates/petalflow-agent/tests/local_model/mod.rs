//! Agents with a real model: a small one that llama.cpp serves on this machine. The tests check the structure of its answers,
//! never their words, which have no sense.

mod killed;
mod limits;
mod streams;
mod threads;
mod tools;
mod typed;

use std::time::Duration;

use petalflow_agent::Agent;
use petalflow_llm::{LlmRequest, ProviderModel};
use petalflow_test_servers::LlamaCpp;
use petalflow_test_support::{Need, skip};
use serde_json::Value;
use tokio::sync::{Mutex, MutexGuard};

/// The server, for one test at a time: it has one thread, and tests look at what it works on.
struct LocalModel {
    server: &'static LlamaCpp,
    _only: MutexGuard<'static, ()>,
}

/// `None` without the packages: the caller then returns from the test. They are large and not ours, so that they are not needed
/// everywhere.
async fn local_model() -> Option<LocalModel> {
    static ONE: Mutex<()> = Mutex::const_new(());
    let only = ONE.lock().await;
    let server = LlamaCpp::shared().inspect_err(|why| skip(Need::Optional, why));
    Some(LocalModel {
        server: server.ok()?,
        _only: only,
    })
}

/// The model of a server, which is asked once: what fails is not tried again.
fn model_at(url: &str) -> ProviderModel {
    ProviderModel::new("llama_cpp::another")
        .expect("the table has the provider")
        .with_base_url(url)
        .without_retry()
}

/// The settings with which answers are the same each time, and short.
fn short(request: &mut LlmRequest, max_tokens: u32) {
    request.temperature = Some(0.0);
    request.seed = Some(1);
    request.max_tokens = Some(max_tokens);
}

const MAX_TOKENS_OF_CALL: u32 = 100;

/// A request for one call. The model does not know when to stop: so the server stops it after the call.
fn one_call(request: &mut LlmRequest) {
    short(request, MAX_TOKENS_OF_CALL);
    request.stop = vec!["</tool_call>".into()];
}

impl LocalModel {
    fn model(&self) -> ProviderModel {
        model_at(&self.server.url)
    }

    fn agent(&self, max_tokens: u32) -> Agent {
        Agent::new(self.model()).request(|request| short(request, max_tokens))
    }

    /// Waits until the server works on nothing. Returns the number of tokens of the request with this maximum, and of its answer.
    async fn tokens_when_idle(&self, max_tokens: u32) -> u64 {
        for _ in 0..3_000 {
            let slots: Vec<Value> = serde_json::from_str(&self.server.slots()).unwrap();
            if slots.iter().all(|slot| slot["is_processing"] == false) {
                let of_request = |slot: &&Value| slot["params"]["max_tokens"] == max_tokens;
                let slot = slots
                    .iter()
                    .find(of_request)
                    .expect("a slot had the request");
                return slot["n_prompt_tokens"].as_u64().unwrap();
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("the server still works");
    }
}
