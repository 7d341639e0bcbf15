#include <zkrecipes/consumer/leader_career.hpp>

namespace zkrecipes {

boost::asio::awaitable<void> leader_career::ended(term, term_end) { co_return; }

}  // namespace zkrecipes
