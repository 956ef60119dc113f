//! What the server answers, and what it must be.

use redis::Value;

use super::failure;
use crate::Result;

/// The answer itself, unless it is an error.
pub(super) fn checked(answer: Value) -> Result<Value> {
    if let Value::ServerError(err) = &answer {
        return Err(failure::of_server(err));
    }
    Ok(answer)
}

/// An answer that is a number.
pub(super) fn number(answer: Value) -> Result<u64> {
    let Value::Int(number) = checked(answer)? else { return Err(failure::unexpected()) };
    u64::try_from(number).map_err(|_| failure::unexpected())
}

/// An answer that is bytes, or says that there are none.
pub(super) fn bytes(answer: Value) -> Result<Option<Vec<u8>>> {
    let answer = checked(answer)?;
    if answer == Value::Nil {
        return Ok(None);
    }
    let Value::BulkString(bytes) = answer else { return Err(failure::unexpected()) };
    Ok(Some(bytes))
}

/// An answer that is many.
pub(super) fn many(answer: Value) -> Result<Vec<Value>> {
    let Value::Array(answers) = checked(answer)? else { return Err(failure::unexpected()) };
    Ok(answers)
}

/// An answer that is the members of a set.
pub(super) fn members(answer: Value) -> Result<Vec<Vec<u8>>> {
    let members =
        many(answer)?.into_iter().map(|member| bytes(member)?.ok_or_else(failure::unexpected));
    members.collect()
}

/// Whether the server does not know the script that it was asked for by its hash.
pub(super) fn is_unknown_script(answer: &Value) -> bool {
    matches!(answer, Value::ServerError(err) if err.code() == "NOSCRIPT")
}
