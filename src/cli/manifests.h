// Objects out of files: YAML or JSON, several documents per file, forms that families read (delivery::SourceForm), "-" for
// standard input, folders taken whole. Each object remembers where it stands, so that every message about it can say so.
#pragma once

#include <string>
#include <vector>

#include "base/env.h"
#include "delivery/family.h"

namespace slipway::cli {

using Manifest = delivery::SourceObject;

/// Reads all documents of all paths in order; items of List objects become objects of their own. The namespace of namespaced
/// objects is left as written. BadRequest with file, line and column for text that cannot be read, for objects without
/// apiVersion, kind or metadata.name (generateName is not enough: a second run could not find it again), and for one object
/// given twice.
Result<std::vector<Manifest>> read_manifests(Files& files, const std::vector<std::string>& paths);

}  // namespace slipway::cli
