#include "serve/event_text.h"

#include "json/text.h"

namespace slipway::serve {
namespace {

/// What an entry costs beside its text.
constexpr std::size_t kOverhead = 256;

std::string line_of(const client::WatchEvent& event, const kube::ResourceType& type, const Form& form, Time now) {
  return event_line(client::to_string(event.type), shaped_event(event.object, type, form, now, false));
}

}  // namespace

std::string event_line(std::string_view type, const json::Value& object) {
  std::string line = "{\"type\":\"";
  line += type;
  line += "\",\"object\":";
  json::print_to(line, object);
  line += "}\n";
  return line;
}

std::shared_ptr<const std::string> EventTexts::line(const client::WatchEvent& event, const server::TypePtr& type,
                                                    const Form& form, Time now) {
  // Bookmarks are each watch's own.
  if (event.type == client::WatchEvent::Type::Bookmark) {
    return std::make_shared<const std::string>(line_of(event, *type, form, now));
  }
  Key key{type,
          kube::key_of(event.object).to_string(),
          kube::revision(event.object),
          event.type,
          form.shape,
          form.meta_version,
          form.row_object};
  const auto [at, is_new] = texts_.try_emplace(std::move(key));
  if (!is_new) return at->second;
  const auto text = std::make_shared<const std::string>(line_of(event, *type, form, now));
  at->second = text;
  bytes_ += text->size() + kOverhead;
  order_.push_back(at);
  while (bytes_ > max_bytes_) {
    bytes_ -= order_.front()->second->size() + kOverhead;
    texts_.erase(order_.front());
    order_.pop_front();
  }
  return text;
}

}  // namespace slipway::serve
