// The parts of what a ZooKeeper server sends, for servers that send it wrongly.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace zkrecipes::test::frame {

std::string int32(std::int32_t value);
std::string int64(std::int64_t value);
/// A text behind its length.
std::string text(std::string_view value);
/// The body behind its length.
std::string framed(std::string_view body);

/// The head of an answer.
std::string head(std::int32_t xid, std::int32_t error = 0, std::int64_t zxid = 1);
/// The facts of a node, all of them 0.
std::string stat();
/// The head of one result of a transaction.
std::string part(std::int32_t type, bool is_done, std::int32_t error = 0);
/// A watch event, as a frame.
std::string event(std::int32_t type, std::int32_t state, std::string_view path);
/// The answer to a connect request, as a frame.
std::string granted(std::int64_t id, std::int32_t timeout_ms);

}  // namespace zkrecipes::test::frame
