//! Fuzz entry point: calls of tools, up to the work of their operation.

use super::{check_names, plain, request_id, tools};
use crate::surfaces::operation::problem::Problem;
use crate::surfaces::operation::tool::{Fields, TEXT_BYTES_MAX};
use ebb_core::domain::invisible::visible;
use serde_json::Value;

/// Reads a JSON object with the `name` of a tool and its `arguments`. What a model would read of it has no invisible
/// characters.
pub(crate) fn read(bytes: &[u8]) {
    let Ok(Value::Object(mut call)) = serde_json::from_slice(bytes) else { return };
    let (Some(Value::String(name)), Some(Value::Object(arguments))) =
        (call.remove("name"), call.remove("arguments"))
    else {
        return;
    };
    assert_plain(&plain::value(Value::Object(arguments.clone()), TEXT_BYTES_MAX));
    if let Err(problem) = arguments_of(&name, arguments) {
        assert!(problem.status.is_client_error(), "{problem:?}");
        assert_plain(&Value::String(plain::text(&problem.detail, TEXT_BYTES_MAX)));
    }
}

fn arguments_of(name: &str, mut arguments: Fields) -> Result<(), Problem> {
    let Some((tool, operation)) = tools().find(|(tool, _)| tool.name == name) else { return Ok(()) };
    check_names(tool, &mut arguments)?;
    let request_id = request_id(&mut arguments)?;
    (tool.prepare)(&mut arguments);
    (operation.readers.tool)(arguments, request_id, operation.path)
}

fn assert_plain(value: &Value) {
    match value {
        Value::String(text) => {
            assert!(text.len() <= TEXT_BYTES_MAX && visible(text.chars()).eq(text.chars()), "{text:?}");
        }
        Value::Array(all) => all.iter().for_each(assert_plain),
        Value::Object(fields) => fields.values().for_each(assert_plain),
        _ => {}
    }
}
