//! The bar that moves while an audit runs.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A progress bar on the standard error stream; nothing at all where that is not a terminal.
///
/// Clones move the same bar. It disappears when it is done, so that only the report stays.
#[derive(Debug, Clone)]
pub struct Progress(ProgressBar);

impl Progress {
    /// A bar for people to look at.
    pub fn on_terminal() -> Self {
        // The target hides itself where there is no terminal.
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len}") {
            bar.set_style(style);
        }
        Self(bar)
    }

    /// A bar that nobody sees.
    pub fn hidden() -> Self {
        Self(ProgressBar::hidden())
    }

    /// Starts over: `total` steps of what `stage` says.
    pub fn start(&self, stage: &str, total: usize) {
        self.0.set_message(stage.to_owned());
        self.0.set_length(total as u64);
        self.0.reset();
    }

    /// One step is done.
    pub fn step(&self) {
        self.0.inc(1);
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.0.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_move_the_same_bar() {
        let bar = Progress::hidden();
        bar.start("checking", 3);
        bar.clone().step();
        bar.step();
        assert_eq!((bar.0.position(), bar.0.length()), (2, Some(3)));
        bar.start("checking again", 1);
        assert_eq!(bar.0.position(), 0);
        bar.finish();
    }
}
