// What all users of one path share within one session: a list, turns, news. The session does not know what it is.
#pragma once

#include <any>
#include <map>
#include <memory>
#include <string>
#include <typeindex>

namespace zkrecipes::detail {

/// One place for an object of each type and path. Its users own the object: the first of them makes it, and its
/// last owner takes it off the list. On the strand.
class path_commons {
 public:
  template <class T>
  std::weak_ptr<T>& at(const std::string& path) {
    return all<T>()[path];
  }

  template <class T>
  void end(const std::string& path) {
    all<T>().erase(path);
  }

 private:
  template <class T>
  std::map<std::string, std::weak_ptr<T>>& all() {
    using places = std::map<std::string, std::weak_ptr<T>>;
    auto& held = by_type_[typeid(T)];
    if (!held.has_value()) held = places();
    return *std::any_cast<places>(&held);
  }

  std::map<std::type_index, std::any> by_type_;
};

}  // namespace zkrecipes::detail
