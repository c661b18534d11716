use petalflow::prelude::*;
use petalflow::state::Migration;

mod migrations {
    pub fn essay(from: u32, thread: &mut super::Migration) -> petalflow::Result<()> {
        if from < 3 {
            thread.remove("old");
        }
        Ok(())
    }
}

#[state(migrate = migrations::essay, version = 3)]
pub struct Essay {
    pub draft: String,
}

#[node(Essay)]
async fn write() {}

flow! {
    /// Was called `Write`.
    #[flow(id = "Write")]
    #[allow(dead_code)]
    pub WriteEssay(Essay) { write }
}
