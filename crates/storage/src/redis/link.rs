//! The way to the servers: one of them, or a cluster.

use futures::future::try_join_all;
use redis::cluster_async::ClusterConnection;
use redis::cluster_routing::{MultipleNodeRoutingInfo, Route, RoutingInfo, SingleNodeRoutingInfo};
use redis::{Cmd, ServerError, Value};

use super::confirmation::Confirmation;
use super::durability::Demands;
use super::failure;
use super::line::{Line, Open, pipeline};
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
    /// behind his first request, even if he did not wait for its answer. Only as long as the
    /// connection lasts: the server may carry out what is left in an old one after what came over
    /// the next. That does no harm to a change that expects a token, which never comes back. One
    /// that expects a ref to be absent may happen again when the ref was removed in between.
    Server(Vec<Line>),
    /// Connections are made and kept by the driver, so that what all servers promised when the
    /// store was opened is what is known of them.
    Cluster { connection: ClusterConnection, names: Names, confirmation: Confirmation },
}

/// The way to the server of one group.
pub(super) enum Way<'a> {
    Line(&'a Line, Open),
    Route { connection: ClusterConnection, route: Route, confirmation: Confirmation },
}

impl Link {
    /// The way to servers that meet the demands.
    pub(super) async fn to(place: &Place, names: &Names, demands: Demands) -> Result<Self> {
        if place.is_cluster {
            let connection = place.cluster()?.get_async_connection().await.map_err(failure::of)?;
            let mut answers = Vec::new();
            for question in demands.questions() {
                answers.push(ask_each_server(connection.clone(), question).await?);
            }
            let (names, confirmation) = (names.clone(), demands.judge(answers)?);
            return Ok(Self::Cluster { connection, names, confirmation });
        }
        let client = place.client()?;
        let link = Self::Server((0..LINES).map(|_| Line::to(client.clone(), demands)).collect());
        // Each connection is checked, and this one at once.
        link.way(Group::Refs(0)).await?;
        Ok(link)
    }

    /// Whether keys of different groups can be changed together.
    pub(super) fn is_one_server(&self) -> bool {
        matches!(self, Self::Server(_))
    }

    /// The way to the server of a group.
    pub(super) async fn way(&self, group: Group) -> Result<Way<'_>> {
        match self {
            Self::Server(lines) => {
                let line = line(lines, group)?;
                Ok(Way::Line(line, line.open().await?))
            }
            Self::Cluster { connection, names, confirmation } => {
                let (connection, confirmation) = (connection.clone(), *confirmation);
                Ok(Way::Route { connection, route: names.route(group), confirmation })
            }
        }
    }

    /// Sends commands in one piece. An answer may be an error of the server.
    pub(super) async fn ask(&self, batch: Batch) -> Result<Vec<Value>> {
        self.way(batch.group).await?.ask(batch.commands).await
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
}

impl Way<'_> {
    /// What the server is asked after every change.
    pub(super) fn confirmation(&self) -> Confirmation {
        match self {
            Self::Line(_, open) => open.confirmation,
            Self::Route { confirmation, .. } => *confirmation,
        }
    }

    /// Sends commands in one piece. An answer may be an error of the server.
    pub(super) async fn ask(self, commands: Vec<Cmd>) -> Result<Vec<Value>> {
        let commands = pipeline(commands);
        match self {
            Self::Line(line, open) => line.ask(open, &commands).await,
            Self::Route { mut connection, route, .. } => {
                let (count, route) = (commands.len(), SingleNodeRoutingInfo::SpecificNode(route));
                let answers = connection.route_pipeline(commands, 0, count, route);
                answers.await.map_err(failure::of)
            }
        }
    }
}

/// Asks every server of a cluster that can be written to.
async fn ask_each_server(mut connection: ClusterConnection, question: Cmd) -> Result<Vec<Value>> {
    let all = RoutingInfo::MultiNode((MultipleNodeRoutingInfo::AllMasters, None));
    match connection.route_command(question, all).await {
        Ok(Value::Map(answers)) => Ok(answers.into_iter().map(|(_, answer)| answer).collect()),
        Ok(_) => Err(failure::unexpected()),
        Err(err) => match ServerError::try_from(err) {
            Ok(err) => Ok(vec![Value::ServerError(err)]),
            Err(err) => Err(failure::of(err)),
        },
    }
}

fn line(lines: &[Line], group: Group) -> Result<&Line> {
    lines.get(group.number() % LINES).ok_or_else(failure::unexpected)
}
