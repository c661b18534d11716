//! The limits themselves.

use super::{LimitExceeded, LimitKind, LimitScope, Usage};

/// Limits on what an agent and the agents below it use, for [`Agent::turn_limits`](crate::Agent::turn_limits),
/// [`Agent::thread_limits`](crate::Agent::thread_limits) and [`Agent::call_limits`](crate::Agent::call_limits). What is not set has
/// no limit.
///
/// A limit is checked before the request or the call that would exceed it. The tokens of a request are not known before
/// it is made, and are estimated as one token for four bytes. With a limit of output tokens, of all tokens or of money,
/// the request asks the model for at most the tokens that are left.
///
/// ```
/// use petalflow_agent::{Agent, Limits};
/// use petalflow_llm::ScriptedModel;
/// use petalflow_llm::usage::{Price, Prices};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// # let model = ScriptedModel::new(["hi"]);
/// let agent = Agent::new(model)
///     .prices(Prices::new().with("gpt-5-mini", Price { input: 0.25, cached: 0.025, output: 2.0, ..Price::default() }))
///     .turn_limits(Limits::new().requests(20).tool_calls(50))
///     .thread_limits(Limits::new().total_tokens(2_000_000).cost(1.50));
/// assert_eq!(agent.run("hello").await?.answer(), "hi");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Limits {
    requests: Option<u64>,
    tool_calls: Option<u64>,
    input: Option<u64>,
    output: Option<u64>,
    total: Option<u64>,
    cost: Option<f64>,
}

macro_rules! setters {
    ($($(#[$doc:meta])* $method:ident => $field:ident;)*) => {$(
        $(#[$doc])*
        #[must_use]
        pub const fn $method(mut self, limit: u64) -> Self {
            self.$field = Some(limit);
            self
        }
    )*};
}

impl Limits {
    /// No limits.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// Limits the requests to models.
        requests => requests;
        /// Limits the calls of tools and of agents. If an answer asks for more calls than are left, none of them is made.
        tool_calls => tool_calls;
        /// Limits the tokens of requests.
        input_tokens => input;
        /// Limits the tokens of answers.
        output_tokens => output;
        /// Limits all tokens.
        total_tokens => total;
    }

    /// Limits the money, in US dollars. It is counted with the prices of the client or with
    /// [`Agent::prices`](crate::Agent::prices). A model without a price is an error before its first request.
    ///
    /// If the server does not report what an answer used, the tokens of the request and of the answer are estimated. The
    /// response then has `estimated_usage` in its `meta`.
    #[must_use]
    pub const fn cost(mut self, dollars: f64) -> Self {
        self.cost = Some(dollars);
        self
    }

    /// Whether a limit depends on the tokens of the next request.
    pub(crate) fn need_estimate(&self) -> bool {
        self.input.is_some() || self.output.is_some() || self.total.is_some() || self.cost.is_some()
    }

    pub(crate) fn need_price(&self) -> bool {
        self.cost.is_some()
    }

    /// Checks the next request. Returns the output tokens that are left, if they are limited.
    pub(crate) fn check_request(
        &self,
        at: At<'_>,
        used: &Usage,
        next: &NextRequest,
    ) -> Result<Option<u64>, LimitExceeded> {
        let tokens = &used.tokens;
        at.check(LimitKind::Requests, self.requests, used.requests, 1)?;
        at.check(LimitKind::InputTokens, self.input, tokens.input, next.input)?;
        at.check(LimitKind::OutputTokens, self.output, tokens.output, 1)?;
        at.check(
            LimitKind::TotalTokens,
            self.total,
            tokens.total,
            next.input.saturating_add(1),
        )?;
        let mut left = self.output.map(|limit| limit - tokens.output);
        if let Some(limit) = self.total {
            left = Some(least(left, limit - tokens.total - next.input));
        }
        if let Some(limit) = self.cost {
            let needed = next.cost(1);
            // Nothing is greater than a limit that is not a number.
            if limit.is_nan() || tokens.cost + needed > limit {
                return Err(at.exceeded(LimitKind::Cost, limit, tokens.cost, needed));
            }
            if next.output_price > 0.0 {
                let affordable = (limit - tokens.cost - next.cost(0)) * 1e6 / next.output_price;
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "the sum was checked, and a cast saturates"
                )]
                let affordable = affordable.floor() as u64;
                left = Some(least(left, affordable.max(1)));
            }
        }
        Ok(left)
    }

    /// Checks the tool calls that are counted already and come next.
    pub(crate) fn check_calls(
        &self,
        at: At<'_>,
        counted: u64,
        next: u64,
    ) -> Result<(), LimitExceeded> {
        let used = counted.saturating_sub(next);
        at.check(LimitKind::ToolCalls, self.tool_calls, used, next)
    }
}

/// What is known about a request before it is made.
#[derive(Debug, Default)]
pub(crate) struct NextRequest {
    /// The estimated input tokens.
    pub(crate) input: u64,
    /// The price of a million input tokens, and of a million output tokens.
    pub(crate) input_price: f64,
    pub(crate) output_price: f64,
}

impl NextRequest {
    #[expect(
        clippy::cast_precision_loss,
        reason = "no count of tokens comes near 2^52"
    )]
    fn cost(&self, output: u64) -> f64 {
        (self.input as f64 * self.input_price + output as f64 * self.output_price) / 1e6
    }
}

fn least(left: Option<u64>, other: u64) -> u64 {
    left.map_or(other, |left| left.min(other))
}

/// The agent and the scope that an error names.
#[derive(Clone, Copy)]
pub(crate) struct At<'a> {
    pub(crate) agent: &'a str,
    pub(crate) scope: LimitScope,
}

impl At<'_> {
    fn check(
        self,
        kind: LimitKind,
        limit: Option<u64>,
        used: u64,
        needed: u64,
    ) -> Result<(), LimitExceeded> {
        match limit {
            Some(limit) if used.saturating_add(needed) > limit => {
                #[expect(clippy::cast_precision_loss, reason = "no count comes near 2^52")]
                let [limit, used, needed] = [limit as f64, used as f64, needed as f64];
                Err(self.exceeded(kind, limit, used, needed))
            }
            _ => Ok(()),
        }
    }

    fn exceeded(self, kind: LimitKind, limit: f64, used: f64, needed: f64) -> LimitExceeded {
        LimitExceeded {
            agent: self.agent.to_string(),
            scope: self.scope,
            kind,
            limit,
            used,
            needed,
        }
    }
}
