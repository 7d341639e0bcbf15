// `zkadmin queue unpark`.
#include <memory>

#include "cluster/key_unparking.hpp"
#include "commands/intervene.hpp"
#include "commands/queue_commands.hpp"

namespace zkadmin {

exit_code unpark(surroundings& around, const settings& wanted, const queue_request& asked) {
  const auto what = std::make_shared<key_unparking>();
  const preparation prepare = [key = asked.key, what](zkrecipes::session session, std::string path) {
    return prepare_unparking(std::move(session), std::move(path), key, what);
  };
  const following follow = [wanted, what](zkrecipes::session session, std::string path, std::string& told) {
    return unpark_key(std::move(session), wanted, std::move(path), what, told);
  };
  return intervene(around, wanted, asked.path, asked.read_write, prepare, {follow, wanted.timeout});
}

}  // namespace zkadmin
