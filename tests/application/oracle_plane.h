// The oracle's own setting in virtual time: a plane whose hub is called local, a second cluster called cluster-worker,
// simulated pods, no outside host. Every case gets a plane of its own, made from the disk of one that was started and left to
// settle.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/http_client.h"
#include "base/manual_env.h"
#include "client/client.h"
#include "json/value.h"
#include "kube/resource.h"
#include "plane/plane.h"
#include "store/memory_vfs.h"

namespace slipway::oracle_test {

using json::Value;

inline constexpr const char* kHub = "local";
inline constexpr const char* kWorker = "cluster-worker";

/// The disk of a plane that has settled, and the time when it did.
struct Image {
  store::MemoryVfs::Snapshot disk;
  Time time = VirtualClock::kStart;

  static Image settled();
};

/// A settled one, made once per process.
const Image& image();

/// Null, with a test failure, for what is no YAML.
Value yaml(const std::string& text);

struct PlaneOptions {
  delivery::OnFault on_fault = delivery::OnFault::Warn;  // as the oracle's
  bool keeps_definitions = false;                        // on the hub
  /// Gives the controllers' Env what it has of a machine (git, programs), before they start.
  std::function<void(Env&)> prepare{};
  std::vector<std::string> clusters{};  // beside the hub and the worker
  Metrics* metrics = nullptr;           // outlives the plane; null: nothing is counted
  HttpClient* http = nullptr;           // outlives the plane; null: there is no outside
  /// False: the clusters live, but nothing of the families runs, neither admission nor controllers.
  bool has_families = true;
  delivery::ActsAs acts_as = delivery::ActsAs::User;
  std::map<std::string, std::string> family_options{};
};

class Plane {
 public:
  /// Starts from `image`; null: from an empty disk.
  explicit Plane(const Image* image, PlaneOptions options = {});
  ~Plane();
  Plane(const Plane&) = delete;
  Plane& operator=(const Plane&) = delete;

  /// Makes the namespace on both clusters, if it is not there.
  void make_namespace(const std::string& name);
  /// As kubectl apply: created, with unknown fields refused, or changed when it is there. Gives the server's refusal, or "".
  /// `user` null: as the process itself.
  std::string apply(const Value& object, const std::string& default_namespace,
                    const std::shared_ptr<const kube::UserInfo>& user = nullptr);
  /// What the last apply that was not refused was told.
  const std::vector<std::string>& warnings() const { return warnings_; }
  /// As kubectl --subresource=status: `body` is a patch of that type, or without a type a whole object to PUT. Gives the
  /// server's refusal, or "".
  std::string write_status(const Value& reference, std::optional<client::PatchType> type, const Value& body);
  /// A merge patch of an object of the hub, or of its `subresource`. `user` null: as the process itself. Gives the server's
  /// refusal, or "".
  std::string merge(const Value& reference, const Value& patch, const std::shared_ptr<const kube::UserInfo>& user = nullptr,
                    const std::string& subresource = "");
  /// Stores an object as `manager` would have left it, status included. Gives it as it is stored, or null with a test failure.
  Value store(const std::string& cluster, const Value& object, const std::string& manager);
  /// Deletes an object of the hub. Gives the server's refusal, or "".
  std::string remove(const Value& reference);
  /// Asks for an action of the object's kind, on the hub. Gives the refusal, or "".
  std::string act(const Value& reference, const std::string& verb, const std::string& part = "");
  /// Lets time pass. False when the plane has done more work than `kMostCalls`, and for ever then.
  bool pass(Duration time);
  /// From now on called after each change of the hub while time passes.
  void observe(std::function<void()> observer) { observer_ = std::move(observer); }
  /// The newest state of an object {apiVersion, kind, namespace, name} or null.
  Value find(const std::string& cluster, const Value& reference) const;
  fleet::Fleet& fleet() { return controllers_->fleet(); }
  /// All objects of a cluster: of one namespace, or with "" those that are in none.
  std::vector<Value> all(const std::string& cluster, const std::string& ns) const;
  /// The same of one kind.
  std::vector<Value> all_of(const std::string& cluster, const kube::GroupVersionKind& kind, const std::string& ns) const;
  /// "Normal Deployed Application/a: Deployed successfully" of all events on the hub, in order of their names.
  std::vector<std::string> events() const;
  /// Calls of the executor so far.
  std::uint64_t calls() { return env_->queue().steps(); }
  Time now() const { return env_->now(); }
  Image image();

 private:
  friend struct Image;
  void close();
  /// A request about an object {apiVersion, kind, namespace, name} of the hub; without a resource when its kind is not served.
  client::Request request_for(const Value& reference) const;
  Result<Value> call(const std::string& cluster, client::Request request);
  server::Server& server(const std::string& cluster) const { return apis_.at(cluster)->server(); }

  /// A case that needs more is stuck in a loop that takes no time.
  static constexpr std::uint64_t kMostCalls = 3'000'000;
  void observe_change();

  store::MemoryVfs disk_;
  std::unique_ptr<ManualEnv> env_;
  std::map<std::string, std::unique_ptr<plane::ApiServer>> apis_;
  std::unique_ptr<plane::Controllers> controllers_;
  std::vector<std::string> warnings_;
  std::function<void()> observer_{};
  kube::Revision observed_ = -1;
};

/// How a case ended.
struct End {
  Value target;                       // the newest state; null: it was never there
  bool is_stable = false;             // before time and work ran out
  Duration took{};                    // virtual
  std::uint64_t calls = 0;            // of the executor
  std::vector<std::string> refusals;  // documents that the server refused
};
/// Watches the target until its phase, steps, services and conditions have stayed the same as long as the phase asks for: 20 s
/// for final phases and suspension, 5 min for all others; an hour at most.
End await_end(Plane& plane, const Value& target);

}  // namespace slipway::oracle_test
