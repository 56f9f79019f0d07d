//! JSON Schema, as far as the schemas of the tests go: keywords of drafts 4 and 2020-12 that say something
//! about structure. A keyword that is not known here fails the test, so nothing is passed over in silence.

use serde_json::Value;

/// Checks a value; returns what is wrong, each with its place.
pub fn errors(schema: &Value, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    Checker { root: schema, closed: false }.check(schema, value, "", &mut found);
    found
}

/// As [`errors`], and every member must be one that the schema describes.
pub fn errors_closed(schema: &Value, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    Checker { root: schema, closed: true }.check(schema, value, "", &mut found);
    found
}

struct Checker<'s> {
    root: &'s Value,
    closed: bool,
}

impl Checker<'_> {
    fn fits(&self, schema: &Value, value: &Value) -> bool {
        let mut found = Vec::new();
        self.check(schema, value, "", &mut found);
        found.is_empty()
    }

    fn check(&self, schema: &Value, value: &Value, at: &str, found: &mut Vec<String>) {
        let Some(members) = schema.as_object() else { panic!("{at}: no schema: {schema}") };
        let list = |v: &Value| v.as_array().cloned().unwrap_or_default();
        let size = |v: &Value| v.as_u64().map_or(usize::MAX, |n| n as usize);
        let mut wrong = |what: String| found.push(format!("{at}: {what}"));
        for (keyword, says) in members {
            match keyword.as_str() {
                "$schema" | "$defs" | "definitions" | "id" | "title" | "description" | "default" => {}
                "properties" | "additionalProperties" | "items" | "$ref" | "anyOf" | "oneOf" => {}
                "type" => {
                    let types = if says.is_array() { list(says) } else { vec![says.clone()] };
                    if !types.iter().filter_map(Value::as_str).any(|t| is_of(value, t)) {
                        wrong(format!("{value} is not {says}"));
                    }
                }
                "enum" if !list(says).contains(value) => wrong(format!("{value} is none of {says}")),
                "const" if says != value => wrong(format!("{value} is not {says}")),
                "enum" | "const" => {}
                "required" => {
                    for name in list(says).iter().filter_map(Value::as_str) {
                        if value.is_object() && value.get(name).is_none() {
                            wrong(format!("{name} is missing"));
                        }
                    }
                }
                "minimum" | "maximum" => {
                    if let (Some(n), Some(limit)) = (value.as_f64(), says.as_f64())
                        && (if keyword == "minimum" { n < limit } else { n > limit })
                    {
                        wrong(format!("{n} passes {keyword} {limit}"));
                    }
                }
                "minItems" if value.as_array().is_some_and(|a| a.len() < size(says)) => {
                    wrong("too few".into())
                }
                "uniqueItems" if says == true => {
                    let all = list(value);
                    if (1..all.len()).any(|i| all[..i].contains(&all[i])) {
                        wrong("not unique".into());
                    }
                }
                "minItems" | "uniqueItems" => {}
                // Object ids are the only text with a pattern that is written.
                "pattern" => {
                    if let Some(text) = value.as_str()
                        && !(matches!(text.len(), 40 | 64) && text.bytes().all(|b| b.is_ascii_hexdigit()))
                    {
                        wrong(format!("pattern {says} of {text:?}"));
                    }
                }
                "format" => {
                    if let (Some("uri" | "uri-reference"), Some(text)) = (says.as_str(), value.as_str())
                        && !text.bytes().all(|b| b.is_ascii_graphic() && !b"\"<>\\^`{|}".contains(&b))
                    {
                        wrong(format!("{text:?} is no {says}"));
                    }
                }
                other => panic!("{at}: keyword {other} is not known to this test"),
            }
        }
        if let Some(Value::String(name)) = members.get("$ref") {
            let target = self.root.pointer(name.trim_start_matches('#'));
            self.check(target.unwrap_or_else(|| panic!("{name}")), value, at, found);
        }
        for keyword in ["anyOf", "oneOf"] {
            let Some(choices) = members.get(keyword) else { continue };
            let fitting = list(choices).iter().filter(|s| self.fits(s, value)).count();
            if fitting == 0 || keyword == "oneOf" && fitting > 1 {
                found.push(format!("{at}: {fitting} of {keyword} fit {value}"));
            }
        }
        self.check_parts(schema, value, at, found);
    }

    fn check_parts(&self, schema: &Value, value: &Value, at: &str, found: &mut Vec<String>) {
        let described = schema.get("properties");
        let rest = schema.get("additionalProperties");
        for (name, part) in value.as_object().into_iter().flatten() {
            let at = format!("{at}/{name}");
            match (described.and_then(|d| d.get(name)), rest) {
                (Some(schema), _) => self.check(schema, part, &at, found),
                (None, Some(Value::Bool(false))) => found.push(format!("{at} is not described")),
                (None, Some(schema)) if schema.is_object() => self.check(schema, part, &at, found),
                (None, _) if self.closed && described.is_some() => {
                    found.push(format!("{at} is not described"))
                }
                (None, _) => {}
            }
        }
        if let (Some(items), Some(parts)) = (schema.get("items"), value.as_array()) {
            for (i, part) in parts.iter().enumerate() {
                self.check(items, part, &format!("{at}/{i}"), found);
            }
        }
    }
}

fn is_of(value: &Value, name: &str) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        other => panic!("type {other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{errors, errors_closed};
    use serde_json::json;

    #[test]
    fn what_does_not_fit_is_found() {
        let schema = json!({
            "type": "object", "required": ["a"],
            "properties": {"a": {"enum": [1, 2]}, "b": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/n"}}},
            "$defs": {"n": {"type": "integer", "minimum": 0}},
        });
        for (value, expected) in [
            (json!({"a": 1}), 0),
            (json!({"a": 1, "b": [0, 3]}), 0),
            (json!({}), 1),
            (json!([]), 1),
            (json!({"a": 3}), 1),
            (json!({"a": 1, "b": []}), 1),
            (json!({"a": 1, "b": [-1, "x"]}), 2),
        ] {
            assert_eq!(errors(&schema, &value).len(), expected, "{value}");
        }
        assert_eq!(errors_closed(&schema, &json!({"a": 1, "c": 1})), ["/c is not described"]);
        let one = json!({"oneOf": [{"type": "integer"}, {"type": "number"}]});
        assert_eq!(errors(&one, &json!(1)).len(), 1);
    }
}
