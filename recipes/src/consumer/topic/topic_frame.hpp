// What all parts of one topic object share.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <zkrecipes/consumer/topic.hpp>

#include "format/json_object.hpp"
#include "session/core.hpp"
#include "session/operation.hpp"
#include "topic/topic_layout.hpp"

namespace zkrecipes::detail {

struct topic_frame {
  core_ptr session;
  topic_layout where;
  topic_options options;
};

using topic_frame_ptr = std::shared_ptr<const topic_frame>;

/// Whether nobody else needs what this group has consumed, so that it is removed at once.
bool removes_consumed(const topic_retention& keep, const std::string& group);

/// Compares the record at a path that is cut into shards with ours, and makes it if it is missing. Errors:
/// `size_mismatch` (the field `count` differs), `foreign_data` (another field of ours does, or it is no record), and
/// those of `core::perform`.
awaitable<error_code> agree_on_record(core_ptr session, std::string path, json_object ours);

/// The same for a record that was read. One that is missing, or empty, is no error.
error_code compare_record(const backend::reply& found, const json_object& ours);

/// Compares the record only. Errors: `no_node` (there is none), and those of `agree_on_record`.
awaitable<error_code> find_record(core_ptr session, std::string path, json_object ours);

/// Compares the topic's record with our options. Errors: `no_node` (there is none), and those of `agree_on_topic`.
awaitable<error_code> find_topic(topic_frame_ptr topic);
/// As `agree_on_record` with the topic's record.
awaitable<error_code> agree_on_topic(topic_frame_ptr topic);
/// The record, read together with something else, and compared with our options as `compare_record` does.
backend::request request_of_topic(const topic_frame& topic);
error_code compare_topic(const topic_frame& topic, const backend::reply& found);
/// Whether this can be the name of a group: see `name_problem`.
bool is_group(std::string_view name);

}  // namespace zkrecipes::detail
