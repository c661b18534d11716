use petalflow::checkpoint::InMemoryStore;
use petalflow::prelude::*;

#[state]
struct Trip {
    #[key(append, inbox)]
    wishes: Vec<String>,
    #[key(append)]
    days: Vec<String>,
}

#[state]
struct Other {
    #[key(append, inbox)]
    wishes: Vec<String>,
}

#[node(Trip)]
async fn plan() {}

flow!(PlanTrip(Trip) { plan });

fn main() {
    let thread = PlanTrip::new().store(&InMemoryStore::new()).thread("rome");
    let _ = thread.send(TripDays(vec![]));
    let _ = thread.send(OtherWishes(vec![]));
}
