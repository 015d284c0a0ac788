//! What trials run with: the release, the machine, the interpreter of the stages and the commit of their directory.

use std::path::Path;
use std::process::{Command, Stdio};

use stagetune::study::Owner;

use crate::file::{Pipeline, find_program};
use crate::host;

/// Programs that run scripts, by how their names begin.
const INTERPRETERS: [&str; 6] = ["python", "Rscript", "julia", "node", "perl", "ruby"];

/// Who this process is.
pub(super) fn this_process(pipeline: &Pipeline) -> Owner {
    Owner {
        release: env!("CARGO_PKG_VERSION").to_owned(),
        host: host::name().to_owned(),
        process: std::process::id(),
        interpreter: interpreter(pipeline),
        commit: commit(&pipeline.root),
    }
}

/// The first interpreter among the stages' programs, with its version and its path.
fn interpreter(pipeline: &Pipeline) -> Option<String> {
    let programs = pipeline.stages.iter().filter_map(|stage| stage.run.first());
    let program = programs.map(|program| program.source.as_str()).find(|program| {
        let name = Path::new(program).file_name().and_then(|name| name.to_str()).unwrap_or_default();
        INTERPRETERS.iter().any(|known| name.starts_with(known))
    })?;
    let path = find_program(program, &pipeline.root)?;
    let version = first_line(Command::new(&path).arg("--version").current_dir(&pipeline.root));
    Some(format!("{} ({})", version.unwrap_or_else(|| "unknown version".to_owned()), path.display()))
}

/// The commit that the pipeline's directory stands at, if git knows.
fn commit(root: &Path) -> Option<String> {
    let commit = first_line(Command::new("git").args(["rev-parse", "HEAD"]).current_dir(root))?;
    let is_hash = commit.len() >= 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hash.then_some(commit)
}

/// The first line of what a command says, without control characters; some interpreters say their version as an error.
fn first_line(command: &mut Command) -> Option<String> {
    let output = command.stdin(Stdio::null()).output().ok().filter(|output| output.status.success())?;
    let said = if output.stdout.is_empty() { output.stderr } else { output.stdout };
    let text = String::from_utf8_lossy(&said).into_owned();
    let line: String = text.lines().next()?.chars().filter(|c| !c.is_control()).take(200).collect();
    (!line.is_empty()).then_some(line)
}
