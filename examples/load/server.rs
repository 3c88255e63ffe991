//! The server under load: a new installation in a directory that is removed afterwards.

use std::fs::{self, File};
use std::io::Write;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::client::LoadClient;
use crate::prefill;

pub const DISABLED_SETTINGS: [&str; 4] =
    ["RATE_LIMITS=off", "MIN_DWELL_MS=0", "REFERENCE_MODELS=off", "COHORT_PERCENT=0"];

/// The longest time for a server to start.
const STARTUP_TIMEOUT: Duration = Duration::from_secs(60);

#[derive(Clone, Copy)]
pub struct LoadDataset {
    pub models: usize,
    pub prompts: usize,
}

pub struct LoadServer {
    pub address: SocketAddr,
    program: PathBuf,
    pub dir: PathBuf,
    /// The servers with their addresses.
    children: Vec<(SocketAddr, Child)>,
    proxy: Option<Child>,
}

/// The result of a command of the program.
pub struct LoadCommandOutput {
    pub succeeded: bool,
    pub output: String,
}

impl LoadServer {
    pub async fn start(
        program: &Path,
        parent: &Path,
        dataset: LoadDataset,
        votes: usize,
        servers: usize,
    ) -> Result<Self> {
        let program =
            program.canonicalize().with_context(|| format!("{} does not exist", program.display()))?;
        let dir = new_dir(parent)?;
        // If votes are written, only a few builds are imported, and `prefill` copies them.
        let imported = if votes > 0 { LoadDataset { models: 4, prompts: 6 } } else { dataset };
        imported.write(&dir)?;
        let imported = run(&program, &dir, &["import", &dir.join("specs").to_string_lossy()], None)?;
        ensure!(imported.succeeded, "the import failed: {}", imported.output);
        if votes > 0 {
            println!("Writing {votes} votes");
            prefill::write(&dir, &dataset, votes).await?;
        }
        let mut children = Vec::new();
        for _ in 0..servers.max(1) {
            let address = free_address()?;
            children.push((address, spawn(&program, &dir, address)?));
        }
        let proxy = match &children[..] {
            [_] => None,
            several => Some(start_nginx(&dir, several.iter().map(|(address, _)| *address))?),
        };
        let address = proxy.as_ref().map_or(children[0].0, |(address, _)| *address);
        let mut server = Self { address, program, dir, children, proxy: proxy.map(|(_, child)| child) };
        server.wait().await?;
        Ok(server)
    }

    /// Kills and restarts the first server. The server of the database is another process and keeps running.
    pub async fn kill_and_restart(&mut self) -> Result<()> {
        let (address, child) = &mut self.children[0];
        child.kill()?;
        child.wait()?;
        println!("  killed");
        *child = spawn(&self.program, &self.dir, *address)?;
        self.wait().await?;
        println!("  up again");
        Ok(())
    }

    /// Restarts all servers with their database.
    pub async fn restart(&mut self) -> Result<()> {
        self.interrupt()?;
        for (address, child) in &mut self.children {
            *child = spawn(&self.program, &self.dir, *address)?;
        }
        self.wait().await
    }

    /// Runs a command of the program on the same data.
    pub fn run_command(&self, arguments: &[&str]) -> Result<LoadCommandOutput> {
        run(&self.program, &self.dir, arguments, None)
    }

    /// Replays a log without a database.
    pub fn replay(&self, log: &[u8]) -> Result<LoadCommandOutput> {
        run(&self.program, &self.dir, &["recompute", "--from", "-"], Some(log))
    }

    pub fn stop(mut self) -> Result<()> {
        self.interrupt()?;
        if let Some(mut proxy) = self.proxy.take() {
            interrupt_process(&proxy)?;
            proxy.wait()?;
        }
        fs::remove_dir_all(&self.dir).context("cannot remove the data directory")
    }

    fn interrupt(&mut self) -> Result<()> {
        for (_, child) in &self.children {
            interrupt_process(child)?;
        }
        for (_, child) in &mut self.children {
            child.wait()?;
        }
        Ok(())
    }

    async fn wait(&mut self) -> Result<()> {
        let begun = Instant::now();
        loop {
            let mut ready = 0;
            for address in self.children.iter().map(|(address, _)| *address).chain([self.address]) {
                let answer = LoadClient::new(address).get("/readyz").await;
                ready += usize::from(answer.is_ok_and(|answer| answer.status == 200));
            }
            if ready == self.children.len() + 1 {
                return Ok(());
            }
            let gone = self.children.iter_mut().any(|(_, child)| !matches!(child.try_wait(), Ok(None)));
            if gone || begun.elapsed() > STARTUP_TIMEOUT {
                let log = fs::read_to_string(self.dir.join("server.log")).unwrap_or_default();
                bail!("the server did not start. Its log:\n{log}");
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

impl Drop for LoadServer {
    fn drop(&mut self) {
        if self.children.iter_mut().any(|(_, child)| matches!(child.try_wait(), Ok(None))) {
            let _ = self.interrupt();
        }
        if let Some(proxy) = &mut self.proxy {
            let _ = interrupt_process(proxy);
            let _ = proxy.wait();
        }
    }
}

fn interrupt_process(child: &Child) -> Result<()> {
    let pid = Pid::from_raw(child.id().cast_signed()).context("the server has no process id")?;
    Ok(kill_process(pid, Signal::INT)?)
}

/// Starts nginx with docs/nginx.conf, at other addresses.
fn start_nginx(dir: &Path, servers: impl Iterator<Item = SocketAddr>) -> Result<(SocketAddr, Child)> {
    let address = free_address()?;
    let upstream: String = servers.map(|server| format!("server {server};\n")).collect();
    let example = include_str!("../../docs/nginx.conf");
    let lines = example.lines().filter(|line| !line.trim_start().starts_with("server app"));
    let conf = lines.collect::<Vec<_>>().join("\n");
    let conf = conf.replace("least_conn;", &format!("least_conn;\n{upstream}"));
    let conf = conf.replace("listen 8080;", &format!("listen {address};"));
    let file = dir.join("nginx.conf");
    fs::write(
        &file,
        format!("daemon off;\npid {}/nginx.pid;\nerror_log stderr warn;\n{conf}", dir.display()),
    )?;
    let log = File::create(dir.join("nginx.log"))?;
    let mut nginx = Command::new("nginx");
    nginx.arg("-c").arg(&file).stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
    let child = nginx.spawn().context("cannot start nginx; install it with apt install nginx-light")?;
    Ok((address, child))
}

/// A new directory that other users can enter, because the server of the database runs as another user.
fn new_dir(parent: &Path) -> Result<PathBuf> {
    let dir = parent.canonicalize()?.join(format!("buildoff-load-{}", std::process::id()));
    fs::create_dir(&dir)?;
    fs::set_permissions(&dir, fs::Permissions::from_mode(0o755))?;
    Ok(dir)
}

fn command(program: &Path, dir: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(dir).env_clear().env("DATA_DIR", dir).env("LOG_FORMAT", "json");
    for kept in ["PATH", "HOME", "PG_BIN_DIR"] {
        command.envs(std::env::var_os(kept).map(|value| (kept, value)));
    }
    command.env("TRUSTED_PROXIES", "127.0.0.1");
    command.envs(DISABLED_SETTINGS.iter().filter_map(|setting| setting.split_once('=')));
    command
}

fn spawn(program: &Path, dir: &Path, address: SocketAddr) -> Result<Child> {
    let log = File::options().create(true).append(true).open(dir.join("server.log"))?;
    let mut command = command(program, dir);
    command.env("BIND", address.to_string()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
    command.spawn().context("cannot start the server")
}

fn run(program: &Path, dir: &Path, arguments: &[&str], input: Option<&[u8]>) -> Result<LoadCommandOutput> {
    let mut command = command(program, dir);
    command
        .args(arguments)
        .env("LOG", "warn")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn()?;
    let mut stdin = child.stdin.take().context("no way in")?;
    let output = std::thread::scope(|scope| {
        scope.spawn(move || stdin.write_all(input.unwrap_or_default()));
        child.wait_with_output()
    })?;
    let printed = [output.stdout, output.stderr].concat();
    Ok(LoadCommandOutput {
        succeeded: output.status.success(),
        output: String::from_utf8_lossy(&printed).into_owned(),
    })
}

/// An address with a free port. Another process could take it before it is used, but hardly does.
fn free_address() -> Result<SocketAddr> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?)
}

impl LoadDataset {
    /// Writes a catalog and a build of every prompt by every model, which are the same in every run.
    fn write(&self, dir: &Path) -> Result<()> {
        let models = (0..self.models).map(|m| {
            format!("[[model]]\nkey = \"model_{m}\"\nprovider = \"load\"\nmodelId = \"{m}\"\ndisplayName = \"Model {m}\"\n")
        });
        fs::write(dir.join("models.toml"), models.collect::<String>())?;
        let prompts =
            (0..self.prompts).map(|p| format!("[[prompt]]\nslug = \"prompt-{p}\"\ntext = \"prompt {p}\"\n"));
        fs::write(dir.join("prompts.toml"), prompts.collect::<String>())?;
        let mut rng = StdRng::seed_from_u64(1);
        for prompt in 0..self.prompts {
            let folder = dir.join(format!("specs/prompt-{prompt}"));
            fs::create_dir_all(&folder)?;
            for model in 0..self.models {
                fs::write(folder.join(format!("model_{model}.json")), spec(&mut rng).to_string())?;
            }
        }
        Ok(())
    }
}

/// Two hundred boxes on a floor, which is about as long as answers of models for a small grid.
fn spec(rng: &mut StdRng) -> Value {
    const KINDS: [&str; 8] =
        ["stone", "bricks", "oak_planks", "glass", "red_wool", "sand", "oak_log", "iron_block"];
    let floor = json!({ "x1": 4, "y1": 0, "z1": 4, "x2": 27, "y2": 0, "z2": 27, "type": "grass_block" });
    let mut boxes = vec![floor];
    for _ in 0..200 {
        let [x, y, z] = [4..24, 1..20, 4..24].map(|range| rng.random_range::<i32, _>(range));
        let [dx, dy, dz] = [0, 1, 2].map(|_| rng.random_range(0..4));
        let kind = KINDS[rng.random_range(0..KINDS.len())];
        boxes.push(
            json!({ "x1": x, "y1": y, "z1": z, "x2": x + dx, "y2": y + dy, "z2": z + dz, "type": kind }),
        );
    }
    json!({ "version": "1.0", "boxes": boxes })
}
