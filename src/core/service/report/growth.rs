//! Growth of a graph by day and week, and how many of its rows are no longer live.

use super::super::Service;
use super::super::layouts::node_role;
use crate::api::layout::Layout;
use crate::api::report::{Growth, Liveness, Period};
use crate::domain::mapping::{Mapping, Name, RelationRole};
use crate::domain::units::{HOUR_MS, Timestamp};
use crate::store::{DayRows, Error};
use std::collections::BTreeMap;

const DAY_MS: i64 = 24 * HOUR_MS;
/// Days by which growth is averaged.
const DAYS: i64 = 30;
/// Weeks that are listed.
const WEEKS: usize = 52;
/// The first Monday since 1970, as a day.
const MONDAY: i64 = 4;

/// Rows and facts by the number of their day.
#[derive(Default)]
struct Days {
    days: BTreeMap<i64, (i64, i64)>,
    undated: i64,
}

impl Days {
    fn add(&mut self, rows: &[DayRows], is_fact: bool) {
        for row in rows {
            let Some(day) = row.day else {
                self.undated += row.rows;
                continue;
            };
            let count = self.days.entry(day.millis().div_euclid(DAY_MS)).or_default();
            count.0 += row.rows;
            count.1 += if is_fact { row.rows } else { 0 };
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "counts of rows")]
    fn growth(self, by: Vec<String>, at: Timestamp) -> Growth {
        let today = at.millis().div_euclid(DAY_MS);
        let period = |(day, (rows, facts)): (&i64, &(i64, i64))| {
            Some(Period { start: Timestamp::from_millis(day * DAY_MS).ok()?, rows: *rows, facts: *facts })
        };
        let days: Vec<Period> = self.days.range(today - DAYS + 1..=today).filter_map(period).collect();
        let mut weeks: BTreeMap<i64, (i64, i64)> = BTreeMap::new();
        for (day, (rows, facts)) in self.days.range(..=today) {
            let week = weeks.entry((day - MONDAY).div_euclid(7) * 7 + MONDAY).or_default();
            *week = (week.0 + rows, week.1 + facts);
        }
        let weeks: Vec<Period> =
            weeks.iter().skip(weeks.len().saturating_sub(WEEKS)).filter_map(period).collect();
        let per_day = |of: fn(&Period) -> i64| days.iter().map(of).sum::<i64>() as f64 / DAYS as f64;
        Growth {
            by,
            rows_per_day: per_day(|day| day.rows),
            facts_per_day: per_day(|day| day.facts),
            weeks,
            days,
            undated: self.undated,
        }
    }
}

/// Live and retired rows; `None` if nothing says which are live.
#[expect(clippy::cast_precision_loss, reason = "counts of rows")]
fn liveness<'a>(
    of: &str,
    role: &'static str,
    by: impl Iterator<Item = &'a Name>,
    rows: &[DayRows],
) -> Option<Liveness> {
    let by: Vec<String> = by.map(ToString::to_string).collect();
    let count = |is_live: bool| rows.iter().filter(|row| row.is_live == is_live).map(|row| row.rows).sum();
    let (live, not_live): (i64, i64) = (count(true), count(false));
    let all = live + not_live;
    let share = not_live as f64 / all.max(1) as f64;
    (!by.is_empty()).then(|| Liveness { of: of.to_owned(), role, rows: all, not_live, share, by })
}

impl Service {
    /// Growth and liveness of a layout.
    pub(super) async fn growth(
        &self,
        mapping: &Mapping,
        layout: &Layout,
        at: Timestamp,
    ) -> Result<(Growth, Vec<Liveness>), Error> {
        let (mut days, mut live, mut by) = (Days::default(), Vec::new(), Vec::new());
        let mut name = |written: &[Name], observed: &[Name]| {
            // The statement takes the first property that a row has.
            for name in if written.is_empty() { observed } else { written }.iter().take(1) {
                if !by.contains(&name.to_string()) {
                    by.push(name.to_string());
                }
            }
        };
        for rule in &mapping.nodes {
            if !layout.nodes.iter().any(|row| row.label == rule.label_name()) {
                continue;
            }
            name(&rule.written, &rule.observed);
            let rows = self.store.node_days(mapping, rule, at).await?;
            let role = node_role(rule.role);
            days.add(&rows, role == "fact");
            live.extend(liveness(rule.label_name(), role, rule.until.iter().chain(&rule.status), &rows));
        }
        for rule in mapping.relationships.iter().filter(|rule| rule.role == RelationRole::Fact) {
            let kind = rule.kind.as_ref().map(Name::as_str);
            if !layout.relationships.iter().any(|row| row.kind.as_deref() == kind) {
                continue;
            }
            name(&rule.written, &rule.observed);
            let rows = self.store.relationship_days(mapping, rule, at).await?;
            days.add(&rows, true);
            let of = kind.unwrap_or("relationships");
            live.extend(liveness(of, "fact", rule.until.iter().chain(&rule.valid), &rows));
        }
        Ok((days.growth(by, at), live))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_add_up_to_weeks_from_monday() {
        // 2026-01-01 is a Thursday.
        let day = |day: i64| Timestamp::from_millis(1_767_225_600_000 + day * DAY_MS).unwrap();
        let row = |at: Option<Timestamp>, rows| DayRows { day: at, is_live: true, rows };
        let mut days = Days::default();
        days.add(&[row(Some(day(0)), 3), row(Some(day(3)), 4), row(None, 2)], false);
        days.add(&[row(Some(day(4)), 30), row(Some(day(-40)), 8)], true);
        // Later than the report: in its own week, and in another one.
        days.add(&[row(Some(day(6)), 5), row(Some(day(20)), 6)], false);
        let growth = days.growth(vec!["created_at".to_owned()], day(5));
        let weeks: Vec<(i64, i64, i64)> = growth
            .weeks
            .iter()
            .map(|week| ((week.start.millis() - day(0).millis()) / DAY_MS, week.rows, week.facts))
            .collect();
        assert_eq!(weeks, [(-45, 8, 8), (-3, 7, 0), (4, 30, 30)]);
        assert_eq!((growth.days.len(), growth.undated), (3, 2));
        assert!((growth.rows_per_day - 37.0 / 30.0).abs() < 1e-9, "{}", growth.rows_per_day);
        assert!((growth.facts_per_day - 1.0).abs() < 1e-9);
    }
}
