//! The way to the servers: one of them, or a cluster.

use futures::future::try_join_all;
use redis::cluster_async::ClusterConnection;
use redis::cluster_routing::{MultipleNodeRoutingInfo, RoutingInfo, SingleNodeRoutingInfo};
use redis::{Cmd, Pipeline, ServerError, Value};

use super::failure;
use super::line::Line;
use super::names::{Group, Names};
use super::place::Place;
use crate::Result;

/// How many connections there are to a server, so that what is large does not hold up all others.
const LINES: usize = 4;

/// Commands for keys of one group, which are carried out in their order.
pub(super) struct Batch {
    pub(super) group: Group,
    pub(super) commands: Vec<Cmd>,
}

/// The way to one server or to a cluster.
pub(super) enum Link {
    /// Which connection is taken depends on the group: who asks for the same thing again asks
    /// behind his first request, even if he did not wait for its answer.
    Server(Vec<Line>),
    Cluster(ClusterConnection, Names),
}

impl Link {
    pub(super) async fn to(place: &Place, names: &Names) -> Result<Self> {
        if place.is_cluster {
            let connection = place.cluster()?.get_async_connection().await.map_err(failure::of)?;
            return Ok(Self::Cluster(connection, names.clone()));
        }
        let client = place.client()?;
        Ok(Self::Server((0..LINES).map(|_| Line::to(client.clone())).collect()))
    }

    /// Whether keys of different groups can be changed together.
    pub(super) fn is_one_server(&self) -> bool {
        matches!(self, Self::Server(_))
    }

    /// Sends commands in one piece. An answer may be an error of the server.
    pub(super) async fn ask(&self, batch: Batch) -> Result<Vec<Value>> {
        let mut commands = Pipeline::with_capacity(batch.commands.len());
        for command in batch.commands {
            commands.add_command(command);
        }
        match self {
            Self::Server(lines) => line(lines, batch.group)?.ask(&commands).await,
            Self::Cluster(connection, names) => {
                let (count, mut connection) = (commands.len(), connection.clone());
                let route = SingleNodeRoutingInfo::SpecificNode(names.route(batch.group));
                let answers = connection.route_pipeline(commands, 0, count, route);
                answers.await.map_err(failure::of)
            }
        }
    }

    /// Sends several batches at once: in one piece to one server, each for itself to a cluster.
    pub(super) async fn ask_all(&self, batches: Vec<Batch>) -> Result<Vec<Vec<Value>>> {
        let Some(group) = batches.first().map(|batch| batch.group) else {
            return Ok(Vec::new());
        };
        if !self.is_one_server() {
            return try_join_all(batches.into_iter().map(|batch| self.ask(batch))).await;
        }
        let counts: Vec<_> = batches.iter().map(|batch| batch.commands.len()).collect();
        let commands = batches.into_iter().flat_map(|batch| batch.commands).collect();
        let mut answers = self.ask(Batch { group, commands }).await?.into_iter();
        Ok(counts.into_iter().map(|count| answers.by_ref().take(count).collect()).collect())
    }

    /// Asks every server that can be written to.
    pub(super) async fn ask_each_server(&self, command: Cmd) -> Result<Vec<Value>> {
        match self {
            Self::Server(_) => {
                self.ask(Batch { group: Group::Refs(0), commands: vec![command] }).await
            }
            Self::Cluster(connection, _) => {
                let all = RoutingInfo::MultiNode((MultipleNodeRoutingInfo::AllMasters, None));
                match connection.clone().route_command(command, all).await {
                    Ok(Value::Map(answers)) => {
                        Ok(answers.into_iter().map(|(_, answer)| answer).collect())
                    }
                    Ok(_) => Err(failure::unexpected()),
                    Err(err) => match ServerError::try_from(err) {
                        Ok(err) => Ok(vec![Value::ServerError(err)]),
                        Err(err) => Err(failure::of(err)),
                    },
                }
            }
        }
    }
}

fn line(lines: &[Line], group: Group) -> Result<&Line> {
    lines.get(group.number() % LINES).ok_or_else(failure::unexpected)
}
