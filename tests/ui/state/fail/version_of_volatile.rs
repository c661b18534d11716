use petalflow::prelude::*;

#[state(volatile, version = 1, migrate = migrate)]
pub struct Essay {
    pub draft: String,
}

fn migrate(_: u32, _: &mut petalflow::state::Migration) -> petalflow::Result<()> {
    Ok(())
}

fn main() {}
