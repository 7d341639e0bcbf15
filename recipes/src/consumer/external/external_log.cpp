#include <zkrecipes/consumer/external_source.hpp>

namespace zkrecipes {

boost::asio::awaitable<error_code> external_log::consumed(std::string) { co_return error_code(); }

boost::asio::awaitable<void> external_log::close() { co_return; }

}  // namespace zkrecipes
