//! What a thread does that waits for answers, and from whose records a row or a key is deleted: it ends as if nothing was missing, or
//! reports the damage. It never has an effect again.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use petalflow::checkpoint::{Store, StoreError, ThreadChange, ThreadQuery, ThreadStatus};
use petalflow::interrupt::Ask;
use petalflow::prelude::*;
use serde::{Deserialize, Serialize};

/// The label of the thread.
const LABEL: (&str, &str) = ("user", "ann");

/// The effects of all threads, by the item that is ordered.
static EFFECTS: Mutex<BTreeMap<String, Vec<&str>>> = Mutex::new(BTreeMap::new());

fn record_effect(item: &str, effect: &'static str) {
    let mut effects = EFFECTS.lock().unwrap_or_else(PoisonError::into_inner);
    effects.entry(item.into()).or_default().push(effect);
}

fn effects_of(item: &str) -> Vec<&'static str> {
    let effects = EFFECTS.lock().unwrap_or_else(PoisonError::into_inner);
    effects.get(item).cloned().unwrap_or_default()
}

#[derive(Serialize, Deserialize)]
struct Approve;

impl Ask for Approve {
    type Answer = bool;
    const NAME: &'static str = "approve";
}

#[derive(Serialize, Deserialize)]
struct Address;

impl Ask for Address {
    type Answer = String;
    const NAME: &'static str = "address";
}

/// Something that is ordered, paid and sent.
#[state]
#[derive(Clone, Debug, PartialEq)]
struct Order {
    #[key(input)]
    item: String,
    #[key(append)]
    done: Vec<String>,
}

/// What is sent.
#[state]
#[derive(Clone, Debug, PartialEq)]
struct Parcel {
    #[key(input)]
    item: String,
    #[key(append)]
    labels: Vec<String>,
}

#[node(Order)]
async fn check(item: &str) -> OrderDone {
    record_effect(item, "checked");
    OrderDone(vec!["checked".into()])
}

/// Its effect is recorded beside its question.
#[node(Order)]
async fn pay(cx: Context, item: &str) -> petalflow::Result<OrderDone> {
    cx.once("pay", async {
        record_effect(item, "paid");
        Ok::<_, petalflow::BoxError>(())
    })
    .await?;
    let approved = cx.ask(Approve).await?;
    Ok(OrderDone(vec![format!("approved: {approved}")]))
}

/// Has finished beside the questions.
#[node(Order)]
async fn pack(item: &str) -> OrderDone {
    record_effect(item, "packed");
    OrderDone(vec!["packed".into()])
}

/// Its effect is in a checkpoint of the sub-flow.
#[node(Parcel)]
async fn book(item: &str) -> ParcelLabels {
    record_effect(item, "booked");
    ParcelLabels(vec!["booked".into()])
}

#[node(Parcel)]
async fn print(cx: Context, item: &str) -> petalflow::Result<ParcelLabels> {
    cx.once("print", async {
        record_effect(item, "printed");
        Ok::<_, petalflow::BoxError>(())
    })
    .await?;
    Ok(ParcelLabels(vec![cx.ask(Address).await?]))
}

flow!(Send(Parcel) { book -> print; });

flow! {
    /// Pays, packs and sends at the same time.
    Deliver(Order) {
        node send: Send { in: |order: &Order| order.item.clone(), out: |parcel: Parcel| OrderDone(parcel.labels) };
        check -> pay & pack & send;
    }
}

/// The effects of a thread, each once. Those that run at the same time are in any order.
fn all_effects() -> Vec<&'static str> {
    vec!["booked", "checked", "packed", "paid", "printed"]
}

fn text(error: impl std::error::Error + 'static) -> String {
    petalflow::error::message_with_sources(&error)
}

/// What a thread and the program see after something was deleted.
#[derive(Debug, PartialEq)]
pub enum Seen {
    /// The thread ended as if nothing was missing.
    Harmless,
    /// The thread reported the damage, which is a text.
    Noticed(String),
}

/// A thread that waits for two answers: one of its own flow, and one of its sub-flow.
#[derive(Debug)]
pub struct Waiting {
    /// The id of the thread.
    pub id: String,
}

impl Waiting {
    /// Begins the thread, and another one beside it, after a third was deleted.
    pub async fn begin(store: &Arc<dyn Store>, id: &str) -> Self {
        let threads = Deliver::new().store(store);
        for id in [format!("{id}-deleted"), format!("{id}-other"), id.into()] {
            let stopped = threads.thread(&*id).run(id.clone()).await;
            let waits = stopped.expect("it runs").into_finished().is_err();
            assert!(waits, "`{id}` waits for two answers");
        }
        let labels = BTreeMap::from([(LABEL.0.to_owned(), LABEL.1.to_owned())]);
        let labelled = store
            .describe(id, ThreadChange::Labels(&labels), None)
            .await;
        labelled.expect("it is labelled");
        let deleted = format!("{id}-deleted");
        store.delete(&deleted, None).await.expect("it is deleted");
        Waiting { id: id.into() }
    }

    /// Lists the thread, answers its questions and begins another one, in a new process.
    ///
    /// # Panics
    ///
    /// An effect was repeated, or something was missing that was not reported.
    pub async fn answer(&self, store: &Arc<dyn Store>, what: &str) -> Seen {
        let threads = Deliver::new().store(store);
        match self.answered(store, &threads).await {
            Ok(()) => {
                let mut effects = effects_of(&self.id);
                effects.sort_unstable();
                assert_eq!(effects, all_effects(), "{what}");
                Seen::Harmless
            }
            Err(problem) => {
                let mut effects = effects_of(&self.id);
                effects.sort_unstable();
                effects.dedup();
                assert_eq!(
                    effects.len(),
                    effects_of(&self.id).len(),
                    "{what}: {effects:?}"
                );
                Seen::Noticed(problem)
            }
        }
    }

    async fn answered(
        &self,
        store: &Arc<dyn Store>,
        threads: &petalflow::thread::Threads<Deliver>,
    ) -> Result<(), String> {
        let labelled = ThreadQuery {
            prefix: &self.id,
            status: Some(ThreadStatus::Waiting),
            label: Some(LABEL),
            ..ThreadQuery::default()
        };
        let listed = threads.list(labelled).await.map_err(text)?;
        let own = listed.iter().find(|info| info.id == self.id);
        let found = own.ok_or("the thread is not among those that wait")?;
        if let Some(damage) = &found.damage {
            return Err(damage.clone());
        }
        let thread = threads.thread(&*self.id);
        let answered = thread.answer::<Approve>(true).await.map_err(text)?;
        if answered.into_finished().is_ok() {
            return Err("it does not wait for the second answer".into());
        }
        let ended = thread.answer::<Address>("Rose Lane".into()).await;
        let ended = ended.map_err(text)?;
        let state = ended.into_finished().map_err(|_| "it waits again")?;
        let done = ["checked", "approved: true", "packed", "booked", "Rose Lane"];
        let (mut found, mut expected) = (state.done.clone(), done.map(String::from).to_vec());
        found.sort();
        expected.sort();
        if found != expected {
            return Err(format!("the state is {:?}", state.done));
        }
        let begun = threads.thread(format!("{}-new", self.id));
        let begun = begun.run("new".to_owned()).await.map_err(text)?;
        let Err(_) = begun.into_finished() else {
            return Err("a new thread asks nothing".into());
        };
        let incarnation = store.incarnation(&format!("{}-deleted", self.id)).await;
        match incarnation {
            Ok(1..) => Ok(()),
            Ok(0) => panic!("that a thread was deleted is forgotten"),
            Err(StoreError::Damaged { problem, .. }) => Err(problem),
            Err(error) => Err(text(error)),
        }
    }
}
