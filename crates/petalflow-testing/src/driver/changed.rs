//! Versions of a program, of which the first one has stored a thread.

use petalflow::BoxError;
use petalflow::checkpoint::InMemoryStore;
use petalflow::engine::ThreadRecords;

use super::case::DriverCase;

/// The nodes and the flow of every version: `far` ends, and `ask` waits for a person beside it.
macro_rules! review {
    () => {
        #[node(Doc)]
        async fn far() -> (DocLog, DocPages) {
            (DocLog(vec!["far".into()]), DocPages(7))
        }

        #[node(Doc)]
        async fn ask(cx: Context) -> petalflow::Result<DocLog> {
            let may = cx.ask(crate::driver::flows::MayGoOn { pages: 1 }).await?;
            Ok(DocLog(vec![format!("may go on: {may}")]))
        }

        flow!(pub(crate) Review(Doc) { START -> far & ask });
    };
}

mod first {
    use petalflow::prelude::*;

    #[state]
    pub(crate) struct Doc {
        #[key(append)]
        log: Vec<String>,
        pages: u32,
    }

    review!();
}

/// With one more key.
pub(super) mod more {
    use petalflow::prelude::*;

    #[state]
    pub(crate) struct Doc {
        #[key(append)]
        log: Vec<String>,
        pages: u32,
        note: Option<String>,
    }

    review!();
}

/// With another type of the key that `far` writes.
pub(super) mod wide {
    use petalflow::prelude::*;

    #[state]
    pub(crate) struct Doc {
        #[key(append)]
        log: Vec<String>,
        pages: u64,
    }

    review!();
}

/// The records of a thread of the first version, which waits.
pub(super) async fn waiting() -> Result<ThreadRecords, BoxError> {
    let store = InMemoryStore::new();
    let id = DriverCase::<first::Review>::THREAD;
    let _ = first::Review::new()
        .store(&store)
        .thread(id)
        .run(())
        .await?;
    Ok(ThreadRecords::read(&store, id).await?)
}
