#include "ft/Upper/Upper.h"
