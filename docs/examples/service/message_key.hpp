// The key of a message.
#pragma once

#include <functional>
#include <string>

#include <zkrecipes/queue_base.hpp>

namespace service {

/// Messages are JSON objects, and the key is the text of this member. Without it the function throws: such a message
/// has the empty key.
std::function<std::string(const zkrecipes::message&)> key_of_member(std::string member);

}  // namespace service
