//! The engine behind `COMPACT_CMD` of the retention evaluation: reads `{"budget":N,"parts":[…]}` on
//! standard input and prints the text that the model would still see: a digest of the older part and the
//! newest whole units.

use std::io::{Read as _, Write as _};

use anyhow::Context as _;
use conspectus_judge::compact::compact;
use conspectus_judge::parts::Request;

fn main() -> anyhow::Result<()> {
    let mut input = String::new();
    std::io::stdin().read_to_string(&mut input)?;
    let request: Request =
        serde_json::from_str(&input).context("the input is not a request with budget and parts")?;
    let out = compact(&request);
    std::io::stdout().write_all(out.as_bytes())?;
    Ok(())
}
