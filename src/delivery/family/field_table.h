// The fields of a kind as a table in Markdown, made from its described structs: what the pages in docs/ have between markers.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "json/codec.h"

namespace slipway::delivery {

/// Types as people write them, by the field's name, where they are others than the schema's.
using FieldTypes = std::map<std::string, std::string>;

/// A row for each field of the parts, by its path below the part's name ("spec.rolloutPlan.paused").
std::string field_table(const std::vector<std::pair<std::string, json::Description>>& parts, const FieldTypes& written = {});

}  // namespace slipway::delivery
