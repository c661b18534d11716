//! An operation that fails with a text.
use petalflow::policy::Retry;

async fn count() {
    let _ = Retry::attempts(3).run(|_| async { Err::<u32, String>("no".into()) }).await;
}

fn main() {}
