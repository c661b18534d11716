//! The numbers that a server shows of models.

use crate::builder::ServerBuilder;
use crate::metrics::ModelMetrics;

impl ServerBuilder {
    /// Adds the numbers of models to `GET /metrics`: those of the clients that the program [measures](ModelMetrics::measure). The names
    /// are those of the semantic conventions of OpenTelemetry: `gen_ai_client_operation_duration_seconds` and
    /// `gen_ai_client_token_usage`, by provider and model. `petalflow_usage_cost_dollars_total` is what the calls have cost, as far as
    /// the provider or the prices of the client say it.
    ///
    /// ```
    /// use petalflow::checkpoint::InMemoryStore;
    /// use petalflow_agent::Agent;
    /// use petalflow_llm::ScriptedModel;
    /// use petalflow_server::{ModelMetrics, Server};
    ///
    /// let models = ModelMetrics::new();
    /// let agent = Agent::new(models.measure(ScriptedModel::new(["Hello."])));
    /// let builder = Server::builder(&InMemoryStore::new()).agent("clerk", &agent).model_metrics(&models);
    /// # let _ = builder;
    /// ```
    #[must_use]
    pub fn model_metrics(mut self, models: &ModelMetrics) -> Self {
        self.models = models.clone();
        self
    }
}
