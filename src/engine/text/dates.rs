//! Dates in a question, in English and Portuguese, as days in UTC.
//!
//! | question | days |
//! |---|---|
//! | 7 May 2023, May 7th, 2023, 2023-05-07, 7 de maio de 2023 | the day, the one before and the one after |
//! | May 2023, in 2023 | the month, the year |
//! | today, yesterday, on Monday, 3 days ago | the day, the one before and the one after; of weekdays the last one before today |
//! | last week, this month, last year, 2 months ago | the week from Monday, the month, the year |
//! | 2 weeks ago | the day, three before and three after |
//!
//! # Design notes
//! What was said on a day is often written down on the next, or about the one before, so a day is not exact. The first full date of
//! a question counts, else its first year, else its first relative date. A month or a year needs its number: "may" is a verb, and most
//! numbers are no years. A Portuguese weekday needs `feira` or the end of its phrase: "na segunda vez" is the second time.

use super::stop::is_stop;
use super::words::words;
use std::ops::Range;

const DAY_MS: i64 = 86_400_000;

/// Names of the months: English, its short form, Portuguese.
const MONTHS: [[&str; 3]; 12] = [
    ["january", "jan", "janeiro"],
    ["february", "feb", "fevereiro"],
    ["march", "mar", "março"],
    ["april", "apr", "abril"],
    ["may", "may", "maio"],
    ["june", "jun", "junho"],
    ["july", "jul", "julho"],
    ["august", "aug", "agosto"],
    ["september", "sep", "setembro"],
    ["october", "oct", "outubro"],
    ["november", "nov", "novembro"],
    ["december", "dec", "dezembro"],
];
/// Names of the weekdays from Monday: English, Portuguese.
const WEEKDAYS: [[&str; 2]; 7] = [
    ["monday", "segunda"],
    ["tuesday", "terça"],
    ["wednesday", "quarta"],
    ["thursday", "quinta"],
    ["friday", "sexta"],
    ["saturday", "sábado"],
    ["sunday", "domingo"],
];
/// Small numbers as words.
const NUMBERS: [&[&str]; 10] = [
    &["a", "an", "one", "um", "uma"],
    &["two", "dois", "duas"],
    &["three", "três"],
    &["four", "quatro"],
    &["five", "cinco"],
    &["six", "seis"],
    &["seven", "sete"],
    &["eight", "oito"],
    &["nine", "nove"],
    &["ten", "dez"],
];
/// Words between the parts of a date.
const BETWEEN: [&str; 2] = ["of", "de"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    Day,
    Week,
    Month,
    Year,
}

/// The instants that a folded question speaks of, epoch milliseconds; `now` is that of the question, without which nothing is
/// relative to it.
#[must_use]
pub fn span(folded: &str, now: Option<i64>) -> Option<Range<i64>> {
    let all: Vec<&str> = words(folded).filter(|word| *word != "the").collect();
    let joined: Vec<&str> = all.iter().copied().filter(|word| !BETWEEN.contains(word)).collect();
    let today = now.map(|now| now.div_euclid(DAY_MS));
    let days = first(&joined, named)
        .or_else(|| first(&joined, of_year))
        .or_else(|| first(&all, |words| relative(words, today?)))?;
    Some(days.start.saturating_mul(DAY_MS)..days.end.saturating_mul(DAY_MS))
}

/// The first days that begin at some word.
fn first(words: &[&str], days: impl Fn(&[&str]) -> Option<Range<i64>>) -> Option<Range<i64>> {
    (0..words.len()).find_map(|from| days(&words[from..]))
}

/// The days of a day or a month with its year at the beginning of some words.
fn named(words: &[&str]) -> Option<Range<i64>> {
    if let [first, second, third, ..] = words {
        let two = |word: &str| (word.len() == 2).then(|| day(word)).flatten();
        let of = match (year(first), two(second), two(third)) {
            (Some(year), Some(month), Some(day)) => Some((year, month, day)),
            _ => year(third).and_then(|year| {
                let day_first = day(first).zip(month(second)).map(|(day, month)| (year, month, day));
                day_first.or_else(|| day(second).zip(month(first)).map(|(day, month)| (year, month, day)))
            }),
        };
        if let Some((year, month, day)) = of.filter(|(year, month, day)| is_date(*year, *month, *day)) {
            return Some(around(day_number(year, month, day), 1));
        }
    }
    let [first, second, ..] = words else { return None };
    let (month, year) = (month(first)?, year(second)?);
    Some(days_of_months(12 * year + month - 1, 1))
}

/// The days of "in 2023" at the beginning of some words.
fn of_year(words: &[&str]) -> Option<Range<i64>> {
    let [first, second, ..] = words else { return None };
    let year = year(second).filter(|_| matches!(*first, "in" | "em"))?;
    Some(days_of_months(12 * year, 12))
}

/// The days of a date relative to `today` at the beginning of some words.
fn relative(words: &[&str], today: i64) -> Option<Range<i64>> {
    let [first, rest @ ..] = words else { return None };
    match *first {
        "hoje" if rest.starts_with(&["em", "dia"]) => return None,
        "today" | "hoje" => return Some(around(today, 1)),
        "yesterday" | "ontem" => return Some(around(today - 1, 1)),
        _ => {}
    }
    let [second, rest @ ..] = rest else { return None };
    match (*first, *second) {
        // "The last week of May" is another one.
        ("last" | "this" | "esta" | "este", _) if rest.first().is_some_and(|next| BETWEEN.contains(next)) => {
            return None;
        }
        ("last", of) | (of, "passado" | "passada") if unit(of).is_some_and(|unit| unit != Unit::Day) => {
            return unit(of).map(|unit| back(today, 1, unit));
        }
        ("this" | "esta" | "este", of) if unit(of).is_some_and(|unit| unit != Unit::Day) => {
            return unit(of).map(|unit| back(today, 0, unit));
        }
        ("on" | "last", of) => {
            if let Some(weekday) = weekday(of, 0) {
                return Some(before(today, weekday));
            }
        }
        ("na" | "no", of) => {
            // From Monday to Friday they are ordinals, too.
            let ends = rest.first().is_none_or(|next| *next == "feira" || is_stop(next));
            if let Some(weekday) = weekday(of, 1).filter(|weekday| *weekday > 4 || ends) {
                return Some(before(today, weekday));
            }
        }
        _ => {}
    }
    let [third, ..] = rest else { return None };
    let (count, of) = match (*first, *third) {
        ("há", of) => (second, of),
        (_, "ago" | "atrás") => (first, *second),
        _ => return None,
    };
    let count = number(count)?;
    match unit(of)? {
        Unit::Day => Some(around(today - count, 1)),
        Unit::Week => Some(around(today - 7 * count, 3)),
        unit => Some(back(today, count, unit)),
    }
}

/// The day, week, month or year that is so many before that of `today`.
fn back(today: i64, count: i64, unit: Unit) -> Range<i64> {
    let month = month_number(today);
    match unit {
        Unit::Day => today - count..today - count + 1,
        Unit::Week => {
            let monday = today - (today + 3).rem_euclid(7) - 7 * count;
            monday..monday + 7
        }
        Unit::Month => days_of_months(month - count, 1),
        Unit::Year => days_of_months(12 * (month.div_euclid(12) - count), 12),
    }
}

const fn around(day: i64, more: i64) -> Range<i64> {
    day - more..day + more + 1
}

/// The days of so many months; a month is a number of months from the year 0.
fn days_of_months(first: i64, count: i64) -> Range<i64> {
    let begin = |month: i64| day_number(month.div_euclid(12), month.rem_euclid(12) + 1, 1);
    begin(first)..begin(first + count)
}

/// Days from 1970-01-01 to a date of the Gregorian calendar (Hinnant, *chrono-Compatible Low-Level Date Algorithms*).
const fn day_number(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    146_097 * era + 365 * of_era + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// The month of a day, counted from the year 0.
const fn month_number(day: i64) -> i64 {
    let day = day + 719_468;
    let (era, of_era) = (day.div_euclid(146_097), day.rem_euclid(146_097));
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    // March is the first month of this year.
    12 * (400 * era + year) + 2 + (5 * of_year + 2) / 153
}

fn is_date(year: i64, month: i64, day: i64) -> bool {
    (1..=12).contains(&month) && {
        let days = days_of_months(12 * year + month - 1, 1);
        (1..=days.end - days.start).contains(&day)
    }
}

fn month(word: &str) -> Option<i64> {
    let month = MONTHS.iter().position(|of| of.contains(&word))?;
    i64::try_from(month + 1).ok()
}

/// The weekday of a name in a language, from Monday, which is 0.
fn weekday(word: &str, language: usize) -> Option<i64> {
    i64::try_from(WEEKDAYS.iter().position(|of| of[language] == word)?).ok()
}

/// The last such weekday before a day.
const fn before(today: i64, weekday: i64) -> Range<i64> {
    around(today - 1 - (today - 1 + 3 - weekday).rem_euclid(7), 1)
}

fn digits(word: &str, most: usize) -> Option<i64> {
    let are_digits = word.len() <= most && word.bytes().all(|byte| byte.is_ascii_digit());
    are_digits.then(|| word.parse().ok()).flatten()
}

fn year(word: &str) -> Option<i64> {
    digits(word, 4).filter(|year| (1900..2100).contains(year))
}

/// A number of two digits at most, possibly an ordinal.
fn day(word: &str) -> Option<i64> {
    let plain = ["st", "nd", "rd", "th"].iter().find_map(|ending| word.strip_suffix(ending)).unwrap_or(word);
    digits(plain, 2)
}

fn number(word: &str) -> Option<i64> {
    let named = || NUMBERS.iter().position(|of| of.contains(&word)).and_then(|at| i64::try_from(at + 1).ok());
    digits(word, 4).or_else(named)
}

fn unit(word: &str) -> Option<Unit> {
    Some(match word {
        "day" | "days" | "dia" | "dias" => Unit::Day,
        "week" | "weeks" | "semana" | "semanas" => Unit::Week,
        "month" | "months" | "mês" | "meses" => Unit::Month,
        "year" | "years" | "ano" | "anos" => Unit::Year,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The first and the last day of a question on Wednesday, 17 May 2023.
    fn days(question: &str) -> Option<[String; 2]> {
        let now = DAY_MS * day_number(2023, 5, 17) + 40_000_000;
        let span = span(question, Some(now))?;
        let shown = |day: i64| {
            let month = month_number(day);
            let [year, of_year] = [month.div_euclid(12), month.rem_euclid(12) + 1];
            format!("{year}-{of_year:02}-{:02}", day - day_number(year, of_year, 1) + 1)
        };
        Some([shown(span.start / DAY_MS), shown(span.end / DAY_MS - 1)])
    }

    #[test]
    fn dates_are_days_months_and_years() {
        for (questions, first, last) in [
            (
                &[
                    "what on 7 may 2023",
                    "may 7th, 2023",
                    "2023-05-07?",
                    "7 de maio de 2023",
                    "the 7th of may 2023",
                    "on monday, 7 may 2023",
                    "in 2023-05-07",
                ][..],
                "2023-05-06",
                "2023-05-08",
            ),
            (
                &["in february 2024", "fevereiro de 2024", "feb 2024", "the last week of february 2024"],
                "2024-02-01",
                "2024-02-29",
            ),
            (&["in 2022", "em 2022"], "2022-01-01", "2022-12-31"),
            (&["what did i say today", "hoje"], "2023-05-16", "2023-05-18"),
            (&["yesterday", "ontem", "1 day ago", "há um dia", "a day ago"], "2023-05-15", "2023-05-17"),
            (
                &["on monday", "na segunda-feira", "na segunda", "last monday", "on the monday"],
                "2023-05-14",
                "2023-05-16",
            ),
            (&["on wednesday"], "2023-05-09", "2023-05-11"),
            (&["last week", "semana passada"], "2023-05-08", "2023-05-14"),
            (&["this week", "esta semana"], "2023-05-15", "2023-05-21"),
            (&["two weeks ago", "há 2 semanas", "duas semanas atrás"], "2023-04-30", "2023-05-06"),
            (&["last month", "mês passado", "one month ago"], "2023-04-01", "2023-04-30"),
            (&["five months ago"], "2022-12-01", "2022-12-31"),
            (&["this month", "este mês"], "2023-05-01", "2023-05-31"),
            (&["last year", "ano passado"], "2022-01-01", "2022-12-31"),
            (&["on 2023-02-31 or last year"], "2022-01-01", "2022-12-31"),
        ] {
            for question in questions {
                assert_eq!(days(question), Some([first.to_owned(), last.to_owned()]), "{question}");
            }
        }
    }

    #[test]
    fn other_questions_have_no_date() {
        for question in [
            "what may i do",
            "in room 2023",
            "at last a week of rest",
            "how many days",
            "2024 questions",
            "7 may",
            "2023-13-01",
            "99999 days ago",
            "monday",
            "the last year of college",
            "na segunda vez",
            "na quinta tentativa",
            "plants that need no sun",
            "on sat scores",
            "hoje em dia",
            "",
        ] {
            assert_eq!(span(question, Some(0)), None, "{question}");
        }
        assert_eq!(span("yesterday", None), None);
        assert!(span("in may 2023", None).is_some());
    }

    proptest! {
        #[test]
        fn a_day_is_in_its_month_and_no_instant_overflows(day in -1_000_000_i64..1_000_000, now in any::<i64>()) {
            prop_assert!(days_of_months(month_number(day), 1).contains(&day));
            for question in ["last week", "9999 months ago", "9999 weeks ago", "this year", "on friday"] {
                prop_assert!(span(question, Some(now)).is_some_and(|span| span.start <= span.end));
            }
        }
    }
}
