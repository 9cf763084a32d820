//! Parts of bodies that serde alone would take too freely, or not freely enough.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// An object. Serde's own structs are also read from lists.
pub(crate) struct Object<T>(pub(crate) T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        struct Only<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Only<T> {
            type Value = T;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map))
            }
        }

        reader.deserialize_map(Only(PhantomData)).map(Self)
    }
}

/// A whole number, also as `2.0`: to JSON both are the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Whole<N>(pub(crate) N);

impl<'de, N: TryFrom<u64>> Deserialize<'de> for Whole<N> {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        let number = serde_json::Number::deserialize(reader)?;
        let exact = number.as_u64().filter(|whole| *whole <= MAX_EXACT);
        let exact = exact.or_else(|| number.as_f64().and_then(exact_of));
        let fitting = exact.and_then(|number| N::try_from(number).ok());
        fitting.map(Self).ok_or_else(|| {
            D::Error::custom(format!("found {number}, expected a whole number >= 0"))
        })
    }
}

/// A place in a query, where numbers are written as text.
pub(crate) fn place<'de, D: Deserializer<'de>>(reader: D) -> Result<Option<u64>, D::Error> {
    let number = u64::deserialize(reader)?;
    if number > MAX_EXACT {
        return Err(D::Error::custom(format!(
            "found {number}, expected at most {MAX_EXACT}"
        )));
    }
    Ok(Some(number))
}

/// Above it not every number can be written as JSON's numbers are read everywhere.
const MAX_EXACT: u64 = (1 << 53) - 1;

/// As long as nothing is lost.
pub(crate) fn exact_of(number: f64) -> Option<u64> {
    let is_exact = number.fract() == 0.0 && (0.0..=MAX_EXACT as f64).contains(&number);
    is_exact.then_some(number as u64)
}

/// A member that is there and null is not one that is left out.
pub(crate) fn said<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    reader: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::<T>::deserialize(reader).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize)]
    struct Pair {
        a: Option<Whole<u32>>,
        b: Option<Whole<u64>>,
    }

    #[test]
    fn objects_and_whole_numbers() {
        #[track_caller]
        fn check(json: &str, expect: Option<(Option<u32>, Option<u64>)>) {
            let read = serde_json::from_str::<Object<Pair>>(json);
            let read = read.map(|Object(pair)| (pair.a.map(|n| n.0), pair.b.map(|n| n.0)));
            assert_eq!(read.ok(), expect, "{json}");
        }
        check("{}", Some((None, None)));
        check(r#"{"a":2.0,"b":2}"#, Some((Some(2), Some(2))));
        check(
            r#"{"a":4294967295,"b":1e3}"#,
            Some((Some(u32::MAX), Some(1000))),
        );
        check(r#"{"b":9007199254740991}"#, Some((None, Some(MAX_EXACT))));
        for wrong in [
            "[null,null]",
            "null",
            r#"{"a":1.5}"#,
            r#"{"a":-1}"#,
            r#"{"a":4294967296}"#,
            r#"{"b":1e30}"#,
            r#"{"b":9007199254740992}"#,
            r#"{"a":"1"}"#,
        ] {
            check(wrong, None);
        }
    }
}
