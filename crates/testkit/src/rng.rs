//! A small deterministic generator of pseudo-random numbers (SplitMix64, Steele, Lea and Flood 2014):
//! the same seed gives the same numbers on every machine and in every version of this crate.

/// Pseudo-random numbers from a seed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Rng(u64);

impl Rng {
    /// A generator that starts at `seed`. Neighbouring seeds give unrelated numbers.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A generator of its own, so that what it is used for does not shift the numbers that follow here.
    pub fn fork(&mut self) -> Self {
        Self(self.next_u64())
    }

    /// A number in `0..n`; 0 when `n` is 0.
    pub fn below(&mut self, n: usize) -> usize {
        let n = n as u64;
        let wide = u128::from(self.next_u64()) * u128::from(n);
        (wide >> 64) as usize
    }

    /// A number in `low..=high`; `low` when the range is empty.
    pub fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high.saturating_sub(low) + 1)
    }

    /// True in `percent` of a hundred cases.
    pub fn percent(&mut self, percent: u8) -> bool {
        self.below(100) < usize::from(percent)
    }

    /// One of `items`, which must not be empty.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    /// `len` letters and digits.
    pub fn alnum(&mut self, len: usize) -> String {
        const SET: &[u8] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
        (0..len).map(|_| char::from(*self.pick(SET))).collect()
    }

    /// `len` hexadecimal digits.
    pub fn hex(&mut self, len: usize) -> String {
        (0..len)
            .map(|_| char::from(*self.pick(b"0123456789abcdef")))
            .collect()
    }

    /// `len` characters of padded base64 (rounded down to whole groups of four).
    pub fn base64(&mut self, len: usize) -> String {
        const SET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let mut text: String = (0..(len / 4).max(1) * 4)
            .map(|_| char::from(*self.pick(SET)))
            .collect();
        // Two padding characters leave four bits unused, which must be zero.
        if self.percent(50) {
            text.truncate(text.len() - 3);
            text.push_str("g==");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_is_fixed() {
        let mut rng = Rng::new(1234567);
        let first: Vec<_> = (0..3).map(|_| rng.next_u64()).collect();
        // Published reference values of SplitMix64 for this seed.
        let expect = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
        ];
        assert_eq!(first, expect);
    }

    #[test]
    fn bounds_hold() {
        let mut rng = Rng::new(7);
        for _ in 0..1000 {
            assert!(rng.below(3) < 3);
            assert!((2..=4).contains(&rng.between(2, 4)));
        }
        assert_eq!(rng.below(0), 0);
        assert_eq!(rng.between(5, 1), 5);
        assert!(rng.percent(100) && !rng.percent(0));
        assert_eq!(rng.base64(10).len() % 4, 0);
    }
}
