// Chooses one of the instances of a service.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <zkrecipes/service_provider.hpp>

#include "group/children_reader.hpp"
#include "session/operation.hpp"

namespace zkrecipes::detail {

class instance_chooser : public std::enable_shared_from_this<instance_chooser> {
 public:
  instance_chooser(children_reader_ptr reader, service_provider_options options);

  const children_reader_ptr& reader() const noexcept { return reader_; }
  const scheduler_ptr& get_scheduler() const noexcept { return reader_->get_scheduler(); }

  awaitable<outcome<service_instance>> pick();
  void note_error(const std::string& id);

 private:
  /// The errors of an instance, and its rest, which grows from one to the next.
  struct error_streak {
    int count = 0;  // since the last rest
    lease_clock::time_point last{};
    std::chrono::milliseconds rest{0};
    lease_clock::time_point until{};
  };
  struct candidate {
    const service_instance* instance;
    // Asked for once in a pick, because the user's function may return another value the next time.
    std::uint64_t weight;
  };
  using candidate_list = std::vector<candidate>;

  void learn(const children_snapshot& nodes);
  bool is_known(const std::string& id) const;
  candidate_list candidates() const;
  std::uint64_t weight(const service_instance& each) const;
  lease_clock::time_point end_of_rest(const candidate& each, lease_clock::time_point now) const;
  void leave_out_resting(candidate_list& fit);
  void renew();
  const candidate& choose(const candidate_list& fit);
  const candidate& stick(const candidate_list& fit);
  const candidate& by_weight(const candidate_list& fit);
  std::uint64_t random() { return get_scheduler()->world->random(); }

  children_reader_ptr reader_;
  service_provider_options options_;
  service_snapshot known_;
  std::map<std::string, error_streak> streaks_;  // by id
  // The instances that may be chosen, kept until an instance comes, goes, begins or ends a rest, unless the user's
  // functions decide: they are asked in each pick.
  candidate_list fit_;
  lease_clock::time_point fit_until_{};
  std::uint64_t turn_ = 0;
  std::string favourite_;
  std::size_t favourite_at_ = 0;  // where it was in `fit_`
};

}  // namespace zkrecipes::detail
