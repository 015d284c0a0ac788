//! `run`: the arguments of a stage, with every placeholder looked up.

use std::collections::BTreeSet;
use std::ops::Range;

use lambo::space::{Domain, Param};
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
}

/// What placeholders of one stage can mean.
pub(super) struct Scope<'s, 't, 'i> {
    pub(super) number: usize,
    pub(super) drafts: &'s [Draft<'t, 'i>],
    pub(super) upstream: &'s BTreeSet<usize>,
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
    let mut command = Command::default();
    for text in &texts {
        command.spans.push(text.span());
        command.run.push(argument(text, scope, findings));
    }
    check_program(texts.first()?, command.run.first()?, title, findings);
    command.uses_out = command.run.iter().flat_map(Template::holes).any(|hole| *hole == Piece::Out);
    check_code(&mut command, &draft.params, findings);
    warn_of_shell_habits(&texts, &command, findings);
    for (name, _) in &draft.params {
        let used = |hole: &Piece| matches!(hole, Piece::Param(used) if used == name.get_ref());
        if !command.run.iter().flat_map(Template::holes).any(used) {
            findings.warn(
                &name.span(),
                format!(
                    "the parameter `{0}` is never used: tuning it changes nothing but the cost",
                    clipped(name.get_ref())
                ),
                format!("put `{{{}}}` into `run`, or remove the parameter", clipped(name.get_ref())),
            );
        }
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
            Token::Hole(name) => match scope.find(&name) {
                Ok(piece) => pieces.push(piece),
                Err((message, help)) => findings.error(&findings.inside(text, part), message, help),
            },
        }
    }
    Template { source, pieces }
}

impl Scope<'_, '_, '_> {
    /// What a placeholder means, or why it means nothing.
    fn find(&self, name: &str) -> Result<Piece, (String, String)> {
        let shown = clipped(name);
        if name == "out" {
            return Ok(Piece::Out);
        }
        let own = self.drafts.get(self.number);
        let params =
            || own.into_iter().flat_map(|draft| &draft.params).map(|(name, _)| name.get_ref().as_str());
        if params().any(|param| param == name) {
            return Ok(Piece::Param(name.to_owned()));
        }
        let stage_of = |number: usize| self.drafts.get(number).map_or("", Draft::name);
        if let Some(&number) = self.upstream.iter().find(|&&number| stage_of(number) == name) {
            return Ok(Piece::Stage(number));
        }
        let title = own.map_or("this stage", |draft| draft.section.title.as_str());
        if !name.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c)) {
            let trimmed = name.trim();
            if self.find_trimmed(name, trimmed) {
                return Err((
                    format!("`{{{shown}}}` has blanks inside"),
                    format!("write `{{{}}}`", clipped(trimmed)),
                ));
            }
            let help = "write `{{` and `}}` for braces that are no placeholder";
            return Err((format!("`{{{shown}}}` is not a placeholder"), help.to_owned()));
        }
        if let Some(number) = (0..self.drafts.len()).find(|&number| stage_of(number) == name) {
            return Err(match number.cmp(&self.number) {
                std::cmp::Ordering::Equal => (
                    format!("{title} cannot read its own finished output `{{{shown}}}`"),
                    "write `{out}` for the directory that it writes to".to_owned(),
                ),
                std::cmp::Ordering::Less => (
                    format!("{title} reads `{{{shown}}}` without coming after it"),
                    format!("add \"{shown}\" to its `after`"),
                ),
                std::cmp::Ordering::Greater => (
                    format!("{title} reads `{{{shown}}}`, which runs later"),
                    format!("move the [[stage]] of `{shown}` above this one, or remove the placeholder"),
                ),
            });
        }
        let owner =
            self.drafts.iter().find(|draft| draft.params.iter().any(|(param, _)| param.get_ref() == name));
        if let Some(owner) = owner {
            return Err((
                format!("`{{{shown}}}` is a parameter of stage `{}`, not of this one", clipped(owner.name())),
                format!(
                    "move the parameter here, or let stage `{0}` write what is needed into its output and read `{{{0}}}`",
                    clipped(owner.name())
                ),
            ));
        }
        let upstream: Vec<&str> = self.upstream.iter().map(|&number| stage_of(number)).collect();
        let known = || std::iter::once("out").chain(params()).chain(upstream.iter().copied());
        let help = match nearest(name, known()) {
            Some(meant) => format!("did you mean `{{{}}}`?", clipped(meant)),
            None => format!(
                "add `{shown} = {{ float = [0.1, 2] }}` to its [stage.params]; known here are {}; `{{{{` is a brace",
                listed(known())
            ),
        };
        Err((format!("{title} has nothing that `{{{shown}}}` could mean"), help))
    }

    /// Whether a name that was typed with blanks is known without them.
    fn find_trimmed(&self, typed: &str, trimmed: &str) -> bool {
        typed != trimmed && !trimmed.is_empty() && self.find(trimmed).is_ok()
    }
}

/// The program must be known before anything runs, or come out of a stage.
fn check_program(text: &Text, program: &Template, title: &str, findings: &mut Findings<'_>) {
    let help = "write the program's name; a parameter can be its argument: run = [\"env\", \"MODE={mode}\", \"program\", …]";
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
                            "`{{{name}}}` is put into code, and its value \"{}\" could mean more there than itself",
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
        "pass it as a further argument and read it there: run = [\"sh\", \"-c\", \"program \\\"$1\\\"\", \"sh\", \"{{{name}}}\"]"
    )
}

/// An argument as far as it is known: its texts, if it is fixed or one choice.
fn known<'a, 'd>(template: &'a Template, domain: &impl Fn(&str) -> Option<&'d Domain>) -> Argument<'a> {
    let text = |piece: Option<&'a Piece>| match piece {
        Some(Piece::Text(text)) => text.as_str(),
        _ => "",
    };
    let texts = match &template.pieces[..] {
        [Piece::Param(name)] => match domain(name) {
            Some(Domain::Choice(values)) => Some(values.iter().map(|value| value.to_string()).collect()),
            Some(_) => Some(Vec::new()),
            None => None,
        },
        _ => template.as_literal().map(|text| vec![text.to_owned()]),
    };
    Argument { texts, start: text(template.pieces.first()), end: text(template.pieces.last()) }
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
