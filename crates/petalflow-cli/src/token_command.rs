//! A program that prints tokens for models of clouds.

use std::process::{Output, Stdio};
use std::str::FromStr;

use petalflow::BoxError;
use petalflow_llm::{AccessToken, ProviderModel};
use tokio::process::Command;

/// A program that prints a token. It runs when a model needs a token, and again when a server refuses it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TokenCommand(Vec<String>);

impl FromStr for TokenCommand {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let command = shlex::split(text).ok_or("a quotation mark is not closed")?;
        if command.is_empty() {
            return Err("the command is empty".into());
        }
        Ok(TokenCommand(command))
    }
}

impl TokenCommand {
    /// The model with the tokens of the program.
    pub(crate) fn give_to(&self, model: ProviderModel) -> ProviderModel {
        let this = self.clone();
        model.with_token(move || {
            let this = this.clone();
            async move { this.token().await }
        })
    }

    /// Runs the program. Dropping the future kills it.
    async fn token(&self) -> Result<AccessToken, BoxError> {
        let program = &self.0[0];
        let ran = Command::new(program)
            .args(&self.0[1..])
            .stdin(Stdio::null())
            .kill_on_drop(true)
            .output()
            .await;
        let ran =
            ran.map_err(|error| format!("the program `{program}` cannot be used: {error}"))?;
        read(program, &ran).map_err(BoxError::from)
    }
}

/// The token that a program has printed.
fn read(program: &str, ran: &Output) -> Result<AccessToken, String> {
    let Output {
        status,
        stdout,
        stderr,
    } = ran;
    if !status.success() {
        let errors = String::from_utf8_lossy(stderr);
        let errors = errors.trim();
        return Err(format!(
            "the program `{program}` ended with {status}: {errors}"
        ));
    }
    match std::str::from_utf8(stdout).map(str::trim) {
        Ok(token) if !token.is_empty() => Ok(AccessToken::new(token)),
        _ => Err(format!("the program `{program}` printed no token")),
    }
}
