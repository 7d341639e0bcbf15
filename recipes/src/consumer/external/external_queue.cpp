#include <zkrecipes/consumer/external_source.hpp>

namespace zkrecipes {

std::vector<std::string> external_queue::take_forgotten() { return {}; }

boost::asio::awaitable<void> external_queue::close() { co_return; }

}  // namespace zkrecipes
