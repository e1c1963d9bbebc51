//===- ETDGInterfaces.td - what operations of etdg share ---*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ETDG_INTERFACES
#define ETDG_INTERFACES

include "mlir/IR/OpBase.td"

def ETDG_ScheduledOpInterface : OpInterface<"ScheduledOpInterface"> {
  let cppNamespace = "::mlir::etdg";
  let description = [{
    What one schedule gives an order: a nest with all of its regions, or a block that stands alone.
  }];
  let methods = [
    InterfaceMethod<"The schedule; null where it has none of its own.", "::mlir::etdg::ScheduleAttr", "getScheduleAttr">,
    InterfaceMethod<"Gives it another schedule; null takes it away.", "void", "setScheduleAttr", (ins "::mlir::etdg::ScheduleAttr":$schedule)>
  ];
}

#endif // ETDG_INTERFACES
