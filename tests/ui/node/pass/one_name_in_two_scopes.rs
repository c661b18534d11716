#![allow(dead_code)]

use petalflow::prelude::*;

mod drafts {
    use petalflow::prelude::*;

    #[state]
    pub struct Essay {
        pub draft: String,
    }

    #[node(Essay)]
    pub async fn write() -> EssayDraft {
        EssayDraft("}".into())
    }
}

#[state]
pub struct Essay {
    pub draft: String,
}

#[node(Essay)]
async fn write() -> EssayDraft {
    EssayDraft('{'.into())
}

flow!(Write(Essay) { write });

macro_rules! module {
    ($module:ident, $name:ident) => {
        mod $module {
            use petalflow::prelude::*;

            #[state]
            pub struct $name {
                pub draft: String,
            }
        }
    };
}
module!(first, Essay);
#[rustfmt::skip]
module!(
    second,
    Essay
);

fn in_a_function() {
    #[state]
    struct Essay {
        title: String,
    }

    #[node(Essay)]
    async fn write() -> EssayTitle {
        EssayTitle("petals".into())
    }

    flow!(Write(Essay) { write });
    drop(Write::run(()));
}

#[test]
fn each_scope_has_its_node() {
    in_a_function();
    drop(Write::run(()));
    let _ = (
        drafts::EssayDraft("".into()),
        first::EssayDraft("".into()),
        second::EssayDraft("".into()),
    );
}
