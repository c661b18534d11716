//! The progress bar of an audit.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A progress bar on the standard error stream. It is not shown if the stream is not a terminal.
///
/// Clones control the same bar. It disappears at the end, so that only the report remains.
#[derive(Debug, Clone)]
pub struct Progress(ProgressBar);

impl Progress {
    /// A visible bar.
    pub fn on_terminal() -> Self {
        // The target hides itself where there is no terminal.
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len}") {
            bar.set_style(style);
        }
        Self(bar)
    }

    /// A hidden bar.
    pub fn hidden() -> Self {
        Self(ProgressBar::hidden())
    }

    /// Starts a stage with `total` steps.
    pub fn start(&self, stage: &str, total: usize) {
        self.0.set_message(stage.to_owned());
        self.0.set_length(total as u64);
        self.0.reset();
    }

    /// Counts one finished step.
    pub fn step(&self) {
        self.0.inc(1);
    }

    /// Removes the bar.
    pub fn finish(&self) {
        self.0.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_control_the_same_bar() {
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
