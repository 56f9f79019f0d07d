//! Lvalues: where an object is, reading it, writing it.

use super::arith::{apply, offset, resize};
use super::function::{FnCx, Lowered};
use super::types::{Scalar, Shape};
use crate::ir::{Access, Expr, Instr, Object, Op, Sort, VarId};
use rucc_ast::UnaryOp;
use rucc_sema::{Conversion, DeclId, DeclKind, ExprId, ExprKind};
use rucc_types::{TypeId, TypeKind};

/// Where an lvalue's object is.
#[derive(Clone, Debug)]
pub(super) enum Lvalue {
    /// A variable that is not in memory.
    Register(VarId),
    Memory {
        addr: Expr,
    },
    /// A bit-field: address and length of its storage unit, place in the unit.
    Bits {
        addr: Expr,
        bytes: u64,
        low: u16,
        width: u16,
    },
}

impl FnCx<'_, '_> {
    /// Evaluates an lvalue's address.
    pub fn place(&mut self, e: ExprId) -> Lowered<Lvalue> {
        let expr = self.unit.tast[e];
        match expr.kind {
            ExprKind::Decl(d) => Ok(self.object(d)?),
            ExprKind::Member { base, field } => self.member(e, base, field),
            ExprKind::Subscript { base, index } if self.vector_of(base).is_some() => self.lane(base, index),
            ExprKind::Unary { op: op @ (UnaryOp::Real | UnaryOp::Imag), operand }
                if self.complex_of(operand).is_some() =>
            {
                self.half_of_object(op, operand)
            }
            ExprKind::Subscript { base, index } => {
                let pointer = self.value(base)?;
                let addr = self.element(pointer, base, index, false)?;
                Ok(Lvalue::Memory { addr })
            }
            ExprKind::Unary { op: UnaryOp::Deref, operand } => {
                Ok(Lvalue::Memory { addr: self.value(operand)? })
            }
            ExprKind::Str(s) => {
                let symbol = self.unit.string(s, Some(self.unit.tast.expr_span(e)));
                Ok(Lvalue::Memory { addr: Expr::Addr(Object::Global(symbol)) })
            }
            ExprKind::CompoundLiteral(d) => {
                if self.unit.is_static(d) {
                    let symbol = self.unit.symbol(d, Some(&self.name.clone()));
                    return Ok(Lvalue::Memory { addr: Expr::Addr(Object::Global(symbol)) });
                }
                self.local_declaration(d)?;
                self.object(d)
            }
            ExprKind::Comma { lhs, rhs } => {
                self.effect(lhs)?;
                self.place(rhs)
            }
            // A struct that is a value: its bytes are somewhere.
            _ if self.unit.shape(expr.ty) == Shape::Aggregate => {
                Ok(Lvalue::Memory { addr: self.aggregate(e)? })
            }
            ExprKind::Error => Err(super::errors::ERRORS.into()),
            _ => Err("unusual lvalue".into()),
        }
    }

    /// Returns the place of a declared object or function.
    pub fn object(&mut self, d: DeclId) -> Lowered<Lvalue> {
        let decl = &self.unit.tast[d];
        if self.unit.may_be_nothing(d) {
            let any = self.temp_pointer(decl.ty);
            self.unknown("address of a weak symbol".into(), super::spelling::Part::Decl(d), vec![any], false);
            return Ok(Lvalue::Memory { addr: Expr::Var(any) });
        }
        if decl.kind == DeclKind::Function {
            let name = self.unit.function_symbol(d);
            return Ok(Lvalue::Memory { addr: Expr::Addr(Object::Function(name)) });
        }
        if let Some(var) = self.variables.of.get(&d).copied() {
            return Ok(match self.variables.all[var.0 as usize].in_memory {
                true => Lvalue::Memory { addr: self.addr_of(var) },
                false => Lvalue::Register(var),
            });
        }
        if self.unit.is_static(d) {
            let symbol = self.unit.symbol(d, Some(&self.name.clone()));
            return Ok(Lvalue::Memory { addr: Expr::Addr(Object::Global(symbol)) });
        }
        // A local whose declaration was not walked (a jump into its scope, a rolled back one).
        let var = self.declare(d, crate::ir::VarKind::Local);
        Ok(match self.variables.all[var.0 as usize].in_memory {
            true => Lvalue::Memory { addr: self.addr_of(var) },
            false => Lvalue::Register(var),
        })
    }

    fn member(&mut self, e: ExprId, base: ExprId, field: u32) -> Lowered<Lvalue> {
        let types = self.unit.types;
        let base_ty = types.canonical(self.unit.tast[base].ty);
        let record = match types.kind(base_ty) {
            TypeKind::Record(id) => id,
            TypeKind::Atomic(inner) => match types.kind(types.canonical(inner)) {
                TypeKind::Record(id) => id,
                _ => return Err("member of no record".into()),
            },
            _ => return Err("member of no record".into()),
        };
        if rucc_sema::reverse_ordered(self.unit.tast, types, e) {
            return Err("reversed byte order".into());
        }
        let info = types.record_info(record);
        if info.variable.is_some() {
            return Err("record of variable length".into());
        }
        let Some(field) = info.fields.get(field as usize) else {
            return Err("unknown member".into());
        };
        let Lvalue::Memory { addr } = self.place(base)? else {
            return Err("member of a scalar".into());
        };
        if let Some(name) = field.name {
            let name = self.unit.names.resolve(name).into();
            self.note_member(record, name, field.offset * 8 + u64::from(field.bit));
        }
        let p = self.unit.pointer;
        Ok(match self.unit.bit_unit(record, field) {
            None => Lvalue::Memory { addr: offset(addr, i128::from(field.offset), p) },
            Some(u) => Lvalue::Bits {
                addr: offset(addr, i128::from(u.offset), p),
                bytes: u.bytes,
                low: u.low,
                width: u.width,
            },
        })
    }

    /// Returns `pointer + index` (or `- index`) in bytes; `base` is the pointer's expression.
    pub fn element(&mut self, pointer: Expr, base: ExprId, index: ExprId, negative: bool) -> Lowered<Expr> {
        let ty = self.unit.tast[base].ty;
        let Some(target) = self.unit.target_of(ty) else {
            return Err("arithmetic on no pointer".into());
        };
        let from = self.scalar_of(index)?;
        let value = self.value(index)?;
        self.step(pointer, target, value, from, negative)
    }

    /// Returns `pointer + count` elements of type `target`.
    pub fn step(
        &mut self,
        pointer: Expr,
        target: TypeId,
        count: Expr,
        count_type: Scalar,
        negative: bool,
    ) -> Lowered<Expr> {
        let p = self.unit.pointer;
        let size = self.stride(target)?;
        let count = self.convert(count, count_type, Scalar::Int { bits: p, signed: true });
        let bytes = match (count, size) {
            (Expr::Const(c), Expr::Const(size)) => {
                let k = c.signed().unwrap_or(0).wrapping_mul(size.signed().unwrap_or(0));
                return Ok(offset(pointer, if negative { -k } else { k }, p));
            }
            (count, Expr::Const(size)) if size.to_bits() == 1 => count,
            (Expr::Const(count), size) if count.to_bits() == 1 => size,
            (Expr::Const(count), _) if count.to_bits() == 0 => return Ok(pointer),
            (count, size) => apply(Op::Mul, vec![count, size], false),
        };
        let op = if negative { Op::Sub } else { Op::Add };
        Ok(apply(op, vec![pointer, bytes], false))
    }

    /// Returns the scalar type of an expression.
    pub fn scalar_of(&self, e: ExprId) -> Lowered<Scalar> {
        self.scalar_type(self.unit.tast[e].ty)
    }

    pub fn scalar_type(&self, ty: TypeId) -> Lowered<Scalar> {
        match self.unit.shape(ty) {
            Shape::Scalar(s) => Ok(s),
            Shape::Opaque => Err(format!("value of type {}", self.unit.spell(ty)).into()),
            _ => Err("value of no scalar type".into()),
        }
    }

    fn access(&mut self, ty: TypeId, sort: Sort, bytes: u64) -> Access {
        let volatile = self.unit.is_volatile(ty);
        Access { sort, bytes, volatile, ty: self.unit.ctype(ty) }
    }

    /// Reads a scalar of type `ty`; into `dst` where given, else into a temporary.
    pub fn load(&mut self, place: &Lvalue, ty: TypeId, dst: Option<VarId>) -> Lowered<Expr> {
        let scalar = self.scalar_type(ty)?;
        match place {
            Lvalue::Register(v) => Ok(Expr::Var(*v)),
            Lvalue::Memory { addr } => {
                let dst = dst.unwrap_or_else(|| self.temp(scalar, ty));
                let sort = scalar.sort(self.unit.pointer);
                let access = self.access(ty, sort, u64::from(sort.bits().unwrap_or(8)) / 8);
                self.emit(Instr::Load { dst, addr: addr.clone(), access });
                Ok(Expr::Var(dst))
            }
            Lvalue::Bits { addr, bytes, low, width } => {
                let unit = self.load_unit(addr, *bytes, ty)?;
                Ok(self.bit_value(unit, *bytes as u16 * 8, *low, *width, scalar))
            }
        }
    }

    fn load_unit(&mut self, addr: &Expr, bytes: u64, ty: TypeId) -> Lowered<Expr> {
        if bytes > 16 {
            return Err("bit-field of more than 128 bits".into());
        }
        let bits = bytes as u16 * 8;
        let dst = self.temp(Scalar::Int { bits, signed: false }, ty);
        let access = self.access(ty, Sort::Bv(bits), bytes);
        self.emit(Instr::Load { dst, addr: addr.clone(), access });
        Ok(Expr::Var(dst))
    }

    /// Returns the field's value out of its storage unit of `bits` bits.
    fn bit_value(&self, unit: Expr, bits: u16, low: u16, width: u16, to: Scalar) -> Expr {
        let shifted = match low {
            0 => unit,
            low => apply(Op::LShr, vec![unit, Expr::bv(bits, i128::from(low))], false),
        };
        let field = resize(shifted, bits, width, false);
        let want = to.sort(self.unit.pointer).bits().unwrap_or(32);
        resize(field, width, want, to.is_signed())
    }

    /// Writes a scalar of type `ty` and returns the value that the object then has.
    pub fn store(&mut self, place: &Lvalue, ty: TypeId, value: Expr) -> Lowered<Expr> {
        let scalar = self.scalar_type(ty)?;
        match place {
            Lvalue::Register(v) => {
                if value != Expr::Var(*v) {
                    self.assign(*v, value);
                }
                Ok(Expr::Var(*v))
            }
            Lvalue::Memory { addr } => {
                let sort = scalar.sort(self.unit.pointer);
                let access = self.access(ty, sort, u64::from(sort.bits().unwrap_or(8)) / 8);
                let addr = addr.clone();
                self.emit(Instr::Store { addr, value: value.clone(), access });
                Ok(value)
            }
            Lvalue::Bits { addr, bytes, low, width } => {
                let (bits, low, width) = (*bytes as u16 * 8, *low, *width);
                let have = scalar.sort(self.unit.pointer).bits().unwrap_or(32);
                let field = resize(value, have, width, false);
                let word = resize(field.clone(), width, bits, false);
                let word = if width == bits {
                    word
                } else {
                    let word = match low {
                        0 => word,
                        low => apply(Op::Shl, vec![word, Expr::bv(bits, i128::from(low))], false),
                    };
                    let mask = crate::ir::Const::mask(width) << low;
                    let unit = self.load_unit(addr, *bytes, ty)?;
                    let keep = Expr::bv(bits, !mask as i128);
                    let rest = apply(Op::BitAnd, vec![unit, keep], false);
                    apply(Op::BitOr, vec![rest, word], false)
                };
                let access = self.access(ty, Sort::Bv(bits), *bytes);
                self.emit(Instr::Store { addr: addr.clone(), value: word, access });
                Ok(resize(field, width, have, scalar.is_signed()))
            }
        }
    }

    /// Returns the address of an lvalue that is in memory.
    pub fn address(&mut self, e: ExprId) -> Lowered<Expr> {
        match self.place(e)? {
            Lvalue::Memory { addr } => Ok(addr),
            Lvalue::Register(_) => Err("address of a register".into()),
            Lvalue::Bits { .. } => Err("address of a bit-field".into()),
        }
    }

    /// Evaluates a struct, union or array value and returns the address of its bytes.
    pub fn aggregate(&mut self, e: ExprId) -> Lowered<Expr> {
        let expr = self.unit.tast[e];
        if self.several_of(e).is_some() && !matches!(expr.kind, ExprKind::Call { .. }) {
            return self.object_of_parts(e);
        }
        match expr.kind {
            ExprKind::Convert { kind: Conversion::Lvalue, operand } => self.address(operand),
            ExprKind::Cast(operand) | ExprKind::Convert { operand, .. }
                if self.unit.shape(self.unit.tast[operand].ty) == Shape::Aggregate =>
            {
                self.aggregate(operand)
            }
            ExprKind::Call { callee, args } => {
                let object = self.temp_object(expr.ty);
                let addr = self.addr_of(object);
                self.call(e, callee, args, None, Some(addr.clone()))?;
                Ok(addr)
            }
            ExprKind::Assign { op: None, lhs, rhs, .. } => {
                let dst = self.address(lhs)?;
                let src = self.aggregate(rhs)?;
                self.copy(dst.clone(), src, expr.ty)?;
                Ok(dst)
            }
            ExprKind::Cond { cond, then, otherwise } => {
                let dst = self.temp_pointer(expr.ty);
                self.choose(
                    cond,
                    |cx| {
                        let addr = cx.aggregate(then)?;
                        cx.assign(dst, addr);
                        Ok(())
                    },
                    |cx| {
                        let addr = cx.aggregate(otherwise)?;
                        cx.assign(dst, addr);
                        Ok(())
                    },
                )?;
                Ok(Expr::Var(dst))
            }
            ExprKind::Comma { lhs, rhs } => {
                self.effect(lhs)?;
                self.aggregate(rhs)
            }
            ExprKind::StmtExpr(body) => match self.statement_expression(body, true)? {
                Some(addr) => Ok(addr),
                None => Err("statement expression without a value".into()),
            },
            ExprKind::Decl(_)
            | ExprKind::Member { .. }
            | ExprKind::Subscript { .. }
            | ExprKind::CompoundLiteral(_)
            | ExprKind::Str(_)
            | ExprKind::Unary { op: UnaryOp::Deref, .. } => self.address(e),
            ExprKind::VaArg { .. } => Err("va_arg of a record".into()),
            ExprKind::Error => Err(super::errors::ERRORS.into()),
            _ => Err("unusual value of a record".into()),
        }
    }

    pub fn copy(&mut self, dst: Expr, src: Expr, ty: TypeId) -> Lowered<()> {
        let Some(bytes) = self.unit.size_of(ty) else {
            return Err("copy of unknown size".into());
        };
        if bytes > 0 && dst != src {
            self.emit(Instr::Copy { dst, src, bytes });
        }
        Ok(())
    }
}
