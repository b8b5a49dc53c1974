//! Places for the labels of a picture: beside, above or below their nodes, never over a node or another label.
//!
//! Labels are placed in the order of the nodes, so where not all fit the first ones win. A label that fits nowhere is left out:
//! two over each other are none, and a viewer shows the whole text of a node under the pointer.

use unicode_width::UnicodeWidthStr;

/// Width of a column of the font, and height of a line, in dots.
const COLUMN: f64 = 5.6;
const LINE: f64 = 11.0;
/// From a node to its label.
const GAP: f64 = 3.0;

/// A rectangle: left, top, right, bottom.
type Area = [f64; 4];

/// The start of the base line of each label, if it fits on a page of this size. Nodes have a place and a radius.
pub(super) fn places(
    nodes: &[((f64, f64), f64, &str)],
    (width, height): (f64, f64),
) -> Vec<Option<(f64, f64)>> {
    let mut taken: Vec<Area> =
        nodes.iter().map(|((x, y), size, _)| [x - size, y - size, x + size, y + size]).collect();
    let mut place = |((x, y), size, label): &((f64, f64), f64, &str)| {
        let columns = f64::from(u32::try_from(label.width()).unwrap_or(u32::MAX));
        let (wide, away) = (columns * COLUMN, size + GAP);
        let half = LINE / 2.0;
        let corners = [
            (x + away, y - half),
            (x - away - wide, y - half),
            (x - wide / 2.0, y - away - LINE),
            (x - wide / 2.0, y + away),
            (x + away, y - away - half),
            (x + away, y + away - half),
            (x - away - wide, y - away - half),
            (x - away - wide, y + away - half),
        ];
        let area = |(left, top): (f64, f64)| [left, top, left + wide, top + LINE];
        let is_free = |area: &Area| {
            let [left, top, right, bottom] = *area;
            left >= 0.0
                && top >= 0.0
                && right <= width
                && bottom <= height
                && taken.iter().all(|other| {
                    right <= other[0] || other[2] <= left || bottom <= other[1] || other[3] <= top
                })
        };
        let found = corners.into_iter().map(area).find(is_free)?;
        taken.push(found);
        Some((found[0], found[3] - 2.0))
    };
    nodes.iter().map(&mut place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_avoid_nodes_each_other_and_the_edge_of_the_page() {
        let page = (200.0, 100.0);
        // The right side of the first is free; that of the second is the edge of the page.
        let placed = places(&[((50.0, 50.0), 5.0, "first"), ((195.0, 50.0), 4.0, "second")], page);
        assert!(placed[0].unwrap().0 > 55.0);
        assert!(placed[1].unwrap().0 + 6.0 * COLUMN <= 191.0);
        // A label goes to the other side of its node if a node is in its way, and away where no side is free.
        let beside = places(&[((50.0, 50.0), 5.0, "label"), ((70.0, 50.0), 5.0, "")], page);
        assert!(beside[0].unwrap().0 < 45.0);
        let none = places(&[((50.0, 50.0), 5.0, &"long".repeat(20))], page);
        assert_eq!(none, [None]);
    }
}
