// What a file is, told by its ending or by a scope of the command line ("yaml:", "json+data:"), and how a file of data falls
// into the values it holds.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cue/cue.h"

namespace slipway::cue::load {

enum class FileKind : std::uint8_t { None, Cue, Json, JsonLines, Yaml, Text, Unsupported };

/// None: not the name of a file, perhaps that of a package.
FileKind kind_of_extension(std::string_view path);
/// Of "yaml", "json+data": without the colon. None is "data", which leaves it to the ending.
FileKind kind_of_scope(std::string_view scope);
/// The part of "cue+foo=bar:" that is to blame.
std::string_view unknown_part(std::string_view scope);
SourceFormat format_of(FileKind kind);

/// No document at all: nothing but comments and white space.
bool is_empty_yaml(std::string_view text);

/// What it holds is a struct, or will stand in one.
bool is_struct(const SourceText& source);

/// Every value of a file of data, each as a source of its own that keeps its places. YAML that holds nothing is one null.
std::vector<SourceText> values_of(SourceText source, FileKind kind);

}  // namespace slipway::cue::load
