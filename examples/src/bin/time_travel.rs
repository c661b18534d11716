//! Back to an earlier checkpoint, and on from there: `cargo run --bin time_travel`.
//!
//! A thread remembers all its checkpoints. One of them becomes the newest again, the state is changed by hand, and the run
//! takes another way; what happened before stays in the history.

use petalflow::checkpoint::{Cause, InMemoryStore};
use petalflow::prelude::*;
use petalflow::thread::{Edit, HistoryQuery, Thread};

/// What the recipe flow knows.
#[state]
#[derive(Debug)]
pub struct Recipe {
    /// What is to be cooked.
    #[key(input)]
    pub dish: String,
    /// What goes in.
    #[key(append)]
    pub ingredients: Vec<String>,
    /// What to do.
    #[key(append)]
    pub steps: Vec<String>,
}

/// Looks into the larder.
#[node(Recipe)]
async fn gather() -> RecipeIngredients {
    RecipeIngredients(vec!["flour".into(), "butter".into()])
}

/// Decides how it is cooked.
#[node(Recipe)]
async fn plan(dish: &str, ingredients: &[String]) -> RecipeSteps {
    let method = if ingredients.iter().any(|it| it == "yeast") {
        "let it rise, then bake it"
    } else {
        "bake it"
    };
    RecipeSteps(vec![
        format!("mix {} for the {dish}", ingredients.join(", ")),
        method.into(),
    ])
}

/// Serves it.
#[node(Recipe)]
async fn serve(dish: &str) -> RecipeSteps {
    RecipeSteps(vec![format!("serve the {dish}")])
}

flow! {
    /// From a dish to the steps to it.
    pub Cook(Recipe) {
        gather -> plan -> serve;
    }
}

/// Runs the thread, goes back to before the plan, adds yeast, and goes on.
async fn change_of_mind(thread: &Thread<Cook>) -> petalflow::Result<(Recipe, Recipe)> {
    let plain = thread.run("bread".to_string()).await?.finished()?;
    let history = thread.history(HistoryQuery::all()).await?;
    let gathered = history
        .iter()
        .find(|checkpoint| checkpoint.next == ["plan"])
        .ok_or("the run did not stop before the plan")?;
    thread.fork(gathered.checkpoint).await?;
    thread
        .update(Edit::new(RecipeIngredients(vec!["yeast".into()])))
        .await?;
    let risen = thread.resume(()).await?.finished()?;
    Ok((plain, risen))
}

#[tokio::main]
async fn main() -> petalflow::Result<()> {
    let store = InMemoryStore::new();
    let thread = Cook::new().store(&store).thread("bread");
    let (plain, risen) = change_of_mind(&thread).await?;
    println!("first:      {}", plain.steps.join("; "));
    println!("with yeast: {}", risen.steps.join("; "));
    println!("\nnumber  follows  made by    next");
    for checkpoint in thread.history(HistoryQuery::all()).await? {
        let parent = checkpoint
            .parent
            .map_or_else(|| "-".into(), |parent| parent.to_string());
        let cause = match checkpoint.cause {
            Cause::Input => "input",
            Cause::Superstep => "superstep",
            Cause::Update => "update",
            Cause::Fork => "fork",
            _ => "other",
        };
        let next = match &checkpoint.next[..] {
            [] => "END".into(),
            next => next.join(", "),
        };
        println!(
            "{:>6}  {parent:>7}  {cause:<9}  {next}",
            checkpoint.checkpoint
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn both_ways_are_remembered() {
        let store = InMemoryStore::new();
        let thread = Cook::new().store(&store).thread("bread");
        let (plain, risen) = change_of_mind(&thread).await.unwrap();
        assert_eq!(plain.steps[1], "bake it");
        assert_eq!(risen.steps[0], "mix flour, butter, yeast for the bread");
        assert_eq!(
            risen.steps[1..],
            ["let it rise, then bake it", "serve the bread"]
        );
        assert_eq!(thread.at(3).await.unwrap().state.steps, plain.steps);
    }
}
