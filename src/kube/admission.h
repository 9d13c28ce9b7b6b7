// Rows of pure functions that a family exports for its kinds. The embedded server runs them in admission; elsewhere the
// controller runs them itself (an invalid object gets a condition).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "kube/object.h"
#include "kube/user.h"

namespace slipway::kube {

/// Gives an object of the cluster as it is now, or null. `ns` is empty for cluster-scoped ones.
using FindObject = std::function<Object(const Resource& resource, std::string_view ns, std::string_view name)>;

/// Who asks for a change.
struct Asker {
  /// Null is the process itself, which may do all.
  const UserInfo* user = nullptr;
  /// Whether the user's rights allow a request. `ns` is empty for cluster-scoped resources. True for the process itself.
  std::function<bool(std::string_view verb, const Resource& resource, std::string_view ns, std::string_view name)> may;
  Time now{};
};

/// Violations and warnings of one write.
struct Assessment {
  std::vector<Cause> causes{};
  std::vector<std::string> warnings{};
};

/// A check too expensive for the logic thread. The server repeats read() (logic thread) and compute() (compute pool), planning
/// the write anew after each, until read() returns false, then calls result(). At the deadline it calls cancel() and result().
class AdmissionCheck {
 public:
  AdmissionCheck() = default;
  AdmissionCheck(const AdmissionCheck&) = delete;
  AdmissionCheck& operator=(const AdmissionCheck&) = delete;
  virtual ~AdmissionCheck() = default;

  /// Fetches what the next compute() needs; starts again if `object` differs from the last call's. False if nothing is left to
  /// compute. `old` is null for a create.
  virtual bool read(const Object& object, const Object& old, const FindObject& find) = 0;
  /// On any thread. Ends soon after cancel().
  virtual void compute() = 0;
  /// From any thread; read() is not called any more.
  virtual void cancel() = 0;
  /// Violations found so far, and a warning if the check was cut short; what need not be computed is always checked, of
  /// `object`. On the logic thread; compute() may be running still.
  virtual Assessment result(const Object& object, const Object& old, const FindObject& find) = 0;
};

struct AdmissionRow {
  std::string group;
  std::string kind;
  /// Gives the object to store. `old` is null for a create. Runs after schema defaulting, before validation. May be empty.
  std::function<Object(const Object& object, const Object& old)> mutate;
  /// Every violation, with field paths. `old` is null for a create. Runs after schema validation has passed. May be empty.
  std::function<std::vector<Cause>(const Object& object, const Object& old)> validate;
  /// As mutate, for what depends on other objects. Runs after it. May be empty.
  std::function<Object(const Object& object, const Object& old, const FindObject& find)> mutate_around = {};
  /// As mutate, for what depends on who asks. Runs last. May be empty.
  std::function<Object(const Object& object, const Object& old, const Asker& asker)> mutate_for = {};
  /// As validate, for what depends on who asks. Runs after it, if that found nothing. May be empty.
  std::function<std::vector<Cause>(const Object& object, const Object& old, const Asker& asker)> validate_for = {};
  /// Gives the check of one write. Runs after validate_for, if the others found nothing. May be empty.
  std::function<std::shared_ptr<AdmissionCheck>()> check = {};
  /// As validate, for what depends on other objects. Runs last, if the others found nothing. May be empty.
  std::function<std::vector<Cause>(const Object& object, const Object& old, const FindObject& find)> validate_around = {};
  /// What the writer of an accepted object is told, in warning headers. May be empty.
  std::function<std::vector<std::string>(const Object& object, const Object& old, const FindObject& find)> warn = {};
  /// Of writes of the status, where nothing else here runs: gives the object to store, or refuses it. May be empty.
  std::function<Result<Object>(const Object& object, const Object& old, const Asker& asker)> stamp_status = {};
};

}  // namespace slipway::kube
