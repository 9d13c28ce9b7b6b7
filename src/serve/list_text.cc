#include "serve/list_text.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "json/text.h"

namespace slipway::serve {
namespace {

using json::Value;

/// Items shaped at once: a Table makes its columns ready each time.
constexpr std::size_t kShapedAtOnce = 32;

std::string_view items_key(const Form& form) { return form.shape == Shape::Table ? "rows" : "items"; }

/// What ends the text of an object whose last member is an empty list.
std::string_view empty_end(const Form& form) {
  if (form.encoding == Encoding::Yaml) return " []\n";
  return form.is_pretty ? "[]\n}\n" : "[]}\n";
}

}  // namespace

Result<ListText> ListText::of(server::ListReply list, server::TypePtr type, Form form, Time now) {
  ListText text(std::move(list), std::move(type), std::move(form), now);
  SLIPWAY_TRY(empty, shaped(text.list_.frame, *text.type_, text.form_, now));
  text.frame(empty);
  return text;
}

void ListText::frame(const Value& empty) {
  head_ = encoded(empty, form_);
  const bool has_items = std::ranges::any_of(list_.pages, [](const Value& page) { return !page.empty(); });
  if (!has_items) return;
  const std::string_view end = empty_end(form_);
  SLIPWAY_CHECK(head_.ends_with(end), "a list's items come last");
  head_.resize(head_.size() - end.size());
  if (form_.encoding == Encoding::Yaml) {
    head_ += '\n';
  } else {
    head_ += '[';
    tail_ = form_.is_pretty ? "\n  ]\n}\n" : "]}\n";
  }
}

void ListText::add_to(std::string& text) {
  SLIPWAY_CHECK(!is_over_);
  if (!std::exchange(has_begun_, true)) {
    text += head_;
  } else if (in_shaped_ < shaped_.size() || shape_next()) {
    add_item(text, shaped_.item(in_shaped_++));
    is_first_ = false;
  } else {
    text += tail_;
    is_over_ = true;
  }
}

bool ListText::shape_next() {
  shaped_ = Value();
  in_shaped_ = 0;
  for (; page_ < list_.pages.size(); ++page_, in_page_ = 0) {
    Value& page = list_.pages[page_];
    const auto rest = page.items().subspan(in_page_);
    if (rest.empty()) {
      page = Value();  // its objects may be held here alone
      continue;
    }
    const auto next = rest.first(std::min(rest.size(), kShapedAtOnce));
    in_page_ += next.size();
    const auto one = shaped(list_.frame.with("items", json::array(next)), *type_, form_, now_);
    SLIPWAY_CHECK(one.has_value(), "a list without items has this form");
    shaped_ = (*one)[items_key(form_)];
    return true;
  }
  return false;
}

void ListText::add_item(std::string& text, const Value& item) const {
  if (form_.encoding == Encoding::Yaml) {
    text += json::print_yaml(json::array({item}));
    return;
  }
  if (!is_first_) text += ',';
  if (!form_.is_pretty) {
    json::print_to(text, item);
    return;
  }
  // Two levels deeper; a line end within a text is written as an escape.
  text += "\n    ";
  for (const char c : json::print_pretty(item, 2)) {
    text += c;
    if (c == '\n') text += "    ";
  }
}

}  // namespace slipway::serve
