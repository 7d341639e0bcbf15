#include "topic/topic_frame.hpp"

#include <utility>

#include "session/paths.hpp"

namespace zkrecipes::detail {

using backend::opcode;

namespace {

constexpr std::string_view topic_kind = "topic";
constexpr std::string_view topic_hash = "crc32";

json_object topic_record(const topic_frame& topic) {
  auto record = json_object::of_kind(topic_kind);
  record.set("count", std::int64_t{topic.options.shards}).set("hash", topic_hash);
  return record;
}

error_code compare_records(const std::string& theirs, const json_object& ours) {
  const auto read = json_object::parse(theirs);
  if (!read || !read->integer("count")) return errc::foreign_data;
  for (const auto& each : ours.names()) {
    if (each != "count" && read->raw(each) != ours.raw(each)) return errc::foreign_data;
  }
  return read->integer("count") == ours.integer("count") ? error_code() : make_error_code(errc::size_mismatch);
}

}  // namespace

bool is_group(std::string_view name) { return name_problem(name).empty(); }

bool removes_consumed(const topic_retention& keep, const std::string& group) {
  return keep.groups.size() == 1 && keep.groups.front() == group && !keep.age && !keep.bytes;
}

awaitable<error_code> find_topic(topic_frame_ptr topic) {
  return find_record(topic->session, topic->where.root, topic_record(*topic));
}

error_code compare_record(const backend::reply& found, const json_object& ours) {
  if (found.error || found.data.empty()) return found.error == errc::no_node ? error_code() : found.error;
  return compare_records(found.data, ours);
}

awaitable<error_code> find_record(core_ptr session, std::string path, json_object ours) {
  auto found = co_await session->perform(make_request(opcode::get, std::move(path)), retry::always);
  if (found.error) co_return found.error;
  if (found.data.empty()) co_return errc::no_node;
  co_return compare_records(found.data, ours);
}

awaitable<error_code> agree_on_topic(topic_frame_ptr topic) {
  return agree_on_record(topic->session, topic->where.root, topic_record(*topic));
}

backend::request request_of_topic(const topic_frame& topic) { return make_request(opcode::get, topic.where.root); }

error_code compare_topic(const topic_frame& topic, const backend::reply& found) {
  return compare_record(found, topic_record(topic));
}

awaitable<error_code> agree_on_record(core_ptr session, std::string path, json_object ours) {
  for (;;) {
    auto found = co_await session->perform(make_request(opcode::get, path), retry::always);
    if (found.error == errc::no_node) {
      auto error = co_await session->ensure_path(path);
      if (error) co_return error;
      continue;
    }
    if (found.error) co_return found.error;
    if (!found.data.empty()) co_return compare_records(found.data, ours);
    auto write = make_request(opcode::set, path);
    write.data = ours.to_text();
    write.version = found.stat.version;
    auto written = co_await session->perform(std::move(write), retry::always);
    const bool is_quicker = written.error == errc::bad_version || written.error == errc::no_node;
    if (!is_quicker) co_return written.error;  // else somebody else has written or removed it, or we have
  }
}

}  // namespace zkrecipes::detail
