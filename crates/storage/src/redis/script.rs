//! What happens on the server in one step.

use std::sync::LazyLock;

use redis::Cmd;

/// Sets a ref if it is as expected.
pub(super) static SWAP: LazyLock<Script> = LazyLock::new(|| Script::of(include_str!("swap.lua")));

/// Removes a ref if it still has its token.
pub(super) static DELETE_REF: LazyLock<Script> =
    LazyLock::new(|| Script::of(include_str!("delete_ref.lua")));

/// Removes objects that still have their generation.
pub(super) static DELETE_OBJECTS: LazyLock<Script> =
    LazyLock::new(|| Script::of(include_str!("delete_objects.lua")));

/// A script that the server may know already.
pub(super) struct Script {
    code: &'static str,
    hash: redis::Script,
}

/// How a script is named in a call.
#[derive(Clone, Copy)]
pub(super) enum Form {
    /// By its hash, which is short. A server that was restarted does not know it.
    Hash,
    /// By its code, which the server learns.
    Code,
}

impl Script {
    fn of(code: &'static str) -> Self {
        Self { code, hash: redis::Script::new(code) }
    }

    /// The call of the script with these keys and arguments.
    pub(super) fn call(&self, form: Form, keys: &[Vec<u8>], arguments: &[&[u8]]) -> Cmd {
        let mut call = match form {
            Form::Hash => {
                let mut call = redis::cmd("EVALSHA");
                call.arg(self.hash.get_hash());
                call
            }
            Form::Code => {
                let mut call = redis::cmd("EVAL");
                call.arg(self.code);
                call
            }
        };
        call.arg(keys.len()).arg(keys).arg(arguments);
        call
    }
}
