//! Where engines answer.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use engine::{ContainerName, ContainerState, Containers, Error, ErrorKind, Result};
use parking_lot::Mutex;

use crate::talk;

/// Sockets of engines, the best first.
#[derive(Clone, Debug)]
pub struct Sockets {
    paths: Vec<PathBuf>,
    /// Which of them knew a container. Another engine may have one of the same name, which must not
    /// take its place when that one is away.
    known_by: Arc<Mutex<HashMap<ContainerName, PathBuf>>>,
}

/// What the environment says of engines.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// `DOCKER_HOST`.
    pub docker_host: Option<String>,
    /// `CONTAINER_HOST`.
    pub container_host: Option<String>,
    /// `XDG_RUNTIME_DIR`.
    pub runtime_dir: Option<PathBuf>,
}

impl Sockets {
    /// One socket that the operator named.
    pub fn at(path: &Path) -> Self {
        Self::of(vec![path.to_owned()])
    }

    /// Those that the environment names, then the usual ones. An engine that is reached over a network
    /// has its containers elsewhere and is left out.
    pub fn usual(around: &Surroundings) -> Self {
        let named = [&around.docker_host, &around.container_host].into_iter().flatten();
        let named = named.filter_map(|url| url.strip_prefix("unix://")).map(PathBuf::from);
        let usual = ["/var/run/docker.sock", "/run/podman/podman.sock"].map(PathBuf::from);
        let own = around.runtime_dir.iter().map(|dir| dir.join("podman/podman.sock"));
        let mut paths = Vec::new();
        for path in named.chain(usual).chain(own).filter(|path| path.is_absolute()) {
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
        Self::of(paths)
    }

    fn of(paths: Vec<PathBuf>) -> Self {
        Self { paths, known_by: Arc::default() }
    }

    /// The engines that may be asked for a container.
    fn asked_for(&self, name: &ContainerName) -> Vec<PathBuf> {
        match self.known_by.lock().get(name) {
            Some(path) => vec![path.clone()],
            None => self.paths.clone(),
        }
    }
}

#[async_trait]
impl Containers for Sockets {
    /// Asks one engine after the other until one knows the container; from then on, that one alone.
    async fn find(&self, name: &ContainerName) -> Result<ContainerState> {
        let (mut answered, mut failure) = (false, None);
        for path in self.asked_for(name) {
            match talk::ask(&path, name).await {
                Ok(ContainerState::Missing) => answered = true,
                Ok(state) => {
                    self.known_by.lock().insert(name.clone(), path);
                    return Ok(state);
                }
                Err(err) => {
                    tracing::debug!(error = &err as &dyn std::error::Error, "an engine is silent");
                    // An engine that answers amiss says more than one that is not there.
                    failure = match (failure, err) {
                        (Some(before @ talk::Failure::Amiss(_)), talk::Failure::Silent(_)) => {
                            Some(before)
                        }
                        (_, err) => Some(err),
                    };
                }
            }
        }
        match failure {
            Some(err @ talk::Failure::Amiss(_)) => Err(unanswered(err)),
            Some(_) | None if answered => Ok(ContainerState::Missing),
            Some(err) => Err(unanswered(err)),
            None => Err(Error::new(ErrorKind::Unavailable, "no container engine is known")),
        }
    }
}

fn unanswered(err: talk::Failure) -> Error {
    let message = match &err {
        talk::Failure::Silent(_) => {
            "no container engine answers; its API socket is named with --container-socket"
        }
        talk::Failure::Amiss(what) => what,
    };
    Error::new(ErrorKind::Unavailable, message).because(err)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_knew_a_container_is_asked_alone() {
        let sockets = Sockets::usual(&Surroundings::default());
        let [web, other] = ["web", "other"].map(|name| ContainerName::parse(name).unwrap());
        let podman = PathBuf::from("/run/podman/podman.sock");
        sockets.known_by.lock().insert(web.clone(), podman.clone());
        assert_eq!(sockets.asked_for(&web), [podman]);
        assert_eq!(sockets.asked_for(&other), sockets.paths);
    }

    #[test]
    fn what_the_environment_names_comes_first_and_once() {
        let around = Surroundings {
            docker_host: Some("unix:///run/podman/podman.sock".into()),
            container_host: None,
            runtime_dir: Some("/run/user/7".into()),
        };
        let paths = Sockets::usual(&around).paths;
        let expected =
            ["/run/podman/podman.sock", "/var/run/docker.sock", "/run/user/7/podman/podman.sock"];
        assert_eq!(paths, expected.map(PathBuf::from));
    }

    #[test]
    fn an_engine_of_another_machine_is_left_out() {
        let around = Surroundings {
            docker_host: Some("tcp://10.0.0.7:2375".into()),
            container_host: Some("ssh://root@host/run/podman.sock".into()),
            runtime_dir: None,
        };
        let paths = Sockets::usual(&around).paths;
        assert_eq!(paths, ["/var/run/docker.sock", "/run/podman/podman.sock"].map(PathBuf::from));
    }
}
