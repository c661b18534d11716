//! An operation that is not async.
use petalflow::policy::Retry;

async fn count() {
    let _ = Retry::attempts(3).run(|_| "1".parse::<u32>()).await;
}

fn main() {}
