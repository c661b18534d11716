//! The numbers of calls of models: durations, tokens and costs, with the names of the semantic conventions of OpenTelemetry for
//! generative AI, as Prometheus writes them.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};

use petalflow::async_trait;
use petalflow_llm::usage::{Price, TokenCount};
use petalflow_llm::{
    Capabilities, LlmClient, LlmError, LlmRequest, LlmResponse, LlmStream, TokenUsage,
};
use petalflow_tracing::{error_type, provider_name};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};
use tokio::time::Instant;

use super::Times;
use super::labels::{CallLabels, ModelLabels, TokenLabels};

/// The upper ends of the buckets of durations, in seconds, as the conventions say.
const SECONDS: [f64; 14] = [
    0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
];

/// The upper ends of the buckets of tokens, as the conventions say.
const TOKENS: [f64; 14] = [
    1.0,
    4.0,
    16.0,
    64.0,
    256.0,
    1_024.0,
    4_096.0,
    16_384.0,
    65_536.0,
    262_144.0,
    1_048_576.0,
    4_194_304.0,
    16_777_216.0,
    67_108_864.0,
];

/// The operation: a conversation with a model.
const CHAT: &str = "chat";

/// How many models are told apart. The others are one, because Prometheus keeps each value of a label for a long time.
const MOST_MODELS: usize = 100;

/// The name of the others.
const OTHER: &str = "other";

fn durations() -> Histogram {
    Histogram::new(SECONDS)
}

fn tokens() -> Histogram {
    Histogram::new(TOKENS)
}

/// Counts and times the calls of models, for `GET /metrics`. Clones count together. See
/// [`ServerBuilder::model_metrics`](crate::ServerBuilder::model_metrics).
///
/// ```
/// use petalflow_llm::{LlmClient, LlmRequest, ScriptedModel};
/// use petalflow_server::ModelMetrics;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let metrics = ModelMetrics::new();
/// let model = metrics.measure(ScriptedModel::new(["Paris"]));
/// model.complete(&LlmRequest::prompt("The capital of France?")).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct ModelMetrics {
    durations: Times<CallLabels>,
    tokens: Times<TokenLabels>,
    cost: Family<ModelLabels, Counter<f64, AtomicU64>>,
    /// The providers and models that are told apart.
    known: Arc<Mutex<BTreeSet<(String, String)>>>,
}

impl Default for ModelMetrics {
    fn default() -> Self {
        ModelMetrics {
            durations: Family::new_with_constructor(durations as fn() -> Histogram),
            tokens: Family::new_with_constructor(tokens as fn() -> Histogram),
            cost: Family::default(),
            known: Arc::default(),
        }
    }
}

impl ModelMetrics {
    /// No calls yet.
    ///
    /// ```
    /// let metrics = petalflow_server::ModelMetrics::new();
    /// # let _ = metrics;
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// The client, with each call counted and timed: for agents, nodes and documents. A call that is dropped before its end counts as
    /// one that was cancelled.
    ///
    /// ```
    /// use petalflow_agent::Agent;
    /// use petalflow_llm::ScriptedModel;
    /// use petalflow_server::ModelMetrics;
    ///
    /// let metrics = ModelMetrics::new();
    /// let agent = Agent::new(metrics.measure(ScriptedModel::new(["Hello."])));
    /// # let _ = agent;
    /// ```
    pub fn measure(&self, client: impl LlmClient) -> Arc<dyn LlmClient> {
        Arc::new(Measured {
            metrics: self.clone(),
            client: Arc::new(client),
        })
    }

    pub(super) fn register(&self, registry: &mut Registry) {
        registry.register_with_unit(
            "gen_ai_client_operation_duration",
            "How long calls of models took",
            Unit::Seconds,
            self.durations.clone(),
        );
        registry.register(
            "gen_ai_client_token_usage",
            "How many tokens calls of models have used",
            self.tokens.clone(),
        );
        // The conventions have no costs.
        registry.register(
            "petalflow_usage_cost_dollars",
            "What calls of models have cost, as far as it is known, in US dollars",
            self.cost.clone(),
        );
    }

    fn labels(&self, provider: &str, model: &str) -> ModelLabels {
        let (mut provider, mut model) = (provider_name(provider).to_string(), model.to_string());
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let named = (provider.clone(), model.clone());
        if !known.contains(&named) {
            if known.len() < MOST_MODELS {
                known.insert(named);
            } else {
                (provider, model) = (OTHER.to_string(), OTHER.to_string());
            }
        }
        ModelLabels {
            gen_ai_operation_name: CHAT,
            gen_ai_provider_name: provider,
            gen_ai_request_model: model,
        }
    }

    fn used(&self, labels: &ModelLabels, used: &TokenUsage) {
        for (gen_ai_token_type, count) in [("input", used.input), ("output", used.output)] {
            let labels = TokenLabels {
                gen_ai_operation_name: labels.gen_ai_operation_name,
                gen_ai_provider_name: labels.gen_ai_provider_name.clone(),
                gen_ai_request_model: labels.gen_ai_request_model.clone(),
                gen_ai_token_type,
            };
            #[expect(clippy::cast_precision_loss, reason = "no call has so many tokens")]
            self.tokens.get_or_create(&labels).observe(count as f64);
        }
        if used.cost > 0.0 {
            self.cost.get_or_create(labels).inc_by(used.cost);
        }
    }
}

/// A client whose calls are counted.
struct Measured {
    metrics: ModelMetrics,
    client: Arc<dyn LlmClient>,
}

/// A call that is timed. If it is dropped before its end, it was cancelled.
struct Call {
    metrics: ModelMetrics,
    labels: ModelLabels,
    begun: Instant,
    has_ended: bool,
}

impl Call {
    fn end(mut self, result: Result<&LlmResponse, &LlmError>) {
        match result {
            Ok(response) => {
                self.metrics.used(&self.labels, &response.usage);
                self.ended(String::new());
            }
            Err(error) => self.ended(error_type(&error.kind)),
        }
    }

    fn ended(&mut self, error_type: String) {
        self.has_ended = true;
        let labels = CallLabels {
            gen_ai_operation_name: self.labels.gen_ai_operation_name,
            gen_ai_provider_name: self.labels.gen_ai_provider_name.clone(),
            gen_ai_request_model: self.labels.gen_ai_request_model.clone(),
            error_type,
        };
        let durations = self.metrics.durations.get_or_create(&labels);
        durations.observe(self.begun.elapsed().as_secs_f64());
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        if !self.has_ended {
            self.ended("cancelled".into());
        }
    }
}

impl Measured {
    fn begin(&self, request: &LlmRequest) -> Call {
        let model = request.model.as_deref().or_else(|| self.client.model());
        Call {
            labels: self
                .metrics
                .labels(self.client.name(), model.unwrap_or_default()),
            metrics: self.metrics.clone(),
            begun: Instant::now(),
            has_ended: false,
        }
    }
}

#[async_trait]
impl LlmClient for Measured {
    fn name(&self) -> &str {
        self.client.name()
    }

    fn model(&self) -> Option<&str> {
        self.client.model()
    }

    fn capabilities(&self) -> Capabilities {
        self.client.capabilities()
    }

    fn price(&self, model: &str) -> Option<Price> {
        self.client.price(model)
    }

    async fn count_tokens(&self, request: &LlmRequest) -> Result<TokenCount, LlmError> {
        self.client.count_tokens(request).await
    }

    async fn complete(&self, request: &LlmRequest) -> Result<LlmResponse, LlmError> {
        let call = self.begin(request);
        let result = self.client.complete(request).await;
        call.end(result.as_ref());
        result
    }

    async fn stream(&self, request: &LlmRequest) -> Result<LlmStream, LlmError> {
        let call = self.begin(request);
        let stream = match self.client.stream(request).await {
            Ok(stream) => stream,
            Err(error) => {
                call.end(Err(&error));
                return Err(error);
            }
        };
        let mut call = Some(call);
        Ok(stream.with_observer(move |chunk| {
            if !chunk.done {
                return;
            }
            let Some(call) = call.take() else { return };
            match (&chunk.error, &chunk.response) {
                (Some(error), _) => call.end(Err(error)),
                (None, Some(response)) => call.end(Ok(response)),
                (None, None) => call.end(Ok(&LlmResponse::default())),
            }
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f43_the_number_of_models_that_are_told_apart_is_limited() {
        let metrics = ModelMetrics::new();
        for number in 0..MOST_MODELS {
            let labels = metrics.labels("openai", &number.to_string());
            assert_eq!(labels.gen_ai_request_model, number.to_string());
        }
        let labels = metrics.labels("openai", "one more");
        assert_eq!(labels.gen_ai_provider_name, OTHER);
        assert_eq!(labels.gen_ai_request_model, OTHER);
        let known = metrics.labels("openai", "7");
        assert_eq!(known.gen_ai_request_model, "7");
    }
}
