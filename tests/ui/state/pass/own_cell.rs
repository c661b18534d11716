//! A user's type with the name of a std type that cannot be shared.

use petalflow::prelude::*;

#[derive(Clone, Default, Debug, serde::Serialize, serde::Deserialize)]
pub struct Cell<T>(T);

#[state]
#[derive(Debug, Clone)]
pub struct Sheet {
    #[key(input)]
    pub first: Cell<u32>,
    #[key(default = Cell(3))]
    pub second: Cell<u32>,
}

#[node(Sheet)]
async fn add(first: &Cell<u32>, #[key(SheetSecond)] other: &Cell<u32>) -> SheetSecond {
    SheetSecond(Cell(first.0 + other.0))
}

flow!(pub Add(Sheet) { add });

#[tokio::test]
async fn the_flow_runs_and_is_stored() -> petalflow::Result<()> {
    let sheet = Add::run(Cell(2)).await?;
    assert_eq!(sheet.second.0, 5);
    let store = petalflow::checkpoint::InMemoryStore::new();
    println!(
        "{:?}",
        Add::new()
            .store(&store)
            .thread("a")
            .run(Cell(2))
            .await?
            .into_finished()?
    );
    Ok(())
}
