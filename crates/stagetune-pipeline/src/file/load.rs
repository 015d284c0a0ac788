//! What only the disk can tell: whether inputs and programs are there, and where links lead.

use std::path::{Path, PathBuf};

use super::check::{Checked, MOST_BYTES, check};
use super::code::is_harmless;
use super::command::remedy;
use super::names::{clipped, nearest};
use super::paths::{Bounds, normal};
use super::pipeline::Pipeline;
use super::problem::{FileError, Findings, Problem};

impl Pipeline {
    /// Reads and checks a file, and what it names on this machine.
    pub fn load(path: &Path) -> Result<Self, FileError> {
        Self::load_with_warnings(path).map(|(pipeline, _)| pipeline)
    }

    /// The same, with what works but may surprise.
    pub fn load_with_warnings(path: &Path) -> Result<(Self, Vec<Problem>), FileError> {
        let (text, root) = text_and_root(path)?;
        let mut findings = Findings::new(&text);
        let checked = check(path, &root, &mut findings);
        if let Some(checked) = &checked {
            check_disk(checked, &mut findings);
        }
        finish(checked, path, findings)
    }

    /// Reads a file without a look at what it names: to show a study whose inputs or programs may be gone.
    pub fn read(path: &Path) -> Result<Self, FileError> {
        let (text, root) = text_and_root(path)?;
        Self::parse(&text, path, &root)
    }

    /// Checks a text without a look at any file; `file` is what messages call it, `root` the
    /// directory that holds it.
    pub fn parse(text: &str, file: &Path, root: &Path) -> Result<Self, FileError> {
        Self::parse_with_warnings(text, file, root).map(|(pipeline, _)| pipeline)
    }

    /// The same, with what works but may surprise.
    pub fn parse_with_warnings(
        text: &str,
        file: &Path,
        root: &Path,
    ) -> Result<(Self, Vec<Problem>), FileError> {
        let mut findings = Findings::new(text);
        let checked = check(file, root, &mut findings);
        finish(checked, file, findings)
    }
}

/// Where a program is: a bare name on `PATH` or beside the running executable, a path from the root
/// otherwise.
pub fn find_program(name: &str, root: &Path) -> Option<PathBuf> {
    candidates(name, root).into_iter().find(|path| is_executable(path))
}

fn candidates(name: &str, root: &Path) -> Vec<PathBuf> {
    if name.contains('/') {
        return vec![root.join(name)];
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&path).map(|folder| root.join(folder).join(name));
    let beside = std::env::current_exe().ok().and_then(|exe| exe.parent().map(|folder| folder.join(name)));
    on_path.chain(beside).collect()
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|facts| facts.is_file() && facts.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(path: &Path) -> bool {
    path.is_file() || path.with_extension("exe").is_file()
}

fn finish(
    checked: Option<Checked>,
    file: &Path,
    findings: Findings<'_>,
) -> Result<(Pipeline, Vec<Problem>), FileError> {
    let warnings = findings.finish(file)?;
    match checked {
        Some(checked) => Ok((checked.pipeline, warnings)),
        // Nothing is refused without a reason; should it happen, it is an error of this program.
        None => Err(FileError {
            file: file.to_owned(),
            problems: vec![Problem::unread(
                "the file was refused without a reason, which is an error of stagetune".to_owned(),
                "please report it with the file".to_owned(),
            )],
        }),
    }
}

/// What stands in a file, and the directory that it stands in.
fn text_and_root(path: &Path) -> Result<(String, PathBuf), FileError> {
    let failed = |problem| FileError { file: path.to_owned(), problems: vec![problem] };
    let text = read(path).map_err(failed)?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let root = folder.canonicalize().map_err(|error| {
        let message = format!("the directory of the file cannot be found: {error}");
        failed(Problem::unread(message, "check that you may read it".to_owned()))
    })?;
    Ok((text, root))
}

/// The text of a file, or where it stops being text.
fn read(path: &Path) -> Result<String, Problem> {
    use std::io::Read;
    let unread = |message: String, help: &str| Problem::unread(message, help.to_owned());
    let mut bytes = Vec::new();
    let most = MOST_BYTES as u64 + 1;
    let reading = std::fs::File::open(path).and_then(|file| file.take(most).read_to_end(&mut bytes));
    if let Err(error) = reading {
        use std::io::ErrorKind;
        return Err(match error.kind() {
            ErrorKind::NotFound => unread(
                "there is no such file".to_owned(),
                "check the name; `stagetune init` writes a file to start from",
            ),
            ErrorKind::IsADirectory => {
                unread("this is a directory".to_owned(), "name the file in it, such as pipeline.toml")
            }
            _ => unread(format!("the file cannot be read: {error}"), "check that you may read it"),
        });
    }
    if bytes.len() > MOST_BYTES {
        // Too long whatever it holds; the check says so.
        return Ok(String::from_utf8_lossy(&bytes).into_owned());
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let whole = String::from_utf8_lossy(error.as_bytes());
        let mut findings = Findings::new(&whole);
        let byte = error.as_bytes().get(at).copied().unwrap_or(0);
        findings.error(
            &(at..at + 1),
            format!("the byte 0x{byte:02x} is not UTF-8, the only encoding of TOML"),
            "save the file as UTF-8 in your editor",
        );
        match findings.finish(path) {
            Err(mut error) if !error.problems.is_empty() => error.problems.swap_remove(0),
            _ => unread("the file is not UTF-8".to_owned(), "save the file as UTF-8 in your editor"),
        }
    })
}

fn check_disk(checked: &Checked, findings: &mut Findings<'_>) {
    let Checked { pipeline, bounds, places } = checked;
    let real = Bounds {
        root: bounds.root.clone(),
        outside: bounds
            .outside
            .iter()
            .map(|folder| folder.canonicalize().unwrap_or(folder.clone()))
            .collect(),
    };
    for (stage, places) in pipeline.stages.iter().zip(places) {
        for (input, span) in stage.inputs.iter().zip(&places.inputs) {
            let shown = clipped(&input.to_string_lossy());
            match bounds.root.join(input).canonicalize() {
                Ok(path) if real.allow(&path) => {
                    if !path.is_file() && !path.is_dir() {
                        let message = format!("the input \"{shown}\" is neither a file nor a directory");
                        findings.error(
                            span,
                            message,
                            "name a file: pipes and devices have no content to compare",
                        );
                    }
                }
                Ok(path) => findings.error(
                    span,
                    format!("the input \"{shown}\" is a link that leads outside, to {}", path.display()),
                    format!(
                        "declare the directory in [study]: `outside = [\"{}\"]`",
                        path.parent().unwrap_or(&path).display()
                    ),
                ),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                    findings.error(
                        span,
                        format!("there is no file \"{shown}\""),
                        missing(&bounds.root.join(input)),
                    );
                }
                Err(error) => findings.error(
                    span,
                    format!("the input \"{shown}\" cannot be read: {error}"),
                    "check that you may read it",
                ),
            }
        }
        if let (Some(program), Some(span)) = (stage.run.first(), places.arguments.first())
            && let Some(name) = program.as_literal()
        {
            check_program(name, &real, span, findings);
        }
        for span in &places.directories_in_code {
            let root = bounds.root.to_string_lossy();
            if !is_harmless(&root) {
                findings.error(
                    span,
                    format!(
                        "a directory is put into code, and the path of this study, {}, has \
                        characters that could mean more there than themselves",
                        clipped(&root)
                    ),
                    remedy("out"),
                );
            }
        }
        for (argument, span) in stage.run.iter().zip(&places.arguments) {
            if let Some(text) = argument.as_literal() {
                warn_of_file(text, &stage.inputs, &bounds.root, span, findings);
            }
        }
    }
}

/// What to do about an input that is not there.
fn missing(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if name.contains(['*', '?']) {
        return "name the directory: wildcards are not expanded, and all of a directory counts".to_owned();
    }
    // A directory with more entries than this is not searched for a likely name.
    const MOST_ENTRIES: usize = 2000;
    let siblings: Vec<String> = path
        .parent()
        .and_then(|folder| folder.read_dir().ok())
        .into_iter()
        .flatten()
        .take(MOST_ENTRIES)
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    match nearest(&name, siblings.iter().map(String::as_str)) {
        Some(meant) => format!("did you mean \"{meant}\", in the same directory?"),
        None => "write its path from the directory of this file; what a stage makes is no input: \
            read it as {stage}"
            .to_owned(),
    }
}

fn check_program(name: &str, bounds: &Bounds, span: &std::ops::Range<usize>, findings: &mut Findings<'_>) {
    let shown = clipped(name);
    if name.contains('/') && !Path::new(name).is_absolute() {
        let path = normal(&bounds.root.join(name));
        if let Err((message, help)) = bounds.check(&path, name) {
            findings.error(span, format!("the program \"{shown}\" {message}"), help);
            return;
        }
        if let Ok(path) = path.canonicalize()
            && !bounds.allow(&path)
        {
            findings.error(
                span,
                format!("the program \"{shown}\" is a link that leads outside, to {}", path.display()),
                "write its whole path, or declare the directory in [study] with `outside`",
            );
            return;
        }
    }
    if find_program(name, &bounds.root).is_some() {
        return;
    }
    let there = candidates(name, &bounds.root).into_iter().find(|path| path.exists());
    match there {
        Some(path) if path.is_dir() && name.contains('/') => findings.error(
            span,
            format!("the program \"{shown}\" is a directory"),
            "write the path of a file that can be run",
        ),
        Some(path) if path.is_file() && name.contains('/') => findings.error(
            span,
            format!("the program \"{shown}\" cannot be run: it is not executable"),
            format!("run `chmod +x {shown}`, or start it by its interpreter: run = [\"sh\", \"{shown}\", …]"),
        ),
        _ if name.contains('/') => findings.error(
            span,
            format!("there is no program \"{shown}\""),
            "write its path from the directory of this file",
        ),
        _ if name.contains(char::is_whitespace) => findings.error(
            span,
            format!("there is no program \"{shown}\", with blanks in its name"),
            "write one text for each argument: run = [\"program\", \"argument\"]",
        ),
        _ if bounds.root.join(name).exists() => findings.error(
            span,
            format!("there is no program \"{shown}\" on the PATH"),
            format!("write \"./{shown}\" for the one beside this file"),
        ),
        _ => findings.error(
            span,
            format!("there is no program \"{shown}\" on the PATH"),
            "install it, or write its path",
        ),
    }
}

/// A file that a command reads and the cache does not know of.
fn warn_of_file(
    argument: &str,
    inputs: &[PathBuf],
    root: &Path,
    span: &std::ops::Range<usize>,
    findings: &mut Findings<'_>,
) {
    let value = argument.split_once('=').map_or(argument, |(_, value)| value);
    for typed in [argument, value] {
        let path = normal(&root.join(typed));
        let Ok(relative) = path.strip_prefix(root) else { continue };
        let plain = !typed.is_empty() && !typed.contains('\n') && typed.len() < 4096;
        if plain && path.is_file() && !inputs.iter().any(|input| relative.starts_with(input)) {
            let shown = clipped(&relative.to_string_lossy());
            findings.warn(
                span,
                format!(
                    "\"{shown}\" is a file that is not among the inputs: changes to it will not be noticed"
                ),
                format!("add it to the stage: `inputs = [\"{shown}\"]`"),
            );
            return;
        }
        let script =
            Path::new(typed).extension().is_some_and(|ending| SCRIPTS.iter().any(|known| ending == *known));
        if plain && script && !path.exists() {
            let shown = clipped(&relative.to_string_lossy());
            let help = "check the name: paths are taken from the directory of this file";
            findings.warn(span, format!("there is no file \"{shown}\", which looks like a script"), help);
            return;
        }
    }
}

/// Endings of files that interpreters are given.
const SCRIPTS: [&str; 8] = ["py", "sh", "R", "jl", "pl", "rb", "m", "js"];
