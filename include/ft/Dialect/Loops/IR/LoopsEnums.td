//===- LoopsEnums.td - enumerations of the loops dialect ---*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Enumerations are generated for every file included: this one includes none of other dialects.
//
//===----------------------------------------------------------------------===//
#ifndef LOOPS_ENUMS
#define LOOPS_ENUMS

include "mlir/IR/EnumAttr.td"

def Loops_BufferKind : I32Enum<"BufferKind", "what a buffer of a call is", [
    I32EnumCase<"Argument", 0, "argument">,
    I32EnumCase<"Result", 1, "result">,
    I32EnumCase<"Intermediate", 2, "intermediate">,
    I32EnumCase<"Constant", 3, "constant">,
    I32EnumCase<"Splat", 4, "splat">]> {
  let cppNamespace = "::mlir::loops";
}

def Loops_MemoryKind : I32Enum<"MemoryKind", "where memory of a thread block is", [
    I32EnumCase<"Shared", 0, "shared">,
    I32EnumCase<"Workspace", 1, "workspace">]> {
  let cppNamespace = "::mlir::loops";
}

def Loops_GridDependency : I32Enum<"GridDependency", "what a kernel says of, or to, those beside it", [
    I32EnumCase<"Wait", 0, "wait">,
    I32EnumCase<"LaunchDependents", 1, "launch_dependents">]> {
  let cppNamespace = "::mlir::loops";
}

def Loops_ScratchKind : I32Enum<"ScratchKind", "rows that a value between loop nests of a leaf is kept for", [
    I32EnumCase<"Once", 0, "once">,
    I32EnumCase<"Row", 1, "row">,
    I32EnumCase<"Rows", 2, "rows">]> {
  let cppNamespace = "::mlir::loops";
}

def Loops_PlaceUse : I32Enum<"PlaceUse", "what of a leaf has a place in memory of a thread block", [
    I32EnumCase<"Value", 0, "value">,
    I32EnumCase<"Operands", 1, "operands">,
    I32EnumCase<"Sums", 2, "sums">]> {
  let cppNamespace = "::mlir::loops";
}

def Loops_PlaceKind : I32Enum<"PlaceKind", "the memory of a thread block in which a place is", [
    I32EnumCase<"Shared", 0, "shared">,
    I32EnumCase<"Workspace", 1, "workspace">,
    I32EnumCase<"Output", 2, "output">]> {
  let cppNamespace = "::mlir::loops";
}

def Loops_OverlapKind : I32Enum<"OverlapKind", "how an output of a leaf overlaps an input", [
    I32EnumCase<"Any", 0, "any">,
    I32EnumCase<"InPlace", 1, "in_place">]> {
  let cppNamespace = "::mlir::loops";
}

def Loops_KeptStore : I32Enum<"KeptStore", "when a sum that threads keep through a loop goes to memory", [
    I32EnumCase<"Last", 0, "last">,
    I32EnumCase<"Each", 1, "each">]> {
  let cppNamespace = "::mlir::loops";
}

#endif // LOOPS_ENUMS
