#include "source/source_frame.hpp"

#include "session/paths.hpp"

namespace zkrecipes::detail {

using backend::opcode;

namespace {

error_code compare_records(const std::string& theirs, const json_object& ours) {
  const auto read = json_object::parse(theirs);
  if (!read || !read->integer("count")) return errc::foreign_data;
  for (const auto& each : ours.names()) {
    if (each != "count" && read->raw(each) != ours.raw(each)) return errc::foreign_data;
  }
  return read->integer("count") == ours.integer("count") ? error_code() : make_error_code(errc::size_mismatch);
}

}  // namespace

bool source_frame::is_group(std::string_view name) const {
  return only_group.empty() ? name_problem(name).empty() : name == only_group;
}

json_object record_of_source(std::string_view kind, std::uint32_t shards) {
  auto record = json_object::of_kind(kind);
  record.set("count", std::int64_t{shards}).set("hash", "crc32");
  return record;
}

backend::request request_of_record(const source_frame& frame) { return make_request(opcode::get, frame.where.root); }

error_code compare_record(const source_frame& frame, const backend::reply& found) {
  if (found.error || found.data.empty()) return found.error == errc::no_node ? error_code() : found.error;
  return compare_records(found.data, frame.record);
}

awaitable<error_code> find_record(source_frame_ptr frame) {
  auto found = co_await frame->session->perform(request_of_record(*frame), retry::always);
  if (found.error) co_return found.error;
  if (found.data.empty()) co_return errc::no_node;
  co_return compare_records(found.data, frame->record);
}

awaitable<error_code> agree_on_record(source_frame_ptr frame) {
  for (;;) {
    auto found = co_await frame->session->perform(request_of_record(*frame), retry::always);
    if (found.error == errc::no_node) {
      auto error = co_await frame->session->ensure_path(frame->where.root);
      if (error) co_return error;
      continue;
    }
    if (found.error) co_return found.error;
    if (!found.data.empty()) co_return compare_records(found.data, frame->record);
    auto write = make_request(opcode::set, frame->where.root);
    write.data = frame->record.to_text();
    write.version = found.stat.version;
    auto written = co_await frame->session->perform(std::move(write), retry::always);
    const bool is_quicker = written.error == errc::bad_version || written.error == errc::no_node;
    if (!is_quicker) co_return written.error;  // else another client has written or removed it, or we have
  }
}

}  // namespace zkrecipes::detail
