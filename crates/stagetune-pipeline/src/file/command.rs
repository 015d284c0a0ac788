//! `run`: the arguments of a stage, with every placeholder looked up.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use stagetune::space::{Domain, Param, StageSet};
use toml::de::DeValue;

use super::code::{Argument, code_arguments, is_harmless};
use super::names::{clipped, listed, nearest};
use super::problem::Findings;
use super::reader::Text;
use super::stage::Draft;
use super::template::{Brace, Piece, Template, Token, tokens};

/// A command and where its arguments stand.
#[derive(Debug, Default)]
pub(super) struct Command {
    pub(super) run: Vec<Template>,
    pub(super) spans: Vec<Range<usize>>,
    /// Places where a directory of the study becomes part of code: its path must be harmless.
    pub(super) directories_in_code: Vec<Range<usize>>,
    /// Whether `{out}` is used.
    pub(super) uses_out: bool,
    /// Whether a placeholder could not be understood.
    pub(super) faulty: bool,
}

/// What placeholders of one stage can mean.
pub(super) struct Scope<'s, 't, 'i> {
    number: usize,
    drafts: &'s [Draft<'t, 'i>],
    /// The names that mean something here.
    known: BTreeMap<&'s str, Piece>,
}

/// More arguments than this belong into a file.
const MOST_ARGUMENTS: usize = 4096;

impl<'s, 't, 'i> Scope<'s, 't, 'i> {
    pub(super) fn new(number: usize, drafts: &'s [Draft<'t, 'i>], upstream: &StageSet) -> Self {
        let mut known: BTreeMap<&str, Piece> = BTreeMap::new();
        for earlier in upstream.iter() {
            if let Some(draft) = drafts.get(earlier) {
                known.insert(draft.name(), Piece::Stage(earlier));
            }
        }
        for (name, _) in drafts.get(number).into_iter().flat_map(|draft| &draft.params) {
            known.insert(name.get_ref(), Piece::Param(name.get_ref().clone()));
        }
        known.insert("out", Piece::Out);
        known.remove("");
        Self { number, drafts, known }
    }
}

/// Reads the command of a stage.
pub(super) fn read(scope: &Scope<'_, '_, '_>, findings: &mut Findings<'_>) -> Option<Command> {
    let draft = scope.drafts.get(scope.number)?;
    let title = &draft.section.title;
    let example = "run = [\"program\", \"--out\", \"{out}\"]";
    let example_value = "[\"program\", \"--out\", \"{out}\"]";
    let node = draft.section.needs("run", "which command does it run?", example_value, findings)?;
    if let DeValue::String(line) = node.get_ref() {
        findings.error(
            &node.span(),
            format!("`run` of {title} is one text, but there is no shell that would take it apart"),
            match split(line) {
                Some(words) => format!("write one text for each argument: run = [{words}]"),
                None => format!("write one text for each argument: {example}"),
            },
        );
        return None;
    }
    let texts = findings.read_texts(node, &format!("`run` of {title}"), example)?;
    if texts.is_empty() {
        if node.get_ref().as_array().is_some_and(|items| items.is_empty()) {
            findings.error(&node.span(), format!("`run` of {title} is empty"), format!("write {example}"));
        }
        return None;
    }
    if let Some(more) = texts.get(MOST_ARGUMENTS) {
        let message = format!("`run` of {title} has more than {MOST_ARGUMENTS} arguments");
        findings.error(&more.span(), message, "put them into a file and name it in `inputs`");
        return None;
    }
    let mut command = Command::default();
    let before = findings.count();
    for text in &texts {
        if findings.is_full() {
            return None;
        }
        command.spans.push(text.span());
        command.run.push(argument(text, scope, findings));
    }
    command.faulty = findings.count() > before;
    check_program(texts.first()?, command.run.first()?, title, findings);
    command.uses_out = command.run.iter().flat_map(Template::holes).any(|hole| *hole == Piece::Out);
    check_code(&mut command, &draft.params, findings);
    warn_of_shell_habits(&texts, &command, findings);
    let used: BTreeSet<&str> = command
        .run
        .iter()
        .flat_map(Template::holes)
        .filter_map(|hole| if let Piece::Param(name) = hole { Some(name.as_str()) } else { None })
        .collect();
    for (name, _) in draft.params.iter().filter(|(name, _)| !used.contains(name.get_ref().as_str())) {
        let shown = clipped(name.get_ref());
        findings.warn(
            &name.span(),
            format!("the parameter `{shown}` is never used: tuning it changes nothing but the cost"),
            format!("put `{{{shown}}}` into `run`, or remove the parameter"),
        );
    }
    Some(command)
}

/// One argument; what is wrong with it is reported and left as text.
fn argument(text: &Text, scope: &Scope<'_, '_, '_>, findings: &mut Findings<'_>) -> Template {
    let source = text.get_ref().clone();
    let tokens = match tokens(&source) {
        Ok(tokens) => tokens,
        Err((brace, part)) => {
            let (message, help) = match brace {
                Brace::Open => {
                    ("a `{` without its `}`", "write `{{` for a brace, `{name}` for a placeholder")
                }
                Brace::Close => {
                    ("a `}` without its `{`", "write `}}` for a brace, `{name}` for a placeholder")
                }
                Brace::Empty => {
                    ("`{}` names nothing", "write `{{}}` for the two braces, `{name}` for a placeholder")
                }
            };
            findings.error(&findings.inside(text, part), message, help);
            return Template { source, pieces: Vec::new() };
        }
    };
    let mut pieces = Vec::new();
    for (token, part) in tokens {
        match token {
            Token::Text(text) => pieces.push(Piece::Text(text)),
            Token::Hole(_) if findings.is_full() => break,
            Token::Hole(name) => match scope.known.get(name.as_str()) {
                Some(piece) => pieces.push(piece.clone()),
                None => {
                    let variable = part.start > 0 && source.as_bytes().get(part.start - 1) == Some(&b'$');
                    let (message, help) = scope.explain(&name, variable);
                    findings.error(&findings.inside(text, part), message, help);
                }
            },
        }
    }
    Template { source, pieces }
}

impl Scope<'_, '_, '_> {
    /// Why a placeholder means nothing, and what to write.
    fn explain(&self, name: &str, variable: bool) -> (String, String) {
        let shown = clipped(name);
        let own = self.drafts.get(self.number);
        let title = own.map_or("this stage", |draft| draft.section.title.as_str());
        if !name.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c)) {
            let bare = name.split([':', '.', '[', '!', '=']).next().unwrap_or(name).trim();
            return match self.known.contains_key(bare) {
                true => (
                    format!(
                        "`{{{shown}}}` is not a placeholder: there is nothing but a name between the braces"
                    ),
                    format!("write `{{{}}}`; the value is put in as it is", clipped(bare)),
                ),
                false => (
                    format!("`{{{shown}}}` is not a placeholder"),
                    "write `{{` and `}}` for braces that are no placeholder".to_owned(),
                ),
            };
        }
        let stage_of = |number: usize| self.drafts.get(number).map_or("", Draft::name);
        if let Some(number) = (0..self.drafts.len()).find(|&number| stage_of(number) == name) {
            return match number.cmp(&self.number) {
                Ordering::Equal => (
                    format!("{title} cannot read its own finished output `{{{shown}}}`"),
                    "write `{out}` for the directory that it writes to".to_owned(),
                ),
                Ordering::Less => (
                    format!("{title} reads `{{{shown}}}` without coming after it"),
                    format!("add \"{shown}\" to its `after`"),
                ),
                Ordering::Greater => (
                    format!("{title} reads `{{{shown}}}`, which runs later"),
                    format!("move the [[stage]] of `{shown}` above this one, or remove the placeholder"),
                ),
            };
        }
        let owner =
            self.drafts.iter().find(|draft| draft.params.iter().any(|(param, _)| param.get_ref() == name));
        if let Some(owner) = owner {
            return (
                format!("`{{{shown}}}` is a parameter of stage `{}`, not of this one", clipped(owner.name())),
                format!(
                    "move the parameter here, or let stage `{0}` write what is needed into its \
                        output and read `{{{0}}}`",
                    clipped(owner.name())
                ),
            );
        }
        let message = format!("{title} has nothing that `{{{shown}}}` could mean");
        let help = match nearest(name, self.known.keys().copied()) {
            _ if variable => format!(
                "there is no shell that would put in a variable: write its value, or `run = \
                    [\"sh\", \"-c\", \"… ${{{{{shown}}}}}\"]`"
            ),
            Some(meant) => format!("did you mean `{{{}}}`?", clipped(meant)),
            None => format!(
                "add `{shown} = {{ float = [0.1, 2] }}` to its [stage.params]; known here are {}; \
                    `{{{{` is a brace",
                listed(self.known.keys().copied())
            ),
        };
        (message, help)
    }
}

/// The program must be known before anything runs, or come out of a stage.
fn check_program(text: &Text, program: &Template, title: &str, findings: &mut Findings<'_>) {
    let help = "write the program's name; a parameter can be its argument: run = \
        [\"env\", \"MODE={mode}\", \"program\", …]";
    for hole in program.holes() {
        match hole {
            Piece::Stage(_) if matches!(program.pieces.first(), Some(Piece::Stage(_))) => {}
            Piece::Stage(_) => findings.error(
                &text.span(),
                format!("the program of {title} names a stage's directory in its middle"),
                "write the directory first: \"{build}/bin/program\"",
            ),
            Piece::Out => findings.error(
                &text.span(),
                format!("the program of {title} lies in `{{out}}`, which is empty when it starts"),
                "write a program that is there, or the output of an earlier stage",
            ),
            _ => findings.error(&text.span(), format!("the program of {title} depends on a parameter"), help),
        }
    }
    if program.as_literal().is_some_and(|name| name.trim().is_empty()) {
        findings.error(
            &text.span(),
            format!("the program of {title} is empty"),
            "write its name, such as \"python3\"",
        );
    }
}

/// Placeholders inside code must stand for harmless texts only.
fn check_code(command: &mut Command, params: &[(Text, Option<Param>)], findings: &mut Findings<'_>) {
    let domain = |name: &str| {
        params
            .iter()
            .find(|(known, _)| known.get_ref() == name)
            .and_then(|(_, param)| param.as_ref())
            .map(Param::domain)
    };
    let known: Vec<Argument<'_>> = command.run.iter().map(|template| known(template, &domain)).collect();
    let code = code_arguments(&known);
    for ((template, span), _) in command.run.iter().zip(&command.spans).zip(&code).filter(|(_, code)| **code)
    {
        for hole in template.holes() {
            match hole {
                Piece::Param(name) => {
                    let Some(Domain::Choice(values)) = domain(name) else { continue };
                    let Some(bad) = values.iter().find(|value| !is_harmless(value)) else { continue };
                    findings.error(
                        span,
                        format!(
                            "`{{{name}}}` is put into code, where its value \"{}\" would not stay a \
                                plain text",
                            clipped(bad)
                        ),
                        remedy(name),
                    );
                }
                _ => command.directories_in_code.push(span.clone()),
            }
        }
    }
}

/// How a value gets into code without becoming code.
pub(super) fn remedy(name: &str) -> String {
    format!(
        "pass it as a further argument, which a shell reads as $1 and Python as sys.argv[1]:\nrun = \
            [\"sh\", \"-c\", \"program \\\"$1\\\"\", \"sh\", \"{{{name}}}\"]"
    )
}

/// An argument as far as it is known.
fn known<'a>(template: &'a Template, domain: &impl Fn(&str) -> Option<&'a Domain>) -> Argument<'a> {
    let text = |piece: Option<&'a Piece>| match piece {
        Some(Piece::Text(text)) => text.as_str(),
        _ => "",
    };
    match &template.pieces[..] {
        [] => Argument::Fixed(""),
        [Piece::Text(text)] => Argument::Fixed(text),
        [Piece::Param(name)] => match domain(name) {
            Some(Domain::Choice(values)) => Argument::OneOf(values),
            Some(_) => Argument::Plain,
            None => Argument::Between("", ""),
        },
        pieces => Argument::Between(text(pieces.first()), text(pieces.last())),
    }
}

/// What a shell would do with an argument and a bare program does not.
fn warn_of_shell_habits(texts: &[Text], command: &Command, findings: &mut Findings<'_>) {
    for (text, template) in texts.iter().zip(&command.run).skip(1) {
        let Some(argument) = template.as_literal() else { continue };
        let habit = match argument {
            "|" | "||" | "&&" | ">" | ">>" | "<" | ";" | "&" | "2>&1" | "2>" => "joins commands",
            argument if argument.starts_with("~/") => "stands for the home directory",
            argument if argument.starts_with('$') && argument.len() > 1 && !argument.contains(' ') => {
                "is a variable"
            }
            _ => continue,
        };
        findings.warn(
            &text.span(),
            format!("`{}` {habit} in a shell only; here the program gets it as it stands", clipped(argument)),
            "write a stage for each command, or run a shell: run = [\"sh\", \"-c\", \"…\"]",
        );
    }
}

/// A command line as quoted words, if it is plain enough to be taken apart.
fn split(line: &str) -> Option<String> {
    let plain =
        line.len() <= 200 && !line.contains(['"', '\'', '\\', '|', '&', ';', '<', '>', '$', '`', '*', '\n']);
    let words: Vec<String> = line.split_whitespace().map(|word| format!("\"{}\"", clipped(word))).collect();
    (plain && !words.is_empty()).then(|| words.join(", "))
}
