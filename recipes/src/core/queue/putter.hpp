// Puts one item, or many in one transaction.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "queue/capacity.hpp"
#include "queue/queue_frame.hpp"

namespace zkrecipes::detail {

struct new_item {
  std::int64_t rank = 0;
  std::string data;
};

/// The names of items that were put.
using names = std::vector<std::string>;

class putter {
 public:
  putter(shared_frame frame, std::shared_ptr<capacity> limits)
      : frame_(std::move(frame)), capacity_(std::move(limits)) {}

  /// Completes with the name of the item. Errors: `outcome_unknown`, `full`, ...
  awaitable<outcome<std::string>> put(new_item item);
  /// The same for several in one transaction. Error besides: `bad_arguments` (there are none).
  awaitable<outcome<names>> put(std::vector<new_item> items);

 private:
  template <class Made, class Items>
  awaitable<outcome<Made>> put_all(Items items);
  bool fits(std::span<const new_item> items) const;
  backend::request request_of(std::span<const new_item> items) const;

  shared_frame frame_;
  std::shared_ptr<capacity> capacity_;
};

}  // namespace zkrecipes::detail
