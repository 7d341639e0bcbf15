# The sources of the parsers, for builds with sanitizers, in which they are compiled here: the tools and, with Clang, the
# library are not built for anything else there. What only functions need that no target calls, such as a session, stays
# unresolved when the program is linked, which works only in a program at a fixed place (-no-pie).
set(library_subjects
  core/backend/guardian/guardian_message
  core/backend/request
  core/backend/link
  core/backend/tls/tls_context
  core/backend/tls/tls_stream
  core/backend/zookeeper/answer_check
  core/backend/zookeeper/c_client_calls
  core/backend/zookeeper/c_client_link
  core/backend/zookeeper/client_handle
  core/backend/zookeeper/server_input
  flow/balance/pacer
  core/barrier/round_view
  core/commit/transaction_index
  consumer/delivery/delivery_repeats
  core/discovery/service_instance
  core/election/term_record
  consumer/external/delivery_memory
  consumer/external/place_progress
  consumer/notes/consumer_notes
  core/format/json_object
  core/format/shown_text
  core/line/line_spec
  flow/once/once_per
  core/queue/queue_layout
  core/semaphore/semaphore
  core/session/error
  core/session/server_list
  core/session/node
  core/session/paths
  consumer/shards/group_layout
  consumer/shards/shard_router
  consumer/shards/shard_name
  consumer/shards/shard_quarantine
  consumer/source/failed_attempts
  consumer/topic/log_position
  consumer/topic/topic_layout
  service/web/http_server
  service/web/metrics_page)
set(spool_subjects
  spool/spool_file
  spool/spool_file_open
  spool/spool_file_trouble
  spool/spool_log)
set(redis_subjects
  redis/redis_producer_state
  redis/redis_streams
  redis/reply_reader
  redis/stream_position
  redis/stream_replies)
set(rabbit_subjects
  rabbitmq/amqp_client
  rabbitmq/amqp_content
  rabbitmq/amqp_frame_reader
  rabbitmq/amqp_handshake
  rabbitmq/amqp_answer
  rabbitmq/queue_progress
  rabbitmq/rabbit_core
  rabbitmq/rabbit_queues
  rabbitmq/rabbit_connection)
set(admin_subjects
  base/text
  change/audit
  cluster/group
  cluster/line_status
  cluster/nodes
  cluster/queue
  cluster/recipe_reader
  cluster/recipe_status
  cluster/recognize
  cluster/shared_status
  cluster/status
  cluster/stream
  cluster/topic
  exporter/metrics_server
  problems/ensemble_rules
  problems/rules
  problems/verdict
  report/formats
  report/group_report
  report/message_report
  report/recipe_report
  report/status_report
  screen/differences
  screen/key_table
  screen/list_view
  screen/model
  screen/page_content
  screen/pages
  screen/render
  screen/update
  security/security_verdict
  servers/admin_client
  servers/prober
  sessions/session_answers
  sessions/session_end
  settings/config_file
  settings/recipe_kind
  settings/settings
  settings/values
  terminal/grid
  terminal/input
  terminal/table)
set(testcluster_subjects
  proxy_link
  frame_filter
  jute/messages
  op_code
  options
  spawn
  workspace)

# A library of these sources, by their names without the end.
function(zkrecipes_subjects name folder)
  list(TRANSFORM ARGN PREPEND ${PROJECT_SOURCE_DIR}/${folder}/)
  list(TRANSFORM ARGN APPEND .cpp)
  add_library(${name} STATIC ${ARGN})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/${folder} ${ZKRECIPES_INNER_FOLDERS}
    ${PROJECT_SOURCE_DIR}/recipes/include ${PROJECT_SOURCE_DIR}/testcluster/include)
  set_target_properties(${name} PROPERTIES UNITY_BUILD_BATCH_SIZE 8)
  target_compile_definitions(${name} PRIVATE ZKADMIN_VERSION="0")
  target_compile_options(${name} PRIVATE -ffunction-sections -fdata-sections)
  target_link_libraries(${name} PRIVATE zkrecipes_settings ZooKeeper::st OpenSSL::SSL Boost::headers Boost::json
    tomlplusplus::tomlplusplus)
  target_link_options(${name} INTERFACE -no-pie -Wl,--gc-sections -Wl,--unresolved-symbols=ignore-all)
endfunction()

set_source_files_properties(${PROJECT_SOURCE_DIR}/tools/zkadmin/settings/config_file.cpp
                            PROPERTIES INCLUDE_DIRECTORIES ${PROJECT_SOURCE_DIR}/tools)
zkrecipes_subjects(fuzz_admin tools/zkadmin ${admin_subjects})
set(subjects fuzz_admin)
if(ZKRECIPES_FUZZ)
  if(NOT TARGET zkrecipes_redis)
    set(redis_subjects)
  endif()
  if(NOT TARGET zkrecipes_rabbitmq)
    set(rabbit_subjects)
  endif()
  zkrecipes_subjects(fuzz_library recipes/src ${library_subjects} ${spool_subjects} ${redis_subjects}
    ${rabbit_subjects})
  target_link_libraries(fuzz_library PRIVATE $<$<TARGET_EXISTS:zkrecipes_rabbitmq>:RabbitMQ::client>)
  zkrecipes_subjects(fuzz_testcluster testcluster/src ${testcluster_subjects})
  list(APPEND subjects fuzz_testcluster fuzz_library)
else()
  list(APPEND subjects zkrecipes::service zkrecipes::spool zkrecipes::testcluster)
  if(TARGET zkrecipes_redis)
    list(APPEND subjects zkrecipes::redis)
  endif()
  if(TARGET zkrecipes_rabbitmq)
    list(APPEND subjects zkrecipes::rabbitmq)
  endif()
endif()
