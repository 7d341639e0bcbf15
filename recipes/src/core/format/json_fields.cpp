#include "format/json_fields.hpp"

#include <utility>

namespace zkrecipes::detail {

const std::string* json_fields::find(std::string_view name) const {
  const auto place = place_of(name);
  return place < all_.size() ? &all_[place].value : nullptr;
}

void json_fields::put(std::string_view name, std::string value) {
  const auto place = place_of(name);
  if (place < all_.size()) {
    all_[place].value = std::move(value);
  } else {
    append(name, std::move(value));
  }
}

void json_fields::add(const field& one) {
  if (!find(one.name)) append(one.name, one.value);
}

bool operator==(const json_fields& one, const json_fields& other) {
  const auto has = [&other](const json_fields::field& each) {
    const auto* value = other.find(each.name);
    return value && *value == each.value;
  };
  return one.all_.size() == other.all_.size() && std::all_of(one.begin(), one.end(), has);
}

/// The number of fields if there is none of this name.
std::size_t json_fields::place_of(std::string_view name) const {
  if (places_.empty()) {
    const auto is_it = [name](const field& each) { return each.name == name; };
    return static_cast<std::size_t>(std::find_if(all_.begin(), all_.end(), is_it) - all_.begin());
  }
  const auto found = places_.find(std::string(name));
  return found != places_.end() ? found->second : all_.size();
}

void json_fields::append(std::string_view name, std::string value) {
  all_.push_back({std::string(name), std::move(value)});
  if (!places_.empty()) {
    places_.emplace(name, all_.size() - 1);
  } else if (all_.size() > most_without_index) {
    rebuild_index();
  }
}

void json_fields::rebuild_index() {
  places_.clear();
  if (all_.size() <= most_without_index) return;
  for (std::size_t i = 0; i < all_.size(); ++i) places_.emplace(all_[i].name, i);
}

}  // namespace zkrecipes::detail
