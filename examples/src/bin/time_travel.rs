//! Returns to an earlier checkpoint and continues from there: `cargo run --bin time_travel`.
//!
//! A thread has all its checkpoints. `fork` makes one of them the newest again, `update` edits the state, and the resumed run
//! has another result. The first result stays in the history.

use petalflow::checkpoint::{Cause, InMemoryStore};
use petalflow::prelude::*;
use petalflow::thread::{Edit, HistoryQuery, Thread};

/// The state of the recipe flow.
#[state]
#[derive(Debug)]
pub struct Recipe {
    /// The dish to cook.
    #[key(input)]
    pub dish: String,
    /// The ingredients.
    #[key(append)]
    pub ingredients: Vec<String>,
    /// The steps of the recipe.
    #[key(append)]
    pub steps: Vec<String>,
}

/// Lists the ingredients.
#[node(Recipe)]
async fn gather() -> RecipeIngredients {
    RecipeIngredients(vec!["flour".into(), "butter".into()])
}

/// Plans the steps.
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

/// Adds the last step.
#[node(Recipe)]
async fn serve(dish: &str) -> RecipeSteps {
    RecipeSteps(vec![format!("serve the {dish}")])
}

flow! {
    /// Makes a recipe for a dish.
    pub Cook(Recipe) {
        gather -> plan -> serve;
    }
}

/// Runs the thread, returns to the checkpoint before the plan, adds yeast, and resumes.
async fn run_again_with_yeast(thread: &Thread<Cook>) -> petalflow::Result<(Recipe, Recipe)> {
    let plain = thread.run("bread".to_string()).await?.into_finished()?;
    let history = thread.history(HistoryQuery::all()).await?;
    let gathered = history
        .iter()
        .find(|checkpoint| checkpoint.next == ["plan"])
        .ok_or("the run did not stop before the plan")?;
    thread.fork(gathered.checkpoint).await?;
    thread
        .update(Edit::new(RecipeIngredients(vec!["yeast".into()])))
        .await?;
    let risen = thread.resume(()).await?.into_finished()?;
    Ok((plain, risen))
}

#[tokio::main]
async fn main() -> petalflow::Result<()> {
    let store = InMemoryStore::new();
    let thread = Cook::new().store(&store).thread("bread");
    let (plain, risen) = run_again_with_yeast(&thread).await?;
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
    async fn both_results_are_in_the_history() {
        let store = InMemoryStore::new();
        let thread = Cook::new().store(&store).thread("bread");
        let (plain, risen) = run_again_with_yeast(&thread).await.unwrap();
        assert_eq!(plain.steps[1], "bake it");
        assert_eq!(risen.steps[0], "mix flour, butter, yeast for the bread");
        assert_eq!(
            risen.steps[1..],
            ["let it rise, then bake it", "serve the bread"]
        );
        assert_eq!(
            thread.snapshot_at(3).await.unwrap().state.steps,
            plain.steps
        );
    }
}
