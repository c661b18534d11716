//! The future of a retried operation.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use super::Retry;

/// The future of [`Retry::run`] and [`Retry::run_with`]. Dropping it drops the attempt or the delay that is in progress.
///
/// ```
/// use petalflow::policy::Retry;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let running = Retry::times(2).run(|attempt| async move { "42".parse::<u32>() });
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
    pub(super) fn new(
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
    pub(super) fn advance(
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
