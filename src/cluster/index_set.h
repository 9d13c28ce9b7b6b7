// Sets of completion indexes of an Indexed Job, kept as intervals, so that a Job of 100,000 indexes stays small. The text form
// is that of Job.status.completedIndexes: "1,3-5,7" (three or more neighbours are joined).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace slipway::cluster {

class IndexSet {
 public:
  /// Reads the text form; indexes at or above `limit` and what is not understood are left out, as upstream does.
  static IndexSet parse(std::string_view text, std::int64_t limit);

  void insert(std::int64_t index);
  bool contains(std::int64_t index) const;
  std::int64_t size() const;
  std::string to_string() const;
  /// The lowest index not below `from` that is not in the set.
  std::int64_t next_absent(std::int64_t from) const;

 private:
  void insert_range(std::int64_t first, std::int64_t last);

  std::map<std::int64_t, std::int64_t> ranges_;  // first → last, disjoint and not adjacent
};

}  // namespace slipway::cluster
