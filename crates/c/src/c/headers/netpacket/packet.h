#include <linux/if_packet.h>
