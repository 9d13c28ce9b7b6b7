#include "delivery/application/delivered_notes.h"

#include <string>
#include <utility>

#include "base/digest.h"
#include "json/text.h"

namespace slipway::delivery::application {
namespace {

/// Notes of a run that say how a component was delivered.
constexpr std::string_view kDelivered = "delivered.";

}  // namespace

void remember_notes(Memory& memory, const workflow::RunStore& store) {
  if (std::exchange(memory.has_notes, true)) return;
  for (const auto& [key, text] : store.notes) {
    if (!key.starts_with(kDelivered)) continue;
    if (const auto note = json::parse(text)) memory.delivered[(*note)["at"].str()] = (*note)["component"];
  }
}

void note_delivered(const Memory& memory, workflow::RunStore& store) {
  std::erase_if(store.notes, [](const auto& note) { return note.first.starts_with(kDelivered); });
  for (const auto& [slot, component] : memory.delivered) {
    const std::string key = std::string(kDelivered) + name_hash(slot);
    store.notes[key] = json::print(json::object({{"at", slot}, {"component", component}}));
    // A component may have been given a variable that was made from a Secret.
    if (!store.secret_vars.empty()) store.secret_notes.insert(key);
  }
}

}  // namespace slipway::delivery::application
