# The sources of the parsers, for builds with sanitizers, in which they are compiled here: the tools and, with Clang, the
# library are not built for anything else there. What only functions need that no target calls, such as a session, stays
# unresolved when the program is linked, which works only in a program at a fixed place (-no-pie).
set(library_subjects
  backend/guardian/guardian_message
  backend/guardian/hex
  backend/opcode
  backend/request
  backend/tcp_socket
  backend/tls/tls_context
  backend/tls/tls_files
  backend/tls/tls_reason
  backend/tls/tls_stream
  backend/tls/tls_ticket
  backend/tls/tls_transport
  backend/zookeeper/answer_check
  backend/zookeeper/c_client_link
  backend/zookeeper/c_client_link_credentials
  backend/zookeeper/c_client_link_end
  backend/zookeeper/c_client_link_input
  backend/zookeeper/c_client_link_silence
  backend/zookeeper/c_client_link_tls
  backend/zookeeper/credentials_frame
  backend/zookeeper/input_detour
  backend/zookeeper/requests
  backend/zookeeper/stand_in
  balance/pace_record
  barrier/round_member
  barrier/round_record
  commit/commit_path
  commit/commit_record
  commit/transaction_mark
  delivery/producer_marks
  discovery/service_instance
  election/consumer_notes
  election/term_history
  election/term_record
  external/delivery_memory
  external/held_messages
  external/numbered_id
  external/place_position
  external/place_progress
  external/remembered_ids
  external/settled_run
  external/settled_runs
  format/json_fields
  format/json_object
  format/json_parts
  format/json_text
  format/shown_text
  line/member_data
  line/node_name
  once/once_record
  queue/dead_letter
  queue/entry
  queue/key_mark
  queue/queue_layout
  semaphore/permit_record
  session/error
  session/host_list
  session/node
  session/paths
  session/tls_error
  shards/group_layout
  shards/member_record
  shards/shard_map
  shards/shard_name
  shards/shard_quarantine
  shards/shard_set
  topic/failed_attempts
  topic/log_position
  topic/packed_batch
  topic/topic_layout
  topic/topic_letters
  backend/endpoint)
set(spool_subjects
  spool/spool_error
  spool/spool_file
  spool/spool_file_open
  spool/spool_file_room
  spool/spool_file_trouble
  spool/spool_hold
  spool/spool_log
  spool/spool_sum
  spool/sqlite_statement)
set(redis_subjects
  redis/put_script
  redis/redis_error
  redis/reply_reader
  redis/stream_id
  redis/stream_position
  redis/stream_replies)
set(rabbit_subjects
  rabbit/amqp_client
  rabbit/amqp_client_requests
  rabbit/amqp_content
  rabbit/amqp_frame_reader
  rabbit/amqp_handshake
  rabbit/amqp_refusal
  rabbit/amqp_table_check
  rabbit/amqp_writer
  rabbit/delivery_tags
  rabbit/producer_name
  rabbit/queue_progress
  rabbit/rabbit_error
  rabbit/rabbit_link
  rabbit/unnamed_message)
set(admin_subjects
  cluster/admin_answers
  cluster/admin_object
  cluster/audit_entry
  cluster/foreign_semaphore
  cluster/four_letter_answers
  cluster/group_status
  cluster/known_recipe
  cluster/line_status
  cluster/node_line
  cluster/node_status
  cluster/node_view
  cluster/queue_status
  cluster/recipe_status
  cluster/recognize
  cluster/session_password
  cluster/srvr
  cluster/status
  cluster/stored_record
  cluster/stream_status
  cluster/topic_status
  exporter/metrics_server
  exporter/metrics_text
  problems/commit_rules
  problems/election_rules
  problems/ensemble_rules
  problems/group_rules
  problems/line_places
  problems/problem
  problems/queue_rules
  problems/recipe_rules
  problems/stream_rules
  problems/topic_rules
  problems/verdict
  report/encoding
  report/group_table
  report/history_report
  report/recipe_table
  report/tables
  report/times
  report/topic_table
  report/tsv
  screen/differences
  screen/filter
  screen/fitted
  screen/grid
  screen/key_table
  screen/kept_page
  screen/keys
  screen/list_page
  screen/list_view
  screen/navigation
  screen/overview
  screen/page
  screen/page_content
  screen/pages/commits
  screen/pages/elections
  screen/pages/events
  screen/pages/groups
  screen/pages/help
  screen/pages/problems
  screen/pages/recipes
  screen/pages/servers
  screen/pages/topics
  screen/render
  screen/sheet
  screen/stroke
  screen/table
  screen/typing
  screen/update
  security/exposure_rules
  security/server_exposure
  settings/clusters
  settings/config_file
  settings/private_file
  settings/settings
  settings/values
  text)
set(testcluster_subjects
  drop_rules
  election_greeting
  frame_filter
  frame_splitter
  guard
  jute/messages
  jute/reader
  jute/writer
  op_code
  options
  spawn
  workspace)

# A library of these sources, by their names without the end.
function(zkrecipes_subjects name folder)
  list(TRANSFORM ARGN PREPEND ${PROJECT_SOURCE_DIR}/${folder}/)
  list(TRANSFORM ARGN APPEND .cpp)
  add_library(${name} STATIC ${ARGN})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/${folder} ${PROJECT_SOURCE_DIR}/recipes/src
    ${PROJECT_SOURCE_DIR}/recipes/include ${PROJECT_SOURCE_DIR}/testcluster/include)
  set_target_properties(${name} PROPERTIES UNITY_BUILD_BATCH_SIZE 8)
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
  list(APPEND subjects zkrecipes::spool zkrecipes::testcluster)
  if(TARGET zkrecipes_redis)
    list(APPEND subjects zkrecipes::redis)
  endif()
  if(TARGET zkrecipes_rabbitmq)
    list(APPEND subjects zkrecipes::rabbitmq)
  endif()
endif()
