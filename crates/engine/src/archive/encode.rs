//! Compresses what a stream gives, on a thread that may block.

use bytes::Bytes;
use futures::stream::{self, BoxStream, StreamExt as _, TryStreamExt as _};

use crate::{ByteStream, Result, blocking};

/// How much is compressed at a time: enough that the way to another thread costs nothing beside it.
const STEP: usize = 256 << 10;
/// What a part weighs besides its bytes, so that many empty ones are a step as well.
const PART: usize = 256;

/// What makes bytes of parts.
pub(super) trait Encoder: Send + 'static {
    type Part: Send + 'static;

    /// How many bytes a part brings.
    fn weight(part: &Self::Part) -> usize;
    /// Writes a part.
    fn take(&mut self, part: Self::Part, out: &mut Vec<u8>) -> Result<()>;
    /// Writes some of what stands behind the last part; is asked again until it writes nothing.
    fn finish(&mut self, out: &mut Vec<u8>) -> Result<()>;
}

/// What an encoder makes of all parts.
pub(super) fn encoded<E: Encoder>(
    parts: BoxStream<'static, Result<E::Part>>,
    encoder: E,
) -> ByteStream {
    let parts = parts.fuse().boxed();
    let pieces = stream::try_unfold(Some((parts, encoder)), |work| async {
        let Some((mut parts, mut encoder)) = work else { return Ok(None) };
        let (step, is_last) = gather::<E>(&mut parts).await?;
        let (encoder, out) = blocking::run(move || {
            let mut out = Vec::new();
            for part in step {
                encoder.take(part, &mut out)?;
            }
            if is_last && out.is_empty() {
                encoder.finish(&mut out)?;
                let rest = (!out.is_empty()).then_some(encoder);
                return Ok((rest, out));
            }
            Ok((Some(encoder), out))
        })
        .await?;
        Ok(Some((Bytes::from(out), encoder.map(|encoder| (parts, encoder)))))
    });
    pieces.try_filter(|piece| std::future::ready(!piece.is_empty())).boxed()
}

/// The parts of the next step, and whether there are none behind them.
async fn gather<E: Encoder>(
    parts: &mut BoxStream<'static, Result<E::Part>>,
) -> Result<(Vec<E::Part>, bool)> {
    let (mut step, mut weight) = (Vec::new(), 0);
    while weight < STEP {
        let Some(part) = parts.try_next().await? else { return Ok((step, true)) };
        weight += E::weight(&part) + PART;
        step.push(part);
    }
    Ok((step, false))
}
