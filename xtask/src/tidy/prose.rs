//! README is what a newcomer finishes: few words, short sentences, few numbers.

use super::Source;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

const README: &str = "README.md";

/// Words of the whole file, those of its examples included.
const MOST_WORDS: usize = 900;

/// Words of the middle sentence.
const MOST_IN_MEDIAN: usize = 12;

/// Numbers in a hundred words, outside tables and code.
const MOST_NUMBERS: f64 = 2.0;

/// What a text comes to.
#[derive(Debug, PartialEq)]
pub struct Measure {
    /// Words of the whole text.
    pub words: usize,
    /// Words of the middle sentence.
    pub median_sentence: usize,
    /// Numbers in a hundred words of prose.
    pub numbers: f64,
}

/// The findings about README.
pub fn check(sources: &[Source]) -> Vec<String> {
    let Some(readme) = sources.iter().find(|source| source.path == README) else { return Vec::new() };
    let Measure { words, median_sentence, numbers } = measure(&readme.text);
    let mut findings = Vec::new();
    if words > MOST_WORDS {
        findings.push(format!("{README}:1: {words} words, more than {MOST_WORDS}: move some into the book"));
    }
    if median_sentence > MOST_IN_MEDIAN {
        findings.push(format!(
            "{README}:1: half of the sentences have {median_sentence} words or more, wanted are \
                {MOST_IN_MEDIAN}: cut them"
        ));
    }
    if numbers > MOST_NUMBERS {
        findings.push(format!(
            "{README}:1: {numbers:.1} numbers in a hundred words, more than {MOST_NUMBERS}: move \
                them into the book"
        ));
    }
    findings
}

/// What README comes to, in a line.
pub fn described(sources: &[Source]) -> String {
    let text = sources.iter().find(|source| source.path == README).map_or("", |source| &source.text);
    let Measure { words, median_sentence, numbers } = measure(text);
    format!(
        "{README} has {words} words, a median sentence of {median_sentence}, {numbers:.1} numbers \
            in a hundred words"
    )
}

/// Measures a text: sentences end at a full stop, a question or exclamation mark, and with their
/// paragraph; code letters are words, but no numbers.
pub fn measure(text: &str) -> Measure {
    let (mut prose, mut sentences, mut numbers, mut words) = (String::new(), Vec::new(), 0, 0);
    let mut skipped = 0;
    let mut end = |prose: &mut String| {
        for sentence in sentences_of(prose) {
            sentences.push(sentence);
        }
        words += prose.split_whitespace().count();
        numbers +=
            prose.split_whitespace().filter(|word| word.contains(|c: char| c.is_ascii_digit())).count();
        prose.clear();
    };
    for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::CodeBlock(_) | Tag::Table(_) | Tag::Image { .. }) => skipped += 1,
            Event::End(TagEnd::CodeBlock | TagEnd::Table | TagEnd::Image) => skipped -= 1,
            Event::End(TagEnd::Paragraph | TagEnd::Heading(_) | TagEnd::Item) => end(&mut prose),
            Event::Text(piece) if skipped == 0 => prose.push_str(&piece),
            Event::Code(_) if skipped == 0 => prose.push_str("code"),
            Event::SoftBreak | Event::HardBreak => prose.push(' '),
            _ => {}
        }
    }
    end(&mut prose);
    sentences.sort_unstable();
    Measure {
        words: text.split_whitespace().count(),
        median_sentence: sentences.get(sentences.len() / 2).copied().unwrap_or(0),
        numbers: 100.0 * numbers as f64 / f64::max(words as f64, 1.0),
    }
}

/// The number of words of each sentence.
fn sentences_of(prose: &str) -> Vec<usize> {
    let mut lengths = vec![0];
    for word in prose.split_whitespace() {
        if let Some(last) = lengths.last_mut() {
            *last += 1;
        }
        if word.trim_end_matches([')', '"', '”']).ends_with(['.', '?', '!']) {
            lengths.push(0);
        }
    }
    lengths.retain(|length| *length > 0);
    lengths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_sentences_and_numbers_are_counted_outside_tables_and_code() {
        let text = "# One title\n\nTwo words. Three words `x1` 7!\n\n```\n1 2 3\n```\n\n| 8 |\n| \
            --- |\n| 9 |\n\n- an item of five words\n";
        let Measure { median_sentence, numbers, .. } = measure(text);
        // Sentences of 2, 2, 4 and 5 words; one number among 13 words.
        assert_eq!(median_sentence, 4);
        assert!((numbers - 100.0 / 13.0).abs() < 1e-9, "{numbers}");
    }

    #[test]
    fn a_readme_that_is_too_long_or_too_dense_is_found() {
        let found = |text: &str| check(&[Source { path: README.to_owned(), text: text.to_owned() }]);
        assert!(found("Short words only. They say what it is.").is_empty());
        assert_eq!(found(&"A short one. ".repeat(400)).len(), 1);
        assert_eq!(found(&"word ".repeat(40)).len(), 1);
        assert_eq!(found("It has 7 in 3 of 9. So it is.").len(), 1);
    }
}
