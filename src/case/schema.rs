//! The JSON schema of a case file (draft 2020-12), for completion and checks in editors.
//!
//! Made from the declared keys.

use super::first_order::FIRST_ORDER;
use super::spec::{Choice, Field, Kind, Range, Table, Variant};
use super::tables::CASE;
use serde_json::{Map, Value, json};

/// The schema of a whole case file.
pub fn schema() -> Value {
    let mut schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "carom case file",
    });
    // What either kind of case may have; which of them goes with which, the branches say.
    let both = CASE.fields.iter().chain(FIRST_ORDER.fields);
    let keys: Map<String, Value> = both.map(|field| (field.name.into(), json!({ "description": field.doc }))).collect();
    extend(&mut schema, json!({ "properties": keys }));
    let first_order = json!({ "properties": { "analysis": { "const": "first-order" } }, "required": ["analysis"] });
    extend(&mut schema, json!({ "if": first_order, "then": table(&FIRST_ORDER), "else": table(CASE) }));
    schema
}

fn extend(object: &mut Value, more: Value) {
    if let (Value::Object(object), Value::Object(more)) = (object, more) {
        object.extend(more);
    }
}

fn table(spec: &Table) -> Value {
    let mut schema = json!({ "description": spec.doc, "type": "object" });
    let groups: Vec<Vec<&str>> = spec.one_of.iter().map(|group| group.to_vec()).collect();
    match spec.tag() {
        None => extend(&mut schema, object(spec.common(&[]).iter(), &groups, None)),
        Some((tag, variants)) => {
            let common = spec.common(&variants);
            let alternatives = variants.iter().map(|variant| {
                let groups: Vec<Vec<&str>> = groups.iter().chain(&variant.one_of).cloned().collect();
                let constant = (!variant.name.is_empty()).then_some((tag.name, tag.doc, variant));
                object(common.iter().chain(&variant.fields), &groups, constant)
            });
            extend(&mut schema, json!({ "oneOf": alternatives.collect::<Vec<_>>() }));
        }
    }
    schema
}

/// Properties of a table without tag, or of one variant of a tagged one.
fn object<'a>(
    fields: impl Iterator<Item = &'a Field>,
    groups: &[Vec<&str>],
    tag: Option<(&str, &str, &Variant)>,
) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    if let Some((key, doc, variant)) = tag {
        properties
            .insert(key.into(), json!({ "description": format!("{doc}: {}", variant.doc), "const": variant.name }));
        required.push(key);
    }
    let built: Vec<&Field> = fields.collect();
    for field in &built {
        properties.insert(field.name.into(), property(field));
        if field.required() {
            required.push(field.name);
        }
    }
    let mut schema = json!({ "properties": properties, "required": required, "additionalProperties": false });
    if !groups.is_empty() {
        let group = |group: &Vec<&str>| {
            let names = group.iter().filter(|name| built.iter().any(|field| field.name == **name));
            json!({ "oneOf": names.map(|name| json!({ "required": [name] })).collect::<Vec<_>>() })
        };
        extend(&mut schema, json!({ "allOf": groups.iter().map(group).collect::<Vec<_>>() }));
    }
    schema
}

fn property(field: &Field) -> Value {
    let default = field.default_text().map_or(String::new(), |text| format!(". Default: {text}"));
    let mut schema = kind(&field.kind);
    // The key's own description stands before that of its table.
    extend(&mut schema, json!({ "description": format!("{}{default}", field.doc) }));
    schema
}

fn kind(kind_of_value: &Kind) -> Value {
    let list = |items: Value, min: usize, max: usize| {
        let mut schema = json!({ "type": "array", "items": items, "minItems": min });
        if max < usize::MAX {
            extend(&mut schema, json!({ "maxItems": max }));
        }
        schema
    };
    let vector = || list(number(super::spec::ANY), 1, 2);
    match *kind_of_value {
        Kind::Number(range) => number(range),
        Kind::Integer(min, max) => json!({ "type": "integer", "minimum": min, "maximum": max }),
        Kind::Integers(count, min, max) => {
            list(json!({ "type": "integer", "minimum": min, "maximum": max }), count, count)
        }
        Kind::Text | Kind::Path | Kind::Ref(_) | Kind::Tag(_) => json!({ "type": "string" }),
        Kind::Name => json!({ "type": "string", "pattern": "^[A-Za-z0-9_-]+$" }),
        Kind::Refs(_, min, max) => list(json!({ "type": "string" }), min, max),
        Kind::Flag => json!({ "type": "boolean" }),
        Kind::Word(choices) => words(choices),
        Kind::WordOrInteger(choices, min, max) => {
            json!({ "anyOf": [words(choices), { "type": "integer", "minimum": min, "maximum": max }] })
        }
        Kind::Words(choices) => {
            let mut schema = list(words(choices), 0, choices.len());
            extend(&mut schema, json!({ "uniqueItems": true }));
            schema
        }
        Kind::Vector | Kind::VectorOfTime => vector(),
        Kind::NumberOfTime | Kind::NumberOfPlace => number(super::spec::ANY),
        Kind::OfSystem(_) => number(super::spec::ANY),
        Kind::Within => list(number(super::spec::ANY), 2, 2),
        Kind::List(inner) => list(kind(inner), 0, usize::MAX),
        Kind::Constants => json!({ "type": "object", "additionalProperties": number(super::spec::ANY) }),
        Kind::Function(spec) => function(spec),
        Kind::Vectors(min, max) => list(vector(), min, max),
        Kind::Interval => list(number(super::spec::ANY), 2, 2),
        Kind::Nested(spec) => table(spec),
        Kind::Tables(spec) => list(table(spec), 0, usize::MAX),
        Kind::OffOr(spec) => json!({ "anyOf": [{ "const": false }, table(spec)] }),
        Kind::NumberOr(range, spec) => json!({ "anyOf": [number(range), table(spec)] }),
        Kind::More(_) => json!({}),
        Kind::Map(spec) => json!({ "type": "object", "additionalProperties": table(spec) }),
        Kind::Motions(keys, spec) => {
            let properties: Map<String, Value> = keys.iter().map(|key| (key.to_string(), function(spec))).collect();
            json!({ "type": "object", "properties": properties, "additionalProperties": false })
        }
    }
}

/// A function of time: a table, or an expression.
fn function(spec: &Table) -> Value {
    json!({ "anyOf": [{ "type": "string" }, table(spec)] })
}

/// A number, or a text with an expression.
fn number(range: Range) -> Value {
    let mut schema = json!({ "type": "number" });
    let mut bound = |value: f64, included: bool, inclusive: &str, exclusive: &str| {
        if value.is_finite() {
            extend(&mut schema, json!({ (if included { inclusive } else { exclusive }): value }));
        }
    };
    bound(range.min, range.min_included, "minimum", "exclusiveMinimum");
    bound(range.max, range.max_included, "maximum", "exclusiveMaximum");
    json!({ "anyOf": [schema, { "type": "string" }] })
}

fn words(choices: &[Choice]) -> Value {
    let built: Vec<&str> = choices.iter().map(|c| c.name).collect();
    json!({ "enum": built })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The few words of JSON schema that [`schema`] uses.
    fn accepts(schema: &Value, value: &Value) -> bool {
        let list = |key: &str| schema[key].as_array().cloned().unwrap_or_default();
        let bound = |key: &str, holds: fn(f64, f64) -> bool| match (schema[key].as_f64(), value.as_f64()) {
            (Some(bound), Some(value)) => holds(value, bound),
            _ => true,
        };
        let length = |key: &str, holds: fn(u64, u64) -> bool| match (schema[key].as_u64(), value.as_array()) {
            (Some(bound), Some(items)) => holds(items.len() as u64, bound),
            _ => true,
        };
        let kind = match schema["type"].as_str() {
            Some("object") => value.is_object(),
            Some("array") => value.is_array(),
            Some("string") => value.is_string(),
            Some("boolean") => value.is_boolean(),
            Some("integer") => value.is_i64(),
            Some("number") => value.is_number(),
            None => true,
            Some(other) => panic!("{other}"),
        };
        let members = value.as_object().is_none_or(|object| {
            object.iter().all(|(key, value)| match (&schema["properties"][key], &schema["additionalProperties"]) {
                (Value::Null, Value::Bool(false)) => false,
                (Value::Null, Value::Null) => true,
                (Value::Null, free) => accepts(free, value),
                (property, _) => accepts(property, value),
            })
        });
        kind && members
            && list("required").iter().all(|key| value.get(key.as_str().unwrap()).is_some())
            && value
                .as_array()
                .is_none_or(|a| schema["items"].is_null() || a.iter().all(|v| accepts(&schema["items"], v)))
            && (schema["enum"].is_null() || list("enum").contains(value))
            && (schema.get("const").is_none_or(|constant| constant == value))
            && list("allOf").iter().all(|inner| accepts(inner, value))
            && schema
                .get("if")
                .is_none_or(|test| accepts(&schema[if accepts(test, value) { "then" } else { "else" }], value))
            && (schema["anyOf"].is_null() || list("anyOf").iter().any(|inner| accepts(inner, value)))
            && (schema["oneOf"].is_null() || list("oneOf").iter().filter(|inner| accepts(inner, value)).count() == 1)
            && bound("minimum", |x, b| x >= b)
            && bound("maximum", |x, b| x <= b)
            && bound("exclusiveMinimum", |x, b| x > b)
            && bound("exclusiveMaximum", |x, b| x < b)
            && length("minItems", |n, b| n >= b)
            && length("maxItems", |n, b| n <= b)
    }

    fn sample() -> Value {
        json!({
            "format": 1, "time": { "end": 1, "step": 0.1 }, "scheme": { "name": "hht", "alpha": 0.1 },
            "body": [
                { "name": "a", "element": "bar", "line": { "from": [0], "to": [1], "elements": 2 },
                  "material": { "young": 1, "density": 1 }, "section": { "area": 1 }, "damping": { "mass": 0 } },
                { "name": "b", "element": "spring", "between": ["a.start", "a.end"], "stiffness": 1, "damping": 1 },
            ],
            "contact": [{ "name": "w", "nodes": "a", "plane": { "point": [0], "normal": [1] }, "restitution": { "e": 1 } }],
            "output": { "vtk": false }, "guards": { "energy": { "gain": 1 } },
            "expect": { "energy.final": { "below": 1 } },
        })
    }

    #[test]
    fn what_the_checker_accepts_the_schema_accepts() {
        let text = sample().to_string();
        assert!(super::super::parse(&text, "x.json", super::super::Format::Json, &[]).is_ok());
        assert!(accepts(&schema(), &sample()));
    }

    #[test]
    fn what_the_checker_refuses_the_schema_refuses() {
        for (pointer, value) in [
            ("/format", json!(2)),
            ("/time/step", json!(0)),
            ("/time", json!({ "end": 1 })),
            ("/time", json!({ "end": 1, "step": 1, "setp": 1 })),
            ("/scheme", json!({ "name": "hht" })),
            ("/scheme", json!({ "name": "newmark", "alpha": 0.1 })),
            ("/scheme/alpha", json!(0.4)),
            ("/body/0/element", json!("baar")),
            ("/body/0/line/elements", json!(2.5)),
            ("/body/0/line/from", json!([0, 0, 0])),
            ("/body/0/section", json!({ "shape": "circle", "area": 1 })),
            ("/body/1/damping", json!({ "mass": 0 })),
            ("/body/1/between", json!(["a.start"])),
            ("/contact/0", json!({ "name": "w", "nodes": "a" })),
            ("/contact/0/restitution", json!({ "e": 1, "law": "poisson" })),
            ("/output/vtk", json!(true)),
            ("/output", json!({ "report": 1 })),
            ("/expect/energy.final", json!({ "blow": 1 })),
        ] {
            let mut case = sample();
            *case.pointer_mut(pointer).unwrap() = value;
            let checked = super::super::parse(&case.to_string(), "x.json", super::super::Format::Json, &[]);
            assert!(checked.is_err() && !accepts(&schema(), &case), "{pointer}");
        }
    }
}
