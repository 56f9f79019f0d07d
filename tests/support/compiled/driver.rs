//! The C text of a driver: the program with its `main` renamed, our runtime, and for each function a
//! case that makes arguments and memory, calls it, and looks at what it left.

use super::facts::{self, Demand, Fact, InC};
use super::interface::{Column, Interface, columns, is_visible};
use super::stdin::Text;
use git_invdiff::ir::{CType, FloatKind, Function, Linkage, Record, Unit};
use std::collections::BTreeSet;
use std::fmt::Write;

const RUNTIME: &str = include_str!("runtime.c");
const OUTCOMES: &str = include_str!("outcomes.c");

/// A driver, and what the numbers in its answers stand for.
pub struct Driver {
    pub text: String,
    /// Names of the functions that are called, in the order of cases.
    pub functions: Vec<String>,
    pub columns: Vec<Vec<Column>>,
    /// Facts by their numbers; those that C cannot say are not in the text.
    pub said: BTreeSet<usize>,
}

struct Maker<'a> {
    unit: &'a Unit,
    source: &'a str,
    out: String,
    /// Types that pointers point to: the index is the key of an object.
    keys: Vec<CType>,
    names: u32,
}

/// Makes the driver of a program, or of a `text` with assertions in it: both have to get the same inputs,
/// which are made of the constants of `source`. Facts in `left_out` did not compile.
pub fn driver(unit: &Unit, source: &str, text: &str, facts: &[Fact], left_out: &BTreeSet<usize>) -> Driver {
    let out = format!("#define main ivd_program\n{text}\n#undef main\n#line 1 \"runtime\"\n{RUNTIME}\n");
    let mut maker = Maker { unit, source, out, keys: Vec::new(), names: 0 };
    let mut driver =
        Driver { text: String::new(), functions: Vec::new(), columns: Vec::new(), said: BTreeSet::new() };
    maker.out.push_str(&nondeterminism(unit));
    maker.globals();
    let is_called = |f: &Function| !f.is_static || facts.iter().any(|fact| *fact.function == *f.name);
    for f in unit.functions.iter().filter(|f| &*f.name != "main" && is_called(f)) {
        let interface = Interface::of(unit, f);
        let declared: Option<Vec<String>> =
            interface.parameters.iter().map(|(name, ty, _)| maker.declared(ty, name)).collect();
        let Some(declared) = declared.filter(|_| maker.is_returned(&interface.result)) else { continue };
        let of_function =
            facts.iter().enumerate().filter(|(k, f)| f.function == interface.name && !left_out.contains(k));
        let said: Vec<(usize, &Fact, InC)> = of_function
            .filter(|(_, f)| f.demand() != Demand::Unknown)
            .filter_map(|(k, f)| Some((k, f, facts::in_c(f, &interface)?)))
            .collect();
        driver.said.extend(said.iter().map(|(k, ..)| *k));
        let columns = columns(unit, &interface);
        maker.case(driver.functions.len(), &interface, &declared, &said, &columns);
        driver.functions.push(interface.name);
        driver.columns.push(columns);
    }
    maker.end(&driver);
    driver.text = maker.out;
    driver
}

/// Sources of any value, as verifiers' benchmarks declare them.
fn nondeterminism(unit: &Unit) -> String {
    let mut text = String::new();
    let declared = unit.prototypes.iter().filter(|p| p.name.starts_with("__VERIFIER_nondet_"));
    for p in declared.filter(|p| unit.function(&p.name).is_none()) {
        let (ty, value) = match &p.ret {
            CType::Int { name, .. } => (name.to_string(), "ivd_int()"),
            CType::Bool => ("_Bool".into(), "ivd_below(2)"),
            CType::Float(FloatKind::F32) => ("float".into(), "ivd_float()"),
            CType::Float(FloatKind::F64) => ("double".into(), "ivd_float()"),
            CType::Float(FloatKind::LongDouble) => ("long double".into(), "ivd_float()"),
            _ => continue,
        };
        let _ = writeln!(text, "{ty} {}(void) {{ return {value}; }}", p.name);
    }
    text
}

/// Makes the driver of a program's `main`: run `k` reads the `k`-th input.
pub fn program(unit: &Unit, text: &str, inputs: &[Text]) -> String {
    let mut out = format!("#define main ivd_program\n{text}\n#undef main\n#line 1 \"runtime\"\n{RUNTIME}\n");
    out.push_str(&nondeterminism(unit));
    out.push_str("static const struct ivd_input ivd_inputs[] = {\n");
    for i in inputs {
        let bytes: String = i.bytes.iter().map(|b| format!("\\{b:03o}")).collect();
        let _ = writeln!(out, "{{\"{bytes}\", {}, {}}},", i.bytes.len(), u8::from(i.is_tame));
    }
    let takes = unit.function("main").map_or(0, |f| f.params.len());
    let call = match takes {
        0 => "ivd_program()",
        _ => "ivd_program(1, ivd_arguments)",
    };
    let _ = writeln!(
        out,
        "}};\nstatic char *ivd_arguments[] = {{\"program\", 0}};\nstatic void ivd_case_0(void)\n{{\n\
         ivd_feed(&ivd_inputs[ivd->index]);\nif (ivd->only_tame && !ivd->tame) return;\n\
         if (!IVD_TRY({call})) {{ ivd->run.status = ivd->why; return; }}\n\
         if (ivd->hit) {{ ivd->run.status = IVD_UNDEFINED; return; }}\n}}\n\
         static ivd_case *const ivd_cases[] = {{ivd_case_0}};\n\
         int main(int argc, char **argv) {{ return ivd_main(argc, argv, ivd_cases, 1, 0, 0); }}"
    );
    out
}

/// Makes the driver of one function of a `text`, a version of `source`, that writes down what its runs come to; none
/// for a function that it has no arguments for. All versions get the same inputs.
pub fn outcomes(unit: &Unit, source: &str, text: &str, function: &str) -> Option<String> {
    let f = unit.function(function)?;
    let out = format!(
        "#define main ivd_program\n{text}\n#undef main\n#line 1 \"runtime\"\n{RUNTIME}\n{OUTCOMES}\n"
    );
    let mut maker = Maker { unit, source, out, keys: Vec::new(), names: 0 };
    maker.out.push_str(&nondeterminism(unit));
    maker.globals();
    let interface = Interface::of(unit, f);
    let parameters = &interface.parameters;
    let declared: Option<Vec<String>> =
        parameters.iter().map(|(name, ty, _)| maker.declared(ty, name)).collect();
    let declared = declared.filter(|_| maker.is_returned(&interface.result))?;
    maker.outcome(&interface, &declared);
    let functions = vec![interface.name];
    let driver = Driver { text: String::new(), functions, columns: Vec::new(), said: BTreeSet::new() };
    maker.end(&driver);
    Some(maker.out)
}

impl Maker<'_> {
    fn name(&mut self) -> String {
        self.names += 1;
        format!("ivd_{}", self.names)
    }

    fn key(&mut self, ty: &CType) -> usize {
        if let Some(k) = self.keys.iter().position(|t| t == ty) {
            return k;
        }
        self.keys.push(ty.clone());
        self.keys.len() - 1
    }

    fn is_returned(&self, ty: &CType) -> bool {
        matches!(ty, CType::Void) || !matches!(ty, CType::Record(_)) && self.spelled(ty).is_some()
    }

    fn declared(&self, ty: &CType, name: &str) -> Option<String> {
        Some(format!("{} {name}", self.spelled(ty)?))
    }

    /// A type in C; `None` for those of which a driver makes no values.
    fn spelled(&self, ty: &CType) -> Option<String> {
        Some(match ty {
            CType::Void => "void".into(),
            CType::Bool => "_Bool".into(),
            CType::Int { bits, signed, .. } => {
                format!("{}int{bits}_t", if *signed { "" } else { "u" }).replace("128_t", "")
            }
            CType::Float(FloatKind::F32) => "float".into(),
            CType::Float(FloatKind::F64) => "double".into(),
            CType::Float(FloatKind::LongDouble) => "long double".into(),
            CType::Pointer(to) if !matches!(**to, CType::Function(_)) => format!("{} *", self.spelled(to)?),
            CType::Record(id) => self.record(self.unit.record(*id))?,
            _ => return None,
        })
    }

    fn record(&self, record: &Record) -> Option<String> {
        let tagged = format!("{} {}", if record.is_union { "union" } else { "struct" }, record.name);
        let is_known = !record.name.is_empty() && record.size > 0;
        is_known.then(|| if self.source.contains(&tagged) { tagged } else { record.name.to_string() })
    }

    /// Objects with static storage get any value in half of the runs: a caller may have set them.
    fn globals(&mut self) {
        self.out.push_str("static void ivd_globals(void)\n{\n");
        let globals: Vec<_> = self.unit.globals.iter().filter(|g| is_visible(g)).collect();
        for g in &globals {
            let (ty, count) = match &g.ty {
                CType::Array(element, Some(n)) => ((**element).clone(), *n),
                other => (other.clone(), 1),
            };
            let key = self.key(&ty);
            let size = self.unit.size_of(&ty).unwrap_or(0);
            if size > 0 && count > 0 {
                let _ =
                    writeln!(self.out, "if (!ivd->tame) ivd_register({key}, &{}, {size}, {count});", g.name);
            }
        }
        for g in &globals {
            self.register_fields(&g.name, &g.ty);
        }
        self.out.push_str("if (ivd_below(2)) return;\n");
        for g in globals {
            self.fill(&g.name, &g.ty, 0);
        }
        self.out.push_str("}\n");
    }

    /// Pointers may lead into records.
    fn register_fields(&mut self, place: &str, ty: &CType) {
        let CType::Record(id) = ty else { return };
        let fields = self.unit.record(*id).clone().fields;
        for f in fields.iter().filter(|f| f.bits.is_none() && !f.name.is_empty()) {
            let (ty, count) = match &f.ty {
                CType::Array(element, Some(n)) => ((**element).clone(), *n),
                other => (other.clone(), 1),
            };
            let (key, size) = (self.key(&ty), self.unit.size_of(&ty).unwrap_or(0));
            if size > 0 && count > 0 {
                let at = format!("(void *)&{place}.{}", f.name);
                let _ = writeln!(self.out, "if (!ivd->tame) ivd_register({key}, {at}, {size}, {count});");
            }
        }
    }

    /// Statements that give a place any value of its type.
    fn fill(&mut self, place: &str, ty: &CType, depth: u32) {
        match ty {
            CType::Bool => _ = writeln!(self.out, "{place} = ivd_below(2);"),
            CType::Int { .. } => _ = writeln!(self.out, "{place} = ivd_int();"),
            CType::Float(_) => _ = writeln!(self.out, "{place} = ivd_float();"),
            CType::Array(element, Some(n)) if *n <= 64 => {
                let i = self.name();
                let _ = writeln!(self.out, "for (int {i} = 0; {i} < {n}; {i}++) {{");
                self.fill(&format!("{place}[{i}]"), element, depth);
                self.out.push_str("}\n");
            }
            CType::Record(id) => {
                let record = self.unit.record(*id).clone();
                let fields = record.fields.iter().take(if record.is_union { 1 } else { usize::MAX });
                for f in fields.filter(|f| !f.name.is_empty()) {
                    self.fill(&format!("{place}.{}", f.name), &f.ty, depth);
                }
            }
            CType::Pointer(to) => self.fill_pointer(place, to, depth),
            _ => {}
        }
    }

    fn fill_pointer(&mut self, place: &str, to: &CType, depth: u32) {
        let Some(spelled) = self.spelled(to).filter(|_| depth < 3) else { return };
        let key = self.key(to);
        if matches!(to, CType::Int { bits: 8, .. }) {
            let _ = writeln!(self.out, "{place} = ivd_text({key});");
            return;
        }
        let (fresh, object, i) = (self.name(), self.name(), self.name());
        let size = self.unit.size_of(to).unwrap_or(16);
        let nested = u32::from(depth > 0);
        let _ = writeln!(
            self.out,
            "{{ uint64_t {fresh}; {spelled} *{object} = ivd_pointer({key}, {size}, &{fresh}, {nested});"
        );
        if *to != CType::Void {
            let _ = writeln!(self.out, "for (uint64_t {i} = 0; {i} < {fresh}; {i}++) {{");
            let element = format!("{object}[{i}]");
            self.fill(&element, to, depth + 1);
            if depth == 0 {
                self.register_fields(&element, to);
            }
            self.out.push_str("}\n");
        }
        let _ = writeln!(self.out, "{place} = {object}; }}");
    }

    fn case(
        &mut self,
        index: usize,
        interface: &Interface,
        declared: &[String],
        said: &[(usize, &Fact, InC)],
        columns: &[Column],
    ) {
        let arguments: Vec<&str> = interface.parameters.iter().map(|(name, ..)| name.as_str()).collect();
        let call = format!("{}({})", interface.name, arguments.join(", "));
        // Static locals are what earlier calls made them.
        let has_statics =
            self.unit.globals.iter().any(|g| g.linkage == Linkage::Internal && g.symbol != g.name);
        if has_statics {
            let _ = writeln!(self.out, "static int ivd_before_{index}(void)\n{{");
            self.arguments(interface, declared);
            let _ = writeln!(self.out, "return IVD_TRY({call});\n}}");
        }
        let _ = writeln!(self.out, "static void ivd_case_{index}(void)\n{{");
        self.out.push_str("if (ivd->only_tame && !ivd->tame) return;\n");
        if has_statics {
            let _ =
                writeln!(self.out, "for (int ivd_n = ivd_below(6) ? 0 : ivd_below(12); ivd_n > 0; ivd_n--)");
            let _ =
                writeln!(self.out, "if (!ivd_before_{index}()) {{ ivd->run.status = ivd->why; return; }}");
        }
        self.arguments(interface, declared);
        self.out.push_str("if (ivd->hit) { ivd->run.status = IVD_UNDEFINED; return; }\n");
        for (k, _, in_c) in said {
            for (j, kept) in in_c.kept.iter().enumerate() {
                let _ = writeln!(self.out, "#line {} \"facts\"", k + 1);
                let _ = writeln!(
                    self.out,
                    "__typeof__(({kept}) + 0) ivd_old_{k}_{j} = 0; int ivd_has_{k}_{j} = IVD_TRY(ivd_old_{k}_{j} = ({kept})) && !ivd->hit; ivd->hit = 0;"
                );
            }
        }
        self.out.push_str("#line 1 \"case\"\n");
        self.columns(columns, true);
        if interface.result_is_value {
            let _ = writeln!(self.out, "__typeof__({call}) ivd_result = 0;");
        }
        let value = if interface.result_is_value { "ivd_result = " } else { "" };
        self.out.push_str("ivd->hit = 0; ivd->ticks = 0;\n");
        let _ = writeln!(self.out, "if (!IVD_TRY({value}{call})) {{ ivd->run.status = ivd->why; return; }}");
        self.out.push_str("if (ivd->hit) { ivd->run.status = IVD_UNDEFINED; return; }\n");
        self.columns(columns, false);
        for (bit, (k, fact, in_c)) in said.iter().enumerate() {
            let mut condition = in_c.condition.clone();
            for j in 0..in_c.kept.len() {
                condition = condition.replace(&format!("IVD_KEPT({j})"), &format!("IVD_OLD({k}_{j})"));
            }
            let tame = u8::from(fact.demand() == Demand::Tame);
            let _ = writeln!(self.out, "#line {} \"facts\"", k + 1);
            let _ = writeln!(self.out, "IVD_FACT({k}, {bit}, {tame}, {condition});");
        }
        self.out.push_str("#line 1 \"case\"\n}\n");
    }

    /// The case of a function whose runs come to a number.
    fn outcome(&mut self, interface: &Interface, declared: &[String]) {
        let arguments: Vec<&str> = interface.parameters.iter().map(|(name, ..)| name.as_str()).collect();
        let call = format!("{}({})", interface.name, arguments.join(", "));
        self.out.push_str("static void ivd_case_0(void)\n{\n");
        self.arguments(interface, declared);
        self.out.push_str("if (ivd->hit) { ivd->run.status = IVD_UNDEFINED; return; }\n");
        self.out.push_str("FILE *ivd_to = ivd_shown();\nif (ivd_to) {\n");
        for (name, ty, _) in &interface.parameters {
            let _ = match ty {
                CType::Float(_) => {
                    writeln!(self.out, "fprintf(ivd_to, \"{name} = %.17g; \", (double){name});")
                }
                _ if ty.is_pointer() => {
                    writeln!(self.out, "ivd_show_pointer(ivd_to, \"{name}\", (char *){name});")
                }
                CType::Record(_) => Ok(()),
                _ => writeln!(self.out, "fprintf(ivd_to, \"{name} = %lld; \", (long long){name});"),
            };
        }
        self.out.push_str("fclose(ivd_to);\n}\n");
        let value = if interface.result_is_value {
            let _ = writeln!(self.out, "__typeof__({call}) ivd_result = 0;");
            "ivd_result = "
        } else {
            ""
        };
        self.out.push_str("ivd_listen(); ivd->hit = 0; ivd->ticks = 0;\n");
        let _ = writeln!(self.out, "if (!IVD_TRY({value}{call})) {{ ivd->run.status = ivd->why; return; }}");
        self.out.push_str("if (ivd->hit) { ivd->run.status = IVD_UNDEFINED; return; }\nivd_hear();\n");
        self.out.push_str(match &interface.result {
            CType::Void => "",
            CType::Float(_) => "ivd_see_double(ivd_result);\n",
            CType::Pointer(to) if matches!(**to, CType::Int { bits: 8, .. }) => {
                "ivd_see(&ivd_result, sizeof ivd_result); ivd_see_text((char *)ivd_result);\n"
            }
            _ => "ivd_see(&ivd_result, sizeof ivd_result);\n",
        });
        for g in self.unit.globals.iter().filter(|g| is_visible(g)) {
            let _ = writeln!(self.out, "ivd_see(&{0}, sizeof {0});", g.name);
        }
        self.out.push_str("ivd_see_objects();\n}\n");
    }

    /// Globals and arguments of a call.
    fn arguments(&mut self, interface: &Interface, declared: &[String]) {
        self.out.push_str("ivd_globals();\n");
        for ((name, ty, _), declared) in interface.parameters.iter().zip(declared) {
            let _ = writeln!(self.out, "{declared} = 0;");
            self.fill(name, ty, 0);
        }
    }

    /// Writes down the columns of the entry, or the others and then the row.
    fn columns(&mut self, columns: &[Column], inputs: bool) {
        if columns.is_empty() {
            return;
        }
        if inputs {
            let _ = writeln!(self.out, "uint64_t ivd_known = 0; int64_t ivd_row[{}] = {{0}};", columns.len());
        }
        for (k, column) in columns.iter().enumerate().filter(|(_, c)| c.is_input == inputs) {
            let name =
                column.name.strip_prefix("\\old(").and_then(|n| n.strip_suffix(')')).unwrap_or(&column.name);
            let name = name.replace("\\result", "ivd_result");
            let value =
                if column.ty.is_pointer() { format!("{name} != 0") } else { format!("(int64_t){name}") };
            let _ = writeln!(
                self.out,
                "if (IVD_TRY(ivd_row[{k}] = {value}) && !ivd->hit) ivd_known |= (uint64_t)1 << {k}; ivd->hit = 0;"
            );
        }
        if !inputs {
            let _ = writeln!(
                self.out,
                "if (ivd->rows) {{ uint64_t head[3] = {{ivd->function, ivd_known, {0}}}; fwrite(head, 8, 3, ivd->rows); fwrite(ivd_row, 8, {0}, ivd->rows); }}",
                columns.len()
            );
        }
    }

    fn end(&mut self, driver: &Driver) {
        let constants: Vec<String> = constants(self.source).iter().map(|c| format!("{c}LL")).collect();
        let cases: Vec<String> = (0..driver.functions.len()).map(|k| format!("ivd_case_{k}")).collect();
        let _ = writeln!(self.out, "static const int64_t ivd_constants[] = {{{}}};", constants.join(", "));
        let _ = writeln!(self.out, "static ivd_case *const ivd_cases[] = {{{}}};", cases.join(", "));
        let _ = writeln!(
            self.out,
            "int main(int argc, char **argv) {{ return ivd_main(argc, argv, ivd_cases, {}, ivd_constants, {}); }}",
            cases.len(),
            constants.len()
        );
    }
}

/// The integers that a program's text names.
fn constants(source: &str) -> BTreeSet<i64> {
    let words = source.split(|c: char| !c.is_ascii_alphanumeric());
    words.filter_map(|w| w.trim_end_matches(['u', 'U', 'l', 'L']).parse().ok()).collect()
}
