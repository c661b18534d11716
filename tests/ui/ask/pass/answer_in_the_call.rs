#![allow(dead_code)]

use petalflow::prelude::*;

#[state]
pub struct Essay {
    pub draft: String,
}

#[derive(serde::Serialize, Ask)]
#[ask(answer = bool)]
struct Approve;

#[node(Essay)]
async fn write(cx: Context) -> petalflow::Result<EssayDraft> {
    let approved = cx.ask::<bool>(Approve).await?;
    Ok(EssayDraft(approved.to_string()))
}
