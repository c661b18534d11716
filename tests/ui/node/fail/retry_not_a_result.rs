//! An operation that cannot fail.
use petalflow::policy::Retry;

async fn count() {
    let _ = Retry::attempts(3).run(|_| async { 1 }).await;
}

fn main() {}
