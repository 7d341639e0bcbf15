#include "shards/operator_notes.hpp"

#include "format/json_object.hpp"
#include "shards/group_layout.hpp"

namespace zkrecipes::detail {

namespace {

constexpr std::string_view pin_kind = "shard_pin";

}  // namespace

void operator_notes::add(const std::string& name, const std::string& data) {
  if (name.starts_with(drain_prefix)) {
    auto id = group_layout::id_of(std::string_view(name).substr(drain_prefix.size()));
    if (id) drains.insert(std::move(*id));
  }
  if (name.starts_with(pin_prefix)) {
    const auto shard = parse_shard_name(std::string_view(name).substr(pin_prefix.size()));
    auto id = read_pin(data);
    if (shard && id) pins[*shard] = std::move(*id);
  }
}

std::string write_pin(const std::string& id) { return json_object::of_kind(pin_kind).set("member", id).to_text(); }

std::optional<std::string> read_pin(const std::string& data) {
  const auto object = json_object::parse(data);
  return object && object->is(pin_kind) ? object->text("member") : std::nullopt;
}

}  // namespace zkrecipes::detail
