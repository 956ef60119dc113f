//! Tools over HTTP, against the bounds that the specification sets: 10 MB read and written within five
//! seconds each, a thousand entries listed within three; and beside programs that do the same on the
//! same disk without a server.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use reqwest::Client;
use serde_json::{Value, json};

use crate::process::{Process, TOKEN};
use crate::report::{Mark, Report, Rounds, Section, time};

/// How many bytes a file has, and how many entries a directory.
const BYTES: usize = 10_000_000;
const ENTRIES: usize = 1000;
/// How many times within its bound an operation has to be.
const WANTED: f64 = 50.0;

/// How much is measured.
#[derive(clap::Args)]
pub(crate) struct Plan {
    /// How often each operation is done.
    #[arg(long, default_value_t = 21)]
    rounds: usize,
    /// The program `sandkeep`.
    #[arg(long)]
    server: PathBuf,
    /// A directory for the store and the sandboxes, on a real disk.
    #[arg(long)]
    scratch: PathBuf,
    /// Where the report goes.
    #[arg(long)]
    results: PathBuf,
}

/// Something that the specification bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Task {
    Read,
    ReadBase64,
    Write,
    List,
}

const TASKS: [Task; 4] = [Task::Read, Task::ReadBase64, Task::Write, Task::List];

impl Task {
    fn name(self) -> &'static str {
        match self {
            Self::Read => "read 10 MB of text",
            Self::ReadBase64 => "read 10 MB as base64",
            Self::Write => "write 10 MB",
            Self::List => "list 1,000 entries",
        }
    }

    fn bound(self) -> Duration {
        match self {
            Self::Read | Self::ReadBase64 | Self::Write => Duration::from_secs(5),
            Self::List => Duration::from_secs(3),
        }
    }

    fn call(self, text: &str) -> (&'static str, Value) {
        match self {
            Self::Read => ("read_file", json!({ "path": "big.txt" })),
            Self::ReadBase64 => ("read_file", json!({ "path": "big.txt", "encoding": "base64" })),
            Self::Write => ("write_file", json!({ "path": "written.txt", "content": text })),
            Self::List => ("list_directory", json!({ "path": "many" })),
        }
    }

    /// Whether the answer is whole.
    fn check(self, data: &Value, text: &str) -> bool {
        match self {
            Self::Read => data["content"] == text,
            Self::ReadBase64 => {
                data["content"].as_str().is_some_and(|it| it.len() == BYTES.div_ceil(3) * 4)
            }
            Self::Write => data["bytesWritten"] == BYTES,
            Self::List => data["entries"].as_array().is_some_and(|list| list.len() == ENTRIES),
        }
    }

    /// The same by a program, in a directory with the same files.
    fn program(self, dir: &Path) -> Command {
        let mut command = match self {
            Self::Read => Command::new("cat"),
            Self::ReadBase64 => Command::new("base64"),
            Self::Write => Command::new("dd"),
            Self::List => Command::new("ls"),
        };
        match self {
            Self::Read => command.arg("big.txt"),
            Self::ReadBase64 => command.args(["-w0", "big.txt"]),
            // As durable as ours: synced before it is acknowledged.
            Self::Write => {
                command.args(["if=big.txt", "of=written.txt", "bs=1M", "conv=fsync", "status=none"])
            }
            Self::List => command.args(["-l", "--time-style=full-iso", "many"]),
        };
        command.current_dir(dir).stdin(Stdio::null()).stdout(Stdio::piped());
        command
    }
}

/// Measures and writes what was found.
pub(crate) async fn measure(plan: &Plan) -> Result<()> {
    let home = plan.scratch.join("tools");
    let process = Process::start(&plan.server, &home, &[]).await?;
    let line = Line::new(process.url())?;
    let text = words();
    let plain = home.join("plain");
    line.furnish("main", &text).await?;
    line.make("directory").await?;
    line.furnish("directory", &text).await?;
    plant(&plain, &text)?;
    let (mut stored, mut directory, mut program) =
        (Rounds::default(), Rounds::default(), Rounds::default());
    for round in 1..=plan.rounds {
        println!("round {round} of {}", plan.rounds);
        for task in TASKS {
            stored.add(task.name(), line.time(task, "main", &text).await?);
            directory.add(task.name(), line.time(task, "directory", &text).await?);
            program.add(task.name(), by_program(task, &plain)?);
        }
    }
    let mut report = Report::new(format!("bench/tools --rounds {}", plan.rounds));
    report.add(section(&stored, &directory, &program));
    let text = report.text();
    println!("{text}");
    std::fs::write(&plan.results, text)?;
    report.demand_marks()
}

/// The way to a server.
struct Line {
    client: Client,
    url: String,
}

impl Line {
    fn new(url: &str) -> Result<Self> {
        // Nothing is secret here, but the client wants to know how it would be kept.
        let _known = rustls::crypto::ring::default_provider().install_default();
        Ok(Self { client: Client::builder().no_proxy().build()?, url: url.to_owned() })
    }

    /// Makes a sandbox that lies in a directory.
    async fn make(&self, id: &str) -> Result<()> {
        let wish = json!({ "id": id, "kind": "host" });
        let made = self.post("/v1/sandboxes", wish.to_string()).await?;
        ensure!(made.get("id") == Some(&json!(id)), "there is no directory: {made}");
        Ok(())
    }

    async fn furnish(&self, sandbox: &str, text: &str) -> Result<()> {
        let write = |path: String, content: String| async move {
            let arguments = json!({ "path": path, "content": content });
            let target = format!("/v1/tools/write_file?sandbox={sandbox}");
            let result = self.post(&target, arguments.to_string()).await?;
            ensure!(result.get("success") == Some(&Value::Bool(true)), "{result}");
            anyhow::Ok(())
        };
        write("big.txt".into(), text.into()).await?;
        for number in 0..ENTRIES {
            write(format!("many/{number:04}.txt"), number.to_string()).await?;
        }
        Ok(())
    }

    /// Does something once; how long it took from the first byte sent to the last received.
    async fn time(&self, task: Task, sandbox: &str, text: &str) -> Result<f64> {
        let (tool, arguments) = task.call(text);
        let target = format!("/v1/tools/{tool}?sandbox={sandbox}");
        let body = arguments.to_string();
        let began = Instant::now();
        let bytes = self.send(&target, body).await?;
        let took = began.elapsed();
        let result: Value = serde_json::from_slice(&bytes)?;
        let data = result.get("data").context("the result has no data")?;
        ensure!(task.check(data, text), "{} is not whole", task.name());
        Ok(took.as_nanos() as f64)
    }

    async fn post(&self, target: &str, body: String) -> Result<Value> {
        Ok(serde_json::from_slice(&self.send(target, body).await?)?)
    }

    async fn send(&self, target: &str, body: String) -> Result<bytes::Bytes> {
        let request = self.client.post(format!("{}{target}", self.url)).bearer_auth(TOKEN);
        let request = request.header("content-type", "application/json").body(body);
        Ok(request.send().await?.bytes().await?)
    }
}

fn by_program(task: Task, dir: &Path) -> Result<f64> {
    let began = Instant::now();
    let output = task.program(dir).output().context("a program did not start")?;
    let took = began.elapsed();
    ensure!(output.status.success(), "a program failed: {}", output.status);
    Ok(took.as_nanos() as f64)
}

/// Text with everything that JSON has to escape here and there, and letters of several bytes.
fn words() -> String {
    let line = "The \"quick\" brown fox\tjumps over 13 lazy dogs, größer als \\ zuvor.\n";
    let mut text = line.repeat(BYTES / line.len());
    text.extend(std::iter::repeat_n('.', BYTES - text.len()));
    text
}

fn plant(dir: &Path, text: &str) -> Result<()> {
    std::fs::create_dir_all(dir.join("many"))?;
    std::fs::write(dir.join("big.txt"), text)?;
    for number in 0..ENTRIES {
        std::fs::write(dir.join(format!("many/{number:04}.txt")), number.to_string())?;
    }
    Ok(())
}

fn section(stored: &Rounds, directory: &Rounds, program: &Rounds) -> Section {
    let median = |rounds: &Rounds, task: Task| rounds.median(task.name()).unwrap_or(f64::INFINITY);
    let inside =
        |rounds: &Rounds, task: Task| task.bound().as_nanos() as f64 / median(rounds, task);
    let row = |task: Task| {
        let shown = |rounds: &Rounds| rounds.shown(task.name(), time);
        let beside = |rounds: &Rounds| median(rounds, task) / median(program, task);
        vec![
            task.name().to_owned(),
            format!("{} s", task.bound().as_secs()),
            shown(stored),
            shown(directory),
            shown(program),
            format!("{:.1}, {:.1}", beside(stored), beside(directory)),
        ]
    };
    let marks = TASKS.into_iter().flat_map(|task| {
        [("a stored tree", stored), ("a directory", directory)].map(|(place, rounds)| {
            let what = format!("times inside the bound: {} in {place}", task.name());
            Mark::at_least(what, WANTED, inside(rounds, task))
        })
    });
    Section {
        title: "Tools over HTTP",
        about: "One call at a time, from the first byte that is sent to the last that is received; every \
                answer is checked to be whole. The programs are `cat`, `base64`, `dd conv=fsync` and `ls -l`, \
                each with its start, on the same disk. A write is durable when it is acknowledged."
            .to_owned(),
        columns: [
            "operation",
            "bound",
            "stored tree (`file:`)",
            "directory",
            "a program",
            "times the program",
        ]
        .map(str::to_owned)
        .to_vec(),
        rows: TASKS.into_iter().map(row).collect(),
        marks: marks.collect(),
    }
}
