// What every controller, command and test talks through. One virtual `call` and one virtual `watch` carry everything, so that a
// transport (in process, HTTP, simulator with faults) is one small class; the verbs are plain functions on top.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "base/task.h"
#include "kube/object.h"
#include "kube/resource.h"
#include "kube/user.h"

namespace slipway::client {

using json::Value;
using kube::ObjectKey;
using kube::Resource;
using kube::Revision;

enum class Verb : std::uint8_t { Get, List, Watch, Create, Update, Patch, Delete, DeleteCollection };
/// "get", "deletecollection", …
std::string_view to_string(Verb verb);

enum class PatchType : std::uint8_t { Json, Merge, StrategicMerge, Apply };
/// From a media type such as application/merge-patch+json; UnsupportedMediaType otherwise.
Result<PatchType> patch_type_of(std::string_view media_type);

/// What of an object is wanted. Metadata: PartialObjectMetadata (meta/v1), without spec and status; servers that do not know it
/// may answer with whole objects.
enum class Form : std::uint8_t { Whole, Metadata };

/// One request to an API server, as its functions and its URLs understand it. Empty strings mean "not given".
struct Request {
  Verb verb = Verb::Get;
  Resource resource;
  std::string ns;
  std::string name;
  std::string subresource;
  Value body;  // object, patch or DeleteOptions
  PatchType patch_type = PatchType::Merge;

  // Query parameters (meta/v1 ListOptions, CreateOptions, PatchOptions, …), still as text where a wrong text must be reported.
  std::string label_selector;
  std::string field_selector;
  std::string resource_version;
  std::string resource_version_match;
  std::string continue_token;
  std::int64_t limit = 0;
  std::optional<bool> send_initial_events;
  bool allow_watch_bookmarks = false;
  std::optional<std::int64_t> timeout_seconds;
  std::string field_manager;
  std::string field_validation;  // Ignore, Warn, Strict; empty: Ignore
  bool force = false;
  bool dry_run = false;
  Form form = Form::Whole;  // of the answer to Get, List and Watch
  /// Transports answer Timeout by then, however long the server takes; the request may have had its effect all the same.
  std::optional<Steady> deadline;
  /// Who asks, as in the User-Agent header ("slipway-job"): the default field manager, and the name under which the simulator
  /// counts crash points. The controller runtime sets it.
  std::string user_agent;
  /// Who asks, where that was authenticated: the server authorizes what it does. Null is the process itself, which may do all.
  std::shared_ptr<const kube::UserInfo> user;

  /// "GET jobs.batch default/x": for logs, traces and error texts.
  std::string to_string() const;
};

struct Reply {
  Value object;
  std::vector<std::string> warnings;
  int code = 200;  // 201 for a create
};

/// An event of a watch: type ADDED, MODIFIED, DELETED or BOOKMARK. Errors end a watch with their Status instead.
struct WatchEvent {
  enum class Type : std::uint8_t { Added, Modified, Deleted, Bookmark };
  Type type = Type::Added;
  Value object;
};
std::string_view to_string(WatchEvent::Type type);

class Watch {
 public:
  virtual ~Watch() = default;
  /// The next events, at least one; an empty list is the regular end (time-out of the watch). A Status is its failed end,
  /// Expired when the revision is too old.
  virtual Task<Result<std::vector<WatchEvent>>> next() = 0;
  /// No more is wanted: a pending next() ends soon with an empty list, later ones at once. Watches that end with the frames
  /// that wait for them need not do anything.
  virtual void close() {}
};

class Client {
 public:
  virtual ~Client() = default;
  /// Any verb but Watch.
  virtual Task<Result<Reply>> call(Request request) = 0;
  virtual Task<Result<std::unique_ptr<Watch>>> watch(Request request) = 0;
};

// The verbs. They fill a Request and give the object. `ns` is empty for cluster-scoped resources.

Task<Result<Value>> get(Client& client, Resource resource, ObjectKey key);
struct ListQuery {
  std::string ns;  // empty: all namespaces
  std::string label_selector;
  std::string field_selector;
};
/// The whole list object, {items, metadata.resourceVersion}.
Task<Result<Value>> list(Client& client, Resource resource, ListQuery query);
Task<Result<Value>> create(Client& client, Resource resource, Value object, std::string field_manager);
/// PUT with the object's own resourceVersion as precondition (Conflict when it is old).
Task<Result<Value>> update(Client& client, Resource resource, Value object, std::string field_manager);
/// PUT on /status: only status is written.
Task<Result<Value>> update_status(Client& client, Resource resource, Value object, std::string field_manager);
/// Server-side apply of a partial object.
Task<Result<Value>> apply(Client& client, Resource resource, Value object, std::string field_manager,
                          std::string subresource = "", bool force = true);
Task<Result<Value>> merge_patch(Client& client, Resource resource, ObjectKey key, Value patch, std::string field_manager,
                                std::string subresource = "");
struct DeleteQuery {
  std::string propagation = "Background";  // Background, Foreground, Orphan
  std::string uid;                         // precondition
  std::string resource_version;            // precondition
  std::optional<std::int64_t> grace_seconds;
};
Task<Result<Value>> remove(Client& client, Resource resource, ObjectKey key, DeleteQuery query = {});

/// Deletes the object with `query.uid` and no other: fine when it, or its name, is gone or taken by another object by now.
/// Conflict when it is there and another writer was faster.
Task<Result<void>> remove_exactly(Client& client, Resource resource, ObjectKey key, DeleteQuery query);

}  // namespace slipway::client
