//! The pages of the book that come out of the command itself: its command line, and its strategies
//! with their options.
//!
//! The tests compare them with the files; `cargo xtask book --write` writes the files anew.

use crate::cli::Cli;
use clap::{Arg, Command, CommandFactory, Parser};
use stagetune::strategy::{NAMES, describe};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// The sources of the book.
const BOOK: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/src");

/// Set by `cargo xtask book --write`.
const WRITE: &str = "STAGETUNE_WRITE_REFERENCE";

/// What stands below the title of a page.
const BY_CODE: &str = "<!-- Written by `cargo xtask book --write`; a test compares it with the command. -->";

/// A command and those below it.
fn command_page(command: &Command, path: &str, page: &mut String) {
    let name = if path.is_empty() {
        command.get_name().to_owned()
    } else {
        format!("{path} {}", command.get_name())
    };
    let _ = writeln!(page, "\n## {name}\n");
    let about =
        command.get_long_about().or(command.get_about()).map(|about| about.to_string()).unwrap_or_default();
    let _ = writeln!(page, "{}\n", sentence(&about));
    let usage = command.clone().render_usage().to_string();
    let _ = writeln!(page, "```text\n{}\n```", usage.trim());
    let own = |arg: &&Arg| {
        !arg.is_hide_set()
            && (path.is_empty() || !arg.is_global_set())
            && !["help", "version"].contains(&arg.get_id().as_str())
    };
    let arguments: Vec<_> = command.get_arguments().filter(own).collect();
    if !arguments.is_empty() {
        let _ = writeln!(page, "\n| argument | meaning |\n| --- | --- |");
    }
    for argument in arguments {
        let _ = writeln!(page, "| {} | {} |", title(argument), cell(&meaning(argument)));
    }
    let after = command.get_after_long_help().or(command.get_after_help()).map(|help| help.to_string());
    for part in after.unwrap_or_default().split("\n\n").filter(|part| !part.is_empty()) {
        let (head, rest) = part.split_once('\n').unwrap_or((part, ""));
        match head.strip_suffix(':') {
            Some(head) if !rest.is_empty() => {
                let _ = writeln!(page, "\n{head}:\n\n```text\n{}\n```", unindented(rest));
            }
            _ => {
                let _ = writeln!(page, "\n{part}");
            }
        }
    }
    for inner in command.get_subcommands().filter(|inner| inner.get_name() != "help") {
        command_page(inner, &name, page);
    }
}

/// The words with their full stop, which clap takes away.
fn sentence(words: &str) -> String {
    if words.ends_with('.') { words.to_owned() } else { format!("{words}.") }
}

/// How an argument is written.
fn title(argument: &Arg) -> String {
    let value = argument.get_value_names().and_then(|names| names.first()).map(|name| name.to_string());
    let takes = argument.get_action().takes_values();
    let Some(long) = argument.get_long() else {
        return format!("`{}`", value.unwrap_or_else(|| argument.get_id().to_string()));
    };
    let short = argument.get_short().map(|short| format!("`-{short}`, ")).unwrap_or_default();
    match value.filter(|_| takes) {
        Some(value) => format!("{short}`--{long} {value}`"),
        None => format!("{short}`--{long}`"),
    }
}

/// What it means, what it can be, and what it is if it is not given.
fn meaning(argument: &Arg) -> String {
    let mut words = sentence(&argument.get_help().map(|help| help.to_string()).unwrap_or_default());
    let values: Vec<_> = argument
        .get_possible_values()
        .iter()
        .filter(|value| !value.is_hide_set())
        .map(|value| format!("`{}`", value.get_name()))
        .collect();
    if argument.get_action().takes_values() && !values.is_empty() {
        let _ = write!(words, " One of {}.", values.join(", "));
    }
    if let [default] = argument.get_default_values()
        && argument.get_action().takes_values()
    {
        let _ = write!(words, " Default: `{}`.", default.to_string_lossy());
    }
    words
}

/// Text in a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ").replace('<', "&lt;")
}

/// Lines without the spaces that all of them begin with.
fn unindented(text: &str) -> String {
    let spaces = |line: &str| line.len() - line.trim_start().len();
    let least = text.lines().map(spaces).min().unwrap_or(0);
    text.lines().map(|line| &line[least..]).collect::<Vec<_>>().join("\n")
}

fn command_line() -> String {
    let mut page = format!(
        "# The command line\n\n{BY_CODE}\n\nEvery command, as its `--help` has it. A pipeline file \
            is `pipeline.toml` unless you name another.\n"
    );
    let mut command = Cli::command();
    command.build();
    command_page(&command, "", &mut page);
    page
}

fn strategies() -> String {
    let mut page = format!(
        "# Strategies and their options\n\n{BY_CODE}\n\nA strategy is chosen by `strategy \
            = \"NAME\"` in `[study]`; without it, `auto` is. Its options stand in `[study.options]`, \
         a dot in a name opens a table. An option that is not given has its default. \
         [Strategies](../concepts/strategies.md) says which to take.\n"
    );
    for one in NAMES.iter().filter_map(|name| describe(name).ok()) {
        let _ = writeln!(page, "\n## {}\n\n{}\n", one.name, sentence(&capital(one.about)));
        if one.options.is_empty() {
            let _ = writeln!(page, "It has no options.");
            continue;
        }
        let _ = writeln!(page, "| option | default | meaning | takes |\n| --- | --- | --- | --- |");
        for option in &one.options {
            let (default, takes) = (cell(&option.default.to_string()), cell(option.takes));
            let _ = writeln!(page, "| `{}` | `{default}` | {} | {takes} |", option.name, cell(option.about));
        }
    }
    page
}

fn capital(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

#[track_caller]
fn assert_is_the_page(name: &str, page: &str) {
    let path = Path::new(BOOK).join("reference").join(name);
    if std::env::var_os(WRITE).is_some() {
        std::fs::write(&path, page).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    let differs = written.lines().zip(page.lines()).position(|(a, b)| a != b);
    assert!(
        written == page,
        "docs/src/reference/{name} is of before, see its line {:?}: run `cargo xtask book --write`",
        differs.map(|line| line + 1)
    );
}

#[test]
fn the_page_of_the_command_line_is_what_help_says() {
    assert_is_the_page("command-line.md", &command_line());
}

#[test]
fn the_page_of_strategies_is_what_the_catalogue_says() {
    assert_is_the_page("strategies.md", &strategies());
}

/// Every page of the book, and README.
fn pages() -> Vec<(PathBuf, String)> {
    let mut folders = vec![PathBuf::from(BOOK)];
    let mut found = vec![Path::new(BOOK).join("../../README.md")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "md") {
                found.push(path);
            }
        }
    }
    found.sort();
    found.into_iter().map(|path| (path.clone(), std::fs::read_to_string(path).unwrap())).collect()
}

/// The words of a command as a shell takes them, with quotes and up to a comment or a pipe.
fn words(command: &str) -> Vec<String> {
    let (mut found, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for letter in command.chars() {
        match (quote, letter) {
            (Some(open), letter) if letter == open => quote = None,
            (None, '"' | '\'') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (None, '#' | '|' | '>' | '&') if word.is_none() => break,
            (None, ' ') => found.extend(word.take()),
            (Some(_) | None, letter) => word.get_or_insert_default().push(letter),
        }
    }
    found.extend(word);
    found
}

#[test]
fn every_command_that_a_page_shows_is_understood() {
    let mut shown = 0;
    for (path, text) in pages() {
        for line in text.lines() {
            let Some(command) = line.strip_prefix("$ stagetune ") else { continue };
            let words = std::iter::once("stagetune".to_owned()).chain(words(command));
            let parsed = Cli::try_parse_from(words);
            let help = parsed.as_ref().is_err_and(|error| !error.use_stderr());
            assert!(help || parsed.is_ok(), "{}: {line}\n{parsed:?}", path.display());
            shown += 1;
        }
    }
    assert!(shown > 30, "{shown}");
}

#[test]
fn words_are_split_as_by_a_shell() {
    assert_eq!(words("note --trial 12 \"two words\"   # why"), ["note", "--trial", "12", "two words"]);
    assert_eq!(words("best --json | jq ."), ["best", "--json"]);
}
