//! A share of the commits, so that many machines can divide a history among them without a word.
//!
//! Whether a commit is in a share follows from its id alone: neither from the range nor from what came to it
//! since. Ids are hashes, so shares are about equally large.

use std::str::FromStr;

/// Hexadecimal digits of an id that choose the share.
const DIGITS: usize = 15;

/// The share `index` of `count`, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    index: u64,
    count: u64,
}

impl Shard {
    /// Whether the commit of a full id is in this share; what is no id is in the first one.
    pub fn has(self, id: &str) -> bool {
        let number = id.get(..DIGITS).and_then(|digits| u64::from_str_radix(digits, 16).ok());
        number.unwrap_or(0) % self.count == self.index - 1
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Shard, String> {
        let number = |digits: &str| digits.bytes().all(|b| b.is_ascii_digit()).then(|| digits.parse().ok());
        let parts =
            text.split_once('/').map(|(index, count)| (number(index).flatten(), number(count).flatten()));
        match parts {
            Some((Some(index), Some(count))) if (1..=count).contains(&index) => Ok(Shard { index, count }),
            _ => Err("a share is I/N, with I from 1 to N: 2/16 is the second of sixteen".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_commit_is_in_one_share() {
        let ids = (0..500u32).map(|n| blake3::hash(&n.to_le_bytes()).to_hex()[..40].to_owned());
        let ids: Vec<String> = ids.collect();
        for count in [1, 2, 3, 16] {
            let shares: Vec<Shard> = (1..=count).map(|i| format!("{i}/{count}").parse().unwrap()).collect();
            for id in &ids {
                assert_eq!(shares.iter().filter(|share| share.has(id)).count(), 1, "{id}");
            }
            for share in shares {
                let size = ids.iter().filter(|id| share.has(id)).count() as u64;
                assert!(size * count > 250 && size * count < 1000, "{share:?} has {size}");
            }
        }
    }

    /// Machines of other versions must divide in the same way.
    #[test]
    fn the_share_of_an_id_stays() {
        let share = |text: &str| text.parse::<Shard>().unwrap();
        assert!(share("1/16").has("000000000000000f000000000000000000000000"));
        assert!(share("16/16").has("00000000000000f0000000000000000000000000"));
        assert!(share("1/1").has("ffffffffffffffffffffffffffffffffffffffff"));
    }

    #[test]
    fn what_is_no_share_is_refused() {
        for bad in [
            "",
            "1",
            "0/3",
            "4/3",
            "1/0",
            "-1/3",
            "+1/3",
            "1/3/4",
            "a/b",
            "1/",
            "/2",
            " 1/2",
            "1/99999999999999999999",
        ] {
            assert!(bad.parse::<Shard>().is_err(), "{bad:?}");
        }
    }
}
