//! What is signed is what is read, and nothing else is.

use proptest::prelude::*;

use super::*;
use crate::KeyId;

fn secret() -> SecretHash {
    SecretHash::of("secret")
}

/// Valid until 2100.
fn claim() -> Claim {
    Claim {
        by: Actor::Key(KeyId::parse("abcdefghij01").unwrap()),
        sandbox: SandboxId::parse("demo").unwrap(),
        access: Access::ReadDirectory,
        path: SandboxPath::parse("/src", DotDot::Refuse).unwrap(),
        expires: UnixTime { seconds: 4_102_444_800, nanoseconds: 0 },
    }
}

fn signer() -> Signer {
    Signer([5; 32])
}

fn verified(text: &str) -> Option<Claim> {
    signer().verify(text)?.claim(&secret())
}

/// Made with another implementation of HMAC.
const GOLDEN: &str = "AQIBYWJjZGVmZ2hpajAxgNyyyB4ABGRlbW8EL3NyY84-PaUBdc-zK\
                      Tlwlk2bouCWHkXPdIodrhjNlfp4-RuDvT-YmeYdaNAwQo2HcndDWQ";

#[test]
fn a_signed_claim_has_these_letters() {
    assert_eq!(signer().sign(&claim(), &secret()), GOLDEN);
    assert_eq!(verified(GOLDEN), Some(claim()));
}

#[test]
fn a_claim_of_the_token_is_one_too() {
    let claim = Claim { by: Actor::Token, ..claim() };
    assert_eq!(verified(&signer().sign(&claim, &secret())), Some(claim));
}

#[test]
fn a_claim_that_is_over_is_void() {
    let claim = Claim { expires: now(), ..claim() };
    assert_eq!(verified(&signer().sign(&claim, &secret())), None);
}

#[test]
fn a_claim_is_void_when_the_secret_of_its_signer_is_another() {
    let signed = signer().verify(GOLDEN).unwrap();
    assert_eq!(signed.by(), claim().by);
    assert_eq!(signed.claim(&SecretHash::of("another")), None);
}

#[test]
fn what_another_signer_signed_is_void() {
    assert_eq!(verified(&Signer([6; 32]).sign(&claim(), &secret())), None);
}

#[test]
fn a_claim_is_void_with_any_letter_changed_missing_or_added() {
    for at in 0..GOLDEN.len() {
        assert_eq!(verified(&GOLDEN[..at]), None, "the first {at} letters");
        for letter in ["A", "b", "9", "-", "_", "=", "/"] {
            let changed = format!("{}{letter}{}", &GOLDEN[..at], &GOLDEN[at + 1..]);
            assert_eq!(verified(&changed).is_some(), changed == GOLDEN, "letter {at}");
            let longer = format!("{}{letter}{}", &GOLDEN[..at], &GOLDEN[at..]);
            assert_eq!(verified(&longer), None, "letter {at}");
        }
    }
    assert_eq!(verified(&format!("{GOLDEN}=")), None);
    assert_eq!(verified(&format!("{GOLDEN}A")), None);
}

#[test]
fn neither_the_signer_nor_what_it_signed_shows_a_secret() {
    let shown = format!("{:?} {:?}", signer(), signer().verify(GOLDEN));
    assert!(!shown.contains("5, 5"), "{shown}");
}

#[test]
fn the_secret_of_a_store_survives_its_bytes_and_no_change_of_them() {
    let bytes = signer().encode();
    assert_eq!(Signer::decode(&bytes).unwrap().0, signer().0);
    for at in 0..bytes.len() {
        let mut changed = bytes.to_vec();
        changed[at] ^= 1;
        assert!(Signer::decode(&changed.into()).is_err(), "byte {at}");
    }
}

prop_compose! {
    fn claims()(
        key in prop::option::of("[a-z0-9]{12}"),
        sandbox in "[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?",
        access in 0..4_u8,
        segments in prop::collection::vec("[^/\\x00]{1,40}", 0..8),
        later in 1..i64::from(u32::MAX),
        nanoseconds in 0..1_000_000_000_u32,
    ) -> Claim {
        Claim {
            by: key.map_or(Actor::Token, |key| Actor::Key(KeyId::parse(&key).unwrap())),
            sandbox: SandboxId::parse(&sandbox).unwrap(),
            access: Access::of(access).unwrap(),
            path: SandboxPath::parse(&segments.join("/"), DotDot::Clamp).unwrap(),
            expires: UnixTime { seconds: now().seconds + later, nanoseconds },
        }
    }
}

proptest! {
    #[test]
    fn every_claim_is_read_as_it_was_signed(claim in claims()) {
        prop_assert_eq!(verified(&signer().sign(&claim, &secret())), Some(claim));
    }

    #[test]
    fn no_two_claims_are_signed_alike(one in claims(), other in claims()) {
        let same = signer().sign(&one, &secret()) == signer().sign(&other, &secret());
        prop_assert_eq!(same, one == other);
    }

    #[test]
    fn no_flipped_bit_goes_unnoticed(claim in claims(), at in any::<prop::sample::Index>()) {
        let signed = URL_SAFE_NO_PAD.decode(signer().sign(&claim, &secret())).unwrap();
        let (bit, mut changed) = (at.index(signed.len() * 8), signed);
        changed[bit / 8] ^= 1 << (bit % 8);
        prop_assert_eq!(verified(&URL_SAFE_NO_PAD.encode(changed)), None);
    }

    #[test]
    fn garbage_is_no_claim(garbage in ".{0,300}", bytes in any::<Vec<u8>>()) {
        prop_assert_eq!(verified(&garbage), None);
        prop_assert_eq!(verified(&URL_SAFE_NO_PAD.encode(bytes)), None);
    }
}
