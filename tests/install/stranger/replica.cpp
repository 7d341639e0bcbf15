// A service of the stranger: without a configuration it says how to call it.
#include <zkrecipes/service.hpp>
#include <zkrecipes/zkrecipes.hpp>

namespace {

boost::asio::awaitable<zkrecipes::message_outcome> process(zkrecipes::service::surroundings&, zkrecipes::term,
                                                           const zkrecipes::message&) {
  co_return zkrecipes::transaction();
}

}  // namespace

int main(int count, char** arguments) { return zkrecipes::service::run(count, arguments, {process}) == 2 ? 0 : 1; }
