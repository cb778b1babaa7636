#include "PubSubHooks.h"

#ifdef PUBSUB_HOOKS
pubsub_scheduler pubsub_present_scheduler;

void pubsub_install_scheduler(pubsub_scheduler scheduler) {
    __atomic_store_n(&pubsub_present_scheduler, scheduler, __ATOMIC_RELEASE);
}
#endif
