//===- Passes.td - the validator's passes ------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_VALIDATOR_PASSES
#define FT_VALIDATOR_PASSES

include "mlir/Pass/PassBase.td"

def ETDGDropSnapshots : Pass<"etdg-drop-snapshots", "::mlir::ModuleOp"> {
  let summary = "forget what etdg-take-snapshots remembered";
  let description = [{ Removes the attribute `etdg.snapshots` of the module. }];
}

def ETDGTakeSnapshots : Pass<"etdg-take-snapshots", "::mlir::ModuleOp"> {
  let summary = "remember what the graphs of a module are called with";
  let description = [{
    Writes the types of each graph's arguments and results and what it asks of its lengths into the
    attribute `etdg.snapshots` of the module, with which `etdg-validate-phase` compares (T9). It is part
    of the program, so that a reproducer which begins between two phases still has it.
  }];
}

def ETDGValidate : Pass<"etdg-validate", "::mlir::etdg::GraphOp"> {
  let summary = "prove that the schedules of a graph keep what it means";
  let description = [{
    Asks what `validateGraph` asks (T1–T14, docs/validator.md), exactly and for all lengths that the graph's bounds allow. Maps
    must be bijections, each write must come before the reads of what it writes, and elements must be written once. Accesses
    must be in bounds, `live` planes and slots enough, and units must wait where one needs what another has done. Unlike
    `etdg-verify` it obeys schedules and kernels, and it shares no code with the passes that make them.

    A failure is an internal error: the block, a point, a note at the other end, and a
    file with the graph.
  }];
  let options = [
    Option<"reproducer", "reproducer", "std::string", "\"\"",
           "Where a graph that fails is written (default: a new temporary file; 'none': nowhere)">,
    Option<"phase", "phase", "std::string", "\"\"", "The phase that is judged, for messages">
  ];
}

def ETDGValidatePhase : Pass<"etdg-validate-phase", "::mlir::ModuleOp"> {
  let summary = "etdg-validate on all graphs of a module, after a phase";
  let description = [{
    Beside what `etdg-validate` proves it compares each graph with what `etdg-take-snapshots` remembered, where that has run. No
    graph may be gone, and none may be called with anything else or ask more of its lengths (T9).

    With `given` the module is a user's input, and what is wrong is an error in it. The message names the dependence that the
    user's schedule breaks, in which loop, of which level. With `schedules` only graphs are judged that have one.
  }];
  let options = [
    Option<"phase", "phase", "std::string", "\"\"", "The phase that is judged, for messages">,
    Option<"given", "given", "bool", "false", "The graphs are input, not what a phase has made">,
    Option<"schedules", "schedules", "bool", "false", "Leave out graphs without a schedule">
  ];
}

def ETDGValidationOff : Pass<"etdg-validation-off", "::mlir::ModuleOp"> {
  let summary = "say in a remark that nothing is validated";
  let description = [{ Stands in a pipeline that was asked not to prove what its phases make. }];
}

def ValidateLaunches : Pass<"validate-launches", "::mlir::ModuleOp"> {
  let summary = "prove that kernels wait for the launches that they overlap";
  let description = [{
    Asks what `validateLaunches` asks of kernels and the launch plan beside them (T14, docs/validator.md). Each path of a kernel whose launch
    overlaps the one before it has a `griddepcontrol wait`. What it reads before that no kernel that may be in flight writes, and what
    it writes before none of these reads or writes. A weight that nothing of the call writes may be read early.

    With `given` the kernels are a user's input.
  }];
  let options = [
    Option<"phase", "phase", "std::string", "\"\"", "The phase that is judged, for messages">,
    Option<"given", "given", "bool", "false", "The kernels are input, not what a phase has made">
  ];
}

#endif // FT_VALIDATOR_PASSES
