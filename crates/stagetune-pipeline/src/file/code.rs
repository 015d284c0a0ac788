//! Arguments that a program reads as code: what is put into them must not mean anything to a shell or an interpreter.
//!
//! Commands are started without a shell, so a value stays inside its argument. The one way out of it is a command that is itself a shell or an
//! interpreter and is handed its code as an argument, as in `["bash", "-c", "train --lr {lr}"]`. There a placeholder may only stand for texts of
//! harmless characters. Wrappers such as `env`, `timeout` or `nice` hide nothing: the interpreter is looked for in every argument.

use std::sync::Arc;

/// Whether every character is one that no shell and no interpreter treats as more than itself.
pub(super) fn is_harmless(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_alphanumeric() || b"_./:+,@%=-".contains(&b))
}

/// An argument as far as it is known before anything runs.
#[derive(Clone, Copy, Debug)]
pub(super) enum Argument<'a> {
    /// This text.
    Fixed(&'a str),
    /// One of these texts.
    OneOf(&'a [Arc<str>]),
    /// A number, `true` or `false`.
    Plain,
    /// Something between these two texts.
    Between(&'a str, &'a str),
}

/// Which arguments are read as code.
pub(super) fn code_arguments(arguments: &[Argument<'_>]) -> Vec<bool> {
    let mut code = vec![false; arguments.len()];
    let mut kind: Option<Interpreter> = None;
    let (mut next_is_code, mut value_of_flag) = (false, false);
    for (argument, is_code) in arguments.iter().zip(code.iter_mut()) {
        if next_is_code {
            *is_code = true;
            next_is_code = false;
            continue;
        }
        match kind {
            Some(Interpreter::Remote) => *is_code = true,
            Some(Interpreter::First) => {
                let flag = argument.can(|text| text.starts_with('-'));
                *is_code = !flag || matches!(argument, Argument::OneOf(_));
                if *is_code && !matches!(argument, Argument::OneOf(_)) {
                    kind = None;
                }
            }
            Some(Interpreter::Flags(flags)) => {
                *is_code = argument.can(|text| flags.holds_code(text));
                next_is_code = argument.can(|text| flags.asks_for_code(text));
                if let Argument::Between(start, _) = argument {
                    // `-{flag}` may turn out as `-c`, and `-c{code}` is code already.
                    *is_code |= next_is_code;
                    next_is_code |= matches!(*start, "-" | "--");
                }
                // What follows the name of a script belongs to the script.
                let flag = argument
                    .can(|text| text.starts_with(['-', '+']) || (text.starts_with('/') && text.len() < 4));
                if flags.script && !flag && !next_is_code && !value_of_flag {
                    kind = None;
                }
                value_of_flag = argument.can(takes_value);
            }
            None => {}
        }
        if let Some(found) = argument.program() {
            kind = Some(found);
        }
    }
    code
}

impl Argument<'_> {
    /// Whether something holds for one of the texts that it can be, or for how it starts.
    fn can(&self, holds: impl Fn(&str) -> bool) -> bool {
        match self {
            Self::Fixed(text) => holds(text),
            Self::OneOf(texts) => texts.iter().any(|text| holds(text)),
            Self::Plain => false,
            Self::Between(start, _) => holds(start),
        }
    }

    /// The interpreter that it can name.
    fn program(&self) -> Option<Interpreter> {
        match self {
            Self::Fixed(text) => interpreter(text),
            Self::OneOf(texts) => texts.iter().find_map(|text| interpreter(text)),
            Self::Plain => None,
            Self::Between(_, end) => interpreter(end),
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Interpreter {
    /// Code follows a flag.
    Flags(Flags),
    /// The first argument that is no flag is code.
    First,
    /// All arguments are joined and read by a shell elsewhere.
    Remote,
}

#[derive(Clone, Copy, Debug)]
struct Flags {
    /// Letters that ask for code, alone or at the end of a bundle such as `-lc`.
    letters: &'static str,
    /// Words that ask for code, without their dashes.
    words: &'static [&'static str],
    /// Whether an argument that is no flag names a script, which takes the arguments after it.
    script: bool,
}

impl Flags {
    /// Whether the argument after this one is code.
    fn asks_for_code(self, text: &str) -> bool {
        if let Some(word) = text.strip_prefix("--") {
            return self.words.contains(&word);
        }
        let Some(bundle) = text.strip_prefix(['-', '/']) else { return self.words.contains(&text) };
        self.words.iter().any(|word| word.eq_ignore_ascii_case(bundle))
            || (bundle.len() <= 8
                && bundle.chars().any(|c| self.letters.contains(c))
                && bundle.chars().all(char::is_alphanumeric))
    }

    /// Whether the argument is itself a flag with its code, such as `--eval=…` or `-e…`.
    fn holds_code(self, text: &str) -> bool {
        if let Some(word) = text.strip_prefix("--") {
            return word.split_once('=').is_some_and(|(word, _)| self.words.contains(&word));
        }
        let Some(bundle) = text.strip_prefix('-') else { return false };
        bundle.chars().take_while(|c| c.is_ascii_alphabetic()).any(|c| self.letters.contains(c))
            && !self.asks_for_code(text)
    }
}

/// Whether the argument after this flag is its value, as in `bash -o pipefail` or `python -W ignore`.
fn takes_value(text: &str) -> bool {
    let bundle = text.strip_prefix(['-', '+']).unwrap_or("");
    matches!(bundle, "-require" | "-import" | "-init-file" | "-rcfile")
        || (bundle.ends_with(['o', 'O', 'W', 'X', 'r', 'I'])
            && bundle.chars().all(|c| c.is_ascii_alphabetic()))
}

/// What a program of this path does with its arguments, if it reads some of them as code.
fn interpreter(path: &str) -> Option<Interpreter> {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path).to_ascii_lowercase();
    let name = name.strip_suffix(".exe").unwrap_or(&name);
    // `python3.12` and `lua5.4` are `python` and `lua`.
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
    let flags = |letters, words| Some(Interpreter::Flags(Flags { letters, words, script: true }));
    let anywhere = |letters, words| Some(Interpreter::Flags(Flags { letters, words, script: false }));
    match bare {
        "sh" | "bash" | "rbash" | "dash" | "ash" | "zsh" | "ksh" | "mksh" | "csh" | "tcsh" | "fish"
        | "nu" | "elvish" | "xonsh" => flags("c", &["command", "commands"]),
        "su" | "runuser" | "script" | "flock" => anywhere("c", &["command"]),
        "python" | "pythonw" | "pypy" | "ipython" => flags("c", &[]),
        "perl" => flags("eE", &[]),
        "ruby" | "lua" | "luajit" | "rscript" | "osascript" | "elixir" | "racket" | "guile" => {
            flags("e", &["eval"])
        }
        "julia" | "node" | "nodejs" | "bun" => flags("eEp", &["eval", "print"]),
        "r" => flags("e", &[]),
        "deno" => flags("", &["eval"]),
        "php" => flags("rBRE", &["run"]),
        "octave" | "octave-cli" | "matlab" => anywhere("r", &["eval", "batch"]),
        "pwsh" | "powershell" => flags("c", &["command", "encodedcommand"]),
        "cmd" => flags("cCkK", &[]),
        "psql" | "mysql" | "duckdb" => anywhere("ce", &["command", "execute"]),
        "awk" | "gawk" | "mawk" | "nawk" | "sed" | "gsed" | "jq" => Some(Interpreter::First),
        "ssh" | "rsh" | "mosh" | "watch" | "parallel" => Some(Interpreter::Remote),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `{}` stands for something that is not known.
    fn code(arguments: &[&str]) -> Vec<bool> {
        let known = |text: &&'static str| match text.split_once("{}") {
            Some((start, end)) => Argument::Between(start, end),
            None => Argument::Fixed(text),
        };
        let arguments: Vec<&'static str> = arguments.iter().map(|text| &*text.to_string().leak()).collect();
        code_arguments(&arguments.iter().map(known).collect::<Vec<_>>())
    }

    #[test]
    fn the_argument_after_the_flag_of_an_interpreter_is_code() {
        for command in [
            ["bash", "-c", "x"],
            ["/bin/sh", "-ec", "x"],
            ["python3.12", "-c", "x"],
            ["perl", "-ne", "x"],
            ["node", "--eval", "x"],
            ["Rscript", "-e", "x"],
            ["fish", "--command", "x"],
            ["deno", "eval", "x"],
            ["{}/bin/python", "-c", "x"],
            ["bash", "-{}", "x"],
        ] {
            assert_eq!(code(&command), [false, false, true], "{command:?}");
        }
    }

    #[test]
    fn wrappers_hide_nothing() {
        assert_eq!(code(&["env", "A=1", "timeout", "9", "bash", "-c", "x", "y"])[6..], [true, false]);
        assert_eq!(code(&["bash", "-eo", "pipefail", "-c", "x"])[4..], [true]);
        assert_eq!(code(&["python", "-W", "ignore", "-c", "x"])[4..], [true]);
        assert_eq!(code(&["su", "user", "-c", "x"])[3..], [true]);
        assert_eq!(code(&["ssh", "host", "x", "y"]), [false, true, true, true]);
        assert_eq!(code(&["awk", "-v", "x", "y"])[2..], [true, false]);
        assert_eq!(code(&["node", "--eval={}"]), [false, true]);
        assert_eq!(code(&["perl", "-e{}"]), [false, true]);
    }

    #[test]
    fn scripts_and_their_arguments_are_not_code() {
        for command in [
            &["python3", "train.py", "--lr", "{}"][..],
            &["bash", "run.sh", "{}"],
            &["microct", "-c", "{}"],
            &["python", "-m", "train", "{}"],
            &["bash", "-x", "{}"],
            &["python3", "train.py", "-c", "{}"],
            &["bash", "-e", "run.sh", "-c", "{}"],
        ] {
            assert!(code(command).iter().all(|code| !code), "{command:?}");
        }
    }

    #[test]
    fn harmless_texts_have_no_character_with_a_meaning() {
        assert!(is_harmless("a_b./:+,@%=-9") && is_harmless(""));
        for text in [
            "a b", "a;b", "$a", "`", "a\"", "'", "(", "a\nb", "é", "*", "~", "#", "\\", "{", "&", "|", "<",
            "!",
        ] {
            assert!(!is_harmless(text), "{text}");
        }
    }
}
