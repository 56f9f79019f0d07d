//! Inputs that show a difference, and what both versions do on them.

use super::RepoPath;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A concrete input on which two versions differ.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Witness {
    pub kind: WitnessKind,
    /// Function that the run starts in.
    pub entry: String,
    pub arguments: Vec<Argument>,
    pub memory: Vec<MemoryObject>,
    /// Results of calls whose bodies are not part of the program.
    pub calls: Vec<CallResult>,
    /// Standard input; null if the program reads none, or if it is not UTF-8.
    pub stdin: Option<String>,
    /// Standard input where it is not UTF-8.
    pub stdin_base64: Option<String>,
    pub argv: Option<Vec<String>>,
    /// Assumptions without which the replay may go another way.
    pub relies_on: Vec<String>,
    /// Files, but for the entry's, whose functions run or whose objects are used as they begin.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub elsewhere: Vec<RepoPath>,
    pub old: Run,
    pub new: Run,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WitnessKind {
    /// The whole program, from `main`, fed by `stdin` and `argv`.
    Program,
    /// One call of `entry`.
    #[default]
    Call,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Argument {
    pub name: String,
    #[serde(rename = "type")]
    pub ty: String,
    pub value: Value,
}

/// A value in a witness.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// As a C constant expression.
    Text(String),
    /// A pointer into [`Witness::memory`].
    Pointer {
        #[serde(rename = "ref")]
        object: String,
        /// Bytes.
        offset: i64,
    },
}

impl Default for Value {
    fn default() -> Value {
        Value::Text(String::new())
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Text(text.to_owned())
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct MemoryObject {
    /// Name that [`Value::Pointer`] refers to.
    pub id: String,
    #[serde(rename = "type")]
    pub ty: String,
    pub storage: Storage,
    /// Field (`len`), element (`[3]`) or path of both (`head.next`) to value; others are zero.
    pub cells: BTreeMap<String, Value>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Storage {
    Heap,
    Global,
    #[default]
    Argument,
}

/// What one call of an unknown function answered.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CallResult {
    pub callee: String,
    /// Which call of this callee, from 1.
    pub nth: u32,
    /// As a C constant; `&m1` points to that object of the witness's memory, `&m1 +4` four bytes behind its
    /// start.
    #[serde(rename = "return")]
    pub returned: Option<String>,
    pub errno: Option<String>,
    /// What the call stored, by lvalue.
    pub writes: BTreeMap<String, Value>,
}

impl Witness {
    /// The object that a call returned a pointer to, and the bytes that were added to it: `&m1`, `&m1 +4`.
    pub fn object_given(&self, call: &CallResult) -> Option<(&MemoryObject, i64)> {
        let text = call.returned.as_deref()?.strip_prefix('&')?;
        let (id, offset) = text.split_once(' ').unwrap_or((text, "0"));
        Some((self.memory.iter().find(|m| m.id == id)?, offset.parse().ok()?))
    }
}

/// How one version ran on a witness.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Run {
    pub end: End,
    /// Return value as a C constant.
    #[serde(rename = "return")]
    pub returned: Option<String>,
    /// Standard output up to the end of the run; null if there is none or it is not UTF-8.
    pub stdout: Option<String>,
    /// Standard output where it is not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stdout_base64: Option<String>,
    /// Standard error, where something was written to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stderr: Option<String>,
    /// Exit status of the process, for whole programs that end by `return` or `exit`.
    pub exit: Option<i32>,
    /// Values at the churn's point, by variable or lvalue, as C constants.
    pub values: BTreeMap<String, String>,
    pub undefined: Option<Undefined>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    #[default]
    Return,
    Exit,
    Abort,
    Signal,
    Undefined,
    /// The interpreter's step limit was met.
    Fuel,
}

/// The first undefined event of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Undefined {
    pub line: u32,
    /// `uninitialised`, `division`, `bounds`, `null`, ...
    pub kind: String,
}
