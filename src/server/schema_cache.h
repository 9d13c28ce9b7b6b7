// What the schemas of CustomResourceDefinitions compile to, kept by the digest of their text. Compiling is most of what a start
// of a server costs; a schema that was compiled when its definition was judged, or by an earlier server of this process (a
// second cluster, a restart in the simulator), is not compiled again. What is found here was compiled from the same bytes, so
// nothing is judged less strictly. Usable from any thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/status.h"
#include "json/value.h"
#include "kube/schema.h"
#include "server/rules.h"

namespace slipway::server {

/// Immutable.
struct CompiledSchema {
  std::shared_ptr<const kube::Schema> schema;  // never null
  RulesPtr rules;                              // may be null when there are none
  bool is_judged = false;                      // nothing is wrong with the rules; else they may have faults
};
using CompiledSchemaPtr = std::shared_ptr<const CompiledSchema>;

class SchemaCache {
 public:
  /// Of all that is kept. The least recently used goes first; who uses it keeps it alive.
  struct Limits {
    std::size_t schemas = 256;
    std::size_t text_bytes = std::size_t{2} << 20;
  };

  SchemaCache() = default;
  explicit SchemaCache(Limits limits) : limits_(limits) {}
  /// The one of this process.
  static SchemaCache& shared();

  /// The compiled openAPIV3Schema, whose place in the definition is `path`. Adds every fault of the schema and its rules to
  /// `causes`; one with faults is not kept. nullptr when the schema is not structural.
  CompiledSchemaPtr compile(const json::Value& open_api, const std::string& path, std::vector<Cause>& causes);
  /// Of a definition that was judged when it was written; what is not there is compiled when the first object needs it. Never
  /// nullptr.
  CompiledSchemaPtr judged(const json::Value& open_api);

  /// How often what was asked for was not there.
  std::uint64_t misses() const;
  std::size_t size() const;

 private:
  struct Entry {
    CompiledSchemaPtr compiled;
    std::size_t text_bytes = 0;
    std::uint64_t last_use = 0;
  };

  CompiledSchemaPtr find(const std::string& digest);
  void count_miss();
  void keep(const std::string& digest, CompiledSchemaPtr compiled, std::size_t text_bytes);

  Limits limits_;
  mutable std::mutex mutex_;
  std::map<std::string, Entry> entries_;  // by digest
  std::size_t text_bytes_ = 0;
  std::uint64_t uses_ = 0;
  std::uint64_t misses_ = 0;
};

}  // namespace slipway::server
