// The text of a list in the form that was asked for (plain objects, a Table, metadata only; JSON, pretty JSON, YAML), made item
// by item: neither is all of it ever in memory, nor does another request wait while it is made. The whole is byte for byte what
// encoded(shaped(…)) makes of the list in one piece.
#pragma once

#include <string>

#include "serve/negotiate.h"
#include "serve/shape.h"
#include "server/registry.h"
#include "server/server.h"

namespace slipway::serve {

class ListText {
 public:
  /// As shaped(): NotAcceptable for a form that lists do not have. `now` is for ages in a Table.
  static Result<ListText> of(server::ListReply list, server::TypePtr type, Form form, Time now);

  bool is_over() const { return is_over_; }
  /// Appends what comes before the first item, one item, or what comes after the last. REQUIRES: not is_over().
  void add_to(std::string& text);

 private:
  ListText(server::ListReply list, server::TypePtr type, Form form, Time now)
      : list_(std::move(list)), type_(std::move(type)), form_(std::move(form)), now_(now) {}

  /// Texts around the items, cut out of those of a list without any.
  void frame(const json::Value& empty);
  /// Shapes the next few items; false when there are none. Gives up pages that were used.
  bool shape_next();
  void add_item(std::string& text, const json::Value& item) const;

  server::ListReply list_;
  server::TypePtr type_;
  Form form_;
  Time now_;
  std::string head_;
  std::string tail_;
  std::size_t page_ = 0;     // of list_.pages, the one in work
  std::size_t in_page_ = 0;  // items of it that were shaped
  json::Value shaped_;       // the items shaped last
  std::size_t in_shaped_ = 0;
  bool has_begun_ = false;
  bool is_first_ = true;
  bool is_over_ = false;
};

}  // namespace slipway::serve
