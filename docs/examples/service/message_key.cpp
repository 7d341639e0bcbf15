#include "message_key.hpp"

#include <boost/json.hpp>

namespace service {

std::function<std::string(const zkrecipes::message&)> key_of_member(std::string member) {
  return [member = std::move(member)](const zkrecipes::message& item) {
    const auto content = boost::json::parse(item.data);
    return std::string(content.as_object().at(member).as_string());
  };
}

}  // namespace service
