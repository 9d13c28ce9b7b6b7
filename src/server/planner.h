// Plans one write: Request + head state → the writes to append and the reply. Everything here is synchronous; the plan must be
// appended before anything else may touch the store. The steps of every write: decode (names, strictness, pruning, defaults),
// metadata, field ownership, mutate, validate, limits (k8s.io/apiserver's handlers,
// rest.BeforeCreate/BeforeUpdate/BeforeDelete).
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/admission.h"
#include "server/builtin/strategy.h"
#include "server/context.h"
#include "server/delete_options.h"

namespace slipway::server {

struct Plan {
  std::vector<store::Write> writes{};  // empty: nothing to write (a no-op, or a dry run)
  Value reply{};
  int code = 200;
  std::vector<std::string> warnings{};
};

/// Admission checks of one write; they survive replanning.
struct Checks {
  std::map<const kube::AdmissionRow*, std::shared_ptr<kube::AdmissionCheck>> by_row{};
  bool may_compute = true;
  std::string generated_name{};  // of generateName: what was checked is what is created
};

class Planner {
 public:
  /// `first_revision`: what the first write of this plan will get. All references outlive the planner.
  Planner(ServerContext& context, const Request& request, const Served& served, Revision first_revision, Checks& checks);

  /// Create, update, patch or delete, as the request says. If to_compute() is not null, ignore the result: run that check,
  /// then plan again.
  Result<Plan> plan();
  /// A check that has something to compute, or null.
  const std::shared_ptr<kube::AdmissionCheck>& to_compute() const { return to_compute_; }
  /// A delete of one object, as plan() does for a DELETE.
  Result<Plan> remove(std::string_view ns, std::string_view name, const DeleteOptions& options);
  /// Newest revision that was looked at: an answer without a write of its own may only go out when this is durable.
  Revision based_on() const { return based_on_; }

 private:
  enum class Tracking : std::uint8_t { Update, Done };
  /// The object that a write finds, as the request's version shows it.
  struct Found {
    store::Entry entry;
    Value object;
  };

  // verbs_write.cc
  Result<Plan> create(Value body);
  Result<Plan> create_decoded(Value object, Tracking tracking);
  Result<Plan> update();
  /// Replaces `found` by `body`, the whole new object as the writer wants it.
  Result<Plan> replace(const Found& found, Value body, Tracking tracking);
  Result<std::string> free_name(std::string_view generate_name, std::string_view ns);
  Result<Plan> write_new(Value object);
  Result<Plan> write_over(const Found& found, Value object);
  Result<void> check_preconditions(const Value& body, const Value& old) const;
  /// Forbidden when the write would give more than its user has.
  Result<void> check_grants(const Value& object, const Value& old) const;
  Result<void> check_name_free(std::string_view ns, std::string_view name);
  Result<void> check_namespace(std::string_view ns, std::string_view name);
  void warn_of_finalizers(const Value& object, const Value& old);
  Value bump_generation(const Value& object, const Value& old) const;
  Value merge_status(const Value& body, const Value& old) const;
  Value merge_part_metadata(const Value& body, const Value& old) const;
  // patch.cc
  Result<Plan> patch();
  Result<Plan> apply();
  Result<Value> patched(const Value& live) const;
  Result<Value> apply_config() const;
  Value with_canonical_scalars(const Value& config) const;
  // scale.cc
  /// An update or patch of the scale subresource.
  Result<Plan> scale();
  // decode.cc
  Result<void> check_request();
  Result<void> check_identity(const Value& body) const;
  Result<Value> decode(Value body);
  Value fill_defaults(Value object) const;
  // The same for an update: what is the very value of `old` needs no second look.
  Result<Value> decode_change(const Value& body, const Value& old);
  Result<Value> decode_status(const Value& body, const Value& old);
  /// The same for what was applied: its fields are known, what is not stored goes.
  Value decode_applied(const Value& object, const Value& old) const;
  Value fill_change(Value object, const Value& old) const;
  Result<void> validate(const Value& object, const Value& old);
  /// What a user deletes is judged by the rows of who asks (validate_for): `object` is then the old one with a
  /// deletionTimestamp. Forbidden with what they say.
  Result<void> validate_delete(const Value& old) const;
  /// False: it has something to compute first.
  bool run_check(const kube::AdmissionRow& row, const Value& object, const Value& old, std::vector<Cause>& causes);
  /// For rows that look at other objects, in head state.
  kube::FindObject finder() const;
  kube::Asker asker() const;
  Result<Value> admit(Value object, const Value& old) const;
  Value mutate(Value object, const Value& old) const;
  /// The rows of writes of the status.
  Result<Value> stamp_status(Value object, const Value& old);
  Result<void> check_size(const Value& object) const;
  /// Before the fields of `object` are tracked: whether they make it too large.
  Result<void> check_tracked_size(const Value& object, const Value& old) const;
  // delete.cc
  Result<Plan> remove_found(const Found& found, const DeleteOptions& options);
  Result<Plan> erase(const Found& found);
  Value deleted_reply(const Value& object) const;

  std::optional<Found> find(std::string_view ns, std::string_view name);
  std::optional<store::Entry> head(std::string_view key);
  Value stored(Value object) const;
  Value with_revision(const Value& object) const;
  kube::Writer writer() const;
  Surroundings around() const { return {context_.registry, now_, &context_.numbers, request_.user.get(), &context_.store}; }

  ServerContext& context_;
  const Request& request_;
  const Served& served_;
  const Revision first_revision_;
  const Time now_;
  Checks& checks_;
  std::shared_ptr<kube::AdmissionCheck> to_compute_;
  Revision based_on_ = 0;
  std::vector<std::string> warnings_;
};

}  // namespace slipway::server
