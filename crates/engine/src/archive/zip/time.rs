//! Times as MS-DOS told them: two seconds are the shortest, and no zone is told. We say UTC.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use crate::UnixTime;

/// 1980-01-01, before which there are no such times.
const FIRST: i64 = 315_532_800;
/// The last of them, in 2107.
const LAST: i64 = 4_354_819_198;

/// The time that a date and a time of day tell; the first of all if there is no such date.
pub(super) fn from_dos(date: u16, time: u16) -> UnixTime {
    let year = 1980 + (date >> 9).cast_signed();
    let bits = |field: u16, shift: u16, mask: u16| (field >> shift & mask) as i8;
    let (month, day) = (bits(date, 5, 0xf), bits(date, 0, 0x1f));
    let (hour, minute, second) = (bits(time, 11, 0x1f), bits(time, 5, 0x3f), bits(time, 0, 0x1f));
    let told = DateTime::new(year, month, day, hour, minute, second * 2, 0);
    let told = told.and_then(|told| TimeZone::UTC.to_timestamp(told));
    UnixTime { seconds: told.map_or(FIRST, Timestamp::as_second), nanoseconds: 0 }
}

/// The date and the time of day; times that cannot be told become the nearest that can.
pub(super) fn to_dos(modified: UnixTime) -> (u16, u16) {
    let seconds = modified.seconds.clamp(FIRST, LAST);
    let told = Timestamp::from_second(seconds).unwrap_or_default();
    let told = TimeZone::UTC.to_datetime(told);
    let bits = |number: i8, shift: u16| u16::from(number.cast_unsigned()) << shift;
    let year = (told.year() - 1980).cast_unsigned() << 9;
    let date = year | bits(told.month(), 5) | bits(told.day(), 0);
    let time = bits(told.hour(), 11) | bits(told.minute(), 5) | bits(told.second() / 2, 0);
    (date, time)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(seconds: i64) -> UnixTime {
        UnixTime { seconds, nanoseconds: 0 }
    }

    #[test]
    fn a_date_is_what_the_specification_says() {
        // 2001-09-09 01:46:40.
        let (date, time) = ((21 << 9) | (9 << 5) | 9, (1 << 11) | (46 << 5) | 20);
        assert_eq!(to_dos(at(1_000_000_000)), (date, time));
        assert_eq!(from_dos(date, time), at(1_000_000_000));
    }

    #[test]
    fn times_that_cannot_be_told_become_the_nearest() {
        assert_eq!(from_dos(to_dos(at(0)).0, to_dos(at(0)).1), at(FIRST));
        let far = to_dos(at(i64::MAX));
        assert_eq!(from_dos(far.0, far.1), at(LAST));
    }

    #[test]
    fn a_date_that_is_none_is_the_first() {
        assert_eq!(from_dos(0, 0), at(FIRST));
        assert_eq!(from_dos(u16::MAX, u16::MAX), at(FIRST));
    }

    proptest! {
        #[test]
        fn every_even_second_comes_back(seconds in FIRST / 2..LAST / 2) {
            let (date, time) = to_dos(at(seconds * 2));
            prop_assert_eq!(from_dos(date, time), at(seconds * 2));
        }
    }
}
