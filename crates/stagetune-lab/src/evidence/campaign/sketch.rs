//! A random pipeline: what its stages compute is simple enough to be worked out from a point alone.
//!
//! ```text
//! v = salt;  v ← (31 v + v of each stage that it reads) mod M;  v ← (37 v + each number of each parameter) mod M
//! ```
//!
//! A stage is a shell script that needs no process but itself. It writes its `v` into a file, which
//! the stages after it read, and into `result.json`. By its `v` it may fail, or hang until its time is over.

use super::dice::Dice;
use serde_json::Value;
use std::fmt::Write as _;

/// Where values wrap: a double holds them exactly, and 37 times one still fits the arithmetic of a shell.
pub const MODULUS: i64 = 1_099_511_627_689;

/// A pipeline.
#[derive(Clone, Debug)]
pub struct Sketch {
    pub stages: Vec<Stage>,
    pub strategy: &'static str,
    pub seed: u64,
    pub trials: u64,
    /// A budget of cost besides, which may end the study earlier.
    pub cost_budget: Option<u64>,
    /// The most bytes that its cache keeps.
    pub limit: Option<u64>,
    pub workers: u64,
    /// For how long a fault of the world is waited for.
    pub patience: &'static str,
}

/// A stage.
#[derive(Clone, Debug)]
pub struct Stage {
    pub name: String,
    /// The stages that it reads.
    pub reads: Vec<usize>,
    /// Whether the file names them in `after`, and not only in placeholders.
    pub says_after: bool,
    pub params: Vec<Param>,
    pub salt: i64,
    /// It fails where its value leaves this remainder.
    pub fails: Option<Remainder>,
    /// It hangs there, without listening to a request to end if that is said.
    pub hangs: Option<(Remainder, bool)>,
    /// It leaves a process of another session running there, without an environment if that is said.
    pub escapes: Option<(Remainder, bool)>,
    /// Its first try fails, whatever its value.
    pub stumbles: bool,
    pub leaves: Leaves,
    pub cost: Cost,
}

/// A value divided by `by` leaves `rest`.
#[derive(Clone, Copy, Debug)]
pub struct Remainder {
    by: i64,
    rest: i64,
}

/// What a stage leaves besides its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaves {
    Nothing,
    /// A directory with a file that the stages after it compare, a link and an empty directory.
    Tree,
    /// Several kilobytes.
    Large,
}

/// What a stage says that it costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cost {
    Measured,
    Given(u64),
    /// Its value modulo 5, and one.
    Reported,
}

/// A parameter.
#[derive(Clone, Debug)]
pub struct Param {
    pub name: String,
    pub kind: ParamKind,
}

#[derive(Clone, Debug)]
pub enum ParamKind {
    Int(i64, i64),
    /// Floats from a tenth on have so few digits that a shell can count with them.
    Float(&'static str, &'static str),
    Bool,
    Choice(Vec<&'static str>),
}

/// Texts that no argument may stumble over.
const TEXTS: [&str; 8] =
    ["plain", "two words", "$(touch hacked)", "`touch hacked`", "a;b|c&d", "*", "{out}", "é \\ \" #"];

/// How large and how hostile pipelines are.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub most_stages: u64,
    pub trials: (u64, u64),
    /// One of so many pipelines has stages that hang until their time is over, which takes seconds.
    pub hangs_one_in: u64,
}

impl Remainder {
    fn draw(dice: &mut Dice, by: i64) -> Self {
        Self { by, rest: dice.below(by as u64) as i64 }
    }

    pub fn holds(self, value: i64) -> bool {
        value % self.by == self.rest
    }

    fn test(self) -> String {
        format!("[ $((v%{})) = {} ]", self.by, self.rest)
    }
}

impl Sketch {
    /// How many stages of one trial can run side by side: the largest set in which none needs another.
    pub fn width(&self) -> u64 {
        let mut needs: Vec<u32> = Vec::new();
        for stage in &self.stages {
            let above = |number: &usize| needs.get(*number).map(|needed| needed | 1 << number);
            let needed = stage.reads.iter().filter_map(above).fold(0, |all, one| all | one);
            needs.push(needed);
        }
        let is_side_by_side = |set: &u32| {
            (0..).zip(&needs).all(|(number, needed)| set & (1 << number) == 0 || set & needed == 0)
        };
        let sets = 0..1_u32 << self.stages.len();
        sets.filter(is_side_by_side).map(|set| u64::from(set.count_ones())).max().unwrap_or(1)
    }

    /// A random pipeline.
    pub fn draw(dice: &mut Dice, shape: Shape) -> Self {
        let count = 1 + dice.below(shape.most_stages) as usize;
        let is_graph = dice.one_in(2);
        let fails = dice.one_in(2);
        let hangs = dice.one_in(shape.hangs_one_in);
        let escapes = dice.one_in(6);
        let mut stages: Vec<Stage> = (0..count).map(|i| Stage::draw(dice, i, is_graph)).collect();
        if fails && let Some(stage) = at_random(dice, &mut stages) {
            let by = 3 + dice.below(6) as i64;
            stage.fails = Some(Remainder::draw(dice, by));
        }
        if hangs && let Some(stage) = at_random(dice, &mut stages) {
            stage.hangs = Some((Remainder::draw(dice, 8), dice.one_in(2)));
        }
        if escapes && let Some(stage) = at_random(dice, &mut stages) {
            stage.escapes = Some((Remainder::draw(dice, 3), dice.one_in(2)));
        }
        let trials = if hangs { 8 } else { shape.trials.0 + dice.below(shape.trials.1 - shape.trials.0 + 1) };
        let given = stages.iter().all(|stage| matches!(stage.cost, Cost::Given(_)));
        let strategies = ["random", "random", "random", "lambo", "auto", "gp-ucb"];
        Self {
            strategy: dice.pick(&strategies).copied().unwrap_or("random"),
            seed: dice.below(1000),
            trials,
            cost_budget: (given && dice.one_in(4)).then(|| 3 + dice.below(60)),
            limit: dice.one_in(4).then(|| 500 + dice.below(4000)),
            workers: if dice.one_in(2) { 4 } else { 1 },
            patience: "10 min",
            stages,
        }
    }

    /// The pipeline file of a study of this name; `mark` is a number that tells its processes from
    /// all others.
    pub fn file(&self, name: &str, mark: &str) -> String {
        let last = self.stages.last().map_or("", |stage| stage.name.as_str());
        let cost = self.cost_budget.map(|cost| format!(", cost = {cost}")).unwrap_or_default();
        let mut text = format!(
            "[study]\nname = \"{name}\"\nmetric = \"{last}.v\"\ndirection = \"minimize\"\nstrategy = \"{}\"\n\
             seed = {}\nbudget = {{ trials = {}{cost} }}\npatience = \"{}\"\ngive_up_after = 1000\n",
            self.strategy, self.seed, self.trials, self.patience
        );
        if let Some(limit) = self.limit {
            let _ = writeln!(text, "[cache]\nlimit = {limit}");
        }
        for stage in &self.stages {
            stage.write(&mut text, &self.stages, mark);
        }
        text
    }

    /// How many different points there are, if that is a number.
    pub fn points(&self) -> Option<u64> {
        let params = self.stages.iter().flat_map(|stage| &stage.params);
        params.map(|param| param.kind.count()).try_fold(1_u64, |all, count| all.checked_mul(count?))
    }

    /// Whether the same trials come out however long stages take: one stage runs at a time, and no
    /// cost is measured.
    pub fn is_determined(&self) -> bool {
        let reads = |(i, stage): (usize, &Stage)| i == 0 || stage.reads.contains(&(i - 1));
        let is_chain = self.stages.iter().enumerate().all(reads);
        let costs = self.stages.iter().all(|stage| stage.cost != Cost::Measured);
        is_chain && costs && self.workers == 1 && self.limit.is_none()
    }
}

fn at_random<'a>(dice: &mut Dice, stages: &'a mut [Stage]) -> Option<&'a mut Stage> {
    let index = dice.index(stages.len());
    stages.get_mut(index)
}

impl Stage {
    fn draw(dice: &mut Dice, number: usize, is_graph: bool) -> Self {
        let mut reads: Vec<usize> = (0..number).filter(|_| is_graph && dice.one_in(2)).collect();
        // Without a graph each reads the one before it, and now and then an earlier one, too.
        if !is_graph && number > 0 {
            reads = if number > 1 && dice.one_in(3) { vec![dice.index(number - 1)] } else { Vec::new() };
            reads.push(number - 1);
        }
        let params = (0..dice.below(3) + u64::from(number == 0)).map(|p| Param::draw(dice, number, p));
        let params = params.collect();
        let leaves = [Leaves::Nothing, Leaves::Nothing, Leaves::Tree, Leaves::Large];
        let costs = [Cost::Measured, Cost::Given(1 + dice.below(20)), Cost::Given(3), Cost::Reported];
        Self {
            name: format!("s{number}"),
            says_after: is_graph || dice.one_in(2),
            salt: 1 + dice.below(1_000_000) as i64,
            fails: None,
            hangs: None,
            escapes: None,
            stumbles: dice.one_in(12),
            leaves: dice.pick(&leaves).copied().unwrap_or(Leaves::Nothing),
            cost: dice.pick(&costs).copied().unwrap_or(Cost::Measured),
            reads,
            params,
        }
    }

    fn write(&self, text: &mut String, all: &[Self], mark: &str) {
        let reads: Vec<&str> =
            self.reads.iter().filter_map(|i| all.get(*i)).map(|s| s.name.as_str()).collect();
        let _ = writeln!(text, "[[stage]]\nname = \"{}\"", self.name);
        if self.says_after {
            let _ = writeln!(text, "after = {reads:?}");
        }
        let mut argv =
            vec!["sh".to_owned(), "-c".to_owned(), braces(&self.script(all, mark)), "sh".to_owned()];
        argv.push("{out}".to_owned());
        argv.extend(reads.iter().map(|name| format!("{{{name}}}")));
        argv.extend(self.params.iter().map(|param| format!("{{{}}}", param.name)));
        let argv: Vec<String> = argv.into_iter().map(|word| quoted(&word)).collect();
        let _ = writeln!(text, "run = [{}]", argv.join(", "));
        if self.hangs.is_some() {
            text.push_str("timeout = \"3 s\"\n");
        }
        if self.stumbles {
            text.push_str("retries = 1\n");
        }
        match self.cost {
            Cost::Measured => {}
            Cost::Given(cost) => {
                let _ = writeln!(text, "cost = {cost}");
            }
            Cost::Reported => text.push_str("cost = \"reported\"\n"),
        }
        if !self.params.is_empty() {
            text.push_str("[stage.params]\n");
            self.params.iter().for_each(|param| param.write(text));
        }
    }

    /// `$1` is the output, then come the stages that are read, then the parameters.
    fn script(&self, all: &[Self], mark: &str) -> String {
        let mut s = format!("M={MODULUS}; v={}\n", self.salt);
        let mut next = 2;
        for read in self.reads.iter().filter_map(|i| all.get(*i)) {
            let _ = writeln!(s, "read p < \"${{{next}}}/v\" || exit 9; v=$(((v*31+p)%M))");
            if read.leaves == Leaves::Tree {
                let _ = writeln!(s, "read q < \"${{{next}}}/d/link\"; [ \"$p\" = \"$q\" ] || exit 9");
            }
            next += 1;
        }
        for param in &self.params {
            param.script(&mut s, next);
            next += 1;
        }
        let name = &self.name;
        if self.stumbles {
            let _ = writeln!(s, "t=../outside/{name}.$v; [ -e $t ] || {{ : > $t; exit 7; }}");
        }
        if let Some((when, bare)) = self.escapes {
            let clean = if bare { "env -i " } else { "" };
            let _ = writeln!(s, "{} && {{ {clean}setsid sleep 9876.{mark} & }}", when.test());
        }
        if let Some((when, deaf)) = self.hangs {
            let ignore = if deaf { "trap '' TERM; " } else { "" };
            let _ =
                writeln!(s, "{} && {{ {ignore}sleep 8765.{mark}; sleep 8765.{mark}; exit 3; }}", when.test());
        }
        if let Some(when) = self.fails {
            let _ = writeln!(s, "{} && exit 3", when.test());
        }
        match self.leaves {
            Leaves::Nothing => {}
            Leaves::Tree => s.push_str(
                "mkdir -p \"$1/d/empty\" || exit 9; echo $v > \"$1/d/value\"; ln -s \
                    value \"$1/d/link\" || exit 9\n",
            ),
            Leaves::Large => s.push_str("printf '%08000d\\n' $v > \"$1/large\"\n"),
        }
        s.push_str("echo $v > \"$1/v\"\n");
        s.push_str("echo \"{\\\"v\\\": $v, \\\"cost\\\": $((v%5+1))}\" > \"$1/result.json\"\n");
        let _ = writeln!(s, "echo \"{name} $v\" >> ../outside/runs");
        s
    }
}

impl Param {
    fn draw(dice: &mut Dice, stage: usize, number: u64) -> Self {
        let kind = match dice.below(8) {
            0 => ParamKind::Bool,
            1 | 2 => {
                let from = dice.index(TEXTS.len() - 2);
                let texts = TEXTS.iter().skip(from).take(2 + dice.index(2));
                ParamKind::Choice(texts.copied().collect())
            }
            3 => ParamKind::Float("0.25", "0.75"),
            4 => ParamKind::Float("1.0", "300.5"),
            _ => {
                let low = dice.below(5) as i64 - 2;
                ParamKind::Int(low, low + 1 + dice.below(3) as i64)
            }
        };
        Self { name: format!("p{stage}x{number}"), kind }
    }

    fn write(&self, text: &mut String) {
        let kind = match &self.kind {
            ParamKind::Int(low, high) => format!("int = [{low}, {high}]"),
            ParamKind::Float(low, high) => format!("float = [{low}, {high}]"),
            ParamKind::Bool => "bool = true".to_owned(),
            ParamKind::Choice(texts) => {
                let texts = texts.iter().map(|text| quoted(text));
                format!("choice = [{}]", texts.collect::<Vec<_>>().join(", "))
            }
        };
        let _ = writeln!(text, "{} = {{ {kind} }}", self.name);
    }

    /// Takes argument number `at` into the value.
    fn script(&self, s: &mut String, at: usize) {
        let _ = match &self.kind {
            ParamKind::Int(..) => writeln!(s, "v=$(((v*37+${{{at}}}+M)%M))"),
            // The digits between points, minus signs and exponents, each as a number after a 1.
            ParamKind::Float(..) => writeln!(
                s,
                "x=${{{at}}}; while :; do f=${{x%%[.e-]*}}; v=$(((v*37+1$f%M)%M)); \
                 [ \"$f\" = \"$x\" ] && break; x=${{x#*[.e-]}}; done"
            ),
            ParamKind::Bool => writeln!(s, "case ${{{at}}} in true) n=1;; *) n=2;; esac; v=$(((v*37+n)%M))"),
            ParamKind::Choice(texts) => {
                let arms = texts.iter().enumerate().map(|(i, text)| format!("'{text}') n={};;", i + 1));
                let arms = arms.collect::<Vec<_>>().join(" ");
                writeln!(s, "case \"${{{at}}}\" in {arms} *) exit 9;; esac; v=$(((v*37+n)%M))")
            }
        };
    }

    /// The numbers that a value of it stands for, as the script sees them; none if it cannot be one.
    pub fn numbers(&self, value: &Value) -> Option<Vec<i64>> {
        match &self.kind {
            ParamKind::Int(..) => Some(vec![value.as_i64()? + MODULUS]),
            ParamKind::Float(..) => {
                let text = format!("{:?}", value.as_f64()?);
                let fields = text.split(['.', 'e', '-']);
                fields.map(|field| Some(format!("1{field}").parse::<i64>().ok()? % MODULUS)).collect()
            }
            ParamKind::Bool => Some(vec![if value.as_bool()? { 1 } else { 2 }]),
            ParamKind::Choice(texts) => {
                let text = value.as_str()?;
                Some(vec![texts.iter().position(|choice| *choice == text)? as i64 + 1])
            }
        }
    }
}

impl ParamKind {
    fn count(&self) -> Option<u64> {
        match self {
            Self::Int(low, high) => Some((high - low + 1) as u64),
            Self::Float(..) => None,
            Self::Bool => Some(2),
            Self::Choice(texts) => Some(texts.len() as u64),
        }
    }
}

/// A script in which single braces stand for themselves.
fn braces(script: &str) -> String {
    script.replace('{', "{{").replace('}', "}}")
}

/// A text as TOML writes it; what JSON writes will do.
fn quoted(text: &str) -> String {
    Value::String(text.to_owned()).to_string()
}
