//! Report on the graphs of other libraries: what is in them, how they grow, and which faults they have; reads only.
//!
//! The checks need no change of the database and no `ebb init`. Each is one statement for a label or a type, a scan that
//! ends at a limit of rows; the report says where one did.

mod checks;
mod growth;

use super::Service;
use crate::api::layout::LayoutState;
use crate::api::report::{GraphReport, LayoutReport};
use crate::domain::units::Timestamp;
use crate::store::Error;

impl Service {
    /// The report on every layout that was found. Growth ends at an instant, and by it rows are live or not; sizes and faults are
    /// those of the present.
    pub async fn graph_report(&self, at: Timestamp) -> Result<GraphReport, Error> {
        let names = self.store.database_names().await?;
        let mut notes = vec![
            "properties and embeddings: from a sample of up to 1,000 rows of each label and type".to_owned(),
        ];
        let found = self.find_layouts(&names, &mut notes).await?;
        let unknown = self.unknown_labels(&names, &found, &mut notes).await?;
        let indexes = self.store.index_rows().await?;
        let mut layouts = Vec::new();
        for found in found {
            let mut report = LayoutReport {
                layout: found.layout,
                growth: None,
                liveness: Vec::new(),
                findings: Vec::new(),
                clean: Vec::new(),
            };
            if report.layout.state == LayoutState::Known || report.layout.adopted {
                let (growth, liveness) = self.growth(&found.mapping, &report.layout, at).await?;
                (report.growth, report.liveness) = (Some(growth), liveness);
                self.check_layout(&found.mapping, (&indexes, at), &mut report, &mut notes).await?;
            }
            layouts.push(report);
        }
        Ok(GraphReport { at, layouts, unknown, notes })
    }
}
