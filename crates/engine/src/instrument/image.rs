//! A witness's memory as C statements that put it in place.
//!
//! Objects are made as bytes at the offsets of the new version's layout, as the interpreter has them, so
//! that the old version finds the same bytes whatever it takes them for.

use super::constant::{c_extended, c_integer, c_real, object_name, pointer};
use crate::ir::{CType, DataModel, FloatKind, RecordId, Unit};
use crate::report::{MemoryObject, Storage, Value, Witness};

/// Statements, and the names of the objects that they make.
#[derive(Debug, Default)]
pub struct Image {
    pub objects: Vec<String>,
    pub statements: Vec<String>,
}

/// Most cells that a report spells out; with as many there may be more.
const MOST_CELLS: usize = 64;

/// Makes the statements; the error says what cannot be made.
pub fn image(witness: &Witness, unit: &Unit) -> Result<Image, String> {
    let mut image = Image::default();
    for object in &witness.memory {
        let ty = parse_type(unit, &object.ty).ok_or_else(|| format!("no type {}", object.ty))?;
        let size = unit.size_of(&ty).ok_or_else(|| format!("the size of {} is not known", object.ty))?;
        let id = &object.id;
        if object.storage == Storage::Global {
            let is_file_scope = unit.globals.iter().any(|g| *g.symbol == **id);
            if !is_file_scope {
                return Err(format!("{id} cannot be named from outside its function"));
            }
            image.statements.push(format!("invdiff_clear((char *)&{id}, sizeof {id});"));
        } else {
            let name = object_name(id);
            image.statements.push(format!("{name} = invdiff_calloc(1, {});", size.max(1)));
            image.objects.push(name);
        }
    }
    for object in &witness.memory {
        let ty = parse_type(unit, &object.ty).ok_or("no type")?;
        cells(object, &ty, unit, witness, &mut image)?;
    }
    Ok(image)
}

fn cells(
    object: &MemoryObject,
    ty: &CType,
    unit: &Unit,
    witness: &Witness,
    image: &mut Image,
) -> Result<(), String> {
    if object.cells.len() >= MOST_CELLS {
        return Err(format!("{} has more parts than the report names", object.id));
    }
    let start = match object.storage {
        Storage::Global => format!("(char *)&{}", object.id),
        _ => object_name(&object.id),
    };
    for (path, value) in &object.cells {
        let place = place(unit, ty, path).ok_or_else(|| format!("no {path} in {}", object.ty))?;
        let at = place.offset;
        image.statements.push(match (&place.ty, value) {
            (_, Value::Text(text)) if text.starts_with('"') => {
                format!("invdiff_copy({start} + {at}, {text}, sizeof {text} - 1);")
            }
            (CType::Pointer(_), value) => {
                format!("invdiff_put_pointer({start}, {at}, {});", pointer(value, witness))
            }
            (CType::Float(FloatKind::F32), Value::Text(text)) => {
                format!("invdiff_put_float({start}, {at}, {});", c_real(text))
            }
            (CType::Float(FloatKind::F64), Value::Text(text)) => {
                format!("invdiff_put_double({start}, {at}, {});", c_real(text))
            }
            (CType::Float(FloatKind::LongDouble), Value::Text(text)) => {
                format!("invdiff_put_long_double({start}, {at}, {});", c_extended(text))
            }
            (CType::Int { .. } | CType::Bool, Value::Text(text)) => {
                let bytes = unit.size_of(&place.ty).unwrap_or(1);
                match place.bits {
                    Some((first, width)) => format!(
                        "invdiff_put_bits({start}, {at}, {bytes}, {first}, {width}, {});",
                        c_integer(text)
                    ),
                    None => format!("invdiff_put({start}, {at}, {}, {bytes});", c_integer(text)),
                }
            }
            _ => return Err(format!("{path} of {} cannot be set", object.id)),
        });
    }
    Ok(())
}

/// A part of an object.
struct Part {
    offset: u64,
    ty: CType,
    bits: Option<(u32, u32)>,
}

/// Finds `head.next`, `[3].x`; the empty path is the whole, and so is `[0]` of a scalar.
fn place(unit: &Unit, ty: &CType, path: &str) -> Option<Part> {
    let mut part = Part { offset: 0, ty: ty.clone(), bits: None };
    let mut rest = path;
    while !rest.is_empty() {
        if let Some(inner) = rest.strip_prefix('[') {
            let (index, after) = inner.split_once(']')?;
            let index: u64 = index.parse().ok()?;
            let is_scalar = !matches!(part.ty, CType::Array(..));
            if let CType::Array(element, _) = part.ty.clone() {
                part.offset += index.checked_mul(unit.size_of(&element)?)?;
                part.ty = (*element).clone();
            } else if !(is_scalar && index == 0) {
                return None;
            }
            rest = after;
            continue;
        }
        let name_at = rest.strip_prefix('.').unwrap_or(rest);
        let end = name_at.find(['.', '[']).unwrap_or(name_at.len());
        let (name, after) = name_at.split_at(end);
        let CType::Record(id) = part.ty else { return None };
        let field = unit.records.get(id.0 as usize)?.fields.iter().find(|f| *f.name == *name)?;
        part = Part { offset: part.offset + field.offset, ty: field.ty.clone(), bits: field.bits };
        rest = after;
    }
    Some(part)
}

/// Reads a type as reports spell it.
fn parse_type(unit: &Unit, text: &str) -> Option<CType> {
    let text = text.trim();
    if let Some(inner) = text.strip_suffix(']') {
        let (element, count) = inner.rsplit_once('[')?;
        return Some(CType::Array(parse_type(unit, element)?.into(), Some(count.parse().ok()?)));
    }
    if let Some(target) = text.strip_suffix('*') {
        return Some(CType::Pointer(parse_type(unit, target).unwrap_or(CType::Void).into()));
    }
    let tagged = text.strip_prefix("struct ").or_else(|| text.strip_prefix("union "));
    if let Some(name) = tagged {
        let is_union = text.starts_with("union");
        let found = unit.records.iter().position(|r| *r.name == *name && r.is_union == is_union)?;
        return Some(CType::Record(RecordId(u32::try_from(found).ok()?)));
    }
    Some(match text {
        "void" => CType::Void,
        "_Bool" => CType::Bool,
        "float" => CType::Float(FloatKind::F32),
        "double" => CType::Float(FloatKind::F64),
        "long double" => CType::Float(FloatKind::LongDouble),
        _ => {
            CType::Int { bits: int_bits(unit, text)?, signed: !text.contains("unsigned"), name: text.into() }
        }
    })
}

fn int_bits(unit: &Unit, text: &str) -> Option<u16> {
    if text.starts_with("enum") {
        return Some(32);
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    let known = |w: &&str| matches!(*w, "unsigned" | "signed" | "int" | "char" | "short" | "long");
    if !words.iter().all(known) {
        return None;
    }
    let longs = words.iter().filter(|w| **w == "long").count();
    Some(match (words.contains(&"char"), words.contains(&"short"), longs) {
        (true, ..) => 8,
        (_, true, _) => 16,
        (_, _, 0) => 32,
        (_, _, 1) if unit.data_model == DataModel::Ilp32 => 32,
        _ => 64,
    })
}
