//! The table itself: whether it is there, and making it.
//!
//! This is the table, for those who make it themselves:
//!
//! ```text
//! aws dynamodb create-table --table-name sandkeep --billing-mode PAY_PER_REQUEST \
//!   --attribute-definitions AttributeName=pk,AttributeType=B AttributeName=sk,AttributeType=B \
//!   --key-schema AttributeName=pk,KeyType=HASH AttributeName=sk,KeyType=RANGE
//! ```

use std::time::Duration;

use aws_sdk_dynamodb::operation::create_table::CreateTableError;
use aws_sdk_dynamodb::operation::describe_table::DescribeTableError;
use aws_sdk_dynamodb::types::{
    AttributeDefinition, BillingMode, KeySchemaElement, KeyType, ScalarAttributeType,
    TableDescription, TableStatus,
};
use tokio::time::{Instant, sleep};

use super::failure::{failure, unavailable};
use super::layout::{PARTITION, SORT};
use super::table::Table;
use crate::address::invalid;
use crate::{Error, ErrorKind, Result};

/// How long a new table may take, and how often it is looked at.
const PATIENCE: Duration = Duration::from_secs(120);
const PAUSE: Duration = Duration::from_millis(500);

/// Whether a table is made when it is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Missing {
    Make,
    Refuse,
}

impl Table {
    /// Waits until the table can be used.
    pub(super) async fn be_ready(&self, missing: Missing) -> Result<()> {
        let begin = Instant::now();
        let mut found = self.description().await?;
        if found.is_none() {
            match missing {
                Missing::Make => self.make().await?,
                Missing::Refuse => return Err(self.refuse_missing()),
            }
            found = self.description().await?;
        }
        // Somebody else may be making it, whoever of us began.
        while found.as_ref().is_none_or(is_being_made) {
            if begin.elapsed() > PATIENCE {
                return Err(unavailable("the table is not ready yet"));
            }
            sleep(PAUSE).await;
            found = self.description().await?;
        }
        check_keys(found.as_ref())
    }

    async fn description(&self) -> Result<Option<TableDescription>> {
        match self.client.describe_table().table_name(&self.name).send().await {
            Ok(answer) => Ok(answer.table),
            Err(err) => match err.as_service_error() {
                Some(DescribeTableError::ResourceNotFoundException(_)) => Ok(None),
                Some(_) | None => Err(failure(err)),
            },
        }
    }

    async fn make(&self) -> Result<()> {
        let mut request = self.client.create_table().table_name(&self.name);
        for (name, key_type) in [(PARTITION, KeyType::Hash), (SORT, KeyType::Range)] {
            let attribute = AttributeDefinition::builder().attribute_name(name);
            let attribute = attribute.attribute_type(ScalarAttributeType::B).build();
            let key = KeySchemaElement::builder().attribute_name(name).key_type(key_type).build();
            request = request
                .attribute_definitions(attribute.map_err(unbuildable)?)
                .key_schema(key.map_err(unbuildable)?);
        }
        match request.billing_mode(BillingMode::PayPerRequest).send().await {
            Ok(_) => Ok(()),
            Err(err) => match err.as_service_error() {
                // Another server was faster, which is as good.
                Some(CreateTableError::ResourceInUseException(_)) => Ok(()),
                Some(_) | None => Err(failure(err)),
            },
        }
    }

    fn refuse_missing(&self) -> Error {
        let message = format!(
            "there is no table {:?} in this region; add ?create=true to the URL to make it, or \
             make one with the binary keys \"{PARTITION}\" (partition) and \"{SORT}\" (sort)",
            self.name
        );
        invalid(message)
    }
}

fn is_being_made(table: &TableDescription) -> bool {
    table.table_status == Some(TableStatus::Creating)
}

/// Refuses a table that is somebody else's.
fn check_keys(table: Option<&TableDescription>) -> Result<()> {
    let Some(table) = table else { return Err(other_keys()) };
    let has_key = |name: &str, key_type: &KeyType| {
        let mut keys = table.key_schema().iter();
        keys.any(|key| key.attribute_name == name && key.key_type == *key_type)
    };
    let is_binary = |name: &str| {
        let mut attributes = table.attribute_definitions().iter();
        attributes.any(|attribute| {
            attribute.attribute_name == name && attribute.attribute_type == ScalarAttributeType::B
        })
    };
    let is_ours = has_key(PARTITION, &KeyType::Hash) && has_key(SORT, &KeyType::Range);
    if is_ours && is_binary(PARTITION) && is_binary(SORT) { Ok(()) } else { Err(other_keys()) }
}

fn other_keys() -> Error {
    let keys = format!("the binary keys \"{PARTITION}\" (partition) and \"{SORT}\" (sort)");
    invalid(format!("the table is of another kind: it does not have {keys}"))
}

fn unbuildable(err: aws_sdk_dynamodb::error::BuildError) -> Error {
    Error::new(ErrorKind::Io, "the request to DynamoDB cannot be made").because(err)
}
