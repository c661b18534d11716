use petalflow::prelude::*;

#[state(version = 0, migrate = migrate)]
pub struct Essay {
    pub draft: String,
}

fn migrate(_: u32, _: &mut petalflow::state::Migration) -> petalflow::Result<()> {
    Ok(())
}

fn main() {}
