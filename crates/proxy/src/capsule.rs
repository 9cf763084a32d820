//! What stands for a folded conversation in the hands of a client: sealed, so that nobody reads or changes it, and
//! opened again on the way up.
//!
//! ```text
//! cnsp1.<base64url of: 12 bytes nonce, ChaCha20-Poly1305 of the items as JSON, 16 bytes tag>
//! ```
//!
//! The tenant is bound in. Items of other makers are left alone.

use conspectus::wire::json::{Array, Object};
use hyper::body::Bytes;
use memchr::memmem;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::rand::{SecureRandom as _, SystemRandom};

use crate::scan::{scan, slice};
use crate::settings::CapsuleKey;

const PREFIX: &str = "cnsp1.";
/// The largest that is opened.
const MOST: usize = 16 << 20;

/// Seals items, which are a JSON array.
pub(crate) fn seal(key: &CapsuleKey, tenant: &str, items: &str) -> Option<String> {
    let mut nonce = [0; NONCE_LEN];
    SystemRandom::new().fill(&mut nonce).ok()?;
    let mut sealed = items.as_bytes().to_vec();
    let nonce_of = Nonce::assume_unique_for_key(nonce);
    cipher(key)?
        .seal_in_place_append_tag(nonce_of, aad(tenant).as_deref()?, &mut sealed)
        .ok()?;
    let all = [&nonce[..], &sealed].concat();
    Some(format!("{PREFIX}{}", encode(&all)))
}

/// The items of a capsule; `None`: it is not ours, or not this tenant's.
pub(crate) fn open(key: &CapsuleKey, tenant: &str, capsule: &str) -> Option<String> {
    let mut all = decode(capsule.strip_prefix(PREFIX)?)?;
    if all.len() < NONCE_LEN || all.len() > MOST {
        return None;
    }
    let mut sealed = all.split_off(NONCE_LEN);
    let nonce = Nonce::try_assume_unique_for_key(&all).ok()?;
    let plain = cipher(key)?
        .open_in_place(nonce, aad(tenant).as_deref()?, &mut sealed)
        .ok()?;
    let items = std::str::from_utf8(plain).ok()?;
    Array::of(items).is_some().then(|| items.to_owned())
}

/// The body with the items of our capsules in their places; `None`: there are none.
pub(crate) fn expanded(key: &CapsuleKey, tenant: &str, body: &[u8]) -> Option<Bytes> {
    memmem::find(body, PREFIX.as_bytes())?;
    let layout = scan(body, "input", None)?;
    let mut out: Vec<u8> = Vec::with_capacity(body.len());
    let mut done = 0;
    for element in &layout.elements {
        let Some(items) = items_of(key, tenant, slice(body, *element)) else {
            continue;
        };
        out.extend_from_slice(&body[done..element.0 as usize]);
        out.extend_from_slice(items.as_bytes());
        done = element.1 as usize;
    }
    if done == 0 {
        return None;
    }
    out.extend_from_slice(&body[done..]);
    Some(out.into())
}

/// What stands in the place of an item: at least one.
fn items_of(key: &CapsuleKey, tenant: &str, item: &[u8]) -> Option<String> {
    let item = Object::of(std::str::from_utf8(item).ok()?)?;
    let kind = item.string("type")?;
    if !["compaction", "compaction_summary"].contains(&&*kind) {
        return None;
    }
    let items = open(key, tenant, &item.string("encrypted_content")?)?;
    let inner = items.trim().strip_prefix('[')?.strip_suffix(']')?.trim();
    (!inner.is_empty()).then(|| inner.to_owned())
}

fn cipher(key: &CapsuleKey) -> Option<LessSafeKey> {
    let key = UnboundKey::new(&CHACHA20_POLY1305, &key.0).ok()?;
    Some(LessSafeKey::new(key))
}

struct Bound(String);

impl Bound {
    fn as_deref(&self) -> Option<Aad<&[u8]>> {
        Some(Aad::from(self.0.as_bytes()))
    }
}

fn aad(tenant: &str) -> Bound {
    Bound(format!("conspectus capsule 1 {tenant}"))
}

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

fn encode(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let all = chunk
            .iter()
            .fold(0_u32, |all, byte| all << 8 | u32::from(*byte));
        let all = all << (8 * (3 - chunk.len()));
        for nth in 0..=chunk.len() {
            let six = (all >> (18 - 6 * nth)) & 63;
            out.push(char::from(LETTERS[six as usize]));
        }
    }
    out
}

fn decode(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len() / 4 * 3 + 2);
    for chunk in text.as_bytes().chunks(4) {
        let mut all = 0_u32;
        for byte in chunk {
            let six = LETTERS.iter().position(|letter| letter == byte)?;
            all = all << 6 | u32::try_from(six).ok()?;
        }
        let all = all << (6 * (4 - chunk.len()));
        let [_, a, b, c] = all.to_be_bytes();
        match chunk.len() {
            4 => out.extend([a, b, c]),
            3 => out.extend([a, b]),
            2 => out.push(a),
            _ => return None,
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: CapsuleKey = CapsuleKey([7; 32]);

    #[test]
    fn what_is_sealed_is_opened_by_who_has_the_key() {
        for items in ["[]", r#"[{"a":1},{"b":"äß"}]"#, "[1]", "[12]", "[123]"] {
            let capsule = seal(&KEY, "ann", items).expect("it is sealed");
            assert!(capsule.starts_with(PREFIX));
            assert_eq!(open(&KEY, "ann", &capsule).as_deref(), Some(items));
            assert_eq!(open(&KEY, "bob", &capsule), None);
            assert_eq!(open(&CapsuleKey([8; 32]), "ann", &capsule), None);
            let mut changed = capsule.clone();
            let last = changed.pop().expect("a letter");
            changed.push(if last == 'A' { 'Q' } else { 'A' });
            assert_eq!(open(&KEY, "ann", &changed), None);
        }
        for odd in [
            "",
            "cnsp1.",
            "cnsp1.A",
            "cnsp1.!!!!",
            "ENC:made-up",
            "cnsp1.AAAA",
        ] {
            assert_eq!(open(&KEY, "ann", odd), None, "{odd}");
        }
    }

    #[test]
    fn letters() {
        for length in 0..50_u8 {
            let bytes: Vec<u8> = (0..length).map(|n| n.wrapping_mul(37)).collect();
            assert_eq!(decode(&encode(&bytes)), Some(bytes));
        }
        assert_eq!(encode(b"any carnal pleas"), "YW55IGNhcm5hbCBwbGVhcw");
    }

    #[test]
    fn ours_is_expanded_and_others_stay() {
        let capsule = seal(&KEY, "ann", r#"[{"x":1},{"y":2}]"#).expect("it is sealed");
        let body = format!(
            r#"{{"input":[{{"a":"cnsp1."}}, {{"type":"compaction","id":"c","encrypted_content":"{capsule}"}},{{"type":"compaction","encrypted_content":"ENC:x"}}],"n":1}}"#
        );
        let out = expanded(&KEY, "ann", body.as_bytes()).expect("there is one");
        let expect = r#"{"input":[{"a":"cnsp1."}, {"x":1},{"y":2},{"type":"compaction","encrypted_content":"ENC:x"}],"n":1}"#;
        assert_eq!(out, expect);
        assert_eq!(expanded(&KEY, "bob", body.as_bytes()), None);
        assert_eq!(expanded(&KEY, "ann", br#"{"input":"cnsp1."}"#), None);
    }
}
