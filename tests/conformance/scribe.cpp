#include <algorithm>
#include <tuple>

#include "transcript.hpp"

namespace zkrecipes::conformance {

namespace {

constexpr char mark = '\x01';  // around the number of a transaction, until its rank is known

std::string outcome(const error_code& error) { return error ? "! " + error.message() : "ok"; }

std::string rights(acl access) {
  // The order varies, because the server keeps the identities that replace `auth` in a hash table.
  std::sort(access.begin(), access.end(), [](const acl_entry& a, const acl_entry& b) {
    return std::tie(a.scheme, a.id, a.permissions) < std::tie(b.scheme, b.id, b.permissions);
  });
  std::string text;
  for (const auto& each : access) text += ' ' + each.scheme + ':' + each.id + ':' + std::to_string(each.permissions);
  return text;
}

}  // namespace

std::string scribe::session(std::int64_t id) {
  if (id == 0) return "-";
  auto number = static_cast<int>(sessions_.size()) + 1;
  return "S" + std::to_string(sessions_.emplace(id, number).first->second);
}

std::string scribe::path(const std::string& full) const {
  if (!full.starts_with(root_)) return full;
  return full.size() == root_.size() ? "/" : full.substr(root_.size());
}

std::string scribe::zxid(std::int64_t number) {
  if (number == 0) return "0";
  zxids_.emplace(number, 0);
  return mark + std::to_string(number) + mark;
}

std::string scribe::stat(const node_stat& of) {
  if (of == node_stat{}) return " -";
  return " {c" + zxid(of.czxid) + " m" + zxid(of.mzxid) + " p" + zxid(of.pzxid) + " v" + std::to_string(of.version) +
         " cv" + std::to_string(of.cversion) + " av" + std::to_string(of.aversion) + " of " +
         session(of.ephemeral_owner) + " length " + std::to_string(of.data_length) + " children " +
         std::to_string(of.num_children) + "}";
}

std::string scribe::answer(const step& asked, const backend::reply& reply) {
  std::string text = to_text(asked) + " -> " + outcome(reply.error) + stat(reply.stat);
  if (!reply.path.empty()) text += " path " + path(reply.path);
  if (!reply.data.empty()) text += " data " + reply.data;
  auto names = reply.children;
  std::sort(names.begin(), names.end());
  if (!names.empty()) text += " names";
  for (const auto& each : names) text += ' ' + each;
  if (!reply.access.empty()) text += " rights" + rights(reply.access);
  for (const auto& each : reply.results)
    text += "; " + outcome(each.error) + (each.path.empty() ? "" : ' ' + path(each.path)) + stat(each.stat);
  return text;
}

std::string scribe::event(const backend::watch_event& event) const {
  static constexpr const char* words[] = {"created", "deleted", "data", "children"};
  return "event " + std::string(words[static_cast<int>(event.what)]) + ' ' + path(event.path);
}

void scribe::finish(transcript& all) const {
  auto ranks = zxids_;
  int rank = 0;
  for (auto& each : ranks) each.second = ++rank;
  for (auto& [link, lines] : all) {
    for (auto& each : lines) {
      for (auto at = each.text.find(mark); at != std::string::npos; at = each.text.find(mark, at)) {
        const auto end = each.text.find(mark, at + 1);
        const auto number = std::stoll(each.text.substr(at + 1, end - at - 1));
        each.text.replace(at, end - at + 1, std::to_string(ranks.at(number)));
      }
    }
  }
}

}  // namespace zkrecipes::conformance
