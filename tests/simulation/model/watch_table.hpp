// One-time watches of one server.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "backend/watch_event.hpp"
#include "model/connection.hpp"
#include "model/tree.hpp"

namespace zkrecipes::simulation {

class watch_table {
 public:
  using teller = std::function<void(const connection_ptr&, const backend::watch_event&)>;

  void watch_data(const std::string& path, const connection_ptr& who) { add(data_, path, who); }
  void watch_children(const std::string& path, const connection_ptr& who) { add(children_, path, who); }
  void forget_data(const std::string& path, const connection& who) { take(data_, path, who); }
  void forget_children(const std::string& path, const connection& who) { take(children_, path, who); }
  void forget(const connection& who);
  void clear() { data_.clear(), children_.clear(); }

  /// To be called before the change is applied to the nodes. A connection that may not read the node is not told, but
  /// its watch is removed as well.
  void happening(const change& what, const tree& nodes, const teller& tell);

  std::size_t size() const { return data_.size() + children_.size(); }
  std::string any() const { return !data_.empty() ? data_.begin()->first : children_.begin()->first; }

 private:
  using table = std::map<std::string, std::vector<connection_ptr>, std::less<>>;
  static void add(table& to, const std::string& path, const connection_ptr& who);
  static void take(table& from, const std::string& path, const connection& who);
  static std::vector<connection_ptr> fire(table& from, std::string_view path);

  table data_;
  table children_;
};

}  // namespace zkrecipes::simulation
