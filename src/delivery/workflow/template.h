// Templates of definitions, compiled once per text and shared by all who evaluate them. The CUE packages that templates may
// import ("vela/op", "vela/kube", …) are the texts in definitions/package.
#pragma once

#include <cstddef>
#include <list>
#include <map>
#include <memory>
#include <string>

#include "base/status.h"
#include "cue/compile/reads.h"
#include "cue/cue.h"

namespace slipway::delivery::workflow {

/// A compiled template; immutable, for any number of threads.
struct Template {
  cue::Program program;
  std::string digest;    // of its text
  bool may_call = true;  // false: it neither names a function nor imports what does
  cue::Reads context;    // what of it the program can see
  cue::Reads parameter;
};
using TemplatePtr = std::shared_ptr<const Template>;

/// For the logic thread. Keeps the `capacity` most recently used programs.
class Templates {
 public:
  explicit Templates(std::size_t capacity = 2'000) : capacity_(capacity) {}
  /// Errors: Invalid, with the places in the template. `name` is that of the definition, for messages.
  Result<TemplatePtr> compile(const std::string& name, const std::string& text);

 private:
  struct Entry {
    TemplatePtr made;
    std::list<std::string>::iterator used;
  };
  std::size_t capacity_;
  std::map<std::string, Entry> by_digest_;
  std::list<std::string> recent_;  // digests, the last used first
};

/// How templates are compiled everywhere: names that stay open, the packages of definitions/package, laxness for old templates.
const cue::Packages& packages();
cue::CompileOptions compile_options();

}  // namespace slipway::delivery::workflow
