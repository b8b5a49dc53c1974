//! A tool: what it is called and takes, who may call it, and how a call is worked on.

use super::{Fault, Place, Tools};
use crate::surfaces::http::{KEY_MAX, Kind, error_at};
use ebb_core::domain::ids::Scope;
use ebb_core::domain::key::Right;
use ebb_core::service::Service;
use ebb_core::service::keys::Caller;
use ebb_core::service::memories::RequestId;
use rmcp::model::{JsonObject, Tool as Described, ToolAnnotations};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::pin::Pin;
use tokio::runtime::Handle;
use tokio::task::spawn_blocking;
use tracing::error;

type Working = Pin<Box<dyn Future<Output = Result<Value, Fault>> + Send>>;

/// A tool.
pub(super) struct Tool {
    pub(super) name: &'static str,
    pub(super) description: &'static str,
    /// The least right that is of any use with it.
    pub(super) needs: Right,
    /// Whose places it takes over HTTP.
    pub(super) kind: Kind,
    /// Whether a call may take away what was there, and whether a second one changes nothing more.
    hints: (bool, bool),
    pub(super) schema: JsonObject,
    work: Box<dyn Fn(Call, Value) -> Working + Send + Sync>,
}

/// Who calls, and what.
pub(super) struct Call {
    pub(super) tools: Tools,
    pub(super) caller: Caller,
    /// Held until the work has ended; over stdio there is none.
    pub(super) place: Option<Place>,
}

impl Tool {
    /// The work has a thread of its own, as that of a route has: it ends as it began, whoever goes meanwhile.
    pub(super) fn new<T, F, Fut>(name: &'static str, needs: Right, work: F) -> Self
    where
        T: DeserializeOwned + Send + 'static,
        F: Fn(Call, T) -> Fut + Clone + Send + Sync + 'static,
        Fut: Future<Output = Result<Value, Fault>>,
    {
        let work = move |call: Call, said| -> Working {
            let work = work.clone();
            Box::pin(async move {
                let (said, runtime) = (read(said)?, Handle::current());
                let task = spawn_blocking(move || {
                    // Given back when the work has ended, whoever waits for it.
                    let _place = call.place.clone();
                    runtime.block_on(async {
                        call.service().prepared().await?;
                        work(call, said).await
                    })
                });
                task.await.unwrap_or_else(|fallen| {
                    error!(tool = name, %fallen, "a call met a fault");
                    Err(Fault("Ebb met a fault of its own; its log says which".to_owned()))
                })
            })
        };
        Self {
            name,
            description: "",
            needs,
            kind: if needs == Right::Read { Kind::Read } else { Kind::Write },
            hints: (false, false),
            schema: JsonObject::new(),
            work: Box::new(work),
        }
    }

    pub(super) fn says(self, description: &'static str) -> Self {
        Self { description, ..self }
    }

    pub(super) fn takes<T: JsonSchema>(self) -> Self {
        self.takes_schema(schema::<T>())
    }

    pub(super) fn takes_schema(self, schema: JsonObject) -> Self {
        Self { schema, ..self }
    }

    /// Over HTTP it takes the places of that kind of work.
    pub(super) fn shares(self, kind: Kind) -> Self {
        Self { kind, ..self }
    }

    /// It may take confidence away, and a second call changes nothing more.
    pub(super) fn retracts(self) -> Self {
        Self { hints: (true, true), ..self }
    }

    /// A second call changes nothing more.
    pub(super) fn settles(self) -> Self {
        Self { hints: (self.hints.0, true), ..self }
    }

    /// As clients see it.
    pub(super) fn described(&self) -> Described {
        let (takes_away, settles) = self.hints;
        let annotations = ToolAnnotations::new()
            .read_only(self.needs == Right::Read && !takes_away)
            .destructive(takes_away)
            .idempotent(settles)
            .open_world(false);
        Described::new(self.name, self.description, self.schema.clone()).with_annotations(annotations)
    }

    pub(super) async fn call(&self, call: Call, said: Value) -> Result<Value, Fault> {
        (self.work)(call, said).await
    }
}

/// What a type takes, as JSON Schema, whole in itself.
fn schema<T: JsonSchema>() -> JsonObject {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let made = settings.for_deserialize().into_generator().into_root_schema_for::<T>();
    let mut fields = made.as_object().cloned().unwrap_or_default();
    // Names of our types and of the dialect say nothing to a client.
    fields.retain(|name, _| name != "$schema" && name != "title");
    fields
}

fn read<T: DeserializeOwned>(said: Value) -> Result<T, Fault> {
    serde_path_to_error::deserialize(said).map_err(|why| Fault(error_at(&why)))
}

pub(super) fn to_json(answer: impl Serialize) -> Result<Value, Fault> {
    serde_json::to_value(answer).map_err(|why| Fault(format!("the answer cannot be written as JSON: {why}")))
}

impl Call {
    pub(super) fn service(&self) -> &Service {
        &self.tools.service
    }

    /// The scope that is meant, over which the caller has the right.
    pub(super) fn scope(&self, named: Option<&Scope>, right: Right) -> Result<Scope, Fault> {
        self.caller.scope(named, self.service().scope(), right).map_err(|why| Fault(why.to_string()))
    }

    /// What makes a write count once.
    pub(super) fn request(&self, named: Option<&str>) -> Result<RequestId, Fault> {
        if named.is_some_and(|named| named.is_empty() || named.len() > KEY_MAX) {
            return Err(Fault(format!("request_id: it must have 1 to {KEY_MAX} bytes")));
        }
        Ok(self.caller.request(named))
    }
}
