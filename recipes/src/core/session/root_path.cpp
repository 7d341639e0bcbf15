#include "session/root_path.hpp"

#include <utility>

namespace zkrecipes::detail {

using backend::opcode;

root_path::root_path(std::string path, const acl& standard)
    : path_(std::move(path)), standard_(standard.empty() ? open_acl() : standard) {}

std::string root_path::full(std::string path) const {
  if (path_.empty()) return path;
  return path == "/" ? path_ : path_ + path;
}

std::string root_path::below(std::string path) const {
  if (path_.empty() || path.compare(0, path_.size(), path_) != 0) return path;
  return path.size() == path_.size() ? "/" : path.substr(path_.size());
}

void root_path::apply(backend::request& what) const {
  if (what.op == opcode::create && what.access.empty()) what.access = standard_;
  for (auto& each : what.operations) {
    if (each.acl.empty()) each.acl = standard_;
    each.path = full(std::move(each.path));
  }
  const bool has_no_path = what.op == opcode::multi || what.op == opcode::sync || what.op == opcode::authenticate;
  if (!has_no_path) what.path = full(std::move(what.path));
}

void root_path::strip(backend::reply& answer) const {
  answer.path = below(std::move(answer.path));
  for (auto& each : answer.results) each.path = below(std::move(each.path));
}

}  // namespace zkrecipes::detail
