#include "ft/Base/Base.h"
