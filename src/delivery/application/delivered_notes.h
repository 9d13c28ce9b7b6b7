// Memory::delivered in the notes of the run, where it outlives a restart of the controller.
#pragma once

#include "delivery/application/app_run.h"

namespace slipway::delivery::application {

/// Fills Memory::delivered from the notes, once.
void remember_notes(Memory& memory, const workflow::RunStore& store);
/// Replaces the notes by what Memory::delivered has now.
void note_delivered(const Memory& memory, workflow::RunStore& store);

}  // namespace slipway::delivery::application
