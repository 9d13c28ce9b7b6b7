// What a program can see of a field that comes from outside, by how its text names it: an evaluation without the rest comes to
// the same. So results can be remembered by what was read, and data that nobody asks for is not converted.
//
//   context.output.status.ready == context.output.spec.replicas     reads output.status.ready and output.spec.replicas
//   for one in context.output.status.conditions {…}                 reads all of output.status.conditions
//   x: context                                                      reads all
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "cue/compile/program.h"
#include "json/value.h"

namespace slipway::cue {

class Reads {
 public:
  /// Of the top-level field `hole`. All of it where that cannot be told: the program declares the field itself, or has packages
  /// of the host, patterns or computed names.
  Reads(const ProgramData& program, std::string_view hole);

  /// `data` with the members that are read. An object that is read somewhere keeps the kind it has.
  json::Value part_of(const json::Value& data) const { return part_of(root_, data); }
  bool is_all() const { return root_.is_all; }
  /// Whether anything of one member is read.
  bool sees(std::string_view member) const { return root_.is_all || root_.below.contains(member); }

 private:
  struct Part {
    bool is_all = false;
    std::map<std::string, Part, std::less<>> below = {};
  };
  friend class ReadsWalk;

  static json::Value part_of(const Part& part, const json::Value& data);

  Part root_;
};

}  // namespace slipway::cue
