//! What fjall's errors mean.

use fjall::LsmError;

use crate::{Error, ErrorKind};

impl From<fjall::Error> for Error {
    fn from(err: fjall::Error) -> Self {
        if let fjall::Error::Io(cause) | fjall::Error::Storage(LsmError::Io(cause)) = &err {
            return Self::of_io(cause.kind()).because(err);
        }
        let (kind, message) = if matches!(err, fjall::Error::Poisoned) {
            (ErrorKind::Unavailable, "the storage failed earlier and takes no more writes")
        } else if matches!(err, fjall::Error::InvalidVersion(_)) {
            (ErrorKind::Corrupt, "the storage was made by a version that is not known")
        } else {
            (ErrorKind::Corrupt, "what is stored cannot be read")
        };
        Self::new(kind, message).because(err)
    }
}
