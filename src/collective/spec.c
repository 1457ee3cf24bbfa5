/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stddef.h>

#include "collective/spec.h"
#include "network/path.h"

const Key collective_keys[] = {
  { "algorithm", KEY_STRING, UNIT_NONE, offsetof (CollectiveSpec, algorithm), "auto",
    "Of the collectives; auto: as the library in use chooses. See `lockstep list algorithms`." },
  { "protocol", KEY_CHOICE, UNIT_NONE, offsetof (CollectiveSpec, protocol), "auto",
    "NCCL's protocol; auto: by its constants in a box, the cheapest between nodes.", .choices = protocol_names },
  { NULL }
};
