//! The password, from where it is not seen.

use std::path::PathBuf;

use tokio_postgres::Config;
use tokio_postgres::config::Host;

use crate::address::invalid;
use crate::settings::Settings;
use crate::{Result, blocking};

/// `PGPASSWORD`, or what the file that `PGPASSFILE` names says of the first host it knows.
pub(super) async fn of(settings: &Settings, config: &Config) -> Result<Option<String>> {
    if let Some(password) = settings.value("PGPASSWORD") {
        return Ok(Some(password));
    }
    let Some(path) = settings.value("PGPASSFILE") else { return Ok(None) };
    let text = blocking::run(move || read(&path.into())).await?;
    let user = config.get_user().unwrap_or_default();
    let database = config.get_dbname().unwrap_or(user);
    let ports = config.get_ports();
    let password = config.get_hosts().iter().enumerate().find_map(|(number, host)| {
        let port = ports.get(number).or_else(|| ports.first()).copied().unwrap_or(5432);
        let host = match host {
            Host::Tcp(host) => host.as_str(),
            Host::Unix(_) => "localhost",
        };
        find(&text, [host, &port.to_string(), database, user])
    });
    Ok(password)
}

fn read(path: &PathBuf) -> Result<String> {
    #[expect(clippy::disallowed_methods, reason = "the operator named this file")]
    std::fs::read_to_string(path)
        .map_err(|err| invalid("the file that PGPASSFILE names cannot be read").because(err))
}

/// The password of the first line whose host, port, database and user are these or `*`.
fn find(text: &str, wanted: [&str; 4]) -> Option<String> {
    text.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
        let [host, port, database, user, password] = fields(line)?;
        let known = [host, port, database, user];
        let fits = known.iter().zip(wanted).all(|(known, wanted)| known == "*" || known == wanted);
        fits.then_some(password)
    })
}

/// The five fields of a line. A backslash takes a colon or a backslash for a letter as any other.
fn fields(line: &str) -> Option<[String; 5]> {
    let (mut fields, mut field, mut letters) = (Vec::new(), String::new(), line.chars());
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => field.extend(letters.next()),
            // The last field is the password, in which a colon may stand as it is.
            ':' if fields.len() < 4 => fields.push(std::mem::take(&mut field)),
            _ => field.push(letter),
        }
    }
    fields.push(field);
    fields.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "# hosts\n\
        db.example:5432:sandkeep:alice:one\n\
        db.example:*:*:alice:two\n\
        a\\:b:*:*:*:th\\\\ree\n\
        *:*:*:bob:fo:ur\n\
        broken\n";

    #[test]
    fn the_first_line_that_fits_has_the_password() {
        let find = |wanted| find(FILE, wanted);
        let one = ["db.example", "5432", "sandkeep", "alice"];
        assert_eq!(find(one).as_deref(), Some("one"));
        assert_eq!(find(["db.example", "5433", "other", "alice"]).as_deref(), Some("two"));
        assert_eq!(find(["a:b", "1", "x", "y"]).as_deref(), Some("th\\ree"));
        assert_eq!(find(["elsewhere", "1", "x", "bob"]).as_deref(), Some("fo:ur"));
        assert_eq!(find(["elsewhere", "1", "x", "alice"]), None);
    }
}
