//! Runs the program on copies of the examples, in a directory of its own.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// The examples: name and format.
pub(crate) const EXAMPLES: [(&str, &str); 5] = [
    ("openai.json", "openai"),
    ("anthropic.json", "cline"),
    ("langchain.json", "langchain"),
    ("claude-code.jsonl", "claude"),
    ("codex.jsonl", "codex"),
];

/// With these, since else the LangChain example needs no summary.
pub(crate) const NO_PRUNING: [&str; 2] = ["--prune-over", "0"];

/// A directory in which the program runs.
pub(crate) struct Place(TempDir);

/// What the program did.
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Place {
    /// An empty directory.
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a directory"))
    }

    /// A directory with copies of these examples.
    pub(crate) fn with(examples: &[&str]) -> Self {
        let place = Self::new();
        for name in examples {
            place.write(name, &example(name));
        }
        place
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, bytes: &[u8]) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        fs::write(path, bytes).expect("written");
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Names of all files below, sorted.
    pub(crate) fn files(&self) -> Vec<String> {
        let mut names = Vec::new();
        list(self.0.path(), "", &mut names);
        names.sort();
        names
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_conspectus"));
        command
            .args(args)
            .current_dir(self.0.path())
            .env_remove("CLAUDE_CONFIG_DIR")
            .env_remove("CODEX_HOME")
            .env_remove("CONSPECTUS_CONFIG")
            .env("HOME", self.0.path())
            .stdin(Stdio::null());
        command
    }

    /// Runs with nothing on standard input.
    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        Ran::of(&self.command(args).output().expect("runs"))
    }

    /// Runs with these variables and no others that could lead to a model.
    #[cfg(feature = "models")]
    pub(crate) fn asking(&self, args: &[&str], variables: &[(&str, &str)]) -> Ran {
        let mut command = self.command(args);
        Self::without_keys(&mut command);
        Ran::of(
            &command
                .envs(variables.iter().copied())
                .output()
                .expect("runs"),
        )
    }

    /// Takes away what could lead to a model, or to it by a detour.
    #[cfg(feature = "models")]
    pub(crate) fn without_keys(command: &mut Command) {
        for name in ["OPENAI", "ANTHROPIC"] {
            command.env_remove(format!("{name}_API_KEY"));
            command.env_remove(format!("{name}_BASE_URL"));
        }
        for name in [
            "HTTP_PROXY",
            "HTTPS_PROXY",
            "ALL_PROXY",
            "http_proxy",
            "https_proxy",
            "all_proxy",
        ] {
            command.env_remove(name);
        }
    }

    /// Runs, and tells the most memory that it held, in bytes, where the system says so.
    pub(crate) fn run_measured(&self, args: &[&str]) -> (Ran, Option<usize>) {
        let mut child = self
            .command(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("runs");
        let status = format!("/proc/{}/status", child.id());
        let mut peak = None;
        // The mark of the highest only grows, so the last look counts.
        while child.try_wait().expect("asked").is_none() {
            let text = fs::read_to_string(&status).unwrap_or_default();
            let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
            let kilobytes = line.and_then(|l| l.split_whitespace().next()?.parse::<usize>().ok());
            peak = peak.max(kilobytes.map(|k| k * 1024));
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        let output = child.wait_with_output().expect("ends");
        (Ran::of(&output), peak)
    }

    /// Runs with `input` on standard input; output as bytes.
    pub(crate) fn pipe(&self, args: &[&str], input: &[u8]) -> Output {
        let mut child = self
            .command(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("runs");
        let mut stdin = child.stdin.take().expect("piped");
        let input = input.to_vec();
        let writer = std::thread::spawn(move || {
            // A program that ends before it has read all is judged by its output.
            let _ = stdin.write_all(&input);
        });
        let output = child.wait_with_output().expect("ends");
        writer.join().expect("wrote");
        output
    }

    /// Runs with `--json` added and gives the document.
    pub(crate) fn json(&self, args: &[&str]) -> (i32, Value) {
        let args: Vec<&str> = args.iter().copied().chain(["--json"]).collect();
        let ran = self.run(&args);
        let value = serde_json::from_str(&ran.out)
            .unwrap_or_else(|error| panic!("{error}: {}\n{}", ran.out, ran.err));
        (ran.code, value)
    }
}

impl Ran {
    pub(crate) fn of(output: &Output) -> Self {
        Self {
            code: output.status.code().expect("an exit code"),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Ended with this code and exactly this on standard error.
    #[track_caller]
    pub(crate) fn failed(&self, code: i32, err: &str) {
        assert_eq!((self.code, self.err.as_str()), (code, err), "{}", self.out);
    }

    /// Ended well and said nothing on standard error.
    #[track_caller]
    pub(crate) fn done(&self) -> &Self {
        assert_eq!((self.code, self.err.as_str()), (0, ""), "{}", self.out);
        self
    }

    /// The report holds this.
    #[track_caller]
    pub(crate) fn says(&self, text: &str) -> &Self {
        assert!(self.out.contains(text), "{text:?} is not in:\n{}", self.out);
        self
    }
}

/// The bytes of an example.
pub(crate) fn example(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../examples/conversations")
        .join(name);
    fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// `session.jsonl` -> `session.compacted.jsonl`.
pub(crate) fn compacted(name: &str) -> String {
    let (stem, extension) = name.rsplit_once('.').expect("an extension");
    format!("{stem}.compacted.{extension}")
}

fn list(dir: &Path, below: &str, names: &mut Vec<String>) {
    for entry in fs::read_dir(dir).expect("listed") {
        let entry = entry.expect("read");
        let name = format!("{below}{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            list(&entry.path(), &format!("{name}/"), names);
        } else {
            names.push(name);
        }
    }
}
