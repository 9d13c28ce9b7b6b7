// A case's end against what the oracle says: whether the end is the same, by the class of the case, and how many steps,
// services and objects are. What differs is written down, expected beside found.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "oracle_case.h"
#include "oracle_plane.h"

namespace slipway::oracle_test {

struct Count {
  int passed = 0;
  int total = 0;

  Count& operator+=(const Count& more) {
    passed += more.passed;
    total += more.total;
    return *this;
  }
  void add(bool has_passed) { *this += Count{has_passed ? 1 : 0, 1}; }
};

struct Comparison {
  bool is_same_end = false;
  Count steps, services, objects;
  std::vector<std::string> differences;  // a line each
};

/// An object of a cluster by reference, or null.
using Find = std::function<Value(const std::string& cluster, const Value& reference)>;

/// With the line that fits best, where there are two.
Comparison compare(const Case& of, const End& end, const Find& find);

/// The objects that a line tells whole: those that were applied, and those that a WorkflowRun made.
std::vector<Value> expected_objects(const Value& line);
/// Where such an object is.
std::string cluster_of(const Value& object);
/// "path: expected X, found Y" for all places in which two objects differ, once they are normalised.
std::vector<std::string> object_differences(const Value& expected, const Value& found);

}  // namespace slipway::oracle_test
