//! Request bodies, read within limits; and what a compressed one says.

use std::io::Read as _;
use std::time::Duration;

use http_body_util::BodyExt as _;
use hyper::body::{Body as _, Bytes, Incoming};
use hyper::header::{self, HeaderMap};

/// Why a body was not read.
#[derive(Debug)]
pub(crate) enum BodyError {
    /// It is larger than is taken.
    TooLarge,
    /// Nothing came for too long.
    Silent,
    /// The client went away.
    Broken,
}

/// Reads all of it. What comes in one piece is not copied.
pub(crate) async fn collect(
    mut body: Incoming,
    most: usize,
    idle: Duration,
) -> Result<Bytes, BodyError> {
    let told = body.size_hint();
    if told.lower() > most as u64 {
        return Err(BodyError::TooLarge);
    }
    let mut whole = Bytes::new();
    let mut parts: Vec<u8> = Vec::new();
    loop {
        let frame = tokio::time::timeout(idle, body.frame()).await;
        let frame = frame.map_err(|_| BodyError::Silent)?;
        let Some(frame) = frame else { break };
        let Ok(data) = frame.map_err(|_| BodyError::Broken)?.into_data() else {
            continue;
        };
        if whole.len() + parts.len() + data.len() > most {
            return Err(BodyError::TooLarge);
        }
        if whole.is_empty() && parts.is_empty() {
            whole = data;
            continue;
        }
        if parts.is_empty() {
            let expected = told.exact().and_then(|n| usize::try_from(n).ok());
            parts.reserve(expected.unwrap_or(whole.len() + data.len()).min(most));
            parts.extend_from_slice(&whole);
            whole = Bytes::new();
        }
        parts.extend_from_slice(&data);
    }
    match parts.is_empty() {
        true => Ok(whole),
        false => Ok(parts.into()),
    }
}

/// How a body is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Coding {
    /// Not at all.
    Identity,
    /// gzip.
    Gzip,
    /// deflate, in zlib's frame.
    Deflate,
    /// zstd.
    Zstd,
    /// In a way that is not read here.
    Unknown,
}

impl Coding {
    /// What the head says.
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        let mut all = headers.get_all(header::CONTENT_ENCODING).iter();
        let (Some(value), None) = (all.next(), all.next()) else {
            let is_plain = !headers.contains_key(header::CONTENT_ENCODING);
            return if is_plain {
                Self::Identity
            } else {
                Self::Unknown
            };
        };
        match value
            .to_str()
            .unwrap_or("?")
            .trim()
            .to_ascii_lowercase()
            .as_str()
        {
            "" | "identity" => Self::Identity,
            "gzip" | "x-gzip" => Self::Gzip,
            "deflate" => Self::Deflate,
            "zstd" => Self::Zstd,
            _ => Self::Unknown,
        }
    }

    /// What a body says, if that can be told within `most` bytes.
    pub(crate) fn decode(self, body: &Bytes, most: usize) -> Option<Bytes> {
        let limit = most as u64 + 1;
        let mut out = Vec::new();
        match self {
            Self::Identity => return Some(body.clone()),
            Self::Gzip => {
                let reader = flate2::read::MultiGzDecoder::new(&body[..]);
                reader.take(limit).read_to_end(&mut out).ok()?;
            }
            Self::Deflate => {
                let reader = flate2::read::ZlibDecoder::new(&body[..]);
                reader.take(limit).read_to_end(&mut out).ok()?;
            }
            Self::Zstd => {
                let mut source = &body[..];
                let reader = ruzstd::decoding::StreamingDecoder::new(&mut source).ok()?;
                reader.take(limit).read_to_end(&mut out).ok()?;
            }
            Self::Unknown => return None,
        }
        (out.len() <= most).then(|| out.into())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use hyper::header::HeaderValue;

    use super::*;

    #[test]
    fn what_is_compressed_is_read_within_the_limit() {
        let text = b"lantern ".repeat(1000);
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(&text).expect("it fits into memory");
        let gzip: Bytes = gzip.finish().expect("it fits into memory").into();
        let zstd = ruzstd::encoding::compress_to_vec(
            &text[..],
            ruzstd::encoding::CompressionLevel::Fastest,
        );
        let zstd = Bytes::from(zstd);
        for (coding, body) in [(Coding::Gzip, &gzip), (Coding::Zstd, &zstd)] {
            assert_eq!(coding.decode(body, 8000).as_deref(), Some(&text[..]));
            assert_eq!(coding.decode(body, 7999), None, "a bomb is not unpacked");
            assert_eq!(coding.decode(&Bytes::from_static(b"no"), 8000), None);
        }
        assert_eq!(Coding::Unknown.decode(&gzip, 8000), None);
    }

    #[test]
    fn what_the_head_says() {
        let check = |values: &[&'static str], expect: Coding| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(header::CONTENT_ENCODING, HeaderValue::from_static(value));
            }
            assert_eq!(Coding::of(&headers), expect);
        };
        check(&[], Coding::Identity);
        check(&["GZIP"], Coding::Gzip);
        check(&["zstd"], Coding::Zstd);
        check(&["gzip, br"], Coding::Unknown);
        check(&["gzip", "gzip"], Coding::Unknown);
    }
}
