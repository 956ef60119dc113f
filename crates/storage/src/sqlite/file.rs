//! The file of a store: told from others, made when it is missing, and opened.

use std::error::Error as _;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};
use rustix::fs::{CWD, FileType, Mode, OFlags, fsync, mknodat, open, stat, statvfs};
use rustix::io::Errno;

use crate::{Error, ErrorKind, Result};

/// By which programs tell whose database a file is.
const APPLICATION: i32 = i32::from_be_bytes(*b"Sndk");
/// Of the tables.
const VERSION: i32 = 1;

/// Objects get numbers in the order in which they come, so that they are written one behind the
/// other; only the index is written all over the place. What a listing tells stands before the
/// frame, which may go on in other pages.
const TABLES: &str = "
CREATE TABLE objects (
    number INTEGER PRIMARY KEY,
    key BLOB NOT NULL UNIQUE,
    generation BLOB NOT NULL,
    size INTEGER NOT NULL,
    frame BLOB NOT NULL
) STRICT;
CREATE TABLE refs (
    number INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    token BLOB NOT NULL,
    value BLOB NOT NULL
) STRICT;
";

/// Every commit is synced, a journal that grew is cut again, and pages are kept in 4 MiB.
const SETTINGS: &str = "
PRAGMA synchronous = FULL;
PRAGMA journal_size_limit = 16777216;
PRAGMA cache_size = -4096;
PRAGMA cell_size_check = ON;
PRAGMA trusted_schema = OFF;
";

/// How long other processes are waited for.
const PATIENCE: Duration = Duration::from_secs(30);
/// Between two tries where SQLite itself does not wait.
const PAUSE: Duration = Duration::from_millis(5);

/// The file of a store, with tables in it.
pub(super) struct File(PathBuf);

impl File {
    /// The file, which is made and furnished when it is missing.
    pub(super) fn at(path: PathBuf) -> Result<Self> {
        make(&path)?;
        let file = Self(path);
        let mut connection = file.connect_to_ours().map_err(|err| not_a_store(err, &file.0))?;
        if !patiently(|| keep_a_journal(&connection))? {
            return Err(cannot_be_shared());
        }
        furnish(&mut connection)?;
        Ok(file)
    }

    /// The first connection, before anything is changed.
    fn connect_to_ours(&self) -> Result<Connection> {
        let mut connection = self.connect()?;
        refuse_strangers(&mut connection)?;
        Ok(connection)
    }

    /// A connection that may write.
    pub(super) fn connect(&self) -> Result<Connection> {
        // Whoever has a connection has it alone. The file is there: SQLite must not make another.
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&self.0, flags)?;
        connection.busy_timeout(PATIENCE)?;
        connection.execute_batch(SETTINGS)?;
        Ok(connection)
    }

    /// A connection that only reads.
    pub(super) fn connect_to_read(&self) -> Result<Connection> {
        let connection = self.connect()?;
        connection.pragma_update(None, "query_only", true)?;
        Ok(connection)
    }

    /// How many bytes can still be written.
    pub(super) fn room(&self) -> Result<u64> {
        let disk = statvfs(&self.0).map_err(io::Error::from)?;
        Ok(disk.f_bavail.saturating_mul(disk.f_frsize))
    }
}

/// Makes the file for its owner alone; SQLite gives its journal the same mode.
///
/// It is never opened here: closing it would release the locks of all of this process.
fn make(path: &Path) -> Result<()> {
    match (mknodat(CWD, path, FileType::RegularFile, Mode::RUSR | Mode::WUSR, 0), path.parent()) {
        (Ok(()), Some(parent)) => sync_dir(parent),
        (Ok(()) | Err(Errno::EXIST), _) => Ok(()),
        (Err(Errno::NOENT | Errno::NOTDIR), _) => {
            Err(Error::new(ErrorKind::InvalidUrl, "the directory of sqlite: is missing"))
        }
        (Err(errno), _) => Err(io::Error::from(errno).into()),
    }
}

fn sync_dir(dir: &Path) -> Result<()> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let dir = open(dir, flags, Mode::empty()).map_err(io::Error::from)?;
    Ok(fsync(dir).map_err(io::Error::from)?)
}

/// Refuses a database that holds something else.
fn refuse_strangers(connection: &mut Connection) -> Result<()> {
    let reading = connection.transaction()?;
    let (application, version) = (number(&reading, "application_id")?, version(&reading)?);
    let tables: i64 =
        reading.query_row("SELECT count(*) FROM sqlite_schema", (), |row| row.get(0))?;
    if application == APPLICATION || (application, version, tables) == (0, 0, 0) {
        return Ok(());
    }
    Err(something_else())
}

fn something_else() -> Error {
    let message = "the file of sqlite: holds something else; give the storage its own";
    Error::new(ErrorKind::InvalidUrl, message)
}

/// Says of a failure to open whether the file is the reason.
fn not_a_store(err: Error, path: &Path) -> Error {
    let is_file = |path| stat(path).is_ok_and(|it| FileType::from_raw_mode(it.st_mode).is_file());
    if !is_file(path) {
        return Error::new(ErrorKind::InvalidUrl, "sqlite: needs a file").because(err);
    }
    // What is no database at all is somebody's, not a broken store.
    let cause = err.source().and_then(|cause| cause.downcast_ref::<rusqlite::Error>());
    match cause.and_then(rusqlite::Error::sqlite_error_code) {
        Some(ErrorCode::NotADatabase) => something_else().because(err),
        Some(_) | None => err,
    }
}

/// Lets readers and the writer work at once, if the file system lets processes share memory.
fn keep_a_journal(connection: &Connection) -> rusqlite::Result<bool> {
    let mode = connection.query_row("PRAGMA journal_mode = WAL", (), |row| row.get::<_, String>(0));
    Ok(mode? == "wal")
}

fn cannot_be_shared() -> Error {
    let message = "the file system of sqlite: cannot be shared by processes; use a local one";
    Error::new(ErrorKind::InvalidUrl, message)
}

/// Makes the tables if nobody else did.
fn furnish(connection: &mut Connection) -> Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    match version(&transaction)? {
        VERSION => return Ok(()),
        0 => transaction.execute_batch(TABLES)?,
        _ => {
            let message = "the storage was made by a version that is not known";
            return Err(Error::new(ErrorKind::Corrupt, message));
        }
    }
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    transaction.pragma_update(None, "user_version", VERSION)?;
    Ok(transaction.commit()?)
}

fn version(connection: &Connection) -> Result<i32> {
    number(connection, "user_version")
}

fn number(connection: &Connection, pragma: &str) -> Result<i32> {
    Ok(connection.pragma_query_value(None, pragma, |row| row.get(0))?)
}

/// Tries again what SQLite gives up at once when another process is at it.
fn patiently<T>(work: impl Fn() -> rusqlite::Result<T>) -> Result<T> {
    let begin = Instant::now();
    loop {
        match work() {
            Err(err)
                if err.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
                    && begin.elapsed() < PATIENCE =>
            {
                thread::sleep(PAUSE);
            }
            outcome => return Ok(outcome?),
        }
    }
}
