//! An operation that fails with a boxed error.
use petalflow::policy::Retry;

async fn count() {
    let _ = Retry::attempts(3).run(|_| async { Ok::<u32, petalflow::BoxError>(1) }).await;
}

fn main() {}
