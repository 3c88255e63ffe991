//! The proof of work: to find a text that begins with a challenge, and whose SHA-256 begins with zeros.
//!
//! A challenge is made from the voter and an end, under a key, so that the server stores none, and any server of the
//! installation can judge an answer. It is of no use to another voter, after its end, or once its voter was asked again.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};
use time::{Duration, OffsetDateTime};

use crate::arena::Voter;
use crate::arena::person_checks::PersonCheckState;

/// Zeros at the beginning of the hash: 131,072 hashes on average, which take a phone half a second.
pub(super) const BITS: u32 = 17;

/// As long as a matchup is open, and as long again for a page that was left alone.
const LIFETIME: Duration = Duration::hours(1);

/// Of a challenge: 24 bytes as Base64. With a number of up to sixteen digits, it fits a single block of SHA-256.
const CHALLENGE_CHARS: usize = 32;
/// What fits one block, so that judging an answer takes one step of the hash.
const MAX_ANSWER_CHARS: usize = 55;
const END_BYTES: usize = 8;
/// Of a tag, which is cut: nobody can try more than a few in the lifetime of a challenge.
const TAG_BYTES: usize = 16;

pub(super) fn challenge(state: &PersonCheckState, voter: Voter, now: OffsetDateTime) -> String {
    let end = (now + LIFETIME).unix_timestamp().to_be_bytes();
    let tag = tag(state, voter, end).finalize().into_bytes();
    URL_SAFE_NO_PAD.encode([&end[..], &tag[..TAG_BYTES]].concat())
}

/// Whether an answer solves a challenge of this voter and round that has not ended.
pub(super) fn accepts(state: &PersonCheckState, voter: Voter, answer: &str, now: OffsetDateTime) -> bool {
    if answer.len() > MAX_ANSWER_CHARS {
        return false;
    }
    let challenge = answer.get(..CHALLENGE_CHARS).and_then(|text| URL_SAFE_NO_PAD.decode(text).ok());
    let Some(challenge) = challenge else { return false };
    let Some((end, given)) = challenge.split_first_chunk::<END_BYTES>() else { return false };
    tag(state, voter, *end).verify_truncated_left(given).is_ok()
        && given.len() == TAG_BYTES
        && now.unix_timestamp() < i64::from_be_bytes(*end)
        && zero_bits(answer) >= BITS
}

fn tag(state: &PersonCheckState, voter: Voter, end: [u8; END_BYTES]) -> Hmac<Sha256> {
    #[expect(clippy::expect_used, reason = "HMAC takes keys of every length")]
    let mut tag = Hmac::<Sha256>::new_from_slice(&state.key).expect("HMAC takes any key");
    tag.update(voter.0.as_bytes());
    tag.update(&state.round.to_be_bytes());
    tag.update(&end);
    tag
}

/// At the beginning of the text's hash, up to 32.
fn zero_bits(text: &str) -> u32 {
    let digest = Sha256::digest(text);
    digest.first_chunk().map_or(0, |first| u32::from_be_bytes(*first).leading_zeros())
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    const VOTER: Voter = Voter(Uuid::from_u128(7));

    fn round(round: i32) -> PersonCheckState {
        PersonCheckState { key: b"a key of these tests".to_vec(), round, has_passed: false }
    }

    fn now() -> OffsetDateTime {
        OffsetDateTime::from_unix_timestamp(1_800_000_000).unwrap()
    }

    fn solve(challenge: &str) -> String {
        (0..).map(|number| format!("{challenge}{number}")).find(|answer| zero_bits(answer) >= BITS).unwrap()
    }

    #[test]
    fn only_its_voter_can_use_a_challenge_in_its_round_before_its_end_and_only_with_the_work_done() {
        let challenge = challenge(&round(1), VOTER, now());
        let answer = solve(&challenge);
        assert_eq!(challenge.len(), CHALLENGE_CHARS);
        assert!(accepts(&round(1), VOTER, &answer, now()));
        assert!(accepts(&round(1), VOTER, &answer, now() + Duration::minutes(59)));

        assert!(!accepts(&round(1), VOTER, &answer, now() + LIFETIME), "after the end");
        assert!(!accepts(&round(2), VOTER, &answer, now()), "asked again");
        assert!(!accepts(&round(1), Voter(Uuid::from_u128(8)), &answer, now()), "another voter");
        let elsewhere = PersonCheckState { key: b"another key".to_vec(), ..round(1) };
        assert!(!accepts(&elsewhere, VOTER, &answer, now()), "another installation");
        let unsolved = (0..).map(|number| format!("{challenge}{number}")).find(|text| zero_bits(text) < BITS);
        assert!(!accepts(&round(1), VOTER, &unsolved.unwrap(), now()), "without the work");
    }

    #[test]
    fn a_challenge_that_was_not_made_here_is_refused() {
        let made = challenge(&round(0), VOTER, now());
        let mut later = URL_SAFE_NO_PAD.decode(&made).unwrap();
        later[0] = 0x01;
        let without_tag = &later[..END_BYTES];
        for forged in [
            URL_SAFE_NO_PAD.encode(&later),
            URL_SAFE_NO_PAD.encode(without_tag),
            "A".repeat(CHALLENGE_CHARS),
            "é".repeat(CHALLENGE_CHARS / 2),
            format!("é{}", "A".repeat(CHALLENGE_CHARS - 1)),
            String::new(),
        ] {
            assert!(!accepts(&round(0), VOTER, &solve(&forged), now()), "{forged:?}");
        }
        let padded = format!("{}{}", solve(&made), " ".repeat(MAX_ANSWER_CHARS));
        assert!(!accepts(&round(0), VOTER, &padded, now()), "longer than a block");
    }
}
