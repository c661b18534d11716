use petalflow::prelude::*;

#[state]
pub struct Essay {
    #[key(input)]
    pub topic: String,
    pub draft: String,
    #[key(append)]
    pub notes: Vec<String>,
    #[key(sum)]
    pub rounds: u32,
    pub subtitle: Option<String>,
}

#[derive(serde::Serialize, Ask)]
#[ask(answer = bool)]
struct Approve { draft: String }

#[node(Essay)]
async fn write(draft: &str, cx: Context) -> petalflow::Result<EssayNotes> {
    let ok = cx.ask::<u32>(Approve { draft: draft.into() }).await?;
    Ok(EssayNotes(vec![ok.to_string()]))
}

fn main() {}
