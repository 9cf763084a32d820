#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| conspectus_testkit::fuzz::inspect(data));
