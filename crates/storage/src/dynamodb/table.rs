//! One table: its items, read and written with all that the service guarantees.

use std::fmt;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::operation::delete_item::DeleteItemError;
use aws_sdk_dynamodb::operation::put_item::PutItemError;
use aws_sdk_dynamodb::types::{
    AttributeValue, ReturnValue, ReturnValuesOnConditionCheckFailure as OnFailure,
};

use super::failure::failure;
use super::layout::{Item, Key, Range, binary};
use crate::Result;

/// How many items one query asks for at most.
const PAGE: usize = 1000;

/// A table of the service.
#[derive(Clone)]
pub(super) struct Table {
    pub(super) client: Client,
    pub(super) name: String,
}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Table").field(&self.name).finish()
    }
}

/// What must hold for an item to be written or removed.
pub(super) enum Condition {
    /// There is no such item.
    Absent,
    /// The item has this value in this attribute.
    Has(&'static str, AttributeValue),
}

impl Condition {
    fn expression(&self) -> String {
        match self {
            Self::Absent => "attribute_not_exists(pk)".to_owned(),
            Self::Has(name, _) => format!("{name} = :expected"),
        }
    }

    fn value(self) -> Option<(String, AttributeValue)> {
        match self {
            Self::Absent => None,
            Self::Has(_, value) => Some((":expected".to_owned(), value)),
        }
    }
}

/// How a conditional change ended.
pub(super) enum Outcome {
    /// It was made; this is what was there before, if anything.
    Done(Option<Item>),
    /// The condition did not hold; this is what is there, if anything.
    Refused(Option<Item>),
}

impl Table {
    /// An item as it is now.
    pub(super) async fn get(&self, key: Key) -> Result<Option<Item>> {
        let request = self.client.get_item().table_name(&self.name).consistent_read(true);
        let answer = request.set_key(Some(key.into_item())).send().await.map_err(failure)?;
        Ok(answer.item)
    }

    /// Writes an item if the one that is there is as expected.
    pub(super) async fn put_if(&self, item: Item, condition: Condition) -> Result<Outcome> {
        let request = self.client.put_item().table_name(&self.name).set_item(Some(item));
        let request = request
            .condition_expression(condition.expression())
            .set_expression_attribute_values(condition.value().map(|value| [value].into()))
            .return_values_on_condition_check_failure(OnFailure::AllOld);
        match request.send().await {
            Ok(_) => Ok(Outcome::Done(None)),
            Err(err) => match err.as_service_error() {
                Some(PutItemError::ConditionalCheckFailedException(refusal)) => {
                    Ok(Outcome::Refused(refusal.item.clone()))
                }
                Some(_) | None => Err(failure(err)),
            },
        }
    }

    /// Removes an item if it is as expected.
    pub(super) async fn delete_if(&self, key: Key, condition: Condition) -> Result<Outcome> {
        let request = self.client.delete_item().table_name(&self.name);
        let request = request
            .set_key(Some(key.into_item()))
            .condition_expression(condition.expression())
            .set_expression_attribute_values(condition.value().map(|value| [value].into()))
            .return_values(ReturnValue::AllOld);
        match request.send().await {
            Ok(answer) => Ok(Outcome::Done(answer.attributes)),
            Err(err) => match err.as_service_error() {
                Some(DeleteItemError::ConditionalCheckFailedException(refusal)) => {
                    Ok(Outcome::Refused(refusal.item.clone()))
                }
                Some(_) | None => Err(failure(err)),
            },
        }
    }

    /// At most `limit` items of a partition, in order, with these attributes of theirs.
    pub(super) async fn query(
        &self,
        partition: Vec<u8>,
        range: &Range,
        attributes: &str,
        limit: usize,
    ) -> Result<Vec<Item>> {
        let (mut items, mut start) = (Vec::new(), None);
        // The service refuses a range that ends before it begins.
        while items.len() < limit && !range.is_empty() {
            let most = (limit - items.len()).min(PAGE);
            let request = self.client.query().table_name(&self.name).consistent_read(true);
            let request = request
                .key_condition_expression("pk = :partition AND sk BETWEEN :low AND :high")
                .expression_attribute_values(":partition", binary(partition.clone()))
                .expression_attribute_values(":low", binary(range.low.clone()))
                .expression_attribute_values(":high", binary(range.high.clone()))
                .projection_expression(attributes)
                .limit(i32::try_from(most).unwrap_or(i32::MAX))
                .set_exclusive_start_key(start);
            let answer = request.send().await.map_err(failure)?;
            items.extend(answer.items.unwrap_or_default());
            start = answer.last_evaluated_key;
            if start.is_none() {
                break;
            }
        }
        Ok(items)
    }
}
