//! Which server a command speaks to.

use clap::error::Error;
use clap::{ArgMatches, Args};

use super::connection::{DEFAULT_ENDPOINT, settle_token};
use crate::config::TokenWish;

/// Which server is meant, and who asks.
#[derive(Args, Clone, Debug)]
pub(crate) struct EndpointFlags {
    /// URL of the server
    #[arg(
        short, long, env = "SANDKEEP_ENDPOINT", value_name = "URL", global = true,
        default_value = DEFAULT_ENDPOINT
    )]
    pub(crate) endpoint: String,

    /// Token of the server, or a key
    #[arg(
        short,
        long,
        env = "SANDKEEP_TOKEN",
        hide_env_values = true,
        value_name = "TOKEN",
        global = true
    )]
    token: Option<String>,
}

impl EndpointFlags {
    /// Takes in what was said of the token before the subcommand, which beats the environment.
    pub(super) fn settle(&mut self, given: &ArgMatches, early: TokenWish) -> Result<(), Error> {
        settle_token(&mut self.token, given, early)
    }

    /// The server, to which nothing is sent before the first question.
    pub(crate) fn server(&self) -> engine::Result<client::Server> {
        client::Server::connect(&self.endpoint, self.token.as_deref())
    }
}
