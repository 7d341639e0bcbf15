// The data of a member's node in a line: its id, whether it reads requests for revocation, such a request, and the mark
// that it lets others pass.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "format/json_object.hpp"

namespace zkrecipes::detail {

/// No limit to the owner's grace.
inline constexpr auto any_grace = std::chrono::milliseconds::max();

/// The data as an object; nothing if it is no object, as that of other clients, which write plain text or nothing.
std::optional<json_object> read_member(const std::string& data);
/// Whether the data is an object in which this field is true.
bool has_flag(const std::string& data, std::string_view name);
/// The data of a member that tells nothing but its id: plain text, as clients of Curator and kazoo write it. An id that
/// would be taken for a record, or for a request, is stored in a record.
std::string id_data(const std::string& id);
/// The data of a member that reads requests to give its place up in its own node. Only to such a node a request is
/// written: other programs do not listen, and their data stays as it is.
std::string revocable_data(const std::string& id);
/// Whether `data` is that of a member that reads such requests.
bool is_revocable(const std::string& data);
/// The data with a request to the owner of the node to give it up. If there was a request before, the one with the
/// shorter grace stays.
std::string with_revocation(const std::string& data, std::chrono::milliseconds grace = any_grace);
/// Whether `data` carries a request to give the node up, and how long the owner may take for it.
bool asks_revocation(const std::string& data);
std::chrono::milliseconds grace_of(const std::string& data);
/// The data of a member that keeps its place but lets those behind it in as far as there is room: readers behind a
/// writer that has become one, holders beside a holder.
std::string with_shared(const std::string& data);
/// Whether `data` is that of such a member.
bool is_shared(const std::string& data);
/// The name that a member gives itself in its data: plain text as Curator's clients write it, or JSON with an "id".
std::string member_id(const std::string& data);

}  // namespace zkrecipes::detail
