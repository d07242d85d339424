//! The settings of the client's next major version, OpenCode 2, where this one takes them for its own.

use jsonc_parser::ast::{Object, ObjectProp, Value};

use super::keys::{Fault, Kind, LSP, MCP, TEXTS};
use Kind::{Either, Fields, Flag, List, Needs, Off, Record, Same, Text, Whole, Without, Word};

static MODEL: Kind = Needs(
    &["providerID", "model"],
    &[("providerID", Without("/#")), ("model", Without("#")), ("variant", Without("#"))],
);

/// What a time limit of the servers is made of.
const LIMITS: [&str; 3] = ["startup", "catalog", "execution"];

static TIMEOUT: Kind = Fields(&[(LIMITS[0], Whole(1)), (LIMITS[1], Whole(1)), (LIMITS[2], Whole(1))]);

static OAUTH: Kind = Fields(&[
    ("client_id", Text),
    ("client_secret", Text),
    ("scope", Text),
    ("callback_port", Whole(1)),
    ("redirect_uri", Text),
]);

static SERVER: Kind = Either(&[
    Needs(
        &["type", "command"],
        &[
            ("type", Word(&["local"])),
            ("command", List(&Text)),
            ("cwd", Text),
            ("environment", Record(&Text)),
            ("enabled", Flag),
            ("disabled", Flag),
            ("codemode", Flag),
            ("timeout", Same(&TIMEOUT)),
        ],
    ),
    Needs(
        &["type", "url"],
        &[
            ("type", Word(&["remote"])),
            ("url", Text),
            ("headers", Record(&Text)),
            ("oauth", Either(&[Off, Same(&OAUTH)])),
            ("enabled", Flag),
            ("disabled", Flag),
            ("codemode", Flag),
            ("timeout", Same(&TIMEOUT)),
        ],
    ),
]);

/// The first `permissions` in a configuration: they are not translated, and the client does not start with them.
pub(super) fn permissions<'a>(config: &'a Object<'a>) -> Option<&'a ObjectProp<'a>> {
    let agents = ["agents", "agent", "mode"].iter().filter_map(|name| config.get_object(name));
    let agents = agents.flat_map(|agents| &agents.properties).filter_map(|agent| agent.value.as_object());
    std::iter::once(config).chain(agents).find_map(|object| object.get("permissions"))
}

/// The first thing that the client does not accept in `value`, that of the key `name`, which is of this `kind` without
/// the next version's settings.
pub(super) fn fault(name: &str, value: &Value<'_>, kind: &Kind) -> Option<Fault> {
    match (name, value) {
        ("model", _) if MODEL.fits(value) => None,
        ("skills", _) if TEXTS.fits(value) => None,
        // A server without file endings that the client does not know is left out.
        ("lsp", Value::Object(servers)) => servers.properties.iter().find_map(|server| LSP.fault(&server.value)),
        ("mcp", Value::Object(servers)) => servers.properties.iter().find_map(|server| server_fault(servers, server)),
        _ => kind.fault(value),
    }
}

/// The fault of one property of `mcp`: a server, or `servers`, or the time limits for all of them.
fn server_fault(all: &Object<'_>, property: &ObjectProp<'_>) -> Option<Fault> {
    let value = &property.value;
    match (property.name.as_str(), value) {
        // Of these, the client leaves out what it cannot translate, and what it has a server for.
        ("servers", Value::Object(servers)) if !is_server(servers) => servers.properties.iter().find_map(|server| {
            let options = server.value.as_object()?;
            let own = options.get_boolean("enabled").is_some() && options.get("disabled").is_none();
            if own && all.get(server.name.as_str()).is_none() { MCP.fault(&server.value) } else { None }
        }),
        ("timeout", Value::Object(limits))
            if !is_server(limits)
                && TIMEOUT.fits(value)
                && (limits.properties.is_empty() || LIMITS.iter().any(|name| limits.get(name).is_some())) =>
        {
            None
        }
        _ if SERVER.fits(value) => None,
        _ => MCP.fault(value),
    }
}

/// Whether `object` is a server that is called `servers` or `timeout`.
fn is_server(object: &Object<'_>) -> bool {
    ["type", "enabled"].iter().any(|name| object.get(name).is_some_and(|property| property.value.as_object().is_none()))
}
