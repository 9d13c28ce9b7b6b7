// The text of watch events, made once for all who watch the same kind in the same form. A change has one revision, so (kind,
// type of event, revision, form) names a text. A kind is what its definition made of it: after the definition has changed,
// columns and defaults are others, and so is the text. Bounded: the oldest texts go first.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>

#include "client/client.h"
#include "serve/shape.h"
#include "server/registry.h"

namespace slipway::serve {

class EventTexts {
 public:
  explicit EventTexts(std::size_t max_bytes = std::size_t{16} << 20) : max_bytes_(max_bytes) {}

  /// The line of an event, with its end of line. A Table's cells may be as old as the first reader's look at the event.
  std::shared_ptr<const std::string> line(const client::WatchEvent& event, const server::TypePtr& type, const Form& form,
                                          Time now);
  std::size_t bytes() const { return bytes_; }

 private:
  struct Key {
    server::TypePtr type;  // held, so that no later type is taken for it
    std::string name;      // namespace/name: events of the state to begin with carry their object's revision
    kube::Revision revision;
    client::WatchEvent::Type event;
    Shape shape;
    std::string meta_version;
    kube::RowObject row_object;
    auto operator<=>(const Key&) const = default;
  };

  std::size_t max_bytes_;
  std::size_t bytes_ = 0;
  std::map<Key, std::shared_ptr<const std::string>> texts_;
  std::deque<std::map<Key, std::shared_ptr<const std::string>>::iterator> order_;
};

/// The line of an event for one receiver.
std::string event_line(std::string_view type, const json::Value& object);

}  // namespace slipway::serve
