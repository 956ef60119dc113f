//! Sources that follow each other in order, asked a few at a time.

use futures::future::try_join_all;

use crate::Result;

/// How many sources are asked at once at most.
const WIDEST: usize = 16;

/// At most `limit` of what the sources give, one source after the other.
///
/// The first is asked alone, since often it has enough. As long as it is not, twice as many are asked
/// at once: eight that hold nothing take four turns, and of what is asked for, most is wanted.
pub(super) async fn in_turn<S, T, F>(
    sources: Vec<S>,
    limit: usize,
    ask: impl Fn(S, usize) -> F,
) -> Result<Vec<T>>
where
    F: Future<Output = Result<Vec<T>>>,
{
    let (mut all, mut width) = (Vec::new(), 1);
    let mut sources = sources.into_iter();
    while all.len() < limit && sources.len() > 0 {
        let left = limit - all.len();
        let asked = sources.by_ref().take(width).map(|source| ask(source, left));
        for found in try_join_all(asked).await? {
            all.extend(found);
        }
        width = (width * 2).min(WIDEST);
    }
    all.truncate(limit);
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn sources_follow_each_other_until_there_is_enough() {
        let numbers = |from: usize| (from * 3..from * 3 + 3).collect::<Vec<_>>();
        let asked = std::cell::Cell::new(0);
        let ask = |source: usize, limit: usize| {
            asked.set(asked.get() + 1);
            async move { Ok(numbers(source).into_iter().take(limit).collect()) }
        };
        assert_eq!(in_turn(vec![0, 1, 2, 3], 2, ask).await.unwrap(), [0, 1]);
        assert_eq!(asked.take(), 1);
        assert_eq!(in_turn(vec![0, 1, 2, 3], 7, ask).await.unwrap(), numbers_to(7));
        assert_eq!(asked.take(), 3);
        assert_eq!(in_turn(vec![0, 1, 2, 3], 99, ask).await.unwrap(), numbers_to(12));
        assert_eq!(in_turn(Vec::new(), 99, ask).await.unwrap(), numbers_to(0));
    }

    fn numbers_to(end: usize) -> Vec<usize> {
        (0..end).collect()
    }
}
