//! A scorer by embeddings.

use std::fmt;

use petalflow::middleware::BoxFuture;
use petalflow::{BoxError, async_trait};

use super::{Score, Scorer};
use crate::Turn;

type Embed =
    dyn Fn(Vec<String>) -> BoxFuture<'static, Result<Vec<Vec<f32>>, BoxError>> + Send + Sync;

/// A scorer by embeddings, made by [`similar`].
///
/// ```
/// use petalflow_agent::Agent;
/// use petalflow_eval::scorer::{self, Similar};
/// use petalflow_eval::{Case, Evaluation};
/// # use petalflow_llm::ScriptedModel;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// // In your program: `ProviderModel::embed`.
/// let similar: Similar = scorer::similar(|texts: Vec<String>| async move {
///     Ok(texts.iter().map(|text| vec![text.matches("rain").count() as f32, 1.0]).collect())
/// });
/// let case = Case::new("weather").turn("How is the weather?", |turn| turn.output("It rains."));
/// let evaluation = Evaluation::new([case]).scorer_at_least(similar, 0.9);
/// evaluation.run(|_| Ok(Agent::new(ScriptedModel::new(["There is rain."])))).await.assert_passed();
/// # }
/// ```
pub struct Similar(Box<Embed>);

/// Compares the answer with `output` by the cosine of their embeddings. `embed` returns a vector for each text.
///
/// ```
/// use petalflow_eval::scorer;
///
/// // In your program: `ProviderModel::embed`.
/// let letters = scorer::similar(|texts: Vec<String>| async move {
///     Ok(texts.iter().map(|text| ('a'..='z').map(|letter| text.matches(letter).map(|_| 1.0).sum()).collect()).collect())
/// });
/// # let _ = letters;
/// ```
pub fn similar<F>(embed: impl Fn(Vec<String>) -> F + Send + Sync + 'static) -> Similar
where
    F: Future<Output = Result<Vec<Vec<f32>>, BoxError>> + Send + 'static,
{
    Similar(Box::new(move |texts| Box::pin(embed(texts))))
}

#[async_trait]
impl Scorer for Similar {
    fn name(&self) -> &'static str {
        "similar"
    }

    async fn score(&self, turn: &Turn<'_>) -> Result<Option<Score>, BoxError> {
        let Some(wanted) = &turn.expected.output else {
            return Ok(None);
        };
        let vectors = (self.0)(vec![turn.answer.to_string(), wanted.clone()]).await?;
        let [answer, expected] = &vectors[..] else {
            let number = vectors.len();
            return Err(format!(
                "the embedding of 2 texts returned {number} vectors, and 2 are needed"
            )
            .into());
        };
        if answer.len() != expected.len() {
            return Err(
                "the embeddings of the answer and of the expected text have different lengths"
                    .into(),
            );
        }
        let value = cosine(answer, expected);
        Ok(Some(Score::new(
            value,
            format!("the similarity is {value:.3}"),
        )))
    }
}

fn cosine(one: &[f32], other: &[f32]) -> f64 {
    let product = |a: &[f32], b: &[f32]| -> f64 {
        a.iter()
            .zip(b)
            .map(|(a, b)| f64::from(*a) * f64::from(*b))
            .sum()
    };
    product(one, other) / (product(one, one) * product(other, other)).sqrt()
}

impl fmt::Debug for Similar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Similar").finish_non_exhaustive()
    }
}
