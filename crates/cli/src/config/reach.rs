//! What of this machine a store needs, so that a wall can let it through and nothing else.

use std::path::PathBuf;

use super::StoreUrl;
use super::surroundings;

/// Files and directories that a store needs, and whether it needs the network.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reach {
    /// Directories in which it keeps its files.
    pub(crate) own: Vec<PathBuf>,
    /// What it must be able to read.
    pub(crate) seen: Vec<PathBuf>,
    /// Whether it is reached over the network.
    pub(crate) connects: bool,
}

/// How names of hosts are found.
const NAMES: [&str; 5] =
    ["/etc/hosts", "/etc/resolv.conf", "/etc/nsswitch.conf", "/etc/host.conf", "/etc/gai.conf"];
/// Where authorities that sign certificates are found, and where clusters put credentials that
/// change.
const TRUST: [&str; 6] = [
    "/etc/ssl",
    "/etc/pki",
    "/usr/share/ca-certificates",
    "/usr/local/share/ca-certificates",
    "/run/secrets",
    "/var/run/secrets",
];
/// Variables that name a file which a driver reads again and again.
const NAMED: [&str; 9] = [
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "PGPASSFILE",
    "AWS_SHARED_CREDENTIALS_FILE",
    "AWS_CONFIG_FILE",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "AZURE_FEDERATED_TOKEN_FILE",
];
/// Parameters of an address that name a file.
const PARAMETERS: [&str; 3] = ["credentials-file=", "sslrootcert=", "cacert="];

impl Reach {
    /// The same, and what it takes to find other machines by their names and to call them.
    pub(crate) fn calling_others(mut self) -> Self {
        self.seen.extend(NAMES.map(PathBuf::from));
        self.connects = true;
        self
    }
}

impl StoreUrl {
    /// What of this machine the store needs. A directory must exist by then.
    pub(crate) fn reach(&self) -> Reach {
        self.parts().iter().map(Self::reach_of_part).fold(Reach::default(), |sum, part| Reach {
            own: [sum.own, part.own].concat(),
            seen: [sum.seen, part.seen].concat(),
            connects: sum.connects || part.connects,
        })
    }

    fn reach_of_part(&self) -> Reach {
        match self {
            Self::Memory => Reach::default(),
            Self::Directory(dir) => Reach { own: vec![dir.clone()], ..Reach::default() },
            // A database writes beside its file, too.
            Self::File(file) => {
                let own = file.parent().map(Into::into).into_iter().collect();
                Reach { own, ..Reach::default() }
            }
            Self::Other(text) => reach_of(text),
        }
    }
}

fn reach_of(text: &str) -> Reach {
    let query = text.split_once('?').map(|(_, query)| query).unwrap_or_default();
    let given = query.split('&').filter_map(|pair| {
        PARAMETERS.iter().find_map(|name| pair.strip_prefix(name)).map(PathBuf::from)
    });
    let usual = TRUST.iter().map(PathBuf::from);
    let named = NAMED.iter().filter_map(|name| surroundings::path(name));
    let own_aws = surroundings::home().map(|home| home.join(".aws"));
    let seen = usual.chain(given).chain(named).chain(own_aws).collect();
    Reach { own: Vec::new(), seen, connects: false }.calling_others()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reach(text: &str) -> Reach {
        text.parse::<StoreUrl>().unwrap().reach()
    }

    #[test]
    fn a_store_on_this_machine_needs_its_place_and_no_network() {
        assert_eq!(reach("memory:"), Reach::default());
        assert_eq!(reach("file:/srv/s").own, [PathBuf::from("/srv/s")]);
        assert_eq!(reach("sqlite:/srv/s/a.db").own, [PathBuf::from("/srv/s")]);
        assert!(!reach("sqlite:/srv/s/a.db").connects);
    }

    #[test]
    fn a_remote_store_needs_the_network_and_the_files_it_names() {
        let url = "postgres://u@h/d?credentials-file=/run/x&sslrootcert=/ca.pem";
        let Reach { own, seen, connects } = reach(url);
        assert!(own.is_empty() && connects);
        for path in ["/run/x", "/ca.pem", "/etc/resolv.conf"] {
            assert!(seen.contains(&path.into()), "{path}");
        }
    }

    #[test]
    fn whoever_calls_other_servers_finds_them_by_name() {
        let Reach { own, seen, connects } = reach("sqlite:/srv/s/a.db").calling_others();
        assert_eq!(own, [PathBuf::from("/srv/s")]);
        assert!(connects && seen.contains(&"/etc/hosts".into()));
        assert!(!seen.contains(&"/run/secrets".into()));
    }

    #[test]
    fn a_split_store_needs_what_both_parts_need() {
        let both = reach("split:refs=sqlite:/srv/a.db,chunks=s3://b?credentials-file=/c");
        assert_eq!(both.own, [PathBuf::from("/srv")]);
        assert!(both.connects && both.seen.contains(&"/c".into()));
    }
}
