//! The future of a retried operation.

use std::error::Error;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use super::Retry;

impl Retry {
    /// Runs an operation until it succeeds, its error is not [covered](Self::covers), or no attempt is left. `attempt` gets
    /// the number of the attempt, from 1.
    ///
    /// ```
    /// use petalflow::policy::Retry;
    ///
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() {
    /// let number = Retry::attempts(3).jitter().run(|attempt| async move {
    ///     // The first two attempts fail.
    ///     ["?", "!", "42"][attempt as usize - 1].parse::<u32>()
    /// });
    /// assert_eq!(number.await, Ok(42));
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The error of the last attempt.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops the attempt or the delay that is in progress. No attempt follows.
    pub fn run<T, E, F, A>(self, attempt: A) -> Retrying<T, E, A, F>
    where
        E: Covered,
        F: Future<Output = Result<T, E>>,
        A: FnMut(u32) -> F,
    {
        Retrying::new(self, attempt, (), |this, cx| {
            this.advance(cx, |policy, (), error, delay| {
                policy.covers(error).then_some(delay)
            })
        })
    }

    /// Runs an operation until it succeeds, `decide` returns `None`, or no attempt is left.
    ///
    /// `decide` gets the error and the delay of this policy, and returns the delay to use. With it, a server can ask for a
    /// longer delay (`Retry-After`), and a deadline can end the retries. It also replaces [`only`](Self::only) and
    /// [`on`](Self::on): it can ask [`covers`](Self::covers) itself.
    ///
    /// ```
    /// use petalflow::policy::Retry;
    /// use std::time::Duration;
    ///
    /// /// An error of a server, with its `Retry-After`.
    /// struct Busy(Option<Duration>);
    ///
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() {
    /// let start = tokio::time::Instant::now();
    /// let request = async |attempt| match attempt {
    ///     1 => Err(Busy(Some(Duration::from_secs(30)))),
    ///     _ => Ok("answer"),
    /// };
    /// let answer = Retry::attempts(3).run_with(request, |Busy(after), delay| Some(delay.max(after.unwrap_or_default())));
    /// assert!(matches!(answer.await, Ok("answer")));
    /// assert_eq!(start.elapsed().as_secs(), 30);
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The error of the last attempt.
    ///
    /// # Cancel safety
    ///
    /// As [`run`](Self::run).
    pub fn run_with<T, E, F, A, D>(self, attempt: A, decide: D) -> Retrying<T, E, A, F, D>
    where
        F: Future<Output = Result<T, E>>,
        A: FnMut(u32) -> F,
        D: FnMut(&E, Duration) -> Option<Duration>,
    {
        Retrying::new(self, attempt, decide, |this, cx| {
            this.advance(cx, |_, decide, error, delay| decide(error, delay))
        })
    }
}

/// The error of an operation that [`Retry::run`] retries: any error type.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`Retry::run` cannot retry after a `{Self}`",
    label = "fails with a `{Self}`, which is not an error type",
    note = "let the operation fail with a type that implements `std::error::Error`; for any other, such as a text or a boxed error, use `Retry::run_with`, which decides itself"
)]
pub trait Covered: Error + 'static {}

#[diagnostic::do_not_recommend]
impl<E: Error + 'static> Covered for E {}

/// The future of [`Retry::run`] and [`Retry::run_with`]. Dropping it drops the attempt or the delay that is in progress.
///
/// ```
/// use petalflow::policy::Retry;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let running = Retry::attempts(2).run(|attempt| async move { "42".parse::<u32>() });
/// assert_eq!(running.await, Ok(42));
/// # }
/// ```
#[must_use = "a future does nothing until it is awaited"]
pub struct Retrying<T, E, A, F, D = ()> {
    policy: Retry,
    attempt: A,
    decide: D,
    number: u32,
    running: Option<Pin<Box<F>>>,
    pause: Option<Pin<Box<tokio::time::Sleep>>>,
    /// A pointer, so that `Future` is implemented without bounds: rustc would otherwise report a wrong operation at `.run`, for
    /// the whole call and at `.await`.
    poll: fn(&mut Self, &mut Context<'_>) -> Poll<Result<T, E>>,
}

// No field is pinned.
impl<T, E, A, F, D> Unpin for Retrying<T, E, A, F, D> {}

impl_debug!([T, E, A, F, D] Retrying<T, E, A, F, D>, |this| policy = this.policy, number = this.number);

impl<T, E, A, F, D> Retrying<T, E, A, F, D>
where
    A: FnMut(u32) -> F,
    F: Future<Output = Result<T, E>>,
{
    fn new(
        policy: Retry,
        attempt: A,
        decide: D,
        poll: fn(&mut Self, &mut Context<'_>) -> Poll<Result<T, E>>,
    ) -> Self {
        Retrying {
            policy,
            attempt,
            decide,
            number: 0,
            running: None,
            pause: None,
            poll,
        }
    }

    /// Polls the operation. `delay` decides whether another attempt follows; it gets the delay of the policy.
    fn advance(
        &mut self,
        cx: &mut Context<'_>,
        delay: impl Fn(&Retry, &mut D, &E, Duration) -> Option<Duration>,
    ) -> Poll<Result<T, E>> {
        loop {
            if let Some(pause) = &mut self.pause {
                ready!(pause.as_mut().poll(cx));
                self.pause = None;
            }
            let (number, attempt) = (&mut self.number, &mut self.attempt);
            let running = self.running.get_or_insert_with(|| {
                *number += 1;
                Box::pin(attempt(*number))
            });
            let error = match ready!(running.as_mut().poll(cx)) {
                Ok(value) => return Poll::Ready(Ok(value)),
                Err(error) => error,
            };
            self.running = None;
            let wait = self.policy.waits().nth(self.number as usize - 1);
            let wait = wait.and_then(|wait| delay(&self.policy, &mut self.decide, &error, wait));
            match wait {
                Some(wait) if !wait.is_zero() => {
                    self.pause = Some(Box::pin(tokio::time::sleep(wait)));
                }
                Some(_) => {}
                None => return Poll::Ready(Err(error)),
            }
        }
    }
}

impl<T, E, A, F, D> Future for Retrying<T, E, A, F, D> {
    type Output = Result<T, E>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let poll = self.poll;
        poll(&mut self, cx)
    }
}
