#include "ft/Base/Base.h"
#include "ft/Base/Gone.h"
#include "Generated.h.inc"
#include "mlir/IR/Builders.h"
