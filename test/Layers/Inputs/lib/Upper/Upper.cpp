#include "../Base/Private.h"
#include "Private.h"
