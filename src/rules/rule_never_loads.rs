use super::patterns::conditional;
use super::{Lint, Rule};
use crate::diagnostic::{Diagnostic, Level};
use crate::resolution::Outcome;
use crate::text::Place;

pub(super) static RULE: Rule = Rule {
    name: "rule-never-loads",
    level: Level::Warning,
    summary: "a pattern in the `paths` of a rule that can match nothing",
    page: include_str!("rule_never_loads.md"),
    check,
};

fn check(lint: &Lint<'_>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for rule in conditional(lint) {
        let sources = [(rule.resolution, rule.source)];
        let problems = rule.problems();
        let mut before = None;
        for (index, ((piece, span), problem)) in rule.pieces.iter().zip(&problems).enumerate() {
            // The end of a list that is not YAML has the cause of its beginning.
            let again = piece.text.ends_with(']') && before == Some(problem);
            before = Some(problem);
            if let Some(problem) = problem
                && !again
            {
                let at = Place::at(rule.path, span.clone());
                let own = RULE.at(at, problem.why.clone()).for_sources(sources).help(problem.help.clone());
                found.push(own.mended_by(rule.repair(index, problem)));
            }
        }
        if rule.source.outcome != Outcome::Loaded && problems.iter().all(Option::is_none) {
            let negative = rule.pieces.iter().all(|(piece, _)| piece.text.starts_with('!'));
            let (why, help) = if negative {
                ("patterns with `!` only take out of what others match", "add a pattern for what the rule is about")
            } else {
                ("no path matches any of these patterns", "mend them, or take `paths` away")
            };
            found.push(RULE.at(Place::at(rule.path, rule.key.clone()), why).for_sources(sources).help(help));
        }
    }
    found
}
