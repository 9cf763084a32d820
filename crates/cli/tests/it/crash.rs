//! Writing under bad conditions: no permission, no space, killed at any moment. The output is the old file or the
//! new one, the input is untouched, and what a killed run leaves is recognised and removed by the next.

use std::fs;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use crate::support::{Place, Ran, example};

/// A conversation of about `bytes` bytes, a different one for each `seed`.
fn conversation(seed: usize, bytes: usize) -> Vec<u8> {
    let mut text = String::from("[");
    let mut turn = 0;
    while text.len() < bytes {
        let said = format!("turn {turn} of {seed}, about tea and files in src/part_{turn}.rs. ")
            .repeat(40);
        text += &format!(
            r#"{{"role":"user","content":"{said}"}},{{"role":"assistant","content":"{said}"}},"#
        );
        turn += 1;
    }
    text += r#"{"role":"user","content":"and now?"}]"#;
    text.into_bytes()
}

/// Files that a run left behind.
fn left(place: &Place) -> Vec<String> {
    let files = place.files().into_iter();
    files.filter(|name| name.ends_with(".tmp")).collect()
}

/// SIGKILL at any moment of a run that replaces its output, again and again.
///
/// `CONSPECTUS_KILLS=2000 cargo test -p conspectus-cli killed` for a long run.
#[test]
fn killed_while_writing() {
    let kills: u64 = std::env::var_os("CONSPECTUS_KILLS")
        .and_then(|n| n.to_str()?.parse().ok())
        .unwrap_or(24);
    let place = Place::new();
    let inputs = [conversation(1, 400_000), conversation(2, 700_000)];
    let mut results = Vec::new();
    for (n, input) in inputs.iter().enumerate() {
        place.write(&format!("in{n}.json"), input);
        place
            .run(&[
                "compact",
                &format!("in{n}.json"),
                "--out",
                "good.json",
                "--overwrite",
            ])
            .done();
        results.push(place.read("good.json"));
    }
    assert_ne!(results[0], results[1]);
    fs::remove_file(place.path("good.json")).expect("removed");
    // How long a run takes here decides when it can be killed.
    #[expect(
        clippy::disallowed_methods,
        reason = "kills come at random times of a run"
    )]
    let begun = std::time::Instant::now();
    start(&place, 0).wait().expect("ended");
    let whole = u64::try_from(begun.elapsed().as_micros())
        .expect("soon")
        .max(2_000);
    let (mut killed, mut torn_apart, mut with_rest) = (0u64, 0u64, 0u64);
    let mut random = 0x9e37_79b9_7f4a_7c15u64;
    let mut before = place.read("out.json");
    for round in 0..kills {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let n = usize::try_from(round / 2 % 2).expect("small");
        let old = left(&place);
        let mut child = start(&place, n);
        // Half of the kills anywhere in a run, half while it writes: once there is a temporary file of its own.
        if round % 2 == 0 {
            sleep(Duration::from_micros(random % (whole + whole / 4)));
        } else {
            while child.try_wait().expect("asked").is_none() && is_same_or_gone(&left(&place), &old)
            {
            }
            (0..random % 3_000).for_each(|_| std::hint::spin_loop());
        }
        if child.try_wait().expect("asked").is_none() {
            child.kill().expect("killed");
            killed += 1;
        }
        child.wait().expect("ended");
        let now = place.read("out.json");
        assert!(
            now == before || now == results[n],
            "round {round}: a torn file"
        );
        torn_apart += u64::from(now != before);
        for (n, input) in inputs.iter().enumerate() {
            assert!(&place.read(&format!("in{n}.json")) == input, "the input");
        }
        let rest = left(&place);
        with_rest += u64::from(!rest.is_empty());
        for name in &rest {
            assert!(name.starts_with(".out.json.conspectus-"), "{name}");
        }
        // A run that is killed before it writes removes nothing, one that writes removes all that was left.
        assert!(rest.len() <= 1, "{rest:?}");
        before = now;
    }
    println!(
        "{kills} rounds, {killed} killed, {torn_apart} had written, {with_rest} left a temporary file"
    );
    assert!(killed > 0, "some were killed");
    // The next whole run works and cleans up. It has something to write, so that it looks.
    let other = if before == results[0] {
        "in1.json"
    } else {
        "in0.json"
    };
    place
        .run(&["compact", other, "--out", "out.json", "--overwrite"])
        .done();
    assert_eq!(left(&place), Vec::<String>::new());
    place.run(&["inspect", "out.json"]).done();
}

/// Nothing but what was there before, or less.
fn is_same_or_gone(now: &[String], old: &[String]) -> bool {
    now.iter().all(|name| old.contains(name))
}

fn start(place: &Place, n: usize) -> std::process::Child {
    place
        .command(&[
            "compact",
            &format!("in{n}.json"),
            "--out",
            "out.json",
            "--overwrite",
        ])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("started")
}

#[test]
fn what_a_killed_run_left_is_not_read_as_a_conversation() {
    let place = Place::with(&["openai.json"]);
    place.write(
        ".openai.compacted.json.conspectus-1-0.tmp",
        &example("openai.json"),
    );
    place
        .run(&["compact", "."])
        .done()
        .says("openai: compacted");
    assert_eq!(place.files(), ["openai.compacted.json", "openai.json"]);
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::PermissionsExt as _;
    use std::os::unix::process::CommandExt as _;
    use std::path::Path;

    use super::*;

    fn mode(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("set");
    }

    /// Runs a shell line with the program as `$0` in the place.
    fn shell(place: &Place, line: &str) -> std::process::Output {
        Command::new("sh")
            .args(["-c", line, env!("CARGO_BIN_EXE_conspectus")])
            .current_dir(place.path(""))
            .stdin(Stdio::null())
            .output()
            .expect("a shell")
    }

    /// As somebody who may do less: the superuser may do everything.
    fn as_other(place: &Place, args: &[&str]) -> std::io::Result<Ran> {
        let is_root = {
            place.write("probe", b"");
            mode(&place.path("probe"), 0);
            let may = fs::read(place.path("probe")).is_ok();
            fs::remove_file(place.path("probe")).expect("removed");
            may
        };
        if !is_root {
            return Ok(place.run(args));
        }
        // The program may stand where others cannot reach it.
        let program = place.path("program");
        if !program.exists() {
            fs::copy(env!("CARGO_BIN_EXE_conspectus"), &program).expect("copied");
        }
        mode(&program, 0o755);
        let output = Command::new(&program)
            .args(args)
            .current_dir(place.path(""))
            .uid(65_534)
            .gid(65_534)
            .stdin(Stdio::null())
            .output();
        output.map(|output| Ran::of(&output))
    }

    #[test]
    fn no_permission() {
        let place = Place::with(&["openai.json"]);
        mode(&place.path(""), 0o755);
        mode(&place.path("openai.json"), 0o600);
        place.write("dir/openai.json", &example("openai.json"));
        mode(&place.path("dir/openai.json"), 0o644);
        mode(&place.path("dir"), 0o555);
        place.write("closed/openai.json", &example("openai.json"));
        mode(&place.path("openai.json"), 0);
        mode(&place.path("closed"), 0);
        let before = place.read("dir/openai.json");
        let check = |args: &[&str], code, err: &str| match as_other(&place, args) {
            Ok(ran) => ran.failed(code, err),
            Err(error) => println!("cannot run as another user ({error}), left out"),
        };
        check(
            &["compact", "openai.json"],
            4,
            "error: openai.json: permission denied\n",
        );
        check(
            &["compact", "dir/openai.json"],
            5,
            "error: dir/openai.compacted.json: permission denied\n",
        );
        check(
            &[
                "compact",
                "dir/openai.json",
                "--out",
                "dir/openai.json",
                "--overwrite",
            ],
            5,
            "error: dir/openai.json: permission denied\n",
        );
        check(
            &["inspect", "dir/openai.json", "--config", "openai.json"],
            3,
            "error: openai.json: permission denied\n",
        );
        check(
            &["inspect", "closed/openai.json"],
            4,
            "error: closed/openai.json: permission denied\n",
        );
        mode(&place.path("closed"), 0o755);
        mode(&place.path("dir"), 0o755);
        assert!(place.read("dir/openai.json") == before);
        assert_eq!(left(&place), Vec::<String>::new());
    }

    #[test]
    fn standard_output_is_full() {
        let place = Place::with(&["openai.json"]);
        if !Path::new("/dev/full").exists() {
            println!("no /dev/full here, left out");
            return;
        }
        for line in [
            "exec \"$0\" compact openai.json --out - > /dev/full",
            "exec \"$0\" inspect openai.json > /dev/full",
            "exec \"$0\" plan openai.json --json > /dev/full",
        ] {
            let output = shell(&place, line);
            assert_eq!(output.status.code(), Some(5), "{line}");
            let err = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(
                err.ends_with("error: standard output: no space left on the disk\n"),
                "{line}: {err}"
            );
        }
        let ran = place.run(&[
            "compact",
            "openai.json",
            "--out",
            "/dev/full",
            "--overwrite",
        ]);
        ran.failed(5, "error: /dev/full: no space left on the disk\n");
        assert_eq!(place.files(), ["openai.json"]);
    }

    /// The limit of a file's size stands in for a full disk, where no file system of our own can be had.
    #[test]
    fn the_output_does_not_fit() {
        let place = Place::new();
        place.write("in.json", &conversation(3, 3_000_000));
        place.write("out.json", b"old");
        let args = "compact in.json --keep messages=60 --out out.json --overwrite";
        // Told by an error.
        let output = shell(
            &place,
            &format!("trap '' XFSZ; ulimit -f 64; exec \"$0\" {args}"),
        );
        let ran = Ran::of(&output);
        assert_eq!(ran.code, 5, "{}", ran.err);
        assert_eq!(ran.err, "error: out.json: larger than a file may be here\n");
        assert_eq!(place.read("out.json"), b"old");
        assert_eq!(place.files(), ["in.json", "out.json"]);
        // Told by a signal, which ends the process.
        let output = shell(
            &place,
            &format!("ulimit -c 0; ulimit -f 64; exec \"$0\" {args}"),
        );
        assert_eq!(output.status.code(), None, "killed");
        assert_eq!(place.read("out.json"), b"old");
        assert_eq!(left(&place).len(), 1);
        // The next run cleans up after it.
        let ran = Ran::of(&shell(&place, &format!("exec \"$0\" {args}")));
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert_eq!(place.files(), ["in.json", "out.json"]);
        assert!(
            place.read("out.json").len() > 64 * 1024,
            "more than the limit was"
        );
    }

    #[test]
    fn a_full_disk() {
        let place = Place::new();
        fs::create_dir(place.path("disk")).expect("made");
        let disk = place.path("disk");
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=96k", "tmpfs"])
            .arg(&disk)
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success());
        if !mounted {
            println!("cannot mount a small disk here, left out");
            return;
        }
        let unmount = Unmount(disk);
        place.write("in.json", &conversation(4, 3_000_000));
        place.write("disk/out.json", b"old");
        let args = [
            "compact",
            "in.json",
            "--keep",
            "messages=60",
            "--out",
            "disk/out.json",
        ];
        let args: Vec<&str> = args.iter().copied().chain(["--overwrite"]).collect();
        let ran = place.run(&args);
        let (files, old) = (place.files(), place.read("disk/out.json"));
        drop(unmount);
        ran.failed(5, "error: disk/out.json: no space left on the disk\n");
        assert_eq!(files, ["disk/out.json", "in.json"]);
        assert_eq!(old, b"old");
    }

    struct Unmount(std::path::PathBuf);

    impl Drop for Unmount {
        fn drop(&mut self) {
            let _ = Command::new("umount").arg(&self.0).status();
        }
    }
}
