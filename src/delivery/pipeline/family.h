// The family of pipelines: what runs where, and how versions get from one environment to the next.
#pragma once

#include "delivery/family.h"

namespace slipway::delivery::pipeline {

const Family& family();

}  // namespace slipway::delivery::pipeline
