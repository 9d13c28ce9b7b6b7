// What the query parameters of list and watch ask for: selectors, pages, and the rules of resourceVersion and
// resourceVersionMatch (meta/v1 ListOptions, with upstream's wording of what is refused).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "client/client.h"
#include "kube/selector.h"
#include "server/registry.h"

namespace slipway::server {

/// Which objects of a resource: a range of keys, and selectors on what lies in it.
struct Selection {
  std::string prefix;  // of keys: the resource, a namespace of it, or one object
  /// Whether the prefix is the one key wanted, not a prefix of several.
  bool is_one_key = false;
  kube::LabelSelector labels;
  kube::FieldSelector fields;

  bool takes_everything() const { return labels.matches_everything() && fields.matches_everything(); }
  bool matches(const kube::Object& object) const;
  /// Whether something below the prefix may be left out.
  bool is_narrow() const { return is_one_key || !takes_everything(); }
  /// REQUIRES: a key below the prefix.
  bool takes(std::string_view key, const kube::Object& object) const {
    return (!is_one_key || key.size() == prefix.size()) && (takes_everything() || matches(object));
  }

  /// BadRequest for selectors that cannot be read or fields that are not supported.
  static Result<Selection> of(const client::Request& request, const Served& served);
};

struct ListPlan {
  kube::Revision at = 0;              // 0: the newest state
  kube::Revision not_older_than = 0;  // 0: any
  std::string start;                  // first key, relative to the prefix; empty: from the beginning
  std::size_t limit = 0;              // 0: all

  /// Invalid or BadRequest for combinations that upstream refuses.
  static Result<ListPlan> of(const client::Request& request);
};

struct WatchPlan {
  kube::Revision from = 0;            // meaningful unless `starts_with_state`
  kube::Revision not_older_than = 0;  // of the state to start with
  bool starts_with_state = false;     // ADDED for everything there is
  bool marks_end_of_state = false;    // and a bookmark after that
  bool starts_now = false;            // no state, changes from now on

  static Result<WatchPlan> of(const client::Request& request);
};

/// A resourceVersion of a query; 0 for "" and "0". Invalid ListOptions otherwise.
Result<kube::Revision> revision_of(std::string_view text);
/// `start` is relative to the prefix of the list. The token is opaque to clients.
std::string continue_token(kube::Revision revision, std::string_view start);

/// 504 for a revision that the server has not reached.
Status too_large_revision(kube::Revision wanted, kube::Revision current);
/// 410 for a watch whose history is gone.
Status too_old_revision(kube::Revision wanted, kube::Revision oldest);

}  // namespace slipway::server
