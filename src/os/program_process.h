// One program of a ProgramCall from its start to its end, on the calling thread (which blocks): its folder, its pipes, its
// bounds. Only POSIX calls.
#pragma once

#include "base/programs.h"

namespace slipway::os {

/// `stopping`: a descriptor that becomes readable when the program is to be killed (ServiceUnavailable then).
Result<ProgramEnd> run_program(const ProgramCall& call, int stopping);

}  // namespace slipway::os
