// Stands for the targets of RabbitMQ where there is no librabbitmq: their files of seeds are there in any case.
#include "fuzz/target.hpp"

namespace fuzz::broker_missing_target {

void read_nothing(std::string_view) {}

const target known[] = {{"broker_frames", read_nothing},   {"broker_link", read_nothing},
                        {"broker_messages", read_nothing}, {"broker_talk", read_nothing},
                        {"broker_words", read_nothing},    {"queue_deliveries", read_nothing}};

}  // namespace fuzz::broker_missing_target
