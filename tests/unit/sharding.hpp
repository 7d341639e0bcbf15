// A member of a shard group whose node is there, in the fake world.
#pragma once

#include <memory>
#include <utility>

#include "line/own_node.hpp"
#include "shards/group_frame.hpp"
#include "unit/fake_session.hpp"

namespace zkrecipes::test {

struct sharding : fake_session {
  explicit sharding(session_options with = usual())
      : fake_session(std::move(with)), group(std::make_shared<detail::group_frame>(zk.get_core())) {
    group->where.root = "/g";
    group->options.id = "me";
    group->options.shards = 8;
    connect();
    member = std::make_shared<detail::own_node>(zk.get_core(), group->where.line(), "");
    auto joined = record<detail::line_reading>();
    detail::handler_for<void(error_code, detail::line_reading)> told(joined.token());
    detail::launch(*zk.get_core()->get_scheduler(), std::move(told), owning(member, &detail::own_node::create));
    settle();
    backend::reply made;
    made.path = last().pending.front().first.path + "0000000007";
    made.stat.ephemeral_owner = 0x77;
    made.stat.czxid = 100;
    answer(made);
    list({made.path.substr(group->where.members().size() + 1)});
    answer();  // the member looks at its own node
    BOOST_TEST_REQUIRE(succeeded(joined));
    CHECK_PENDING();
  }

  detail::group_frame_ptr group;
  detail::own_node_ptr member;
};

}  // namespace zkrecipes::test
