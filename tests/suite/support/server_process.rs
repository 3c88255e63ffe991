//! Buildoff in a separate process, which a test can kill.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

use serde_json::Value;

use super::db::TestDb;

pub struct TestServerProcess {
    process: Child,
    pub url: String,
    /// Where the metrics are, if they have an address of their own.
    pub metrics_url: Option<String>,
    output: Arc<Mutex<String>>,
    reader: Option<JoinHandle<()>>,
}

impl TestServerProcess {
    /// Starts the program with these environment variables in addition to those that every test needs.
    pub fn start(db: &TestDb, variables: &[(&str, &str)]) -> Self {
        Self::start_by(Command::new(env!("CARGO_BIN_EXE_buildoff")), db, variables)
    }

    /// Like [`Self::start`], with a soft limit of open files.
    pub fn start_with_open_files(limit: usize, db: &TestDb, variables: &[(&str, &str)]) -> Self {
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("ulimit -S -n {limit}; exec \"$0\""), env!("CARGO_BIN_EXE_buildoff")]);
        Self::start_by(shell, db, variables)
    }

    fn start_by(mut command: Command, db: &TestDb, variables: &[(&str, &str)]) -> Self {
        let mut process = command
            .env("DATABASE_URL", db.url())
            .env_remove("DATA_DIR")
            .env("BIND", "127.0.0.1:0")
            .env("LOG_FORMAT", "json")
            .env("LOG", "info")
            .env("RATE_LIMITS", "off")
            .env("MIN_DWELL_MS", "0")
            .envs(variables.iter().copied())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stderr.take().unwrap()).lines().map_while(Result::ok);
        let mut before = String::new();
        let mut logged = |name: &str| {
            lines.find_map(|line| {
                let entry: Value = serde_json::from_str(&line).unwrap_or_default();
                before += &line;
                entry[name].as_str().map(str::to_owned)
            })
        };
        let url = logged("url");
        let has_own_metrics = variables.iter().any(|(name, _)| *name == "METRICS_BIND");
        let metrics_url = if has_own_metrics { logged("metrics") } else { None };
        let output = Arc::new(Mutex::new(before));
        let log = Arc::clone(&output);
        // The output is read to its end, since a full pipe would block the program.
        let reader = thread::spawn(move || lines.for_each(|line| log.lock().unwrap().push_str(&line)));
        let url =
            url.unwrap_or_else(|| panic!("the program did not log its URL: {}", output.lock().unwrap()));
        Self { process, url, metrics_url, output, reader: Some(reader) }
    }

    /// Everything that the program has logged so far.
    pub fn log(&self) -> String {
        self.output.lock().unwrap().clone()
    }

    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// Stops the program with Ctrl-C's signal, and waits for its orderly shutdown. Then its log is complete.
    pub fn stop(&mut self) {
        self.interrupt();
        self.wait();
    }

    /// Sends Ctrl-C's signal.
    pub fn interrupt(&self) {
        let pid = rustix::process::Pid::from_child(&self.process);
        rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    }

    /// Waits until the program has ended. Then its log is complete.
    pub fn wait(&mut self) {
        let _ = self.process.wait();
        if let Some(reader) = self.reader.take() {
            reader.join().unwrap();
        }
    }

    /// Kills the program, so that it cannot clean up.
    pub fn kill(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Drop for TestServerProcess {
    fn drop(&mut self) {
        self.kill();
    }
}
